"""Trees over the outputs of a Program: what a call returns, and what it writes outside."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dy2st.heart.replay.places import owners_of
from dy2st.heart.trace import CONTAINERS, Trace
from dy2st.heart.values.layout import Layout, Same, leaves_of, number_kind
from dy2st.heart.values.special import Dynamic, Union
from dy2st_runtime.dims import Condition, Dim
from dy2st_runtime.ir import Output, Variable
from dy2st_runtime.ir.choice import Text
from dy2st_runtime.tensor import EagerTensor


@dataclass(frozen=True)
class Out:
    """The output of that index; a Python number of that kind where Python has one."""

    index: int
    number: type | None = None


@dataclass(frozen=True)
class Known:
    """An object of the user's, as it is."""

    get: Callable[[], Any]


@dataclass(eq=False)
class Made:
    """A new list, dict or object at each call; one that is met twice is made once."""

    kind: type
    keys: Sequence[Any]
    items: list[Any]
    like: Any = None


@dataclass(eq=False)
class Several:
    """One of several values, by a tag.

    held: trees of the objects that are older than the branch, by the layouts that they stand in.
    """

    tag: Out
    cases: list[Any]
    held: dict[int, Any]


@dataclass(eq=False)
class Rows:
    """A list of a length: arrays, side by side, and the layout of one element.

    held: trees of the objects that are older than the list, by the layouts that they stand in.
    """

    kind: type
    arrays: list[Out]
    element: Any
    held: dict[int, Any]
    like: Any = None


@dataclass(eq=False)
class Written:
    """A text with trees in its holes."""

    text: Text


TREES = (Out, Known, Made, Several, Rows, Written)
_ATOMS = frozenset({str, int, float, bool, bytes, complex, type(None), type(...), range})


class Taker:
    """Takes values apart; what the Program computes becomes an output."""

    def __init__(self, trace: Trace, opened: Container[int] = ()):
        """Containers that are `opened`, by id, are outside and yet made anew at each call."""
        self.trace = trace
        self.opened = opened
        self.leaves: list[Variable] = []
        self.known: dict[int, Any] = {}
        self.kept: list[Any] = []  # so that no other object gets the id of one that is known
        self.places: dict[Variable, int] = {}
        self.owner = owners_of(trace)

    def out(self, variable: Variable, number: type | None = None) -> Out:
        """The output that gives a Variable."""
        local = self.trace.tracer.local(variable)
        if local not in self.places:
            self.places[local] = len(self.leaves)
            self.leaves.append(local)
        return Out(self.places[local], number)

    def take(self, value: Any) -> Any:
        """The tree of a value; the value itself if it is a constant."""
        if isinstance(value, (Variable, Dim, Condition)):
            kind = number_kind(value)
            return self.out(self.trace.tracer.variable(value), kind)
        if isinstance(value, EagerTensor):
            return self.out(self.trace.tracer.captured(value))
        if type(value) is Union:
            return self._union(value)
        if type(value) is Text:
            return Written(value.mapped(self.take))
        if isinstance(value, tuple):
            return self._tuple(value)
        if type(value) is Dynamic:
            return self._rows(value)
        if id(value) in self.known:
            return self.known[id(value)]
        return self._object(value)

    def _tuple(self, value: tuple[Any, ...]) -> Any:
        items = [self.take(item) for item in value]
        if not any(isinstance(item, TREES) for item in items):
            return value
        return Made(type(value), (), items)

    def _object(self, value: Any) -> Any:
        trace, kind = self.trace, type(value)
        if kind in _ATOMS or isinstance(value, np.generic):
            return value
        if trace.is_outside(value) and id(value) not in self.opened:
            return Known(self.owner(value))
        if kind in CONTAINERS:
            return self._container(value, kind)
        held = trace.fields(value)
        if held is None:
            return Known(lambda: value)
        self.kept.append(value)
        made = self.known[id(value)] = Made(kind, list(held), [], object)
        made.items += [self.take(item) for item in held.values()]
        return made

    def _container(self, value: Any, kind: type) -> Any:
        content = self.trace.content(value)
        if type(content) is Dynamic:
            return self._rows(content)
        if type(content) is Union:
            return self._union(content)
        keys = list(content) if isinstance(content, dict) else ()
        self.kept.append(value)
        made = self.known[id(value)] = Made(kind, keys, [], _empty(value))
        items = content.values() if isinstance(content, dict) else content
        made.items += [self.take(item) for item in items]
        return made

    def _rows(self, content: Dynamic) -> Rows:
        arrays = [self.out(array) for array in content.arrays]
        held: dict[int, Any] = {}
        self._hold(content.element, held)
        return Rows(content.kind, arrays, content.element, held, content.like)

    def _union(self, value: Union) -> Several:
        tag = self.out(value.tag, int)
        held: dict[int, Any] = {}
        for layout in value.layouts:
            self._hold(layout, held)
        cases = [
            (layout, [self.out(array) for array in arrays])
            for layout, arrays in zip(value.layouts, value.arrays, strict=True)
        ]
        return Several(tag, cases, held)

    def _hold(self, node: Layout | None, held: dict[int, Any]) -> None:
        """Take the objects that a layout tells, which are older than it."""
        if isinstance(node, Same) and type(node.value) not in _ATOMS:
            held[id(node)] = self.take(node.value)
        for inner in () if node is None else leaves_of(node):
            self._hold(inner, held)


def _empty(value: Any) -> Any:
    """What a new container of the kind begins with: a deque has its maxlen, for one."""
    if type(value) in (list, dict, OrderedDict, set, bytearray):
        return None
    empty = value.copy()
    empty.clear()
    return empty


_PLAIN = (list, tuple, dict)


def structure_of(tree: Any) -> Any:
    """The tree as the structure of a Program: what files can hold; None if they cannot."""
    seen: set[int] = set()

    def plain(node: Any) -> Any:
        if isinstance(node, Out):
            return Output(node.index, node.number is not None)
        if not isinstance(node, TREES):
            return node
        if isinstance(node, Written):
            return node.text.mapped(plain)
        if not isinstance(node, Made) or node.like is not None or id(node) in seen:
            raise _NotPlain
        if not issubclass(node.kind, _PLAIN):
            raise _NotPlain
        seen.add(id(node))
        items = [plain(item) for item in node.items]
        if issubclass(node.kind, dict):
            return node.kind(zip(node.keys, items, strict=True))
        return node.kind(*items) if hasattr(node.kind, "_fields") else node.kind(items)

    try:
        return (plain(tree),)
    except _NotPlain:
        return None


class _NotPlain(Exception):
    """A tree that is no structure."""


@dataclass(eq=False)
class Finished:
    """What a call gives back, and what it writes.

    outputs   how many outputs the result takes; those of the effects come after.
    is_plain  whether the structure of the Program says all of the result.
    """

    result: Any = None
    outputs: int = 0
    is_plain: bool = False
    effects: list[Any] = field(default_factory=list)


__all__ = [
    "TREES",
    "Finished",
    "Known",
    "Made",
    "Out",
    "Rows",
    "Several",
    "Taker",
    "Written",
    "structure_of",
]
