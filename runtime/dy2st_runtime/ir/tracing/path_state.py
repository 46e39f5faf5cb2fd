"""The state of the path that is traced: forked where a branch begins, and joined behind it.

The state is a value: what one path changes, no other one sees. A fork costs nothing but what the
path changes, since each table is kept once, as it is where the trace stands, and a path holds what
it has changed; to stand elsewhere is to exchange these. Nobody else takes anything back.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, TypeVar

from dy2st_runtime.errors import Location
from dy2st_runtime.ir.program import Block, Operator, Variable
from dy2st_runtime.ir.sizes import fresh_mark
from dy2st_runtime.ir.tensor import Tensor

K = TypeVar("K")
V = TypeVar("V")
_GONE: Any = object()  # in what a path has changed: it has deleted the key


class Found:
    """What a path has found where it has written.

    by_table  keys with what they had, by the name of the table; None where the trunk is traced.
    """

    __slots__ = ("by_table",)

    def __init__(self) -> None:
        """Stand in the trunk."""
        self.by_table: dict[str, dict[Any, Any]] | None = None


class Table(dict[K, V], Generic[K, V]):
    """What holds on the path where the trace stands.

    >>> found = Found()
    >>> table = Table("names", found)
    >>> table["x"] = 1
    >>> found.by_table = {}
    >>> table["x"], table["y"] = 2, 3
    >>> changes = table.taken_back(found.by_table["names"])
    >>> table, changes
    ({'x': 1}, {'x': 2, 'y': 3})
    """

    __slots__ = ("_found", "name")

    def __init__(self, name: str, found: Found) -> None:
        """Nothing holds."""
        self.name, self._found = name, found

    def __setitem__(self, key: K, value: V) -> None:
        """Let a value hold from here on, on this path."""
        by_table = self._found.by_table
        if by_table is not None:
            before = by_table.get(self.name)
            if before is None:
                before = by_table[self.name] = {}
            if key not in before:
                before[key] = self.get(key, _GONE)
        self.put(key, value)

    def __delitem__(self, key: K) -> None:
        """Let nothing hold from here on, on this path."""
        self[key]  # KeyError where there is nothing
        self[key] = _GONE

    def pop(self, key: K, default: Any = None) -> Any:
        """Let nothing hold from here on; what has held."""
        found = self.get(key, default)
        if key in self:
            del self[key]
        return found

    def update(self, changes: Mapping[K, V] | Iterable[tuple[K, V]]) -> None:  # type: ignore[override]
        """Let many values hold from here on."""
        for key, value in dict(changes).items():
            self[key] = value

    def put(self, key: K, value: V) -> None:
        """Let a value hold on all paths on which no other one was set."""
        if value is _GONE:
            dict.pop(self, key, None)
        else:
            dict.__setitem__(self, key, value)

    def is_set_here(self, key: K) -> bool:
        """Whether the path where the trace stands has set a key; the trunk sets all."""
        by_table = self._found.by_table
        return by_table is None or key in by_table.get(self.name, ())

    def taken_back(self, before: Mapping[K, V]) -> dict[K, V]:
        """Have what a path has found once more; returns what it has changed."""
        changes = {}
        for key, old in before.items():
            now = self.get(key, _GONE)
            if now is not old:
                changes[key] = now
                self.put(key, old)
        return changes


class _Overwritten(Table[Variable, Location]):
    """Where Variables were overwritten, which each of them knows itself."""

    __slots__ = ()

    def put(self, key: Variable, value: Location) -> None:
        """Let the Variable know it."""
        key.overwritten = None if value is _GONE else value
        super().put(key, value)


class Group:
    """Names objects that joins have made one; which these are, each path knows."""

    __slots__ = ()


_nothing = partial(defaultdict[str, dict[Any, Any]], dict)


@dataclass(eq=False)
class Path:
    """A path of the trace: what it has recorded, and what it has changed.

    changed      by the name of the table, what holds at the end of the path.
    tensors      those from around it that it has left another Variable in.
    since        a mark behind which the symbols were made that mean nothing around it.
    pending      what all else waits for that runs in the path, until somebody ends it.
    """

    block: Block
    changed: defaultdict[str, dict[Any, Any]] = field(default_factory=_nothing)
    tensors: dict[int, tuple[Tensor, Variable]] = field(default_factory=dict)
    since: int = field(default_factory=fresh_mark)
    pending: Any = None

    def left_in(self, table: str) -> dict[Any, Any]:
        """What the path has left in a table."""
        return {key: one for key, one in self.changed[table].items() if one is not _GONE}

    @property
    def overwritten(self) -> list[Variable]:
        """The Variables that the path has changed under another name."""
        return [*self.left_in("overwritten")]


class PathState:
    """What holds on the path where a trace stands.

    paths        the paths in which it lies, from the outermost one on; the trunk is none.
    tensors      what stands for each tensor now, by id, as tensors compare by elements; the entry
                 holds the tensor, so that its id is not given to another one.
    overwritten  the Variables whose tensor was changed under another name, and where.
    spent        the operators whose gradients were taken once and for all.
    heap         what places of objects hold, by the id of the object and the name of the place.
    born         the objects that a path has made, by id.
    cases        which cases a value can be that is one of several, by the id of its tag.
    reads        elements that are one of several, by list and index; both stand beside it, too.
    fragile      objects that nobody may change, by id, as in all that follow.
    stale        objects that nobody may read, with the place where another form has changed, and
                 whether that is an element of another list.
    holders      objects that are, or hold, elements of lists by value, with their layouts.
    merged       which Group of objects that joins have made one each is in; `groups`: all of it.
    borrows      the elements that were looked up in a list; `borrowed`: by what may be changed.
    """

    def __init__(self) -> None:
        """Nothing does."""
        self.paths: list[Path] = []
        found = self._found = Found()
        self.tensors: Table[int, tuple[Tensor, Variable]] = Table("tensors", found)
        self.overwritten: Table[Variable, Location] = _Overwritten("overwritten", found)
        self.spent: Table[Operator, None] = Table("spent", found)
        self.heap: Table[tuple[int, Any], Any] = Table("heap", found)
        self.born: Table[int, Any] = Table("born", found)
        self.cases: Table[int, tuple[Any, frozenset[int]]] = Table("cases", found)
        self.reads: Table[tuple[int, ...], tuple[Any, Any, Any]] = Table("reads", found)
        self.fragile: Table[int, Any] = Table("fragile", found)
        self.stale: Table[int, tuple[Any, Location | None, bool]] = Table("stale", found)
        self.holders: Table[int, tuple[Any, tuple[Any, ...]]] = Table("holders", found)
        self.merged: Table[int, Group] = Table("merged", found)
        self.groups: Table[Group, tuple[Any, ...]] = Table("groups", found)
        self.borrows: Table[int, tuple[Any, ...]] = Table("borrows", found)
        self.borrowed: Table[int, Any] = Table("borrowed", found)

    @contextmanager
    def on(self, path: Path) -> Iterator[None]:
        """Stand at the end of a path; behind the `with` all is as before, and it may be longer."""
        depth, outer = len(self.paths), self._found.by_table
        self.paths.append(path)
        found = self._found.by_table = {}
        self.take(path)
        try:
            yield
        finally:
            self.abandon(depth + 1)
            path.changed = _nothing()
            for name, before in found.items():
                table: Table[Any, Any] = getattr(self, name)
                path.changed[name] = table.taken_back(before)
            self._found.by_table = outer
            del self.paths[depth:]  # Ctrl-C may have left more

    def abandon(self, depth: int) -> None:
        """Leave paths that lie deeper, which an error has kept from being ended."""
        for path in reversed(self.paths[depth:]):
            if path.pending is not None:
                path.pending.running.close()

    def join(self, paths: Iterable[Path]) -> None:
        """Let hold here what does at the end of any path, of what is joined by a union."""
        for path in paths:
            self.spent.update(path.left_in("spent"))
            kept, born = path.left_in("fragile").items(), path.changed["born"].keys()
            self.fragile.update((key, one) for key, one in kept if key not in born)
            for key in born & self.fragile.keys():  # what the path has made, nobody knows
                del self.fragile[key]
            self.stale.update(path.left_in("stale"))

    def merged_with(self, owner: Any) -> tuple[Any, ...]:
        """All objects that joins have made one with an object, itself among them."""
        group = self.merged.get(id(owner))
        return (owner,) if group is None else self.groups[group]

    def merge(self, values: Iterable[Any]) -> list[tuple[Any, ...]]:
        """Let objects be one from here on; returns what was one before."""
        ones: dict[Any, Any] = {self.merged.get(id(one), id(one)): one for one in values}
        known = {key: self.merged_with(one) for key, one in ones.items()}
        if len(known) > 1:
            # The largest group stays: else each merge would take as long as all before it.
            largest = max(known, key=lambda key: len(known[key]))
            group = largest if isinstance(largest, Group) else Group()
            new = [one for key in known if key is not group for one in known[key]]
            self.merged.update((id(one), group) for one in new)
            for old in known.keys() & self.groups.keys() - {group}:
                del self.groups[old]
            self.groups[group] = (*self.groups.get(group, ()), *new)
        return [*known.values()]

    def part(self, owner: Any) -> list[Any]:
        """Let an object be one with no other; returns those that it was one with."""
        group = self.merged.get(id(owner))
        objects = () if group is None else self.groups.pop(group)
        for one in objects:
            del self.merged[id(one)]
        return [one for one in objects if one is not owner]

    def take(self, path: Path) -> None:
        """Let what a path has changed hold here: it is the only one that goes on."""
        for name, changes in path.changed.items():
            # The trunk need not hold what was made: it has made all that is not from outside.
            if self.paths or name != "born":
                getattr(self, name).update(changes)
