"""The tables of a Layer, which count their changes, whoever makes them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from functools import wraps
from typing import Any

_changes = 0


def attribute_changes() -> int:
    """How often an attribute of any Layer was set: as long as it stays, no Layer has changed."""
    return _changes


def count_change() -> None:
    """Count a change of an attribute of a Layer."""
    global _changes
    _changes += 1


class Table(OrderedDict[Any, Any]):
    """What a Layer holds by name: parameters, buffers, other Layers, hooks.

    >>> before = attribute_changes()
    >>> Table()["weight"] = None
    >>> attribute_changes() > before
    True
    """

    def __repr__(self) -> str:
        """That of an OrderedDict, which it is to everybody."""
        return repr(OrderedDict(self))


def _counting(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def changing(table: Table, *args: Any, **named: Any) -> Any:
        count_change()
        return method(table, *args, **named)

    return changing


for _name in (
    *("__setitem__", "__delitem__", "__ior__", "clear", "move_to_end"),
    *("pop", "popitem", "setdefault", "update"),
):
    setattr(Table, _name, _counting(getattr(OrderedDict, _name)))

__all__ = ["Table", "attribute_changes", "count_change"]
