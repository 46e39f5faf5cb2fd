"""Defines the gamma distribution."""

from __future__ import annotations

from typing import Any

from dy2st.paddle.distribution.distribution import as_value, spread_parameters
from dy2st.paddle.distribution.exponential_family import ExponentialFamily
from dy2st_runtime.ir import F
from dy2st_runtime.lazy import public_dir


class Gamma(ExponentialFamily):
    """Density rate**c / gamma(c) * x**(c - 1) * exp(-rate * x), with the concentration c.

    >>> import dy2st
    >>> float(dy2st.distribution.Gamma(3.0, 2.0).mean)
    1.5
    """

    def __init__(self, concentration: Any, rate: Any) -> None:
        """Take concentrations and rates, which broadcast."""
        self.concentration, self.rate = spread_parameters(concentration, rate)
        self.dtype = self.concentration.dtype
        super().__init__(tuple(self.concentration.shape))

    @property
    def mean(self) -> Any:
        """concentration / rate."""
        return self.concentration / self.rate

    @property
    def variance(self) -> Any:
        """concentration / rate**2."""
        return self.concentration / F.square(self.rate)

    def sample(self, shape: Any = ()) -> Any:
        """Draws without gradients."""
        return self.rsample(shape).detach()

    def rsample(self, shape: Any = ()) -> Any:
        """Draws through which gradients reach the rates alone, as in PaddlePaddle."""
        concentration = F.expand(self.concentration, list(self._extend_shape(shape)))
        return F.standard_gamma(concentration) / self.rate

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density."""
        value = as_value(value, self.rate)
        shaped = self.concentration * F.log(self.rate) - F.lgamma(self.concentration)
        return shaped + (self.concentration - 1) * F.log(value) - self.rate * value

    def entropy(self) -> Any:
        """c - log(rate) + log(gamma(c)) + (1 - c) * digamma(c)."""
        c = self.concentration
        return c - F.log(self.rate) + F.lgamma(c) + (1 - c) * F.digamma(c)

    def kl_divergence(self, other: Any) -> Any:
        """The divergence from another gamma distribution."""
        c = self.concentration
        shapes = F.lgamma(other.concentration) - F.lgamma(c)
        shapes = shapes + (c - other.concentration) * F.digamma(c)
        ratio = other.rate / self.rate
        return shapes - other.concentration * F.log(ratio) + c * (ratio - 1)

    @property
    def _natural_parameters(self) -> tuple[Any, ...]:
        return self.concentration - 1, -self.rate

    def _log_normalizer(self, *natural: Any) -> Any:
        power, slope = natural
        return F.lgamma(power + 1) - (power + 1) * F.log(-slope)


__dir__ = public_dir(__name__)
