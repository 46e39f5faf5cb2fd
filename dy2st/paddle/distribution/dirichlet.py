"""Defines the Dirichlet distribution."""

from __future__ import annotations

from typing import Any

from dy2st.paddle.distribution.distribution import as_value, parameters
from dy2st.paddle.distribution.exponential_family import ExponentialFamily
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir import F
from dy2st_runtime.lazy import public_dir


class Dirichlet(ExponentialFamily):
    """Density prod(x**(c - 1)) * gamma(sum(c)) / prod(gamma(c)) of shares x: events (n,).

    >>> import dy2st
    >>> print(dy2st.distribution.Dirichlet(dy2st.to_tensor([1.0, 3.0])).mean)
    [0.25 0.75]
    """

    def __init__(self, concentration: Any) -> None:
        """Take the concentrations: (*batch, n)."""
        (self.concentration,) = parameters(concentration)
        if self.concentration.ndim < 1:
            raise ArgumentError("the concentrations of a Dirichlet distribution have an axis")
        shape = tuple(self.concentration.shape)
        super().__init__(shape[:-1], shape[-1:])

    @property
    def mean(self) -> Any:
        """concentration / sum(concentration)."""
        return self.concentration / F.sum(self.concentration, axis=-1, keepdim=True)

    @property
    def variance(self) -> Any:
        """mean * (1 - mean) / (sum(concentration) + 1)."""
        total = F.sum(self.concentration, axis=-1, keepdim=True)
        mean = self.concentration / total
        return mean * (1 - mean) / (total + 1)

    def sample(self, shape: Any = ()) -> Any:
        """Shares, without gradients."""
        wide = F.expand(self.concentration, list(self._extend_shape(shape)))
        drawn = F.standard_gamma(wide)
        return (drawn / F.sum(drawn, axis=-1, keepdim=True)).detach()

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density."""
        value = as_value(value, self.concentration)
        powers = F.sum(F.log(value) * (self.concentration - 1), axis=-1)
        return powers - self._log_normalizer(self.concentration)

    def entropy(self) -> Any:
        """The entropy, by digamma."""
        c = self.concentration
        total = F.sum(c, axis=-1, keepdim=True)
        slopes = F.sum((c - 1) * (F.digamma(c) - F.digamma(total)), axis=-1)
        return self._log_normalizer(c) - slopes

    def kl_divergence(self, other: Any) -> Any:
        """The divergence from another Dirichlet distribution."""
        c = self.concentration
        slopes = F.digamma(c) - F.digamma(F.sum(c, axis=-1, keepdim=True))
        moved = F.sum((c - other.concentration) * slopes, axis=-1)
        return self._log_normalizer(other.concentration) - self._log_normalizer(c) + moved

    @property
    def _natural_parameters(self) -> tuple[Any, ...]:
        return (self.concentration,)

    def _log_normalizer(self, *natural: Any) -> Any:
        (c,) = natural
        return F.sum(F.lgamma(c), axis=-1) - F.lgamma(F.sum(c, axis=-1))


__dir__ = public_dir(__name__)
