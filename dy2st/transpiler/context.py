"""Gives the rewrites of one function fresh names, and names of the functions that they call."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import FunctionType

import gast

from dy2st.transpiler.nodes import Node, call, walk


@dataclass(eq=False, repr=False)
class Context:
    """The state of one conversion."""

    function: FunctionType
    taken: set[str]
    helpers: dict[str, str] = field(default_factory=dict)
    counters: dict[str, int] = field(default_factory=dict)
    flags: set[str] = field(default_factory=set)
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
        """The name under which one of our functions is called, unlike any of the user's."""
        known = self.helpers.get(name)
        if known is None:
            known = name
            while known in self.taken:
                known += "_"
            self.taken.add(known)
            self.helpers[name] = known
        return known

    def call(self, helper: str, *arguments: Node, **keywords: Node) -> Node:
        """Call one of our functions."""
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
