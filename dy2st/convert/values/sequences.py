"""Describes what a loop of the Program runs over: a length, and the item at a place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(eq=False)
class Indexed:
    """Items by index, as many as a value of the Program says.

    size      how many, or what tells: a list may get longer while a loop runs over it.
    whole     the list or tensor that it looks into, if anybody may ask for more than its items.
    is_once   whether it is an iterator: what is taken of it is gone.
    position  how many items of an iterator are gone.
    in_progress  whether an iteration is in progress whose count is not known yet.
    """

    size: Any
    item: Callable[[Any], Any]
    whole: Any = None
    is_once: bool = False
    position: Any = 0
    in_progress: bool = False

    @property
    def length(self) -> Any:
        """How many items there are now."""
        return self.size() if callable(self.size) else self.size


@dataclass(eq=False)
class Generated:
    """A generator expression.

    One that has an item for each item of its iterable makes it when somebody asks for it. Of how
    many items a tensor may decide in all others, so they are gathered with the first.

    generator  a generator function of one iterable, whose control flow is Python's own.
    pushing    a function that gives each item to a function, by the Program where it must be.
    is_map     whether there is one item for each item of the iterable.
    items      what is left of the items, once somebody has asked.
    """

    generator: Callable[[Any], Any]
    pushing: Callable[..., Any]
    iterable: Any
    is_map: bool = False
    items: Any = None


def zipped(parts: Sequence[Indexed], shortest: Callable[[Any, Any], Any]) -> Indexed:
    """The items of several, side by side, as long as the shortest is."""
    length = parts[0].length
    for part in parts[1:]:
        length = shortest(length, part.length)
    return Indexed(length, lambda index: tuple(part.item(index) for part in parts))
