"""Zeros around images."""

from __future__ import annotations

from typing import Any

from dy2st_runtime.ir import F


def zeropad2d(x: Any, padding: Any, data_format: str = "NCHW", name: str | None = None) -> Any:
    """(n, c, h, w) -> (n, c, top + h + bottom, left + w + right).

    `padding` is [left, right, top, bottom].

    >>> zeropad2d(F.ones([1, 1, 2, 2]), [1, 0, 0, 0]).shape
    [1, 1, 2, 3]
    """
    return F.pad(x, padding, mode="constant", value=0.0, data_format=data_format)
