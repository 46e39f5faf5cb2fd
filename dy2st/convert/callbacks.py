"""Functions of Python's library that call what they are given: it is converted first.

The table says where the callback stands: what else is a function there is data, and stays itself.
"""

from __future__ import annotations

import builtins
import functools
import heapq
import itertools
from collections.abc import Callable
from typing import Any

Convert = Callable[[Any], Any]

# The position of the callback (None: it has a keyword only), and its keyword.
_PLACES: tuple[tuple[Any, int | None, str], ...] = (
    (builtins.map, 0, ""),
    (builtins.filter, 0, ""),
    (builtins.sorted, None, "key"),
    (builtins.max, None, "key"),
    (builtins.min, None, "key"),
    (functools.reduce, 0, ""),
    (itertools.accumulate, 1, "func"),
    (itertools.dropwhile, 0, ""),
    (itertools.filterfalse, 0, ""),
    (itertools.groupby, 1, "key"),
    (itertools.starmap, 0, ""),
    (itertools.takewhile, 0, ""),
    (heapq.nlargest, 2, "key"),
    (heapq.nsmallest, 2, "key"),
)


def table(convert: Convert, builtins_: dict[int, Any]) -> dict[int, Callable[..., Any]]:
    """By identity: what is called instead, on top of what other builtins are replaced by."""
    return {
        id(function): _converting(convert, builtins_.get(id(function), function), place, keyword)
        for function, place, keyword in _PLACES
    }


def _converting(
    convert: Convert, function: Callable[..., Any], place: int | None, keyword: str
) -> Callable[..., Any]:
    def call(*arguments: Any, **options: Any) -> Any:
        if place is not None and place < len(arguments):
            callback = _callback(convert, arguments[place])
            arguments = (*arguments[:place], callback, *arguments[place + 1 :])
        elif keyword in options:
            options[keyword] = _callback(convert, options[keyword])
        return function(*arguments, **options)

    return call


def _callback(convert: Convert, callback: Any) -> Any:
    return None if callback is None else convert(callback)


def sort_of(method: Any, convert: Convert) -> Any:
    """`items.sort` of a list, with its key converted."""
    if type(method.__self__) is not list:
        return method
    return _converting(convert, method, None, "key")
