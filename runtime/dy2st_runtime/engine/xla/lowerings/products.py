"""Products of matrices, convolutions, and windows of pooling."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from dy2st_runtime.engine.xla.library import jax, jnp, lax
from dy2st_runtime.engine.xla.lowerings.numbers import FLOAT64, INT64, in_float32
from dy2st_runtime.engine.xla.table import lower
from dy2st_runtime.ir import is_floating


@lower("matmul")
@in_float32
def _matmul(x: Any, y: Any) -> Any:
    if x.dtype == np.bool_:
        return jnp.matmul(x.astype(np.int32), y.astype(np.int32)) > 0
    return jnp.matmul(x, y)


def _in_floats(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of arrays with integers in float64: XLA convolves and transposes floats alone."""

    def run(*arrays: Any, **attributes: Any) -> Any:
        if arrays[0].dtype.kind not in "iu":
            return function(*arrays, **attributes)
        made = function(*(x.astype(FLOAT64) for x in arrays), **attributes)
        return made.astype(INT64)

    return run


def _beside(bias: Any, rank: int) -> Any:
    return bias.reshape((1, -1, *[1] * (rank - 2)))


def _convolved(x: Any, w: Any, strides: Any, pads: Any, dilations: Any, groups: int) -> Any:
    return lax.conv_general_dilated(
        x,
        w,
        strides,
        pads,
        rhs_dilation=dilations,
        feature_group_count=groups,
    )


@lower("conv")
@in_float32
@_in_floats
def _conv(x: Any, w: Any, bias: Any = None, **geometry: Any) -> Any:
    y = _convolved(x, w, **geometry)
    return y if bias is None else y + _beside(bias, x.ndim)


def _all_windows(g: Any, sizes: Any, kernel: Any, strides: Any, pads: Any, dilations: Any) -> Any:
    """g with zeros for the windows behind those that there are."""
    behind = []
    geometry = zip(g.shape[2:], sizes, kernel, strides, pads, dilations, strict=True)
    for count, size, width, stride, (before, after), dilation in geometry:
        room = (size + before + after - dilation * (width - 1) - 1) // stride + 1
        behind.append((0, room - count, 0))
    return lax.pad(g, np.zeros((), g.dtype), [(0, 0, 0), (0, 0, 0), *behind])


@lower("conv_transpose")
@in_float32
@_in_floats
def _conv_transpose(
    x: Any, w: Any, bias: Any = None, *, sizes: Any, groups: int, **geometry: Any
) -> Any:
    """What a convolution takes from its result back to what it read."""
    given = jax.ShapeDtypeStruct((x.shape[0], w.shape[1] * groups, *sizes), x.dtype)
    wide = _all_windows(x, sizes, w.shape[2:], **geometry)
    back = jax.linear_transpose(lambda t: _convolved(t, w, groups=groups, **geometry), given)
    (y,) = back(wide)
    return y if bias is None else y + _beside(bias, x.ndim)


@lower("conv_weight")
@in_float32
@_in_floats
def _conv_weight(x: Any, g: Any, kernel: Any, groups: int, **geometry: Any) -> Any:
    """The same for its filters."""
    shape = (g.shape[1], x.shape[1] // groups, *kernel)
    wide = _all_windows(g, x.shape[2:], kernel, **geometry)
    given = jax.ShapeDtypeStruct(shape, x.dtype)
    back = jax.linear_transpose(lambda w: _convolved(x, w, groups=groups, **geometry), given)
    return back(wide)[0]


def _lowest(dtype: Any) -> Any:
    if is_floating(dtype):
        return np.asarray(-math.inf, dtype)
    return np.asarray(np.iinfo(dtype).min, dtype)


def _windows(x: Any, start: Any, join: Any, kernel: Any, strides: Any, pads: Any) -> Any:
    return lax.reduce_window(
        x, start, join, (1, 1, *kernel), (1, 1, *strides), ((0, 0), (0, 0), *pads)
    )


@lower("window_max")
def _window_max(x: Any, **window: Any) -> Any:
    return _windows(x, _lowest(x.dtype), lax.max, **window)


def _sums(x: Any, **window: Any) -> Any:
    return _windows(x, np.zeros((), x.dtype), lax.add, **window)


@lower("window_sum")
@in_float32
def _window_sum(x: Any, **window: Any) -> Any:
    return _sums(x, **window)


@lower("window_spread")
@in_float32
@_in_floats
def _window_spread(x: Any, sizes: Any, **window: Any) -> Any:
    given = jax.ShapeDtypeStruct((*x.shape[:2], *sizes), x.dtype)
    return jax.linear_transpose(lambda t: _sums(t, **window), given)(x)[0]


@lower("max_pool")
def _max_pool(x: Any, kernel: Any, strides: Any, pads: Any) -> tuple[Any, Any]:
    """The largest elements, and their places: place after place of the window, as NumPy does."""
    around = [(0, 0, 0), (0, 0, 0), *((before, after, 0) for before, after in pads)]
    parts = _shifted(lax.pad(x, _lowest(x.dtype), around), kernel, strides)
    _, values = next(parts)
    inside = jnp.zeros(values.shape, INT64)
    for number, part in parts:
        # The first NaN is the largest of all.
        is_larger = (values == values) & ~(part <= values)
        values, inside = jnp.maximum(values, part), jnp.where(is_larger, number, inside)
    return values, _places(inside, x.shape[2:], kernel, strides, pads)


def _shifted(x: Any, kernel: Any, strides: Any) -> Iterator[tuple[int, Any]]:
    """For every place of the window, its number and the elements that windows have there."""
    counts = [(n - k) // s + 1 for n, k, s in zip(x.shape[2:], kernel, strides, strict=True)]
    for number, place in enumerate(itertools.product(*map(range, kernel))):
        moves = zip(place, strides, counts, strict=True)
        steps = [slice(k, k + s * (n - 1) + 1, s) for k, s, n in moves]
        yield number, x[(slice(None), slice(None), *steps)]


def _places(inside: Any, sizes: Any, kernel: Any, strides: Any, pads: Any) -> Any:
    """Where elements are in flattened axes, by the numbers of their places in their windows."""
    step, within, found = 1, inside, jnp.zeros((), INT64)
    for axis in reversed(range(len(sizes))):
        start = lax.broadcasted_iota(INT64, inside.shape, 2 + axis) * strides[axis]
        found = found + (within % kernel[axis] + start - pads[axis][0]) * step
        within, step = within // kernel[axis], step * sizes[axis]
    return found
