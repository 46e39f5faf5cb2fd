"""Floats of 16 bits in what takes many steps: computed in float32, and rounded once.

A sum of 5000 ones in float16 would stay at 2048, the variance of numbers about 400 would be
infinite. So every kernel, gradient and function that adds up, or has several steps, is decorated:
`@in_float32`. In a Program the casts are operators, so that engines need not know of it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from dy2st_runtime.ir import F, Tensor, is_floating
from dy2st_runtime.ir.location import hide_own_frames

FLOAT32 = np.dtype("float32")


def is_short(dtype: Any) -> bool:
    """Whether it is a float of 16 bits."""
    return bool(dtype.itemsize == 2 and is_floating(dtype))


def in_float32(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of arrays, or of tensors, that computes short floats in float32.

    Its first array or tensor decides: where that is short, all short ones become float32, and
    results in float32 become what the first one was.
    """

    @wraps(function)
    def run(*args: Any, **named: Any) -> Any:
        try:
            dtype = getattr(args[0] if args else None, "dtype", None)
            if dtype is None:
                values = (*args, *named.values())
                dtype = next((v.dtype for v in values if isinstance(v, (Tensor, np.ndarray))), None)
            if dtype is None or dtype.itemsize != 2 or not is_floating(dtype):
                return function(*args, **named)
            found = function(
                *map(longer, args), **{name: longer(value) for name, value in named.items()}
            )
            if isinstance(found, (tuple, list)):
                return type(found)(_shorter(one, dtype) for one in found)
            return _shorter(found, dtype)
        except Exception as error:  # goes on, without our frames
            hide_own_frames(error)
            raise

    return run


def longer(value: Any) -> Any:
    """An array or tensor of short floats as float32; all else as it is."""
    is_array = isinstance(value, (Tensor, np.ndarray, np.generic))
    return _cast(value, FLOAT32) if is_array and is_short(value.dtype) else value


def _shorter(value: Any, dtype: Any) -> Any:
    """A result, or a gradient that is computed only if it is asked for, as short as before."""
    if callable(value):
        return lambda: _shorter(value(), dtype)
    if not isinstance(value, (Tensor, np.ndarray, np.generic)) or value.dtype != FLOAT32:
        return value
    return _cast(value, dtype)


def _cast(value: Any, dtype: Any) -> Any:
    return F.cast(value, dtype) if isinstance(value, Tensor) else value.astype(dtype)


__all__ = ["in_float32", "is_short", "longer"]
