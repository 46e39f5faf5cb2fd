"""Defines the log-normal distribution."""

from __future__ import annotations

from typing import Any

from dy2st.paddle.distribution.normal import Normal
from dy2st.paddle.distribution.transformed_distribution import TransformedDistribution
from dy2st.paddle.distribution.transforms import ExpTransform
from dy2st_runtime.ir import F
from dy2st_runtime.lazy import public_dir


class LogNormal(TransformedDistribution):
    """exp of a normal distribution.

    >>> import dy2st
    >>> round(float(dy2st.distribution.LogNormal(0.0, 1.0).mean), 4)
    1.6487
    """

    def __init__(self, loc: Any, scale: Any) -> None:
        """Take means and deviations of the logarithm, which broadcast."""
        base = Normal(loc, scale)
        self.loc, self.scale = base.loc, base.scale
        super().__init__(base, [ExpTransform()])

    @property
    def mean(self) -> Any:
        """exp(loc + scale**2 / 2)."""
        return F.exp(self.loc + F.square(self.scale) / 2)

    @property
    def variance(self) -> Any:
        """(exp(scale**2) - 1) * exp(2 * loc + scale**2)."""
        square = F.square(self.scale)
        return F.expm1(square) * F.exp(2 * self.loc + square)

    def entropy(self) -> Any:
        """The normal distribution's, plus loc."""
        return self._base.entropy() + self.loc

    def kl_divergence(self, other: Any) -> Any:
        """The divergence of the normal distributions."""
        return self._base.kl_divergence(other._base)


__dir__ = public_dir(__name__)
