"""The state of the path that is traced: forked where a branch begins, and joined behind it.

The state is a value: what one path changes, no other one sees. A fork costs nothing but what the
path changes, since each table is kept once, as it is where the trace stands, and a path holds what
it has changed; to stand elsewhere is to exchange these. Nobody else takes anything back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from dy2st_runtime.errors import Location
from dy2st_runtime.ir.program import Block, Operator, Variable
from dy2st_runtime.ir.sizes import fresh_mark
from dy2st_runtime.ir.tensor import Tensor

K = TypeVar("K")
V = TypeVar("V")
_GONE: Any = object()  # in what a path has changed: it has deleted the key


class Table(dict[K, V], Generic[K, V]):
    """What holds on the path where the trace stands.

    >>> table = Table()
    >>> table["x"] = 1
    >>> outer = table.enter({})
    >>> table["x"], table["y"] = 2, 3
    >>> changes = table.leave(outer)
    >>> table, changes
    ({'x': 1}, {'x': 2, 'y': 3})
    """

    __slots__ = ("_before",)

    def __init__(self) -> None:
        """Nothing holds."""
        self._before: dict[K, V] | None = None  # what the path has found where it has written

    def __setitem__(self, key: K, value: V) -> None:
        """Let a value hold from here on, on this path."""
        if self._before is not None and key not in self._before:
            self._before[key] = self.get(key, _GONE)
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
        return self._before is None or key in self._before

    def enter(self, changes: Mapping[K, V]) -> dict[K, V] | None:
        """Go on where a path has changed so much; returns what `leave` takes."""
        outer, self._before = self._before, {}
        for key, value in changes.items():
            self[key] = value
        return outer

    def leave(self, outer: dict[K, V] | None) -> dict[K, V]:
        """Go back to where the path began; returns what it has changed."""
        changes = {}
        assert self._before is not None
        for key, old in self._before.items():
            now = self.get(key, _GONE)
            if now is not old:
                changes[key] = now
                self.put(key, old)
        self._before = outer
        return changes


class _Overwritten(Table[Variable, Location]):
    """Where Variables were overwritten, which each of them knows itself."""

    __slots__ = ()

    def put(self, key: Variable, value: Location) -> None:
        """Let the Variable know it."""
        key.overwritten = None if value is _GONE else value
        super().put(key, value)


@dataclass(eq=False)
class Path:
    """A path of the trace: what it has recorded, and what it has changed.

    changed      by the name of the table, what holds at the end of the path.
    tensors      those from around it that it has left another Variable in.
    since        a mark behind which the symbols were made that mean nothing around it.
    pending      what all else waits for that runs in the path, until somebody ends it.
    """

    block: Block
    changed: dict[str, dict[Any, Any]] = field(default_factory=dict)
    tensors: dict[int, tuple[Tensor, Variable]] = field(default_factory=dict)
    since: int = field(default_factory=fresh_mark)
    pending: Any = None

    def left_in(self, table: str) -> dict[Any, Any]:
        """What the path has left in a table."""
        changed = self.changed.get(table, {})
        return {key: one for key, one in changed.items() if one is not _GONE}

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
    stale        objects that nobody may read, with the place where another form has changed.
    merged       the objects that a join has made one with each of them.
    borrows      the elements that were looked up in a list; `borrowed`: by what may be changed.
    """

    def __init__(self) -> None:
        """Nothing does."""
        self.paths: list[Path] = []
        self.tensors: Table[int, tuple[Tensor, Variable]] = Table()
        self.overwritten: Table[Variable, Location] = _Overwritten()
        self.spent: Table[Operator, None] = Table()
        self.heap: Table[tuple[int, Any], Any] = Table()
        self.born: Table[int, Any] = Table()
        self.cases: Table[int, tuple[Any, frozenset[int]]] = Table()
        self.reads: Table[tuple[int, int], tuple[Any, Any, Any]] = Table()
        self.fragile: Table[int, Any] = Table()
        self.stale: Table[int, tuple[Any, Location | None]] = Table()
        self.merged: Table[int, list[Any]] = Table()
        self.borrows: Table[int, tuple[Any, ...]] = Table()
        self.borrowed: Table[int, Any] = Table()

    @property
    def _tables(self) -> Iterator[tuple[str, Table[Any, Any]]]:
        return ((name, one) for name, one in vars(self).items() if isinstance(one, Table))

    @contextmanager
    def on(self, path: Path) -> Iterator[None]:
        """Stand at the end of a path; behind the `with` all is as before, and it may be longer."""
        depth = len(self.paths)
        self.paths.append(path)
        outer = [(name, one, one.enter(path.changed.get(name, {}))) for name, one in self._tables]
        try:
            yield
        finally:
            self.abandon(depth + 1)
            path.changed = {name: table.leave(before) for name, table, before in outer}
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
            self.fragile.update(path.left_in("fragile"))
            self.stale.update(path.left_in("stale"))

    def take(self, path: Path) -> None:
        """Let what a path has changed hold here: it is the only one that goes on."""
        for name, table in self._tables:
            table.update(path.changed.get(name, {}))
