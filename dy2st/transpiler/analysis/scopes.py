"""Which names a function binds, and which names each of its statements reads, binds, captures."""

from __future__ import annotations

from dataclasses import dataclass, field

import gast

from dy2st.transpiler.nodes import COMPREHENSIONS, FUNCTIONS, Node, children, is_own, walk


@dataclass(eq=False, repr=False)
class Names:
    """The names of one statement or expression, as the function around it sees them.

    captured: names that a closure made here (function, lambda, generator expression, class) uses;
    they may be read at any later time. Names that only a comprehension uses are read at once.
    """

    reads: set[str] = field(default_factory=set)
    writes: set[str] = field(default_factory=set)
    deletes: set[str] = field(default_factory=set)
    captured: set[str] = field(default_factory=set)
    declared: set[str] = field(default_factory=set)
    nonlocals: set[str] = field(default_factory=set)

    def add(self, other: Names) -> None:
        """Take in the names of a part."""
        self.reads |= other.reads
        self.writes |= other.writes
        self.deletes |= other.deletes
        self.captured |= other.captured
        self.declared |= other.declared
        self.nonlocals |= other.nonlocals


class NameTable:
    """The names of every node of one function, computed once."""

    def __init__(self) -> None:
        """Start empty; nodes are looked at when they are asked for."""
        self._known: dict[int, tuple[Node, Names]] = {}

    def of(self, node: Node) -> Names:
        """The names of a statement or expression."""
        known = self._known.get(id(node))
        if known is None:
            known = self._known[id(node)] = (node, self._collect(node))
        return known[1]

    def of_all(self, nodes: list[Node]) -> Names:
        """The names of several nodes together."""
        names = Names()
        for node in nodes:
            names.add(self.of(node))
        return names

    def _collect(self, node: Node) -> Names:
        if isinstance(node, gast.Name):
            names = Names()
            _add_name(node, names)
            return names
        if isinstance(node, (*FUNCTIONS, gast.Lambda)):
            # A nested function: its defaults and decorators are read now, its body later
            arguments = node.args
            parts = [*arguments.defaults, *(d for d in arguments.kw_defaults if d is not None)]
            if isinstance(node, FUNCTIONS):
                parts += node.decorator_list
                parts += [p.annotation for p in parameter_nodes(node) if p.annotation is not None]
                parts += [node.returns] if node.returns is not None else []
            names = self.of_all(parts)
            inner = self.inside(node)
            free = (inner.reads | inner.captured | inner.writes | inner.deletes) - bound_in(
                inner, node
            )
            # A function that a rewrite has made runs at once, for the code that it stands for.
            if is_own(node):
                names.reads |= free
                names.writes |= inner.writes & inner.declared
                return names
            names.captured |= free
            if isinstance(node, FUNCTIONS):
                names.writes.add(node.name)
            return names
        if isinstance(node, gast.ClassDef):
            # A class body runs at once, but what it uses is a cell, and its methods run later
            names = self.of_all([*node.decorator_list, *node.bases, *node.keywords])
            inner = self.of_all(node.body)
            names.reads |= inner.reads
            names.captured |= inner.reads | inner.captured | inner.nonlocals
            # What a class body declares nonlocal is bound in the function at once.
            names.writes |= {node.name} | (inner.writes & inner.nonlocals)
            return names
        if isinstance(node, COMPREHENSIONS):
            # Targets are its own; the first iterable is read now, the rest at once unless lazy
            first, *others = node.generators
            names = Names()
            names.add(self.of(first.iter))
            parts = [node.key, node.value] if isinstance(node, gast.DictComp) else [node.elt]
            inner = self.of_all([*parts, *first.ifs, *others])
            inner.add(self.of(first.target))
            targets = self.of_all([generator.target for generator in node.generators]).writes
            walrus = {one.target.id for one in walk(node) if isinstance(one, gast.NamedExpr)}
            free = inner.reads - targets
            lazy = isinstance(node, gast.GeneratorExp)
            names.reads |= set() if lazy else free
            names.captured |= (free | walrus if lazy else set()) | (inner.captured - targets)
            names.writes |= walrus
            return names
        # A node that opens no scope; the names of statements inside are kept for later.
        names, todo = Names(), [node]
        for inner in todo:
            if isinstance(inner, gast.Name):
                _add_name(inner, names)
            elif inner is not node and isinstance(inner, _KEPT):
                names.add(self.of(inner))
            else:
                _add_strings(inner, names)
                todo += children(inner)
        return names

    def inside(self, node: Node) -> Names:
        """The names in the body of a function, as the body sees them."""
        return self.of_all(node.body if isinstance(node.body, list) else [node.body])


_KEPT = (gast.stmt, gast.Lambda, *COMPREHENSIONS)


def _add_name(node: Node, names: Names) -> None:
    if isinstance(node.ctx, gast.Load):
        names.reads.add(node.id)
    # To delete what is unbound raises, so it counts as a read.
    elif isinstance(node.ctx, gast.Del):
        names.reads.add(node.id)
        names.deletes.add(node.id)
    else:
        names.writes.add(node.id)


def _add_strings(node: Node, names: Names) -> None:
    """What a node reads or binds by a name that is no node."""
    kind = node.__class__
    if kind not in _WITH_STRINGS:
        return
    # Its target stands there as stored, and is read as well.
    if kind is gast.AugAssign:
        names.reads |= {node.target.id} if isinstance(node.target, gast.Name) else set()
    elif kind is gast.Import or kind is gast.ImportFrom:
        names.writes.update((a.asname or a.name).split(".")[0] for a in node.names)
    elif kind is gast.Global or kind is gast.Nonlocal:
        names.declared.update(node.names)
        names.nonlocals.update(node.names if kind is gast.Nonlocal else ())
    else:
        name = node.rest if kind is gast.MatchMapping else node.name
        names.writes |= {name} if name else set()


_WITH_STRINGS = frozenset(
    {
        gast.AugAssign,
        gast.Global,
        gast.Import,
        gast.ImportFrom,
        gast.MatchAs,
        gast.MatchMapping,
        gast.MatchStar,
        gast.Nonlocal,
    }
)


def parameter_nodes(function: Node) -> list[Node]:
    """The parameters of a function, in order."""
    a = function.args
    extra = [p for p in (a.vararg, a.kwarg) if p is not None]
    return [*a.posonlyargs, *a.args, *a.kwonlyargs, *extra]


def parameters(function: Node) -> set[str]:
    """The names of a function's parameters."""
    return {node.id for node in parameter_nodes(function)}


def bound_in(inner: Names, function: Node) -> set[str]:
    """The names that are local to a function with these names in its body."""
    return (inner.writes | inner.deletes | parameters(function)) - inner.declared
