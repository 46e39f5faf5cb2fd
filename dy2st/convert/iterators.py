"""How far Python's iterators have come: a branch of a Program must not advance one from outside."""

from __future__ import annotations

import inspect
import io
import itertools
import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from types import GeneratorType
from typing import Any

from dy2st.transpiler.quiet import quiet
from dy2st_runtime.errors import UnsupportedSyntax
from dy2st_runtime.ir import user_location


class Held:
    """An iterator that others may read on."""

    __slots__ = ("iterator",)

    def __init__(self, iterator: Any) -> None:
        """Take its items through this one."""
        self.iterator = iterator

    def __iter__(self) -> Held:
        """Itself."""
        return self

    def __next__(self) -> Any:
        """The next item."""
        return next(self.iterator)


@dataclass(frozen=True)
class Generated:
    """The items of a generator expression that a `for` consumes where it stands.

    turn: what an item of `iterable` does to what is gathered so far, as of a comprehension.
    """

    iterable: Any
    turn: Callable[[Any, Any], Any]


def is_iterator(value: Any) -> bool:
    """Whether a value is consumed when it is iterated over.

    >>> is_iterator([1]), is_iterator(iter([1]))
    (False, True)
    """
    return hasattr(type(value), "__next__") and iter(value) is value


def refuse_advanced(iterators: list[Any]) -> None:
    """Raise UnsupportedSyntax if one of them has another place by now."""
    for value, before in iterators:
        if place_of(value) != before:
            kind = type(value).__name__
            raise UnsupportedSyntax(
                f"a {kind} is advanced in a branch or loop that depends on a tensor",
                at=user_location(),
                why="how far it has come would be known only when the Program runs",
                hint="take the items before the statement: items = list(...)",
            )


def is_known(value: Any) -> bool:
    """Whether this is an iterator of Python itself, or a file that is read."""
    kind = type(value)
    if isinstance(value, io.IOBase):
        return kind.__module__ == "_io" and not value.closed and _is_read(value)
    return kind.__module__ in ("builtins", "itertools") and hasattr(kind, "__next__")


def _is_read(file: io.IOBase) -> bool:
    return not isinstance(file, (io.StringIO, io.BytesIO)) and (
        file.readable() and not file.writable()
    )


def place_of(value: Any) -> Any:
    """What tells how far an iterator has come: what is left, or its parts.

    Of a generator, the statement at which it stands, and what its variables hold.
    """
    if isinstance(value, io.IOBase):
        return _place_in_file(value)
    if isinstance(value, GeneratorType):
        return _place_of_generator(value)
    left = operator.length_hint(value, -1)
    if left >= 0:
        return left
    if isinstance(value, itertools.count):
        return repr(value)
    try:
        with quiet.held():  # itertools will not be copied in later versions
            parts = _flat(value.__reduce__()[1:])
    except TypeError:
        return None
    return [place_of(part) if is_known(part) else part for part in parts if _tells(part)]


@dataclass(frozen=True)
class _Stands:
    """Where a generator stands; the values are held, so that no other gets their identities."""

    state: str
    instruction: int
    places: list[Any]
    values: list[Any] = field(compare=False)


def _place_of_generator(generator: GeneratorType[Any, Any, Any]) -> _Stands:
    frame, state = generator.gi_frame, inspect.getgeneratorstate(generator)
    if frame is None or state == inspect.GEN_RUNNING:
        return _Stands(state, 0, [], [])
    values = [*frame.f_locals.values()]
    places = [place_of(value) if is_known(value) else id(value) for value in values]
    return _Stands(state, frame.f_lasti, places, values)


def _place_in_file(file: Any) -> Any:
    """Where reading goes on; that of its buffer while a `for` goes through the lines of a text."""
    for held in (file, getattr(file, "buffer", file)):
        try:
            return held is file, held.tell()
        except (OSError, ValueError):
            continue
    return None


def _flat(parts: Any) -> list[Any]:
    if not isinstance(parts, tuple):
        return [parts]
    return [entry for part in parts for entry in _flat(part)]


def _tells(part: Any) -> bool:
    return isinstance(part, int) or is_known(part)
