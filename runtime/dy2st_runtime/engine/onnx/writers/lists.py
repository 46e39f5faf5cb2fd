"""Lists of tensors: ONNX's sequences."""

from __future__ import annotations

from typing import Any

import numpy as np

from dy2st_runtime.engine.onnx.graph import Graph
from dy2st_runtime.engine.onnx.library import element_number
from dy2st_runtime.engine.onnx.nodes import FLOAT32, INT64, Value
from dy2st_runtime.engine.onnx.table import rows, write
from dy2st_runtime.engine.onnx.writer_tools import repeat
from dy2st_runtime.ir.types import ArrayType


def _list(g: Graph, kind: str, *inputs: Value, dtype: Any, **attributes: Any) -> Value:
    name = g.fresh(g.place)
    g.node(kind, inputs, [name], **attributes)
    return Value(name, dtype, is_list=True)


def empty(g: Graph, dtype: Any) -> Value:
    """A list of nothing."""
    return _list(g, "SequenceEmpty", dtype=dtype, **{"dtype_": element_number(dtype)})


def _number(g: Graph, x: Value) -> Value:
    return g.reshape(g.cast(x, INT64), ())


@write("array_create")
def _create(g: Graph, *items: Value) -> Value:
    if items:
        return _list(g, "SequenceConstruct", *items, dtype=items[0].dtype)
    assert g.operator is not None
    type = g.operator.results[0].type
    inner = type.tensor if isinstance(type, ArrayType) else None
    return empty(g, FLOAT32 if inner is None else inner.dtype)


def _insert(g: Graph, array: Value, item: Value, place: Value | None = None) -> Value:
    given = [array, g.cast(item, array.dtype)] + ([place] if place is not None else [])
    return _list(g, "SequenceInsert", *given, dtype=array.dtype)


def _erase(g: Graph, array: Value, place: Value) -> Value:
    return _list(g, "SequenceErase", array, place, dtype=array.dtype)


def _read(g: Graph, array: Value, index: Value) -> Value:
    assert g.operator is not None
    name = g.fresh(g.place)
    g.node("SequenceAt", [array, index], [name])
    return Value(name, array.dtype)


def _length(g: Graph, array: Value) -> Value:
    return g.op("SequenceLength", array, dtype=INT64, shape=())


def _from_start(g: Graph, array: Value, index: Value) -> Value:
    """A place that is counted from the start; outside of the list the model fails."""
    index, length = _number(g, index), _length(g, array)
    is_below = g.op("Less", index, g.const(np.int64(0)))
    index = g.where(is_below, g.op("Add", index, length), index, ())
    inside = g.op(
        "And",
        g.op("GreaterOrEqual", index, g.const(np.int64(0))),
        g.op("Less", index, length),
        shape=(),
    )
    g.require(inside)
    return index


@write("array_write")
def _write(g: Graph, array: Value, index: Value, item: Value) -> Value:
    place = _from_start(g, array, index)
    # In front of the old one, so that a place is never that behind the last.
    longer = _insert(g, array, item, place)
    return _erase(g, longer, g.op("Add", place, g.const(np.int64(1)), shape=()))


@write("array_pop")
def _pop(g: Graph, array: Value, index: Value) -> list[Value]:
    place = _number(g, index)
    return [_erase(g, array, place), _read(g, array, place)]


@write("array_insert")
def _insert_at(g: Graph, array: Value, index: Value, item: Value) -> Value:
    """As Python, which takes the nearest place."""
    index, length = _number(g, index), _length(g, array)
    zero = g.const(np.int64(0))
    index = g.where(g.op("Less", index, zero), g.op("Add", index, length), index, ())
    index = g.op("Min", g.op("Max", index, zero), length, shape=())
    return _insert(g, array, item, index)


@write("array_empty")
def _empty(g: Graph, dtype: Any, shape: Any, depth: Any) -> Value:
    return empty(g, np.dtype(dtype))


@write("array_stack", "array_concat")
def _joined(g: Graph, array: Value, axis: int) -> Value:
    is_stack = g.operator is not None and g.operator.name == "array_stack"
    name = g.fresh(g.place)
    g.node("ConcatFromSequence", [array], [name], axis=axis, new_axis=int(is_stack))
    return Value(name, array.dtype)


@write("array_extend")
def _extend(g: Graph, array: Value, behind: Value) -> Value:
    return repeat(
        g,
        _length(g, behind),
        lambda number, made: [_insert(g, made, _read(g, behind, number))],
        [array],
    )[0]


@write("array_repeat")
def _repeat(g: Graph, array: Value, times: Value) -> Value:
    length = _length(g, array)
    count = g.op("Max", g.op("Mul", length, _number(g, times)), g.const(np.int64(0)), shape=())

    def step(number: Value, made: Value) -> list[Value]:
        # A length of 0 is never asked for: there are no steps then.
        return [_insert(g, made, _read(g, array, g.op("Mod", number, length)))]

    return repeat(g, count, step, [empty(g, array.dtype)])[0]


def _picked(g: Graph, array: Value, places: Value) -> Value:
    """The elements at a vector of places."""
    count = g.reshape(g.op("Size", places, dtype=INT64), ())

    def step(number: Value, made: Value) -> list[Value]:
        return [_insert(g, made, _read(g, array, g.op("Gather", places, number, axis=0)))]

    return repeat(g, count, step, [empty(g, array.dtype)])[0]


@write("array_gather")
def _gather(g: Graph, array: Value, indices: Value) -> Value:
    return _picked(g, array, g.op("Reshape", g.cast(indices, INT64), g.int64s([-1])))


def python_places(
    g: Graph, size: Value, start: Value | None, stop: Value | None, step: Value
) -> Value:
    """What `range(*slice(start, stop, step).indices(size))` has: all 0-d."""
    zero, one = g.const(np.int64(0)), g.const(np.int64(1))
    is_back = g.op("Less", step, zero)
    low = g.where(is_back, g.const(np.int64(-1)), zero)
    high = g.where(is_back, g.op("Sub", size, one), size)

    def end(given: Value | None, missing: Value) -> Value:
        if given is None:
            return missing
        place = g.where(g.op("Less", given, zero), g.op("Add", given, size), given)
        return g.op("Min", g.op("Max", place, low), high)

    first = end(start, g.where(is_back, high, low))
    last = end(stop, g.where(is_back, low, high))
    return g.op("Range", first, last, step)


@write("array_slice")
def _slice(
    g: Graph, array: Value, start: Value, stop: Value, step: Value, has_start: bool, has_stop: bool
) -> Value:
    step = _number(g, step)
    g.require(g.op("Not", g.op("Equal", step, g.const(np.int64(0))), shape=()))
    ends = [
        _number(g, end) if is_given else None
        for end, is_given in ((start, has_start), (stop, has_stop))
    ]
    return _picked(g, array, python_places(g, _length(g, array), ends[0], ends[1], step))


@write("slice_places")
def _slice_places(g: Graph, start: Value, stop: Value, size: Any, step: Any) -> Value:
    ends = [_number(g, start), _number(g, stop)]
    return python_places(g, g.number(size), ends[0], ends[1], g.const(np.int64(step)))


rows(
    {
        "array_append": _insert,
        "array_read": lambda g, array, index: _read(g, array, _number(g, index)),
        "array_length": _length,
        "array_delete": lambda g, array, index: _erase(g, array, _number(g, index)),
    }
)
