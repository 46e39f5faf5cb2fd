"""Kernels that compute a long formula of one array block by block.

Every NumPy call of a formula reads and writes a whole array. In blocks that fit the processor's
cache, what lies between the steps never goes to memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dy2st_runtime.ops.rules import as_floats

BLOCK = 1 << 14
"""Elements of a block: five arrays of float32 take 320 KB."""


def in_blocks(formula: Callable[..., None]) -> Callable[..., Any]:
    """The kernel of an elementwise formula; `out` may be its operand.

    `formula(x, out, **attributes)` writes f(x) into `out`, another array of the shape and dtype of
    x, which is float32 or float64: shorter floats are computed in float32, integers become floats.
    """

    def kernel(x: Any, out: Any = None, **attributes: Any) -> Any:
        x = np.asarray(as_floats(x), order="C")
        # NumPy makes numbers of what it computes of an array without axes: it goes as a block.
        if out is None and x.ndim and x.size <= BLOCK and x.dtype.itemsize > 2:
            result = np.empty_like(x)
            formula(x, result, **attributes)
            return result
        wide = np.promote_types(x.dtype, np.float32)
        result = x if out is x else np.empty_like(x)
        has_work = result is x or wide != x.dtype
        work = np.empty(min(BLOCK, x.size), wide) if has_work else result
        source, target = x.reshape(-1), result.reshape(-1)
        for begin in range(0, x.size, BLOCK):
            block = source[begin : begin + BLOCK].astype(wide, copy=False)
            place = target[begin : begin + BLOCK]
            part = work[: len(block)] if has_work else place
            formula(block, part, **attributes)
            if has_work:
                place[...] = part
        if out is None or out is result:
            return result
        out[...] = result
        return out

    return kernel


__all__ = ["BLOCK", "in_blocks"]
