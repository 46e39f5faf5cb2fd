"""Sets: of values that are known; tensors are in them as the objects that they are."""

from __future__ import annotations

from typing import Any

from dy2st.heart.kinds.attributes import refuse_as_key
from dy2st.heart.kinds.table import function_row, method_row, operator_row
from dy2st.heart.trace import Trace
from dy2st.heart.values.layout import is_traced_number
from dy2st.heart.values.special import Dynamic, Union
from dy2st_runtime.errors import ConversionError
from dy2st_runtime.ir import user_location

_SETS = (set, frozenset)


def content_of(trace: Trace, owner: Any) -> Any:
    """The elements of a set now."""
    if type(owner) is not set:
        return owner
    content = trace.content(owner)
    trace.read_content(owner)
    return content


def elements(trace: Trace, iterable: Any) -> Any:
    """What is put into a set."""
    if type(iterable) in _SETS:
        return content_of(trace, iterable)
    found = trace.listed(iterable)
    if type(found) is Dynamic:
        raise ConversionError(
            "a set is made of elements whose number depends on a tensor",
            at=user_location(),
            why="which of them are equal is known only when the Program runs",
            hint="keep them in a list, or use unique() of a tensor",
        )
    for item in found:
        refuse_as_key(item)
    return found


@function_row(set)
def set_(trace: Trace, iterable: Any = ()) -> Any:
    """`set(iterable)`."""
    return trace.made(set(elements(trace, iterable)))


@function_row(frozenset)
def frozenset_(trace: Trace, iterable: Any = ()) -> Any:
    """`frozenset(iterable)`."""
    return frozenset(elements(trace, iterable))


@method_row(set)
def add(trace: Trace, owner: Any, item: Any) -> None:
    """`owner.add(item)`."""
    if type(item) is Union:
        trace.spread(lambda one: add(trace, owner, one), item)
        return
    refuse_as_key(item)
    trace.writable(owner).add(item)


@method_row(set)
def discard(trace: Trace, owner: Any, item: Any) -> None:
    """`owner.discard(item)`."""
    refuse_as_key(item)
    content_of(trace, owner)
    trace.writable(owner).discard(item)


@method_row(set)
def remove(trace: Trace, owner: Any, item: Any) -> None:
    """`owner.remove(item)`."""
    refuse_as_key(item)
    content_of(trace, owner)
    trace.writable(owner).remove(item)


@method_row(set)
def pop(trace: Trace, owner: Any) -> Any:
    """`owner.pop()`."""
    content_of(trace, owner)
    return trace.writable(owner).pop()


@method_row(set)
def clear(trace: Trace, owner: Any) -> None:
    """`owner.clear()`."""
    trace.writable(owner).clear()


@method_row(*_SETS)
def copy(trace: Trace, owner: Any) -> Any:
    """`owner.copy()`."""
    return trace.made(type(owner)(content_of(trace, owner)))


def _changing(name: str) -> None:
    @method_row(set, name=name)
    def row(trace: Trace, owner: Any, *others: Any) -> None:
        given = [elements(trace, one) for one in others]
        content_of(trace, owner)
        getattr(trace.writable(owner), name)(*given)


def _asking(name: str) -> None:
    @method_row(*_SETS, name=name)
    def row(trace: Trace, owner: Any, *others: Any) -> Any:
        given = [elements(trace, one) for one in others]
        found = getattr(content_of(trace, owner), name)(*given)
        return trace.made(found) if isinstance(found, set) else found


for _name in ["update", "difference_update", "intersection_update", "symmetric_difference_update"]:
    _changing(_name)
for _name in [
    "union",
    "difference",
    "intersection",
    "symmetric_difference",
    "issubset",
    "issuperset",
    "isdisjoint",
]:
    _asking(_name)


def _operator(name: str, special: str) -> None:
    @operator_row(name, *_SETS)
    def row(trace: Trace, left: Any, right: Any) -> Any:
        if type(right) not in _SETS and not hasattr(right, "isdisjoint"):
            return NotImplemented
        other = content_of(trace, right)
        found = getattr(content_of(trace, left), special)(other)
        return trace.made(found) if isinstance(found, set) else found


for _name, _special in (
    *(("or_bits", "__or__"), ("and_bits", "__and__"), ("sub", "__sub__"), ("xor", "__xor__")),
    *(("lt", "__lt__"), ("le", "__le__"), ("gt", "__gt__"), ("ge", "__ge__")),
    *(("eq", "__eq__"), ("ne", "__ne__")),
):
    _operator(_name, _special)


@method_row(*_SETS, name="__contains__")
def contains(trace: Trace, owner: Any, item: Any) -> Any:
    """`item in owner`."""
    if type(item) is Union:
        return trace.spread(lambda one: contains(trace, owner, one), item)
    content = trace.content(owner) if type(owner) is set else owner
    if is_traced_number(item):
        numbers = [one for one in content_of(trace, owner) if isinstance(one, (bool, int, float))]
        return trace.any_of(lambda one: trace.eq(item, one), numbers)
    found = item in content
    if trace.is_outside(owner) and found == (item in owner):
        trace.read("has", owner, item, found)
    return found


__all__ = ["content_of", "elements"]
