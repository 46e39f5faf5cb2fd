"""Defines the Poisson distribution."""

from __future__ import annotations

from typing import Any

from dy2st.paddle.distribution.distribution import Distribution, as_value, parameters
from dy2st.paddle.distribution.support import expectation, times_log, whole_numbers
from dy2st_runtime.ir import F
from dy2st_runtime.lazy import public_dir


class Poisson(Distribution):
    """Counts k with the probability rate**k * exp(-rate) / k!; a plain number is a batch of one.

    >>> import dy2st
    >>> print(dy2st.distribution.Poisson(2.0).variance)
    [2.]
    """

    def __init__(self, rate: Any) -> None:
        """Take the rates."""
        (self.rate,) = parameters([rate] if isinstance(rate, (int, float)) else rate)
        self.dtype = self.rate.dtype
        super().__init__(tuple(self.rate.shape))

    @property
    def mean(self) -> Any:
        """The rates."""
        return self.rate

    @property
    def variance(self) -> Any:
        """The rates."""
        return self.rate

    def sample(self, shape: Any = ()) -> Any:
        """Draws, as floats."""
        return F.poisson(F.expand(self.rate, list(self._extend_shape(shape)))).detach()

    def log_prob(self, value: Any) -> Any:
        """value * log(rate) - rate - log(value!), with 0 * log(0) = 0."""
        value = as_value(value, self.rate)
        return times_log(value, self.rate) - self.rate - F.lgamma(value + 1)

    def entropy(self) -> Any:
        """-sum(p * log(p)) over the counts up to 30 deviations beyond the rate."""
        most = F.max(self.rate)
        last = F.floor(most + 30 * F.sqrt(F.maximum(most, F.ones_like(most))))
        logs = self.log_prob(whole_numbers(last, self.rate))
        return -expectation(logs, logs)

    def kl_divergence(self, other: Any) -> Any:
        """The divergence from another Poisson distribution."""
        shared = times_log(self.rate, self.rate) - times_log(self.rate, other.rate)
        return shared - self.rate + other.rate


__dir__ = public_dir(__name__)
