"""Lists of tensors: ONNX's sequences. Lists of lists are lengths, and a list of all elements.

All is made of a few parts, which both kinds have: an empty list, one of a single element, two lists
one after the other, the elements at a vector of places, how many there are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dy2st_runtime.engine.onnx.graph import Graph, value_of
from dy2st_runtime.engine.onnx.library import element_number
from dy2st_runtime.engine.onnx.nodes import INT64, Value
from dy2st_runtime.engine.onnx.table import rows, write
from dy2st_runtime.engine.onnx.writer_tools import if_else, repeat
from dy2st_runtime.ir.types import ArrayType, TensorType


def _list(g: Graph, kind: str, *inputs: Value, dtype: Any, **attributes: Any) -> Value:
    name = g.fresh(g.place)
    g.node(kind, inputs, [name], **attributes)
    return Value(name, dtype, is_list=True)


def _number(g: Graph, x: Value) -> Value:
    return g.reshape(g.cast(x, INT64), ())


def _int(g: Graph, number: int) -> Value:
    return g.const(np.int64(number))


# -- the parts -----------------------------------------------------------------------------------


def empty(g: Graph, type: ArrayType) -> Value:
    """A list of nothing."""
    made = value_of(type, g.fresh(g.place))
    if made.child is None or not isinstance(type.element, ArrayType):
        number = element_number(made.dtype)
        g.node("SequenceEmpty", [], [made.name], **{"dtype_": number})
        return made
    return _nested(g.int64s([]), empty(g, type.element))


def _nested(lengths: Value, child: Value) -> Value:
    """A list of lists."""
    return Value(lengths.name, child.dtype, None, True, child.is_empty, lengths, child)


def retyped(g: Graph, value: Value, type: ArrayType) -> Value:
    """A list as one of another type: what nothing has been put into gets a dtype."""
    if value.child is not None and isinstance(type.element, ArrayType):
        assert value.lengths is not None
        return _nested(value.lengths, retyped(g, value.child, type.element))
    own = value_of(type, value.name)
    if value.is_empty and (own.child is not None or not own.is_empty):
        return empty(g, type)
    return own


def _single(g: Graph, array: Value, item: Value) -> Value:
    """A list of one element, as a list like another."""
    if array.child is None:
        return _list(g, "SequenceConstruct", g.cast(item, array.dtype), dtype=array.dtype)
    return _nested(g.reshape(_length(g, item), (1,)), item)


def _joined(g: Graph, array: Value, behind: Value) -> Value:
    """The elements of a list, then those of another."""
    if array.child is not None and behind.child is not None:
        assert array.lengths is not None and behind.lengths is not None
        lengths = g.concat([array.lengths, behind.lengths], 0)
        return _nested(lengths, _joined(g, array.child, behind.child))
    count = _length(g, behind)
    return repeat(
        g, count, lambda number, made: [_insert(g, made, _item(g, behind, number))], [array]
    )[0]


def _length(g: Graph, array: Value) -> Value:
    if array.lengths is not None:
        return g.reshape(g.op("Shape", array.lengths, shape=(1,)), ())
    return g.op("SequenceLength", array, dtype=INT64, shape=())


def _insert(g: Graph, array: Value, item: Value, place: Value | None = None) -> Value:
    """A list with one more element: at its end, or before a place that it has."""
    if array.child is None:
        given = [array, g.cast(item, array.dtype)] + ([place] if place is not None else [])
        return _list(g, "SequenceInsert", *given, dtype=array.dtype)
    one = _single(g, array, item)
    if place is None:
        return _joined(g, array, one)
    before, behind = _parts(g, array, place, place)
    return _joined(g, _joined(g, before, one), behind)


def _parts(g: Graph, array: Value, stop: Value, start: Value) -> tuple[Value, Value]:
    """The elements before a place, and those from another one on."""
    before = g.op("Range", _int(g, 0), stop, _int(g, 1))
    behind = g.op("Range", start, _length(g, array), _int(g, 1))
    return _picked(g, array, before), _picked(g, array, behind)


def _erase(g: Graph, array: Value, place: Value) -> Value:
    if array.child is None:
        return _list(g, "SequenceErase", array, place, dtype=array.dtype)
    place = _from_start(g, array, place)
    return _joined(g, *_parts(g, array, place, g.op("Add", place, _int(g, 1), shape=())))


def _item(g: Graph, array: Value, index: Value) -> Value:
    """The element at a place: a tensor, or a list."""
    if array.child is None:
        name = g.fresh(g.place)
        g.node("SequenceAt", [array, index], [name])
        return Value(name, array.dtype)
    assert array.lengths is not None
    return _picked(g, array.child, _range(g, array.lengths, _from_start(g, array, index)))


def _range(g: Graph, lengths: Value, place: Value) -> Value:
    """Where the elements of a list in a list of lists are among all."""
    starts = g.op("CumSum", lengths, _int(g, 0), exclusive=1)
    start = g.op("Gather", starts, place, axis=0, shape=())
    count = g.op("Gather", lengths, place, axis=0, shape=())
    return g.op("Range", start, g.op("Add", start, count, shape=()), _int(g, 1))


def _picked(g: Graph, array: Value, places: Value) -> Value:
    """The elements at a vector of places."""
    count = g.reshape(g.op("Shape", places, shape=(1,)), ())

    def at(number: Value) -> Value:
        return g.op("Gather", places, number, axis=0, shape=())

    if array.child is None:
        start = empty(g, ArrayType(TensorType(array.dtype, ())))
        return repeat(
            g, count, lambda number, made: [_insert(g, made, _item(g, array, at(number)))], [start]
        )[0]
    assert array.lengths is not None
    lengths = array.lengths
    (within,) = repeat(
        g, count, lambda n, made: [g.concat([made, _range(g, lengths, at(n))], 0)], [g.int64s([])]
    )
    return _nested(g.op("Gather", lengths, places, axis=0), _picked(g, array.child, within))


def _from_start(g: Graph, array: Value, index: Value) -> Value:
    """A place that is counted from the start; outside of the list the model fails."""
    index, length = _number(g, index), _length(g, array)
    is_below = g.op("Less", index, _int(g, 0))
    index = g.where(is_below, g.op("Add", index, length), index, ())
    is_first = g.op("GreaterOrEqual", index, _int(g, 0))
    g.require(g.op("And", is_first, g.op("Less", index, length), shape=()))
    return index


# -- the operators -------------------------------------------------------------------------------


@write("array_create")
def _create(g: Graph, *items: Value) -> Value:
    assert g.operator is not None
    type = g.operator.results[0].type
    assert isinstance(type, ArrayType)
    if items and not items[0].is_list:
        return _list(g, "SequenceConstruct", *items, dtype=items[0].dtype)
    made = empty(g, type)
    for item in items:
        made = _insert(g, made, item)
    return made


@write("array_write")
def _write(g: Graph, array: Value, index: Value, item: Value) -> Value:
    place = _from_start(g, array, index)
    # In front of the old one, so that a place is never that behind the last.
    longer = _insert(g, array, item, place)
    return _erase(g, longer, g.op("Add", place, _int(g, 1), shape=()))


@write("array_pop")
def _pop(g: Graph, array: Value, index: Value) -> list[Value]:
    place = _number(g, index)
    return [_erase(g, array, place), _item(g, array, place)]


@write("array_insert")
def _insert_at(g: Graph, array: Value, index: Value, item: Value) -> Value:
    """As Python, which takes the nearest place."""
    index, length = _number(g, index), _length(g, array)
    index = g.where(g.op("Less", index, _int(g, 0)), g.op("Add", index, length), index, ())
    index = g.op("Min", g.op("Max", index, _int(g, 0)), length, shape=())
    if array.child is not None:
        return _insert(g, array, item, index)
    # onnx.reference counts the place behind the last one as the first.
    is_last = g.op("Equal", index, length, shape=())
    return if_else(
        g, is_last, lambda: _insert(g, array, item), lambda: _insert(g, array, item, index)
    )


@write("array_empty")
def _empty(g: Graph, dtype: Any, shape: Any, depth: Any) -> Value:
    assert g.operator is not None
    type = g.operator.results[0].type
    assert isinstance(type, ArrayType)
    return empty(g, type)


@write("array_stack", "array_concat")
def _stacked(g: Graph, array: Value, axis: int) -> Value:
    is_stack = g.operator is not None and g.operator.name == "array_stack"
    name = g.fresh(g.place)
    g.node("ConcatFromSequence", [array], [name], axis=axis, new_axis=int(is_stack))
    return Value(name, array.dtype)


@write("array_repeat")
def _repeat(g: Graph, array: Value, times: Value) -> Value:
    length = _length(g, array)
    count = g.op("Max", g.op("Mul", length, _number(g, times)), _int(g, 0), shape=())
    # Of a list of nothing there are no places.
    places = g.op(
        "Mod", g.op("Range", _int(g, 0), count, _int(g, 1)), g.op("Max", length, _int(g, 1))
    )
    return _picked(g, array, places)


@write("array_gather")
def _gather(g: Graph, array: Value, indices: Value) -> Value:
    places = g.op("Reshape", g.cast(indices, INT64), g.int64s([-1]))
    length = _length(g, array)
    is_below = g.op("Less", places, _int(g, 0))
    return _picked(g, array, g.where(is_below, g.op("Add", places, length), places))


def python_places(
    g: Graph, size: Value, start: Value | None, stop: Value | None, step: Value
) -> Value:
    """What `range(*slice(start, stop, step).indices(size))` has: all 0-d."""
    zero, one = _int(g, 0), _int(g, 1)
    is_back = g.op("Less", step, zero)
    low = g.where(is_back, _int(g, -1), zero)
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
    g.require(g.op("Not", g.op("Equal", step, _int(g, 0)), shape=()))
    ends = [
        _number(g, end) if is_given else None
        for end, is_given in ((start, has_start), (stop, has_stop))
    ]
    return _picked(g, array, python_places(g, _length(g, array), ends[0], ends[1], step))


@write("slice_places")
def _slice_places(g: Graph, start: Value, stop: Value, size: Any, step: Any) -> Value:
    ends = [_number(g, start), _number(g, stop)]
    return python_places(g, g.number(size), ends[0], ends[1], _int(g, step))


rows(
    {
        "array_append": _insert,
        "array_extend": _joined,
        "array_read": lambda g, array, index: _item(g, array, _number(g, index)),
        "array_length": _length,
        "array_delete": lambda g, array, index: _erase(g, array, _number(g, index)),
    }
)
