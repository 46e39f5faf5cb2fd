"""Defines the normal distribution."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dy2st.paddle.distribution.distribution import (
    Distribution,
    as_value,
    parameters,
    sample_shape,
    shape_together,
)
from dy2st.paddle.distribution.support import standard_normal
from dy2st_runtime.errors import DTypeError
from dy2st_runtime.ir import F
from dy2st_runtime.lazy import public_dir

_HALF_LOG_TAU = 0.5 * math.log(2 * math.pi)


class Normal(Distribution):
    """Density exp(-((x - loc) / scale)**2 / 2) / (scale * sqrt(2 * pi)).

    >>> import dy2st
    >>> normal = dy2st.distribution.Normal(0.0, 2.0)
    >>> round(float(normal.log_prob(dy2st.to_tensor(1.0))), 4)
    -1.7371
    """

    def __init__(self, loc: Any, scale: Any, name: str | None = None) -> None:
        """Take means and deviations, which broadcast."""
        if isinstance(loc, complex) or np.issubdtype(getattr(loc, "dtype", np.float32), complex):
            raise DTypeError("Normal is of real numbers: make two, of real and imaginary parts")
        self.name = name or "Normal"
        self.loc, self.scale = parameters(loc, scale)
        self.dtype = self.loc.dtype
        super().__init__(shape_together(self.loc, self.scale))

    @property
    def mean(self) -> Any:
        """The means."""
        return self.loc

    @property
    def variance(self) -> Any:
        """The squares of the deviations."""
        return F.square(self.scale)

    def sample(self, shape: Any = (), seed: int = 0) -> Any:
        """Draws; any seed but 0 gives the same ones at each call."""
        drawn = standard_normal((*sample_shape(shape), *self.batch_shape), self.dtype, seed)
        return self.loc + drawn * self.scale

    def rsample(self, shape: Any = ()) -> Any:
        """Draws through which gradients reach the parameters."""
        return self.sample(shape)

    def entropy(self) -> Any:
        """1/2 + log(2 * pi) / 2 + log(scale)."""
        return F.expand(0.5 + _HALF_LOG_TAU + F.log(self.scale), self.batch_shape)

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density."""
        distance = (as_value(value, self.loc) - self.loc) / self.scale
        return -0.5 * F.square(distance) - F.log(self.scale) - _HALF_LOG_TAU

    def kl_divergence(self, other: Distribution) -> Any:
        """The divergence from another normal distribution."""
        ratio = F.square(self.scale / other.scale)  # type: ignore[attr-defined]
        distance = F.square((self.loc - other.loc) / other.scale)  # type: ignore[attr-defined]
        return 0.5 * (ratio + distance - 1.0 - F.log(ratio))


__dir__ = public_dir(__name__)
