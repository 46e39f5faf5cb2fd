"""Casts as NumPy makes them on x86, and the dtypes in which functions compute."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from dy2st_runtime.engine.xla.library import jnp, lax
from dy2st_runtime.ir import is_floating

INT32, INT64, UINT64 = np.dtype("int32"), np.dtype("int64"), np.dtype("uint64")
_SMALL = 4096
FLOAT32, FLOAT64 = np.dtype("float32"), np.dtype("float64")


def cast(x: Any, dtype: np.dtype[Any]) -> Any:
    """x in another dtype. Of floats that do not fit into integers, XLA would take the nearest.

    The processor gives the least integer instead, of 32 bits for shorter ones, which then lose
    their upper bits.
    """
    dtype = np.dtype(dtype)
    if x.dtype == np.bool_ and (is_floating(dtype) or dtype.kind == "c"):
        # Of a product with a cast XLA would make a choice: 0 of False and infinity, and not NaN.
        return jnp.where(x, np.ones((), dtype), np.zeros((), dtype))
    if x.dtype == dtype or not is_floating(x.dtype) or dtype.kind not in "iu":
        return x.astype(dtype)
    if dtype == UINT64:
        half = np.asarray(2.0**63, x.dtype)
        upper = _cut(x - half, INT64) ^ np.int64(-(2**63))
        return jnp.where(x >= half, upper, _cut(x, INT64)).astype(UINT64)
    is_wide = dtype == INT64 or dtype == np.uint32
    return _cut(x, INT64 if is_wide else INT32).astype(dtype)


def _cut(x: Any, dtype: np.dtype[Any]) -> Any:
    """Floats without fractions as signed integers; the least one for what does not fit."""
    if x.dtype.itemsize == 2:
        x = x.astype(FLOAT32)
    least = np.iinfo(dtype).min
    # The limits are powers of two, which every float has exactly; below int32's least one there
    # are fractions of float64 that still fit.
    whole = jnp.trunc(x)
    fits = (whole >= np.asarray(least, x.dtype)) & (whole < np.asarray(-float(least), x.dtype))
    return jnp.where(fits, lax.convert_element_type(jnp.where(fits, whole, 0), dtype), least)


def floats(x: Any) -> Any:
    """x, as float64 if it holds integers or bools: the result is cast to what the type says."""
    return x if is_floating(x.dtype) or x.dtype.kind == "c" else cast(x, FLOAT64)


def on_floats(name_or_function: Any) -> Callable[..., Any]:
    """A function of arrays, or of that name in `jax.numpy`, with integers as floats."""

    def run(*arrays: Any) -> Any:
        function = name_or_function
        if isinstance(function, str):
            function = getattr(jnp, function)
        return function(*map(floats, arrays))

    return run


def quotient(x: Any, y: Any) -> Any:
    """x / y of floats. By few numbers XLA divides as by their inverses: 49 / 49 is not 1 then.

    So a quotient that would be exact is put right.
    """
    made = x / y
    is_small = all(isinstance(size, int) and size <= _SMALL for size in y.shape) and y.ndim < 2
    if not is_small or made.dtype.kind == "c":
        return made
    nearer = made + (x - made * y) / y
    return jnp.where((made * y != x) & (nearer * y == x), nearer, made)


def longer(x: Any) -> Any:
    """x, as float32 if it is a float of 16 bits."""
    return x.astype(FLOAT32) if x.dtype.itemsize == 2 and is_floating(x.dtype) else x


def in_float32(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of arrays that computes floats of 16 bits in float32."""

    @wraps(function)
    def run(*arrays: Any, **attributes: Any) -> Any:
        return function(*map(longer, arrays), **attributes)

    return run


def in_float64(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of real arrays that computes in float64, as NumPy's kernels of it do."""

    @wraps(function)
    def run(*arrays: Any, **attributes: Any) -> Any:
        return function(*(x.astype(FLOAT64) for x in arrays), **attributes)

    return run


__all__ = [
    "FLOAT32",
    "FLOAT64",
    "INT64",
    "cast",
    "floats",
    "in_float32",
    "in_float64",
    "longer",
    "on_floats",
    "quotient",
]
