"""Defines the chi-squared distribution."""

from __future__ import annotations

from typing import Any

from dy2st.paddle.distribution.distribution import parameters
from dy2st.paddle.distribution.gamma import Gamma
from dy2st_runtime.lazy import public_dir


class Chi2(Gamma):
    """The sum of the squares of `df` normal numbers: a gamma distribution (df / 2, 1/2).

    >>> import dy2st
    >>> float(dy2st.distribution.Chi2(3.0).mean)
    3.0
    """

    def __init__(self, df: Any) -> None:
        """Take the degrees of freedom."""
        (self.df,) = parameters(df)
        super().__init__(self.df * 0.5, self.df * 0 + 0.5)


__dir__ = public_dir(__name__)
