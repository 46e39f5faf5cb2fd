"""Defines Student's t distribution."""

from __future__ import annotations

import math
from typing import Any

from dy2st.paddle.distribution.distribution import Distribution, as_value, spread_parameters
from dy2st.paddle.distribution.gamma import Gamma
from dy2st_runtime.ir import F
from dy2st_runtime.lazy import public_dir


class StudentT(Distribution):
    """loc + scale * z / sqrt(chi2(df) / df), with a normal z.

    >>> import dy2st
    >>> float(dy2st.distribution.StudentT(3.0, 0.0, 1.0).variance)
    3.0
    """

    def __init__(self, df: Any, loc: Any, scale: Any, name: str | None = None) -> None:
        """Take degrees of freedom, centres and scales, which broadcast."""
        self.name = name or "StudentT"
        self.df, self.loc, self.scale = spread_parameters(df, loc, scale)
        self.dtype = self.df.dtype
        self._chi2 = Gamma(0.5 * self.df, self.df * 0 + 0.5)
        super().__init__(tuple(self.df.shape))

    @property
    def mean(self) -> Any:
        """loc where df > 1, else NaN."""
        return F.where(self.df > 1, self.loc, math.nan)

    @property
    def variance(self) -> Any:
        """scale**2 * df / (df - 2) where df > 2, inf from there to 1, else NaN."""
        safe = F.where(self.df > 2, self.df, 3.0)
        finite = F.square(self.scale) * safe / (safe - 2)
        return F.where(self.df > 2, finite, F.where(self.df > 1, math.inf, math.nan))

    def sample(self, shape: Any = ()) -> Any:
        """Draws; gradients reach loc and scale."""
        normal = F.randn(list(self._extend_shape(shape)), self.dtype)
        return self.loc + self.scale * normal * F.rsqrt(self._chi2.sample(shape) / self.df)

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density."""
        square = F.square((as_value(value, self.df) - self.loc) / self.scale)
        falling = 0.5 * (self.df + 1) * F.log1p(square / self.df)
        return -falling - F.log(self.scale) - 0.5 * F.log(self.df) - self._log_beta()

    def entropy(self) -> Any:
        """The entropy, by digamma."""
        more = 0.5 * (self.df + 1)
        slopes = more * (F.digamma(more) - F.digamma(0.5 * self.df))
        return F.log(self.scale) + 0.5 * F.log(self.df) + slopes + self._log_beta()

    def _log_beta(self) -> Any:
        rest = F.lgamma(0.5 * self.df) - F.lgamma(0.5 * (self.df + 1))
        return rest + 0.5 * math.log(math.pi)


__dir__ = public_dir(__name__)
