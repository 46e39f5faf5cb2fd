"""What becomes of the losses of all samples."""

from __future__ import annotations

from typing import Any

from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir import F


def reduced(loss: Any, reduction: str | None) -> Any:
    """Their mean, their sum, or, for 'none', themselves.

    >>> print(reduced(F.ones([3]), "sum").item())
    3.0
    """
    if reduction == "mean":
        return F.mean(loss)
    if reduction == "sum":
        return F.sum(loss)
    if reduction in ("none", None):
        return loss
    raise ArgumentError(f"the reduction is 'mean', 'sum' or 'none', not {reduction!r}")
