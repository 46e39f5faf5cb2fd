"""Defines the Cauchy distribution."""

from __future__ import annotations

import math
from typing import Any

from dy2st.paddle.distribution.distribution import Distribution, as_value, spread_parameters
from dy2st.paddle.distribution.support import open_uniform
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir import F
from dy2st_runtime.lazy import public_dir


class Cauchy(Distribution):
    """Density 1 / (pi * scale * (1 + ((x - loc) / scale)**2)).

    >>> import dy2st
    >>> round(float(dy2st.distribution.Cauchy(0.0, 1.0).cdf(dy2st.to_tensor(1.0))), 4)
    0.75
    """

    def __init__(self, loc: Any, scale: Any, name: str | None = None) -> None:
        """Take centres and scales, which broadcast."""
        self.name = name or "Cauchy"
        self.loc, self.scale = spread_parameters(loc, scale)
        self.dtype = self.loc.dtype
        super().__init__(tuple(self.loc.shape))

    @property
    def mean(self) -> Any:
        """There is none: ArgumentError."""
        raise ArgumentError("a Cauchy distribution has no mean: `loc` is its median")

    @property
    def variance(self) -> Any:
        """There is none: ArgumentError."""
        raise ArgumentError("a Cauchy distribution has no variance: `scale` says how wide it is")

    @property
    def stddev(self) -> Any:
        """There is none: ArgumentError.

        >>> dy2st.distribution.Cauchy(0.0, 1.0).stddev  # doctest: +ELLIPSIS
        Traceback (most recent call last):
            ...
        dy2st_runtime.errors.ArgumentError: a Cauchy distribution has no stddev: `scale`...
        """
        raise ArgumentError("a Cauchy distribution has no stddev: `scale` says how wide it is")

    def sample(self, shape: Any = (), name: str | None = None) -> Any:
        """Draws without gradients."""
        return self.rsample(shape).detach()

    def rsample(self, shape: Any = (), name: str | None = None) -> Any:
        """Draws through which gradients reach the parameters."""
        drawn = open_uniform(self._extend_shape(shape), self.dtype)
        return self.loc + self.scale * F.tan(math.pi * (drawn - 0.5))

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density."""
        distance = (as_value(value, self.loc) - self.loc) / self.scale
        return -F.log1p(F.square(distance)) - F.log(self.scale) - math.log(math.pi)

    def cdf(self, value: Any) -> Any:
        """The probability of at most the value."""
        distance = (as_value(value, self.loc) - self.loc) / self.scale
        return F.atan(distance) / math.pi + 0.5

    def entropy(self) -> Any:
        """log(4 * pi * scale)."""
        return F.log(self.scale) + math.log(4 * math.pi)

    def kl_divergence(self, other: Any) -> Any:
        """The divergence from another Cauchy distribution."""
        together = F.square(self.scale + other.scale) + F.square(self.loc - other.loc)
        return F.log(together) - F.log(4 * self.scale * other.scale)


__dir__ = public_dir(__name__)
