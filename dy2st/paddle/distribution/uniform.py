"""Defines the uniform distribution."""

from __future__ import annotations

from typing import Any

from dy2st.paddle.distribution.distribution import (
    Distribution,
    as_value,
    parameters,
    sample_shape,
    shape_together,
)
from dy2st.paddle.distribution.support import standard_uniform
from dy2st_runtime.ir import F
from dy2st_runtime.lazy import public_dir


class Uniform(Distribution):
    """Density 1 / (high - low) between low and high, 0 elsewhere and at both ends.

    >>> import dy2st
    >>> float(dy2st.distribution.Uniform(0.0, 4.0).probs(dy2st.to_tensor(1.0)))
    0.25
    """

    def __init__(self, low: Any, high: Any, name: str | None = None) -> None:
        """Take the ends, which broadcast."""
        self.name = name or "Uniform"
        self.low, self.high = parameters(low, high)
        self.dtype = self.low.dtype
        super().__init__(shape_together(self.low, self.high))

    @property
    def mean(self) -> Any:
        """The middles."""
        return (self.low + self.high) / 2

    @property
    def variance(self) -> Any:
        """(high - low)**2 / 12."""
        return F.square(self.high - self.low) / 12

    def sample(self, shape: Any = (), seed: int = 0) -> Any:
        """Draws; any seed but 0 gives the same ones at each call."""
        drawn = standard_uniform((*sample_shape(shape), *self.batch_shape), self.dtype, seed)
        return self.low + drawn * (self.high - self.low)

    def rsample(self, shape: Any = ()) -> Any:
        """Draws through which gradients reach the parameters."""
        return self.sample(shape)

    def entropy(self) -> Any:
        """log(high - low)."""
        return F.log(self.high - self.low)

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density: -inf outside."""
        return F.where(self._inside(value), 0.0, -float("inf")) - F.log(self.high - self.low)

    def probs(self, value: Any) -> Any:
        """The density."""
        return F.cast(self._inside(value), self.dtype) / (self.high - self.low)

    def kl_divergence(self, other: Distribution) -> Any:
        """The divergence from another uniform distribution: inf if that does not cover this."""
        low, high = other.low, other.high  # type: ignore[attr-defined]
        is_covered = F.logical_and(low <= self.low, self.high <= high)
        return F.where(is_covered, F.log((high - low) / (self.high - self.low)), float("inf"))

    def _inside(self, value: Any) -> Any:
        value = as_value(value, self.low)
        return F.logical_and(self.low < value, value < self.high)


__dir__ = public_dir(__name__)
