"""Builtins that go through many items."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

from dy2st.convert.polyfills.registry import polyfill


@polyfill(filter)
def filter_(function: Any, iterable: Any, /) -> Iterator[Any]:
    """`filter`."""
    for item in iterable:
        if item if function is None else function(item):
            yield item


def enumerated(iterable: Any, start: Any) -> Iterator[Any]:
    """`enumerate` of a generator that has not begun."""
    for item in iterable:
        yield start, item
        start = start + 1


def member(members: Any, value: Any, name: Any) -> Any:
    """`kind(value)` of an Enum, by its members and its name."""
    for one in members:
        if one.value == value:
            return one
    raise ValueError(f"{value!r} is not a valid {name}")


def mapped(function: Any, iterable: Any) -> Iterator[Any]:
    """`map` of a generator that has not begun, or of one of several iterables."""
    for item in iterable:
        yield function(item)


def _in_base(function: Any, base: str) -> None:
    @polyfill(function)
    def written(number: Any, /) -> Any:
        number = operator.index(number)
        return ("-0" if number < 0 else "0") + base + f"{abs(number):{base}}"


for _function, _base in ((bin, "b"), (oct, "o"), (hex, "x")):
    _in_base(_function, _base)
