"""Replaces operators by others of which they are made.

A roll along the last axis is two slices, one behind the other. Sums and largest elements of windows
are made along one axis after the other, of as many slices as the window has places there:

    window_sum(x, kernel=[3, 3])   =>   y = x[:, :, :-2] + x[:, :, 1:-1] + x[:, :, 2:]
                                        y[..., :-2] + y[..., 1:-1] + y[..., 2:]
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from functools import partial, reduce
from typing import Any

import numpy as np

from dy2st_runtime.dims import maximum, product, require, same_shape
from dy2st_runtime.engine.native.machine.abi import is_native
from dy2st_runtime.ir import F, apply, is_floating
from dy2st_runtime.ir.definition import lookup
from dy2st_runtime.ir.functions import CALL
from dy2st_runtime.ir.program import Operator, Variable
from dy2st_runtime.ir.types import DType

_WIDEST = 32
"""Of windows along one axis: each place is an operator, which takes LLVM its time."""

Pair = tuple[Any, Any]
"""Elements and their places."""

Made = Callable[..., Any]
"""The results of the operands and attributes of an operator."""


def made_of_others(operator: Operator) -> Made | None:
    """How an operator is written with others; None if it is not."""
    definition = lookup(operator.name)
    if definition.kernel is None and not operator.blocks and operator.name != CALL:
        assert definition.decompose is not None, f"operator {operator.name!r} has no kernel"
        return definition.decompose
    if operator.name == "roll":
        last = operator.operands[0].tensor_type.rank - 1
        return _rolled if last in operator.attributes["axis"] else None
    made = _WINDOWS.get(operator.name)
    if made is None or not is_native(operator.operands[0].dtype):
        return None
    kernel, strides = operator.attributes["kernel"], operator.attributes["strides"]
    is_narrow = (
        all(isinstance(size, int) for size in (*kernel, *strides)) and max(kernel) <= _WIDEST
    )
    return made if is_narrow else None


def without_places(operator: Operator, read: Container[Variable]) -> Operator:
    """A max_pool whose places nobody reads as the window_max that it is; others as they are."""
    if operator.name != "max_pool" or operator.results[1] in read:
        return operator
    alone = Operator("window_max", operator.operands, operator.attributes, operator.block)
    alone.results, alone.location = operator.results[:1], operator.location
    return alone


def _rolled(x: Any, shifts: Sequence[Any], axis: Sequence[int]) -> Any:
    """Rows as two pieces that trade places, each copied whole; along other axes rows are picked."""
    last, size = x.ndim - 1, x.shape[-1]
    pairs = list(zip(shifts, axis, strict=True))
    others = [(shift, place) for shift, place in pairs if place != last]
    if others:
        amounts, places = zip(*others, strict=True)
        x = apply("roll", x, shifts=amounts, axis=places)
    start = -sum(shift for shift, place in pairs if place == last) % maximum(size, 1)
    return F.concat([x[..., start:], x[..., :start]], -1)


def _lowest(dtype: DType) -> float:
    return -np.inf if is_floating(dtype) else int(np.iinfo(dtype).min)


def _windows(
    join: str,
    beyond: Callable[[DType], float],
    x: Any,
    kernel: Sequence[int],
    strides: Sequence[int],
    pads: Any,
) -> Any:
    x = _padded(x, pads, beyond(x.dtype))
    for axis, (width, stride) in enumerate(zip(kernel, strides, strict=True), 2):
        x = reduce(getattr(F, join), _shifted(x, axis, width, stride))
    return x


def _largest(x: Any, kernel: Sequence[int], strides: Sequence[int], pads: Any) -> Any:
    """The largest elements and their places; the last axis first, as the first of equals counts."""
    # Of the elements of padded axes, in the flattened axes without pads.
    sizes = x.shape[2:]
    places = F.zeros([1] * (2 + len(sizes)), "int64")
    for axis, (size, (before, after)) in enumerate(zip(sizes, pads, strict=True)):
        shape = [1] * (2 + len(sizes))
        shape[2 + axis] = size + before + after
        own = F.arange(-before, size + after, 1, "int64") * product(sizes[axis + 1 :])
        places = places + F.reshape(own, shape)
    x = _padded(x, pads, _lowest(x.dtype))
    for axis in range(x.ndim - 1, 1, -1):
        width, stride = kernel[axis - 2], strides[axis - 2]
        parts = zip(*(_shifted(one, axis, width, stride) for one in (x, places)), strict=True)
        x, places = reduce(_larger, parts)
    return x, F.expand(places, x.shape)


def _spread(
    x: Any, sizes: Sequence[Any], kernel: Sequence[int], strides: Sequence[int], pads: Any
) -> Any:
    """Sums again: of what lies as far apart as the windows do, and zeros between."""
    for axis, size in enumerate(sizes, 2):
        width, stride, (before, _) = kernel[axis - 2], strides[axis - 2], pads[axis - 2]
        head, count, rest = x.shape[:axis], x.shape[axis], x.shape[axis + 1 :]
        if stride > 1:
            apart = F.reshape(x, [*head, count, 1, *rest])
            apart = _wider(apart, axis + 1, 0, stride - 1)
            x = F.reshape(apart, [*head, count * stride, *rest])
        start = width - 1 - before
        x = _wider(x, axis, start, size + width - 1 - count * stride - start)
        cuts = [(*[slice(None)] * axis, slice(place, place + size)) for place in range(width)]
        x = reduce(F.add, [x[cut] for cut in cuts])
    return x


def _wider(x: Any, axis: int, before: Any, after: Any) -> Any:
    pads = [(0, 0)] * x.ndim
    pads[axis] = (before, after)
    return apply("pad", x, pads=tuple(pads), mode="constant", value=0)


def _larger(best: Pair, other: Pair) -> Pair:
    """The other one if it is larger, or the first NaN."""
    is_larger = F.logical_and(F.equal(best[0], best[0]), ~F.less_equal(other[0], best[0]))
    (x, y), (place, at) = zip(other, best, strict=True)
    return F.where(is_larger, x, y), F.where(is_larger, place, at)


def _padded(x: Any, pads: Any, beyond: float) -> Any:
    if same_shape(sum(pads, ()), (0,) * 2 * len(pads)):
        return x
    return apply("pad", x, pads=((0, 0), (0, 0), *pads), mode="constant", value=beyond)


def _shifted(x: Any, axis: int, width: int, stride: int) -> list[Any]:
    """For every place of a window, the elements of x that windows have there."""
    size = x.shape[axis]
    require(size >= width, f"a window of {width} does not fit")
    cuts = [slice(place, size - width + place + 1, stride) for place in range(width)]
    return [x[(*[slice(None)] * axis, cut)] for cut in cuts]


_WINDOWS: dict[str, Made] = {
    "window_spread": _spread,
    "window_sum": partial(_windows, "add", lambda dtype: 0),
    "max_pool": _largest,
    "window_max": partial(_windows, "maximum", _lowest),
}

__all__ = ["Made", "made_of_others", "without_places"]
