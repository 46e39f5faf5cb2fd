"""The tables of a Layer, which count their changes, whoever makes them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

# Those of what a Layer has registered.
STORES = ("_parameters", "_buffers", "_sub_layers")

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

    def hold(self, entries: Mapping[str, Any]) -> None:
        """Hold these alone, each in its place, and count no change.

        >>> table = Table(weight=1, bias=2)
        >>> table.hold({"bias": 3, "scale": 4})
        >>> [*table.items()]
        [('bias', 3), ('scale', 4)]
        """
        for name in [name for name in self if name not in entries]:
            OrderedDict.__delitem__(self, name)
        for name, entry in entries.items():
            OrderedDict.__setitem__(self, name, entry)

    def give_back(self, before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
        """Hold what it held `before` it held `now`; what others have changed since stays so."""
        own = {n: one for n, one in self.items() if n not in now or one is not now[n]}
        gone = now.keys() - self.keys()
        self.hold({n: one for n, one in {**before, **own}.items() if n not in gone})


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

__all__ = ["STORES", "Table", "attribute_changes", "count_change"]
