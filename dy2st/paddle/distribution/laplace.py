"""Defines the Laplace distribution."""

from __future__ import annotations

from typing import Any

from dy2st.paddle.distribution.distribution import Distribution, as_value, spread_parameters
from dy2st.paddle.distribution.support import open_uniform
from dy2st_runtime.ir import F
from dy2st_runtime.lazy import public_dir


class Laplace(Distribution):
    """Density exp(-|x - loc| / scale) / (2 * scale).

    >>> import dy2st
    >>> float(dy2st.distribution.Laplace(1.0, 2.0).cdf(1.0))
    0.5
    """

    def __init__(self, loc: Any, scale: Any) -> None:
        """Take centres and scales, which broadcast."""
        self.loc, self.scale = spread_parameters(loc, scale)
        super().__init__(tuple(self.loc.shape))

    @property
    def mean(self) -> Any:
        """The centres."""
        return self.loc

    @property
    def stddev(self) -> Any:
        """sqrt(2) * scale.

        >>> round(dy2st.distribution.Laplace(0.0, 1.0).stddev.item(), 4)
        1.4142
        """
        return 2**0.5 * self.scale

    @property
    def variance(self) -> Any:
        """2 * scale**2."""
        return 2 * F.square(self.scale)

    def sample(self, shape: Any = ()) -> Any:
        """Draws without gradients."""
        return self.rsample(shape).detach()

    def rsample(self, shape: Any = ()) -> Any:
        """Draws through which gradients reach the parameters."""
        return self.icdf(open_uniform(self._extend_shape(shape), self.loc.dtype))

    def log_prob(self, value: Any) -> Any:
        """-|value - loc| / scale - log(2 * scale)."""
        distance = F.abs(as_value(value, self.loc) - self.loc)
        return -distance / self.scale - F.log(2 * self.scale)

    def entropy(self) -> Any:
        """1 + log(2 * scale)."""
        return 1 + F.log(2 * self.scale)

    def cdf(self, value: Any) -> Any:
        """The probability of at most the value."""
        side = as_value(value, self.loc) - self.loc
        return 0.5 - 0.5 * F.sign(side) * F.expm1(-F.abs(side) / self.scale)

    def icdf(self, value: Any) -> Any:
        """The value whose `cdf` is given.

        >>> dy2st.distribution.Laplace(3.0, 1.0).icdf(dy2st.to_tensor([0.5])).item()
        3.0
        """
        side = as_value(value, self.loc) - 0.5
        return self.loc - self.scale * F.sign(side) * F.log1p(-2 * F.abs(side))

    def kl_divergence(self, other: Any) -> Any:
        """The divergence from another Laplace distribution."""
        ratio = self.scale / other.scale
        distance = F.abs(self.loc - other.loc)
        near = ratio * F.exp(-distance / self.scale)
        return near + distance / other.scale - F.log(ratio) - 1


__dir__ = public_dir(__name__)
