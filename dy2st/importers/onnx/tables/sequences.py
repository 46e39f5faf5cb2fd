"""Sequences and optionals.

A sequence is a list of Python while its length is known, and a list of the Program else; so an
optional that is surely there is the value itself, one that surely is not is None, and any other a
`Maybe`.
"""

from __future__ import annotations

from typing import Any

from dy2st.importers.onnx.calls import Call, Maybe, row, rows, scalar
from dy2st.importers.onnx.late import parts_late
from dy2st_runtime.dims import Dim
from dy2st_runtime.errors import PlaceError, UnknownOperators
from dy2st_runtime.ir.dispatch import F
from dy2st_runtime.ir.program import Variable
from dy2st_runtime.ops.control_flow import while_loop


def as_array(values: Any) -> Any:
    """A list of the Program with the values of a sequence."""
    if not isinstance(values, list):
        return values
    return F.array_of([as_array(one) if isinstance(one, list) else one for one in values])


def _place(n: Call, place: int) -> Any:
    """A position, as a number if it is known."""
    found = n.known(place)
    if found is None or isinstance(found.reshape(-1)[0], Dim):
        return scalar(n[place])
    return int(found.reshape(-1)[0])


@row("SequenceAt")
def _at(n: Call) -> Any:
    values, place = n[0], _place(n, 1)
    if not isinstance(values, list) or not isinstance(place, int):
        return F.array_read(as_array(values), place)
    if not -len(values) <= place < len(values):
        raise PlaceError(f"a sequence of {len(values)} has no element {place}")
    return values[place]


@row("SequenceInsert")
def _insert(n: Call) -> Any:
    values, one = n[0], n[1]
    place = None if n[2] is None else _place(n, 2)
    if isinstance(values, list) and (place is None or isinstance(place, int)):
        made = [*values]
        made.insert(len(made) if place is None else place, one)
        return made
    values = as_array(values)
    return F.array_append(values, one) if place is None else F.array_insert(values, place, one)


@row("SequenceErase")
def _erase(n: Call) -> Any:
    values, place = n[0], -1 if n[1] is None else _place(n, 1)
    if isinstance(values, list) and isinstance(place, int):
        made = [*values]
        del made[place]
        return made
    return F.array_pop(as_array(values), place)[0]


@row("SequenceLength")
def _length(n: Call) -> Any:
    values = n[0]
    return F.full([], len(values), "int64") if isinstance(values, list) else F.array_length(values)


@row("ConcatFromSequence")
def _joined(n: Call) -> Any:
    values, axis = n[0], n.attributes["axis"]
    if n.get("new_axis", 0):
        return F.stack(values, axis) if isinstance(values, list) else F.array_stack(values, axis)
    return F.concat(values, axis) if isinstance(values, list) else F.array_concat(values, axis)


@row("SplitToSequence")
def _split(n: Call) -> Any:
    x, axis = n[0], n.get("axis", 0) % n[0].ndim
    size, parts = x.shape[axis], n.numbers(1)
    if n[1] is not None and n[1].ndim:
        if isinstance(parts, list) and not any(isinstance(part, Dim) for part in parts):
            return [*F.split(x, parts, axis)]
        count = n[1].shape[0]
        if isinstance(count, Dim):
            raise UnknownOperators("how many parts there are is known only when the model runs")
        return [*parts_late(x, n[1], count, axis)]
    each = 1 if parts is None else scalar(parts) if isinstance(parts, Variable) else parts
    keep = n[1] is not None or bool(n.get("keepdims", 1))
    if isinstance(size, int) and isinstance(each, int):
        sections = [min(each, size - start) for start in range(0, size, each)]
        pieces = F.split(x, sections, axis)
        return [one if keep else F.squeeze(one, [axis]) for one in pieces]
    return _split_late(x, axis, F.cast(each, "int64") if hasattr(each, "ndim") else each, keep)


def _split_late(x: Any, axis: int, each: Any, keep: bool) -> Any:
    """Pieces along an axis whose size is not known, one an iteration."""
    size = F.full([], x.shape[axis], "int64")

    def step(i: Any, made: Any) -> list[Any]:
        start = i * each
        stop = F.minimum(start + each, size)
        index: list[Any] = [slice(None)] * x.ndim
        index[axis] = slice(start, stop) if keep else i
        return [i + 1, F.array_append(made, F.getitem(x, tuple(index)))]

    zero = F.full([], 0, "int64")
    found = while_loop(lambda i, made: F.less_than(i * each, size), step, [zero, F.array_of([])])
    return found[1]


@row("Optional")
def _optional(n: Call) -> Any:
    return n[0]


@row("OptionalHasElement")
def _has_element(n: Call) -> Any:
    value = n[0]
    if isinstance(value, Maybe):
        return F.greater_than(F.array_length(value.array), 0)
    return F.full([], value is not None, "bool")


@row("OptionalGetElement")
def _element(n: Call) -> Any:
    value = n[0]
    if value is None:
        raise ValueError("the optional is empty")
    return F.array_read(value.array, 0) if isinstance(value, Maybe) else value


rows(
    {
        "SequenceConstruct": lambda n: [*n.inputs],
        "SequenceEmpty": lambda n: [],
    }
)
__all__ = ["as_array"]
