"""Special functions that are composites of others."""

from __future__ import annotations

import math
from typing import Any

from dy2st.importers.torch.table import Call, as_tensor, row, rows
from dy2st_runtime.ir.dispatch import F


def erfc(x: Any) -> Any:
    """1 - erf(x), exact where that cancels."""
    half = as_tensor(0.5, x.dtype)
    is_far = F.greater_than(x, half)
    far = F.where(is_far, x, F.ones_like(x))
    tail = F.gammaincc(F.full_like(far, 0.5), F.multiply(far, far))
    near = F.where(is_far, F.zeros_like(x), x)
    return F.where(is_far, tail, F.subtract(as_tensor(1, x.dtype), F.erf(near)))


@row("aten.erfc.default", "aten.special_erfc.default")
def _erfc(at: Call, x: Any) -> Any:
    return erfc(at.cast(x))


@row("aten.special_ndtr.default")
def _normal(at: Call, x: Any) -> Any:
    x = at.cast(x)
    half = as_tensor(0.5, x.dtype)
    return F.multiply(half, erfc(F.multiply(x, as_tensor(-math.sqrt(0.5), x.dtype))))


@row("aten.special_entr.default")
def _entropy(at: Call, x: Any) -> Any:
    x = at.cast(x)
    zero = F.zeros_like(x)
    is_some = F.greater_than(x, zero)
    safe = F.where(is_some, x, F.ones_like(x))
    below = F.where(
        F.less_than(x, zero), as_tensor(-math.inf, x.dtype), F.where(F.isnan(x), x, zero)
    )
    return F.where(is_some, F.neg(F.multiply(x, F.log(safe))), below)


rows(
    {
        "polygamma special_polygamma": lambda at, n, x: F.polygamma(at.cast(x), n),
        "mvlgamma": lambda at, x, p: F.multigammaln(at.cast(x), p),
    }
)
