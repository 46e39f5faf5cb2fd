"""Walks nested containers from top to bottom, within bounds, to save or load them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from dy2st_runtime.size_list import SizeList

MAX_DEPTH = 100
_PLAIN = (str, int, float, bool, type(None), complex, bytes, bytearray)
_SEQUENCES = (list, tuple)
_DICTS = (dict, OrderedDict)
_SETS = (set, frozenset)  # of keys alone, which are plain
_KEYS = (str, bytes, float, bool, type(None))


def is_key(value: Any) -> bool:
    """Whether it may be a key of a dict, or stand in a set.

    Nobody can choose such that collide, as he could among integers of any length, and no hash
    goes down into tuples without end.

    >>> is_key("weight"), is_key(-1), is_key(2**61 * 1000), is_key((1, 2))
    (True, True, False, False)
    """
    return type(value) in _KEYS or (type(value) is int and -(2**63) <= value < 2**64)


class Unfolded:
    """A tree anew, with other leaves.

    What stands at several places is made once. A container may hold itself or unfold endlessly
    (lists of ten lists that are one, a hundred deep): `fail` hears of it.
    """

    def __init__(
        self,
        convert: Callable[[Any], Any],
        fail: Callable[[str], NoReturn],
        most: int = 10_000_000,
    ):
        """`convert` gives what stands for a node, or the node itself to go on inside."""
        self._convert, self._fail, self._most = convert, fail, most
        self._made: dict[int, tuple[Any, Any, int]] = {}  # node, what it became, how much it is
        self._open: set[int] = set()

    def __call__(self, tree: Any) -> Any:
        """The new tree."""
        return self._anew(tree)[0]

    def _anew(self, node: Any) -> tuple[Any, int]:
        """What a node becomes, and how many objects that is when it is written out."""
        if type(node) in _PLAIN:
            return node, 1
        known = self._made.get(id(node))
        if known is not None:
            return known[1:]
        if id(node) in self._open:
            self._fail("a container holds itself")
        if len(self._open) >= MAX_DEPTH:
            self._fail(f"containers are nested more than {MAX_DEPTH} deep")
        self._open.add(id(node))
        made, size = self._one(node)
        self._open.remove(id(node))
        if size > self._most:
            self._fail(f"it unfolds to more than {self._most} objects")
        self._made[id(node)] = node, made, size
        return made, size

    def _one(self, node: Any) -> tuple[Any, int]:
        converted = self._convert(node)
        if converted is not node:
            return converted, 1
        kind = list if type(node) is SizeList else type(node)  # a shape comes back as a list
        if kind in _DICTS:
            values = [self._anew(value) for value in node.values()]
            pairs = zip(node, (value for value, _ in values))
            return kind(pairs), 1 + sum(size for _, size in values)
        if kind in _SEQUENCES:
            values = [self._anew(value) for value in node]
            return kind(value for value, _ in values), 1 + sum(size for _, size in values)
        if kind in _SETS:
            return kind(node), 1 + len(node)
        if isinstance(node, (np.ndarray, np.generic)):
            return node, 1
        shown = str(node) if hasattr(node, "module") else f"a {kind.__name__}"
        self._fail(f"it holds {shown[:120]}, which is no data")


__all__ = ["MAX_DEPTH", "Unfolded", "is_key"]
