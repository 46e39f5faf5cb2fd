"""What a trace has done to objects from outside: that happens once, and not at every call."""

from __future__ import annotations

from types import CellType
from typing import Any

from dy2st.convert.attributes import attributes_of
from dy2st.convert.heap import Heap
from dy2st.convert.joining import same_constant
from dy2st.convert.undefined import Undefined
from dy2st_runtime.errors import ConversionError, Location
from dy2st_runtime.ir import Variable
from dy2st_runtime.ir.location import warn_user
from dy2st_runtime.ir.structure import flatten
from dy2st_runtime.nn.layer import Layer


def tell_effects(heap: Heap, place: Location) -> None:
    """Refuse tensors that a trace leaves in what is from outside; warn of changed attributes."""
    for entry in heap.containers:
        known = set(map(id, _leaves(entry.contents)))
        if any(id(leaf) not in known for leaf in _leaves(entry.container)):
            kind = type(entry.container).__name__
            raise _left_behind(f"a {kind} from outside gets a tensor", place)
    for owner, before in heap.objects:
        if not isinstance(owner, CellType):
            _tell_attributes(owner, before, place)


def _tell_attributes(owner: Any, before: dict[str, Any], place: Location) -> None:
    for name, value in attributes_of(owner).items():
        old = before.get(name, Undefined(name))
        if value is old:
            continue
        what = f"the attribute `{name}` of {_described(owner)}"
        if _leaves(value):
            raise _left_behind(f"{what} from outside is set to a tensor", place)
        is_new = isinstance(old, Undefined)
        if not is_new and not isinstance(owner, Layer) and not same_constant(old, value):
            warn_user(
                f"{what} is set while the function is traced: this happens at "
                "conversion, not at every call. Return the value, or keep it in a buffer.",
                place,
            )


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
