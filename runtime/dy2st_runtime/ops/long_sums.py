"""Sums of float32 along axes that are not the innermost ones, of many elements."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

_LONG = 2048
"""From how many elements along an axis on they are added in blocks."""


def in_blocks(x: Any, axis: tuple[int, ...]) -> Any:
    """What has the same sums, of float32: some elements along the axes are added already.

    NumPy adds pairs of pairs where elements lie one after the other, and else one by one: of a
    million equal numbers only two digits are right then.
    """
    if x.dtype.itemsize != 4 or x.dtype.kind != "f" or len(axis) == x.ndim:
        return x
    for place in axis:
        count = x.shape[place]
        if count > _LONG and abs(x.strides[place]) > 4:
            rows = math.isqrt(count)
            ahead = (slice(None),) * place
            whole, rest = x[(*ahead, slice(rows * rows))], x[(*ahead, slice(rows * rows, None))]
            shape = (*x.shape[:place], rows, rows, *x.shape[place + 1 :])
            x = np.concatenate([np.add.reduce(whole.reshape(shape), axis=place + 1), rest], place)
    return x


def add_up(x: Any, axis: tuple[int, ...], **options: Any) -> Any:
    """`np.add.reduce` along the axes."""
    return np.add.reduce(in_blocks(x, axis), axis=axis, **options)


__all__ = ["add_up", "in_blocks"]
