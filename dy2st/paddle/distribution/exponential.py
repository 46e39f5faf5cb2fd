"""Defines the exponential distribution."""

from __future__ import annotations

from typing import Any

from dy2st.paddle.distribution.distribution import as_value, parameters
from dy2st.paddle.distribution.exponential_family import ExponentialFamily
from dy2st.paddle.distribution.support import open_uniform
from dy2st_runtime.ir import F
from dy2st_runtime.lazy import public_dir


class Exponential(ExponentialFamily):
    """Density rate * exp(-rate * x) for x >= 0.

    >>> import dy2st
    >>> float(dy2st.distribution.Exponential(2.0).mean)
    0.5
    """

    def __init__(self, rate: Any) -> None:
        """Take the rates."""
        (self.rate,) = parameters(rate)
        self.dtype = self.rate.dtype
        super().__init__(tuple(self.rate.shape))

    @property
    def mean(self) -> Any:
        """1 / rate."""
        return 1.0 / self.rate

    @property
    def variance(self) -> Any:
        """1 / rate**2."""
        return 1.0 / F.square(self.rate)

    def sample(self, shape: Any = ()) -> Any:
        """Draws without gradients."""
        return self.rsample(shape).detach()

    def rsample(self, shape: Any = ()) -> Any:
        """Draws through which gradients reach the rates."""
        return -F.log(open_uniform(self._extend_shape(shape), self.dtype)) / self.rate

    def log_prob(self, value: Any) -> Any:
        """log(rate) - rate * value."""
        return F.log(self.rate) - self.rate * as_value(value, self.rate)

    def entropy(self) -> Any:
        """1 - log(rate)."""
        return 1.0 - F.log(self.rate)

    def cdf(self, value: Any) -> Any:
        """1 - exp(-rate * value).

        >>> one = dy2st.distribution.Exponential(dy2st.ones([1]))
        >>> round(one.cdf(dy2st.to_tensor([1.0])).item(), 4)
        0.6321
        """
        return -F.expm1(-self.rate * as_value(value, self.rate))

    def icdf(self, value: Any) -> Any:
        """The value whose `cdf` is given.

        >>> one = dy2st.distribution.Exponential(dy2st.ones([1]))
        >>> round(one.icdf(dy2st.to_tensor([0.5])).item(), 4)
        0.6931
        """
        return -F.log1p(-as_value(value, self.rate)) / self.rate

    def kl_divergence(self, other: Any) -> Any:
        """The divergence from another exponential distribution."""
        ratio = other.rate / self.rate
        return ratio - 1.0 - F.log(ratio)

    @property
    def _natural_parameters(self) -> tuple[Any, ...]:
        return (-self.rate,)

    def _log_normalizer(self, *natural: Any) -> Any:
        return -F.log(-natural[0])


__dir__ = public_dir(__name__)
