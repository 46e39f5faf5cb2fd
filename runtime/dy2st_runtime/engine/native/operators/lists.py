"""Lists of a Program as code: CPython's own lists, of arrays that no one else's memory is in.

Where Python would raise, the kernel is called, which does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dy2st_runtime.engine.native.machine import abi
from dy2st_runtime.engine.native.nests.access import stored
from dy2st_runtime.engine.native.operators.list_joins import total_and_join
from dy2st_runtime.engine.native.operators.list_parts import gather, slicing
from dy2st_runtime.engine.native.program.planner import Step
from dy2st_runtime.engine.native.program.steps import Body, Writer, writer
from dy2st_runtime.ir.program import Operator, Variable


def _named(name: str) -> Callable[[Operator], bool]:
    return lambda operator: operator.name == name


def _has_place(name: str) -> Callable[[Operator], bool]:
    """Whether its second operand is a number that code reads as a place."""
    return lambda operator: (
        operator.name == name
        and (abi.is_native(operator.operands[1].dtype) and operator.operands[1].dtype != "uint64")
    )


def _load(body: Body, variable: Variable) -> str:
    """The object of a list."""
    return body.function.let(f"load ptr, ptr {body.places.of(variable).name}")


def _length(body: Body, array: str) -> str:
    return body.places.field(array, abi.LENGTH, "i64")


def _give(body: Body, array: str, result: Variable) -> None:
    """Let a result be a list, of which this is a new reference."""
    body.places.replace(body.places.make(result).name, array)


def _create(body: Body, step: Step, operator: Operator) -> None:
    made = body.function.let(f"call ptr @PyList_New(i64 {len(operator.operands)})")
    body.calls.check_made(made)
    _give(body, made, operator.results[0])
    for number, operand in enumerate(operator.operands):
        item = _owned(body, operand)
        place = body.places.field(made, abi.ITEMS)
        entry = body.function.let(f"getelementptr ptr, ptr {place}, i64 {number}")
        body.function.line(f"store ptr {item}, ptr {entry}")


def _owned(body: Body, variable: Variable) -> str:
    """A new reference to what is put into a list."""
    item = body.places.owned(variable)
    body.calls.check_made(item)
    return item


@writer(_named("array_append"), holds=True)
def _append(body: Body, step: Step, operator: Operator) -> None:
    own, item = _own(body, operator), _owned(body, operator.operands[1])
    failed = body.function.let(f"call i32 @PyList_Append(ptr {own}, ptr {item})")
    # PyList_Insert takes a reference of its own, unlike PyList_SetItem.
    body.function.line(f"call void @Py_DecRef(ptr {item})")
    _check(body, failed)


def _own(body: Body, operator: Operator) -> str:
    """The list that an operator changes: its operand, or a copy of it. It is the result."""
    array = _load(body, operator.operands[0])
    if operator in body.calls.lists.changed:
        body.function.line(f"call void @Py_IncRef(ptr {array})")
        own = array
    else:
        length = _length(body, array)
        own = body.function.let(f"call ptr @PyList_GetSlice(ptr {array}, i64 0, i64 {length})")
        body.calls.check_made(own)
    _give(body, own, operator.results[0])
    return own


def _check(body: Body, failed: str) -> None:
    """Leave where CPython has raised."""
    is_right = body.function.let(f"icmp eq i32 {failed}, 0")
    body.calls.go_on_if(is_right)


@writer(_named("array_length"), holds=True)
def _count(body: Body, step: Step, operator: Operator) -> None:
    length = _length(body, _load(body, operator.operands[0]))
    body.function.line(f"store i64 {length}, ptr {body.places.make(operator.results[0]).name}")


def _number(body: Body, number: Variable) -> str:
    """A whole number as i64."""
    type, value = stored(number.dtype), body.places.load(number)
    if type == "i64":
        return value
    extend = "sext" if number.dtype.kind == "i" else "zext"
    return body.function.let(f"{extend} {type} {value} to i64")


def _place(body: Body, operator: Operator) -> str:
    """The place that is meant, from the start; the kernel raises where there is none."""
    let, value = body.function.let, _number(body, operator.operands[1])
    length = _length(body, _load(body, operator.operands[0]))
    is_behind = let(f"icmp slt i64 {value}, 0")
    place = let(f"select i1 {is_behind}, i64 {let(f'add i64 {value}, {length}')}, i64 {value}")
    # Unsigned, a negative place is too large as well: one comparison finds both.
    body.unless(let(f"icmp ult i64 {place}, {length}"), [operator])
    return place


def _item(body: Body, array: Variable, place: str) -> str:
    """A new reference to an entry."""
    entries = body.places.field(_load(body, array), abi.ITEMS)
    entry = body.function.let(f"getelementptr ptr, ptr {entries}, i64 {place}")
    item = body.function.let(f"load ptr, ptr {entry}")
    body.function.line(f"call void @Py_IncRef(ptr {item})")
    return item


@writer(_has_place("array_read"), holds=True)
def _read(body: Body, step: Step, operator: Operator) -> None:
    place = _place(body, operator)
    body.calls.take(_item(body, operator.operands[0], place), operator.results[0])


@writer(_has_place("array_write"), holds=True)
def _write(body: Body, step: Step, operator: Operator) -> None:
    place = _place(body, operator)
    item = _owned(body, operator.operands[2])
    own = _own(body, operator)
    _check(body, body.function.let(f"call i32 @PyList_SetItem(ptr {own}, i64 {place}, ptr {item})"))


@writer(_has_place("array_pop"), holds=True)
def _pop(body: Body, step: Step, operator: Operator) -> None:
    place = _place(body, operator)
    body.calls.take(_item(body, operator.operands[0], place), operator.results[1])
    own = _own(body, operator)
    _replace(body, own, place, body.function.let(f"add i64 {place}, 1"), "null")


@writer(_has_place("array_delete"), holds=True)
def _delete(body: Body, step: Step, operator: Operator) -> None:
    place = _place(body, operator)
    _replace(body, _own(body, operator), place, body.function.let(f"add i64 {place}, 1"), "null")


def _replace(body: Body, own: str, start: str, end: str, other: str) -> None:
    """Let part of a list be what another one holds; null holds nothing."""
    arguments = f"ptr {own}, i64 {start}, i64 {end}, ptr {other}"
    _check(body, body.function.let(f"call i32 @PyList_SetSlice({arguments})"))


@writer(_has_place("array_insert"), holds=True)
def _insert(body: Body, step: Step, operator: Operator) -> None:
    place, item = _number(body, operator.operands[1]), _owned(body, operator.operands[2])
    own = _own(body, operator)
    failed = body.function.let(f"call i32 @PyList_Insert(ptr {own}, i64 {place}, ptr {item})")
    body.function.line(f"call void @Py_DecRef(ptr {item})")
    _check(body, failed)


@writer(_named("array_extend"), holds=True)
def _extend(body: Body, step: Step, operator: Operator) -> None:
    behind = _load(body, operator.operands[1])
    own = _own(body, operator)
    end = _length(body, own)
    _replace(body, own, end, end, behind)


@writer(_has_place("array_repeat"), holds=True)
def _repeat(body: Body, step: Step, operator: Operator) -> None:
    array, times = _load(body, operator.operands[0]), _number(body, operator.operands[1])
    made = body.function.let(f"call ptr @PySequence_Repeat(ptr {array}, i64 {times})")
    body.calls.check_made(made)
    _give(body, made, operator.results[0])


@writer(
    lambda operator: operator.name == "array_gather" and operator.operands[1].dtype != "uint64",
    holds=True,
)
def _gather(body: Body, step: Step, operator: Operator) -> None:
    """The entries at places that a tensor names."""
    array, places = operator.operands
    name = gather(body.module, places.dtype)
    count = body.sizes.value(places.tensor_type.shape[0])
    arguments = f"ptr {_load(body, array)}, ptr {body.places.address(places)}, i64 {count}"
    # All places are looked at first, so that a list is made only if it is complete.
    is_inside = body.function.let(f"call i1 @{name}_fits({arguments})")
    body.unless(is_inside, [operator])
    made = body.function.let(f"call ptr @{name}({arguments})")
    body.calls.check_made(made)
    _give(body, made, operator.results[0])


@writer(
    lambda operator: (
        operator.name == "array_slice"
        and all(
            abi.is_native(number.dtype) and number.dtype != "uint64"
            for number in operator.operands[1:]
        )
    ),
    holds=True,
)
def _slice(body: Body, step: Step, operator: Operator) -> None:
    """As CPython cuts: ends that are outside are the list's own."""
    start, stop, by = (_number(body, number) for number in operator.operands[1:])
    body.unless(body.function.let(f"icmp ne i64 {by}, 0"), [operator])
    array, name = _load(body, operator.operands[0]), slicing(body.module)
    has = [operator.attributes[one] for one in ("has_start", "has_stop")]
    flags = ", ".join(f"i1 {str(one).lower()}" for one in has)
    arguments = f"ptr {array}, i64 {start}, i64 {stop}, i64 {by}, {flags}"
    made = body.function.let(f"call ptr @{name}({arguments})")
    body.calls.check_made(made)
    _give(body, made, operator.results[0])


@writer(
    lambda operator: (
        operator.name in ("array_stack", "array_concat")
        and abi.is_native(operator.results[0].dtype)
    ),
    holds=True,
)
def _join(body: Body, step: Step, operator: Operator) -> None:
    """The tensors of a list as one, if they fit."""
    result, axis = operator.results[0].tensor_type, operator.attributes["axis"]
    is_new = operator.name == "array_stack"
    total, join = total_and_join(body.module, result, axis, is_new)
    array = _load(body, operator.operands[0])
    size = body.function.let(f"call i64 @{total}(ptr {array})")
    body.unless(body.function.let(f"icmp sge i64 {size}, 0"), [operator])
    made = body.function.let(f"call ptr @{join}(ptr {array}, i64 {size})")
    body.calls.check_made(made)
    body.calls.take(made, operator.results[0])


LISTS: Sequence[Writer] = (
    Writer(_named("array_create"), _create, holds=True),
    Writer(_named("array_empty"), _create, holds=True),
    _append,
    _count,
    _read,
    _write,
    _pop,
    _delete,
    _insert,
    _repeat,
    _extend,
    _gather,
    _slice,
    _join,
)

__all__ = ["LISTS"]
