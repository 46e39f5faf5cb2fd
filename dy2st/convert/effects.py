"""What a trace has done to Python's objects from outside: it is exact for that call alone."""

from __future__ import annotations

from collections.abc import Iterator
from types import CellType
from typing import Any

from dy2st.convert.attributes import attributes_of
from dy2st.convert.heap import Heap, differs
from dy2st.convert.hidden import state_of
from dy2st.convert.iterators import place_of
from dy2st.convert.joining import same_constant
from dy2st.convert.undefined import Undefined
from dy2st_runtime.errors import ConversionError, Location
from dy2st_runtime.ir import Variable
from dy2st_runtime.ir.structure import flatten


def effects_of(heap: Heap, place: Location) -> list[str]:
    """What a trace has changed of Python's own objects; refuses tensors that it leaves there."""
    for entry in heap.containers:
        known = set(map(id, _leaves(entry.contents)))
        if any(id(leaf) not in known for leaf in _leaves(entry.container)):
            kind = type(entry.container).__name__
            raise _left_behind(f"a {kind} from outside gets a tensor", place)
    found = [entry for entry in heap.containers if differs(entry.container, entry.contents)]
    found += [entry for entry in heap.states if state_of(entry.container) != entry.contents]
    effects = [f"the {type(one.container).__name__} in {one.owner} is changed" for one in found]
    for value, before in heap.iterators:
        if place_of(value) != before:
            effects.append(f"a {type(value).__name__} from outside is advanced")
    for owner, attributes in heap.objects:
        if not isinstance(owner, CellType):
            effects += _changed_attributes(owner, attributes, place)
    return [f"{effect}: return the value, or keep it in a buffer" for effect in effects]


def _changed_attributes(owner: Any, before: dict[str, Any], place: Location) -> Iterator[str]:
    now = attributes_of(owner)
    for name in {**before, **now}:
        old, value = (held.get(name, Undefined(name)) for held in (before, now))
        if value is old or same_constant(old, value):
            continue
        what = f"the attribute `{name}` of {_described(owner)}"
        if _leaves(value):
            raise _left_behind(f"{what} from outside is set to a tensor", place)
        if not (isinstance(old, Undefined) and isinstance(value, Undefined)):
            yield f"{what} is set"


def _described(owner: Any) -> str:
    if isinstance(owner, type):
        return f"the class {owner.__name__}"
    return f"a {type(owner).__name__}"


def _leaves(value: Any) -> list[Any]:
    return flatten(value, lambda leaf: isinstance(leaf, Variable))[0]


def _left_behind(what: str, place: Location) -> ConversionError:
    return ConversionError(
        f"{what} while the function is traced",
        at=place,
        why="a Program keeps values between calls only in registered buffers",
        hint="register a buffer of a Layer, or return the value",
    )
