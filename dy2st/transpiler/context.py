"""What the rewrites of one function share: fresh names, reasons, and what analysis found."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import FunctionType

import gast

from dy2st.transpiler.nodes import Node, call, walk


@dataclass(eq=False, repr=False)
class StatementInfo:
    """What the runtime may want to know of one rewritten `if` or loop.

    kind: "if", "while" or "for".
    names: the variables that the statement changes, in the order of the call's results.
    guarded: those among them that are only read where a flag says that they are set, so that any
        value may stand in for an unset one.
    attributes: attributes of plain names that it assigns, such as ("self", "count").
    own: those variables of its function that it assigns and closures use too; no results.
    inner: those of `own` that nothing outside of the statement reads.
    nonlocals, globals: the variables of other functions and modules that it assigns.
    line, column: where the statement stands, both from 1.
    reread: whether somebody may look at the iterable of a `for` again.
    """

    kind: str
    names: tuple[str, ...]
    guarded: frozenset[str]
    attributes: tuple[tuple[str, ...], ...]
    line: int
    column: int
    own: tuple[str, ...] = ()
    nonlocals: tuple[str, ...] = ()
    globals: tuple[str, ...] = ()
    inner: frozenset[str] = frozenset()
    reread: bool = False


@dataclass(eq=False, repr=False)
class Context:
    """The state of one conversion."""

    function: FunctionType
    taken: set[str]
    helpers: dict[str, str] = field(default_factory=dict)
    counters: dict[str, int] = field(default_factory=dict)
    statements: dict[str, StatementInfo] = field(default_factory=dict)
    flags: set[str] = field(default_factory=set)
    bound: set[str] = field(default_factory=set)
    unbound: dict[str, str] = field(default_factory=dict)
    sites: dict[tuple[str, int], str] = field(default_factory=dict)
    kinds: set[type] = field(default_factory=set)

    def has(self, *kinds: type) -> bool:
        """Whether the tree has nodes of one of these kinds."""
        return not self.kinds.isdisjoint(kinds)

    def fresh(self, stem: str) -> str:
        """A new name `stem_0`, `stem_1`, ... that the function does not use."""
        while True:
            number = self.counters.get(stem, 0)
            self.counters[stem] = number + 1
            name = f"{stem}_{number}"
            if name not in self.taken:
                self.taken.add(name)
                return name

    def flag(self, stem: str) -> str:
        """A fresh name for a variable that no user can see."""
        name = self.fresh(stem)
        self.flags.add(name)
        return name

    def helper(self, name: str) -> str:
        """The name under which a function of `convert` is called, unlike any of the user's."""
        known = self.helpers.get(name)
        if known is None:
            known = name
            while known in self.taken:
                known += "_"
            self.taken.add(known)
            self.helpers[name] = known
        return known

    def undefined_value(self, variable: str) -> str:
        """The name of the constant that stands for an unbound variable; `unbound` has both."""
        for known, name in self.unbound.items():
            if name == variable:
                return known
        made = self.fresh(f"undefined_{variable}")
        self.unbound[made] = variable
        return made

    def site(self, function: str, count: int) -> str:
        """The name of what remembers the calls of a name with so many arguments."""
        key = (function, count)
        if key not in self.sites:
            self.sites[key] = self.fresh(f"site_{function}")
        return self.sites[key]

    def call(self, helper: str, *arguments: Node, **keywords: Node) -> Node:
        """Call a function of `convert`."""
        return call(self.helper(helper), *arguments, **keywords)


def identifiers(tree: Node) -> set[str]:
    """Every identifier in the tree, of any scope."""
    found: set[str] = set()
    for node in walk(tree):
        if isinstance(node, gast.Name):
            found.add(node.id)
            continue
        for field_name, value in gast.iter_fields(node):
            if isinstance(value, str) and field_name in _IDENTIFIERS:
                found.add(value)
        if isinstance(node, gast.Global | gast.Nonlocal):
            found.update(node.names)
        if isinstance(node, gast.alias):
            found.add((node.asname or node.name).split(".")[0])
    return found


_IDENTIFIERS = frozenset({"id", "name", "rest", "arg"})
