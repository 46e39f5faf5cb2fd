"""Elements at the places that tensors name: read, written, joined; orders and searches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dy2st_runtime.dims import Size
from dy2st_runtime.engine.onnx.graph import Graph, is_same_shape, is_same_size
from dy2st_runtime.engine.onnx.nodes import BOOL, INT32, INT64, Value
from dy2st_runtime.engine.onnx.table import rows, write
from dy2st_runtime.ir import is_floating
from dy2st_runtime.ir.program import Operator, Variable
from dy2st_runtime.ops.slicing import place_of_picked


def _places(g: Graph, index: Value) -> Value:
    return index if index.dtype in (INT32, INT64) else g.cast(index, INT64)


@write("index")
def _index(g: Graph, x: Value, *indices: Value, axes: Any) -> Value:
    shape = g.result.shape
    if len(axes) == 1:
        return g.op("Gather", x, _places(g, indices[0]), axis=axes[0], shape=shape)
    along = _axis_along(g)
    # onnx.reference chooses elements from at most 64.
    if along is not None and _is_short((x.shape or ())[along]):
        index = _places(g, indices[axes.index(along)])
        return g.op("GatherElements", x, index, axis=along, shape=shape)
    picked, places = _joined_places(g, indices)
    rest = [axis for axis in range(x.rank) if axis not in axes]
    moved = g.transpose(x, [*axes, *rest])
    made_shape = (*picked, *(x.shape[axis] for axis in rest)) if x.shape else ()
    made = g.op("GatherND", moved, places, shape=made_shape)
    front, place = len(picked), place_of_picked(tuple(axes))
    behind = range(front, front + len(rest))
    perm = [*behind[:place], *range(front), *behind[place:]]
    return g.transpose(made, perm)


def _joined_places(g: Graph, indices: Sequence[Value]) -> tuple[tuple[Size, ...], Value]:
    """The shape that indices have together, and the places along a last axis."""
    assert g.operator is not None
    rank = max(index.rank for index in indices)
    whole = next((one.shape or () for one in indices if one.rank == rank), ())
    is_one = all(is_same_shape(one.shape or (), whole) for one in indices)
    wide = [g.cast(index, INT64) for index in indices]
    picked = whole
    if not is_one:
        picked = _broadcast(g, indices, rank)
        wide = [g.expand(one, picked) for one in wide]
    parts = [g.unsqueeze(one, [rank]) for one in wide]
    return picked, g.concat(parts, rank, (*picked, len(parts)))


def _broadcast(g: Graph, indices: Sequence[Value], rank: int) -> tuple[Size, ...]:
    """The shape of what is picked, as the result of the operator has it, or else the largest."""
    from_end = [
        [one.shape[-k] for one in indices if one.shape and one.rank >= k]
        for k in range(rank, 0, -1)
    ]
    return tuple(
        next((s for s in sizes if not (isinstance(s, int) and s == 1)), sizes[0])
        for sizes in from_end
    )


def _axis_along(g: Graph) -> int | None:
    """The axis along which elements are picked, where all other places are every one.

    `take_along_axis` is written so, with a range for each other axis.
    """
    assert g.operator is not None
    operator = g.operator
    axes, shape = operator.attributes["axes"], operator.operands[0].tensor_type.shape
    indices = operator.operands[-len(axes) :]
    if len(axes) != len(shape):
        return None
    chosen = [
        axis for axis, one in zip(axes, indices, strict=True) if not _is_range(one, axis, shape)
    ]
    picked = indices[axes.index(chosen[0])].tensor_type.shape if len(chosen) == 1 else ()
    if len(picked) != len(shape):
        return None
    others = [(a, b) for axis, (a, b) in enumerate(zip(shape, picked)) if axis != chosen[0]]
    return chosen[0] if all(is_same_size(a, b) for a, b in others) else None


def _is_short(size: Size) -> bool:
    return isinstance(size, int) and size <= 64


def _is_range(index: Variable, axis: int, shape: Sequence[Size]) -> bool:
    """Whether it is 0, 1, 2, ... along an axis of a tensor, and one long along all others."""
    maker = index.maker
    while isinstance(maker, Operator) and maker.name == "reshape":
        maker = maker.operands[0].maker
    if not isinstance(maker, Operator) or maker.name != "arange":
        return False
    at, own = maker.attributes, index.tensor_type.shape
    is_counted = (at["start"], at["step"]) == (0, 1) and is_same_size(at["stop"], shape[axis])
    wanted: list[Size] = [1] * len(shape)
    wanted[axis] = shape[axis]
    return is_counted and len(own) == len(wanted) and all(map(is_same_size, own, wanted))


@write("index_put")
def _index_put(
    g: Graph, x: Value, value: Value, *indices: Value, axes: Any, accumulate: bool
) -> Value:
    value = g.cast(value, x.dtype)
    if x.dtype == BOOL and accumulate:
        made = _scatter(g, g.cast(x, INT64), g.cast(value, INT64), indices, axes, "max")
        return g.cast(made, BOOL)
    return _scatter(g, x, value, indices, axes, "add" if accumulate else None)


def _scatter(
    g: Graph, x: Value, value: Value, indices: Sequence[Value], axes: Any, join: str | None
) -> Value:
    picked, places = _joined_places(g, indices)
    rest = [axis for axis in range(x.rank) if axis not in axes]
    order = [*axes, *rest]
    moved = g.transpose(x, order)
    kept = [(x.shape or ())[axis] for axis in rest]
    place, front = place_of_picked(tuple(axes)), len(picked)
    value = g.expand(value, (*kept[:place], *picked, *kept[place:]))
    behind = [*range(place), *range(place + front, front + len(rest))]
    value = g.transpose(value, [*range(place, place + front), *behind])
    kernel = f"ScatterND:{join}" if join else "ScatterND"
    made = g.op("ScatterND", moved, places, value, reduction=join, kernel=kernel, shape=moved.shape)
    return g.transpose(made, [order.index(axis) for axis in range(x.rank)])


@write("one_hot")
def _one_hot(g: Graph, x: Value, num_classes: Any) -> Value:
    x = g.cast(x, INT64)
    count = g.number(num_classes)
    inside = g.op(
        "And",
        g.op("GreaterOrEqual", x, g.const(np.int64(0))),
        g.op("Less", x, count),
        shape=x.shape,
    )
    g.require(g.all_of(inside))
    return g.op("Equal", g.unsqueeze(x, [x.rank]), g.arange(num_classes), shape=g.result.shape)


@write("scatter_reduce")
def _scatter_reduce(
    g: Graph, x: Value, index: Value, values: Value, axis: int, reduce: str, include_self: bool
) -> Value:
    own, index = x.dtype, _places(g, index)
    x, values = g.longer(x), g.longer(values)
    if x.dtype == BOOL or x.dtype.itemsize < 4:
        x, values = g.cast(x, INT32), g.cast(values, INT32)
    if not include_self:
        neutral = g.expand(g.const(_neutral(reduce, x.dtype)), index.shape or ())
        x = g.op("ScatterElements", x, index, neutral, axis=axis, shape=x.shape)
    join = {"mul": "mul", "amin": "min", "amax": "max"}[reduce]
    values = g.cast(values, x.dtype)
    made = g.op("ScatterElements", x, index, values, axis=axis, reduction=join, shape=x.shape)
    return g.cast(made, own)


def _neutral(reduce: str, dtype: Any) -> Any:
    if reduce == "mul":
        return np.ones((), dtype)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return np.asarray(limits.max if reduce == "amin" else limits.min, dtype)
    return np.asarray(np.inf if reduce == "amin" else -np.inf, dtype)


# -- orders --------------------------------------------------------------------------------------


def top(g: Graph, x: Value, count: Value, axis: int, largest: bool) -> tuple[Value, Value]:
    """The largest (or smallest) elements in order, and their places; NaN is the largest."""
    values, places = g.ops(
        "TopK",
        numbers_to_sort(g, x),
        count,
        dtypes=(None, INT64),
        axis=axis,
        largest=int(largest),
        sorted=1,
    )
    return values, places


def numbers_to_sort(g: Graph, x: Value) -> Value:
    """x in a dtype that TopK has."""
    if is_floating(x.dtype):
        return g.longer(x)
    return g.cast(x, INT64) if x.dtype.kind in "bu" or x.dtype.itemsize < 4 else x


@write("argsort")
def _argsort(g: Graph, x: Value, axis: int, descending: bool) -> Value:
    count = g.size((x.shape or ())[axis])
    return top(g, x, count, axis, descending)[1]


@write("top_places")
def _top_places(g: Graph, x: Value, axis: int, count: Any, largest: bool) -> Value:
    return top(g, x, g.size(count), axis, largest)[1]


@write("argmax", "argmin")
def _place_of_extreme(g: Graph, x: Value, axis: int, keepdim: bool) -> Value:
    """The first of the largest; for `argmin` of -x, since NaN is the largest there, too."""
    is_max = g.operator is not None and g.operator.name == "argmax"
    if not is_max and is_floating(x.dtype):
        x, is_max = g.op("Neg", g.longer(x), shape=x.shape), True
    places = top(g, x, g.int64s([1]), axis, is_max)[1]
    return places if keepdim else g.squeeze(places, [axis])


@write("nonzero")
def _nonzero(g: Graph, x: Value) -> Value:
    if x.rank == 0:
        x = g.unsqueeze(x, [0])
        places = g.op("Transpose", g.op("NonZero", g.cast(x, BOOL)), perm=[1, 0])
        return g.slice(places, [0], [0], [1])
    return g.op("Transpose", g.op("NonZero", g.cast(x, BOOL)), perm=[1, 0], shape=g.result.shape)


@write("unique")
def _unique(g: Graph, x: Value, axis: int | None) -> list[Value]:
    x = numbers_to_sort(g, x)
    return g.ops("Unique", x, dtypes=(None, INT64, INT64, INT64), sorted=1, axis=axis)


@write("bincount")
def _bincount(g: Graph, x: Value, weights: Value | None = None, minlength: Any = 0) -> Value:
    x = g.cast(x, INT64)
    x = g.op("Reshape", x, g.int64s([-1]))
    zero = g.int64s([0])
    g.require(g.all_of(g.op("GreaterOrEqual", x, zero)))
    least = g.int64s([-1])
    largest = g.reduce("Max", g.concat([least, x], 0), [0], True)
    count = g.op("Max", g.op("Add", largest, g.int64s([1])), g.ints([minlength]))
    dtype = g.result.dtype
    added = g.cast(weights, dtype) if weights is not None else None
    if added is None:
        added = g.op("Expand", g.const(np.ones((), dtype)), g.op("Shape", x))
    else:
        added = g.op("Reshape", added, g.int64s([-1]))
    start = g.op("Expand", g.const(np.zeros((), dtype)), count)
    return g.op("ScatterElements", start, x, added, axis=0, reduction="add")


rows({})
