"""Defines the beta distribution."""

from __future__ import annotations

from typing import Any

from dy2st.paddle.distribution.dirichlet import Dirichlet
from dy2st.paddle.distribution.distribution import as_value, spread_parameters
from dy2st.paddle.distribution.exponential_family import ExponentialFamily
from dy2st_runtime.ir import F
from dy2st_runtime.lazy import public_dir


class Beta(ExponentialFamily):
    """Density x**(alpha - 1) * (1 - x)**(beta - 1) / B(alpha, beta): the first of two shares.

    >>> import dy2st
    >>> float(dy2st.distribution.Beta(1.0, 3.0).mean)
    0.25
    """

    def __init__(self, alpha: Any, beta: Any) -> None:
        """Take the concentrations, which broadcast."""
        self.alpha, self.beta = spread_parameters(alpha, beta)
        self._dirichlet = Dirichlet(F.stack([self.alpha, self.beta], axis=-1))
        super().__init__(tuple(self.alpha.shape))

    @property
    def mean(self) -> Any:
        """alpha / (alpha + beta)."""
        return self.alpha / (self.alpha + self.beta)

    @property
    def variance(self) -> Any:
        """mean * (1 - mean) / (alpha + beta + 1)."""
        return self.mean * (1 - self.mean) / (self.alpha + self.beta + 1)

    def sample(self, shape: Any = ()) -> Any:
        """Draws without gradients."""
        return self._dirichlet.sample(shape)[..., 0]

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density."""
        value = as_value(value, self.alpha)
        return self._dirichlet.log_prob(F.stack([value, 1.0 - value], axis=-1))

    def entropy(self) -> Any:
        """The entropy, by digamma."""
        return self._dirichlet.entropy()

    def kl_divergence(self, other: Any) -> Any:
        """The divergence from another beta distribution."""
        return self._dirichlet.kl_divergence(other._dirichlet)

    @property
    def _natural_parameters(self) -> tuple[Any, ...]:
        return self.alpha, self.beta

    def _log_normalizer(self, *natural: Any) -> Any:
        alpha, beta = natural
        return F.lgamma(alpha) + F.lgamma(beta) - F.lgamma(alpha + beta)


__dir__ = public_dir(__name__)
