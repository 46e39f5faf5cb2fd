"""Tables of what belongs to objects, by identity, without holding them."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from functools import partial
from typing import Any, Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


def reference_to(instance: Any) -> Callable[[], Any]:
    """A weak reference, or a strong one to what takes none."""
    try:
        return weakref.ref(instance)
    except TypeError:
        return lambda: instance


class ByIdentity(Generic[Key, Value]):
    """Values of objects; a value goes with its object.

    Nothing of Python runs when an object goes: the search for garbage begins anywhere, so that a
    Python function would let other threads run in the midst of what C does at once (`ast.parse` of
    CPython 3.11 breaks by that), and Ctrl-C in it would be lost.

    >>> table = ByIdentity()
    >>> table[ByIdentity] = 1
    >>> table.get(ByIdentity), table.get(int)
    (1, None)
    """

    __slots__ = ("_entries",)

    def __init__(self) -> None:
        """Start empty."""
        self._entries: dict[int, tuple[weakref.ref[Any], Value]] = {}

    def get(self, key: Key) -> Value | None:
        """What belongs to the object; None if nothing does."""
        known = self._entries.get(id(key))
        return known[1] if known is not None and known[0]() is key else None

    def __setitem__(self, key: Key, value: Value) -> None:
        """Let a value belong to an object, which can be referenced weakly."""
        # `pop` takes the reference, which it is called with, as its default.
        gone = partial(self._entries.pop, id(key))
        self._entries[id(key)] = weakref.ref(key, gone), value

    def setdefault(self, key: Key, value: Value) -> Value:
        """What belongs to the object; from now on this value, if nothing did."""
        gone = partial(self._entries.pop, id(key))
        return self._entries.setdefault(id(key), (weakref.ref(key, gone), value))[1]

    def pop(self, key: Key) -> Value:
        """What belongs to the object, and no longer."""
        return self._entries.pop(id(key))[1]

    def clear(self) -> None:
        """Forget all."""
        self._entries.clear()

    def __len__(self) -> int:
        """How many objects have a value."""
        return len(self._entries)
