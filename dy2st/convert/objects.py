"""Objects of the user's classes where branches and loops meet: joined attribute by attribute.

That is for objects that nothing else holds: the joined one is new. Of two objects that the user
may still hold, a Program says which one it is: a Choice.
"""

from __future__ import annotations

import enum
import gc
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import Any

from dy2st.convert.attributes import attributes_of
from dy2st.convert.classes import is_library
from dy2st_runtime.errors import ConversionError
from dy2st_runtime.ir import Tensor, user_location
from dy2st_runtime.nn.layer import Layer

_HEAP_TYPE = 1 << 9
_APART = (Tensor, Layer, enum.Enum, BaseException, type)


def is_structure(value: object) -> bool:
    """Whether a value is an object of a user's class that is nothing but its attributes."""
    kind = type(value)
    if not kind.__flags__ & _HEAP_TYPE or isinstance(value, _APART) or is_library(kind.__module__):
        return False
    return all(base.__flags__ & _HEAP_TYPE for base in kind.__mro__[:-1])


def same_attributes(left: object, right: object) -> bool:
    """Whether two values are objects of one class with attributes of the same names."""
    if type(left) is not type(right) or not is_structure(left):
        return False
    return attributes_of(left).keys() == attributes_of(right).keys()


def made_like(like: object, attributes: dict[str, Any]) -> Any:
    """An object of the same class with these attributes; no code of the class runs."""
    return _made(type(like), attributes)


def _made(kind: type, attributes: dict[str, Any]) -> Any:
    made: Any = object.__new__(kind)
    for name, value in attributes.items():
        object.__setattr__(made, name, value)
    return made


def made_in(results: Sequence[Any], given: Iterable[Any]) -> set[int]:
    """The objects among the results of a branch that it has made and that nothing else holds."""
    known = set(map(id, given))
    return {
        id(results[index])
        for index in range(len(results))
        if is_structure(results[index]) and is_new(results[index], known, (results,))
    }


def is_new(value: object, given: set[int], own: Iterable[Any]) -> bool:
    """Whether nothing but `own` containers refers to a value that a branch has made."""
    if id(value) in given:
        return False
    ours = {id(container) for container in own}
    holders = gc.get_referrers(value)
    return all(id(one) in ours or isinstance(one, FrameType) for one in holders)


# -- objects that go from turn to turn ----------------------------------------------------------


@dataclass(frozen=True)
class _Class:
    """The key in a dict of attributes under which the class stands."""

    kind: type

    def __repr__(self) -> str:
        return self.kind.__name__


def taken_apart(value: Any) -> Any:
    """An object as a dict of its attributes; tuples entry by entry, all else as it is."""
    if type(value) is tuple:
        return tuple(map(taken_apart, value))
    if not is_structure(value):
        return value
    attributes = {name: taken_apart(entry) for name, entry in attributes_of(value).items()}
    return {_Class(type(value)): None, **attributes}


def put_together(value: Any) -> Any:
    """The opposite of `taken_apart`."""
    if type(value) is tuple:
        return tuple(map(put_together, value))
    key = next(iter(value), None) if type(value) is dict else None
    if not isinstance(key, _Class):
        return value
    entries = {name: put_together(entry) for name, entry in value.items() if name is not key}
    return _made(key.kind, entries)


def without_objects(function: Callable[..., Any], apart: Container[int]) -> Callable[..., Any]:
    """A function that takes objects which are taken apart, and gives such at these places.

    It must not change the objects that it gets.
    """

    def run(*values: Any) -> Any:
        given = [put_together(value) for value in values]
        before = [
            (one, attributes_of(one))
            for one, value in zip(given, values, strict=True)
            if one is not value
        ]
        results = function(*given)
        for one, attributes in before:
            if has_changed(one, attributes):
                raise changed_in_place(one)
        if not isinstance(results, tuple):  # a condition
            return results
        return tuple(taken_apart(v) if i in apart else v for i, v in enumerate(results))

    return run


def has_changed(value: Any, attributes: dict[str, Any]) -> bool:
    """Whether an object has other attributes than those."""
    now = attributes_of(value)
    return now.keys() != attributes.keys() or any(now[n] is not attributes[n] for n in now)


def changed_in_place(value: Any) -> ConversionError:
    """The refusal to change an object of which a Program has more than one."""
    name = type(value).__name__
    return ConversionError(
        f"a {name} that a loop on a tensor replaces is changed in place",
        at=user_location(),
        why="in the first turn that would change the one from before the loop, later another",
        hint=f"make a new {name} with the changed attributes",
    )
