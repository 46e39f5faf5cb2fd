"""Defines the Gumbel distribution."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dy2st.paddle.distribution.distribution import Distribution, as_value, spread_parameters
from dy2st.paddle.distribution.support import open_uniform
from dy2st_runtime.ir import F
from dy2st_runtime.lazy import public_dir


class Gumbel(Distribution):
    """The distribution function is exp(-exp(-(x - loc) / scale)).

    >>> import dy2st
    >>> round(float(dy2st.distribution.Gumbel(0.0, 1.0).mean), 4)
    0.5772
    """

    def __init__(self, loc: Any, scale: Any) -> None:
        """Take modes and scales, which broadcast."""
        self.loc, self.scale = spread_parameters(loc, scale)
        super().__init__(tuple(self.loc.shape))

    @property
    def mean(self) -> Any:
        """loc + scale * Euler's constant."""
        return self.loc + self.scale * np.euler_gamma

    @property
    def variance(self) -> Any:
        """(pi * scale)**2 / 6."""
        return F.square(self.scale) * (math.pi**2 / 6)

    @property
    def stddev(self) -> Any:
        """The root of the variance.

        >>> round(dy2st.distribution.Gumbel(0.0, 1.0).stddev.item(), 4)
        1.2825
        """
        return self.scale * (math.pi / math.sqrt(6))

    def sample(self, shape: Any = ()) -> Any:
        """Draws without gradients."""
        return self.rsample(shape).detach()

    def rsample(self, shape: Any = ()) -> Any:
        """Draws through which gradients reach the parameters."""
        drawn = open_uniform(self._extend_shape(shape), self.loc.dtype)
        return self.loc - self.scale * F.log(-F.log(drawn))

    def log_prob(self, value: Any) -> Any:
        """-(z + exp(-z)) - log(scale), z = (value - loc) / scale."""
        distance = self._distance(value)
        return -distance - F.exp(-distance) - F.log(self.scale)

    def cdf(self, value: Any) -> Any:
        """The probability of at most the value.

        >>> round(dy2st.distribution.Gumbel(0.0, 1.0).cdf(dy2st.to_tensor([0.0])).item(), 4)
        0.3679
        """
        return F.exp(-F.exp(-self._distance(value)))

    def entropy(self) -> Any:
        """log(scale) + 1 + Euler's constant."""
        return F.log(self.scale) + (1 + np.euler_gamma)

    def _distance(self, value: Any) -> Any:
        return (as_value(value, self.loc) - self.loc) / self.scale


__dir__ = public_dir(__name__)
