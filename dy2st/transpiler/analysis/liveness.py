"""Which names may still be read after, at, and inside each statement: one walk backwards."""

from __future__ import annotations

from dataclasses import dataclass, replace

import gast

from dy2st.transpiler.analysis.scopes import NameTable
from dy2st.transpiler.nodes import CONTROL, FUNCTIONS, SCOPES, TRIES, Block, Node

_NONE: frozenset[str] = frozenset()


@dataclass(frozen=True, eq=False, repr=False)
class Exits:
    """The names live at the places where control may go from inside a block."""

    at_break: frozenset[str] = _NONE
    at_continue: frozenset[str] = _NONE
    at_return: frozenset[str] = _NONE
    at_exception: frozenset[str] = _NONE

    def of(self, jump: type) -> frozenset[str]:
        """The names live where a jump of this kind goes."""
        places = {gast.Break: self.at_break, gast.Continue: self.at_continue}
        return places.get(jump, self.at_return)


class Liveness:
    """Live names of one function; the facts about each control statement are kept by its id."""

    def __init__(self, names: NameTable, function: Node):
        """Walk the whole function."""
        self._names = names
        self.before: dict[int, frozenset[str]] = {}
        self.after: dict[int, frozenset[str]] = {}
        self.header: dict[int, frozenset[str]] = {}
        self.on_exception: dict[int, frozenset[str]] = {}
        self.when_caught: dict[int, frozenset[str]] = {}
        self.in_branches: dict[int, tuple[frozenset[str], frozenset[str]]] = {}
        self._grows = False
        self.at_start = self.settled(function.body, _NONE, Exits())

    def settled(self, block: Block, after: frozenset[str], exits: Exits) -> frozenset[str]:
        """The names live before a block: walked until loops know what the next iteration reads."""
        while True:
            self._grows = False
            live = self.block(block, after, exits)
            if not self._grows:
                return live

    def block(self, block: Block, after: frozenset[str], exits: Exits) -> frozenset[str]:
        """The names live before a block, by one walk."""
        for node in reversed(block):
            live = self._through(node, after, exits) | exits.at_exception
            if isinstance(node, (*CONTROL, *TRIES, gast.With)):
                self.after[id(node)] = after
                self.before[id(node)] = live
                self.on_exception[id(node)] = exits.at_exception
            after = live
        return after

    def _through(self, node: Node, after: frozenset[str], exits: Exits) -> frozenset[str]:
        if isinstance(node, gast.If):
            body, orelse = (self.block(one, after, exits) for one in (node.body, node.orelse))
            self.in_branches[id(node)] = body, orelse
            return self._reads(node.test) | body | orelse
        if isinstance(node, gast.While | gast.For | gast.AsyncFor):
            return self._loop(node, after, exits)
        if isinstance(node, TRIES):
            return self._try(node, after, exits)
        if isinstance(node, gast.With | gast.AsyncWith):
            # A context manager may swallow an exception: what follows then runs at once.
            inside = replace(exits, at_exception=exits.at_exception | after)
            self.when_caught[id(node)] = inside.at_exception
            items = self._names.of_all(node.items)
            body = self.block(node.body, after, inside) - items.writes
            return body | items.reads | items.captured
        if isinstance(node, gast.Match):
            # It may be that no case fits.
            live = after | self._reads(node.subject)
            for case in node.cases:
                guard = self._reads(case.guard) if case.guard is not None else _NONE
                live |= self._reads(case.pattern) | guard | self.block(case.body, after, exits)
            return live
        if isinstance(node, gast.Break):
            return exits.at_break
        if isinstance(node, gast.Continue):
            return exits.at_continue
        reads = self._reads(node)
        if isinstance(node, gast.Return):
            return reads | exits.at_return
        if isinstance(node, gast.Raise):
            return reads
        return (after - self.surely_bound(node)) | reads

    def _loop(self, node: Node, after: frozenset[str], exits: Exits) -> frozenset[str]:
        ended = self.block(node.orelse, after, exits)
        is_while = isinstance(node, gast.While)
        at_iteration = self._reads(node.test) if is_while else self._reads(node.target)
        bound = _NONE if is_while else frozenset(plain_targets(node.target))
        # A `for` whose `break` became a flag looks at the flag after each iteration.
        header = at_iteration | ended | {*filter(None, [getattr(node, "stop", None)])}
        # What is known of the header grows from walk to walk, up to a fixpoint.
        known = self.header.get(id(node), _NONE)
        header |= known
        inside = replace(exits, at_break=after, at_continue=header)
        header |= self.block(node.body, header, inside) - bound
        self.header[id(node)] = header
        self._grows |= header != known
        return header if is_while else header | self._reads(node.iter)

    def _try(self, node: Node, after: frozenset[str], exits: Exits) -> frozenset[str]:
        leaving = exits.at_exception.union(*(exits.of(kind) for kind in _jumps_out(node)))
        last = self.block(node.finalbody, after | leaving, exits) if node.finalbody else after
        if node.finalbody:
            # Every way out leads through `finally`.
            exits = Exits(last, last, last, last)
        caught = exits.at_exception
        for handler in node.handlers:
            caught |= self._reads(handler.type) if handler.type is not None else _NONE
            bound = {handler.name.id} if handler.name is not None else set()
            caught |= self.block(handler.body, last, exits) - bound
        orelse = self.block(node.orelse, last, exits)
        self.when_caught[id(node)] = caught | exits.at_exception
        self.header[id(node)] = orelse | last
        inside = replace(exits, at_exception=caught)
        return self.block(node.body, orelse, inside) | caught

    def _reads(self, node: Node) -> frozenset[str]:
        """What is read here; what a closure made here uses may be read from now on."""
        names = self._names.of(node)
        return frozenset(names.reads | names.captured)

    def surely_bound(self, node: Node) -> set[str]:
        """The names that a simple statement binds whenever it ends without an exception."""
        if isinstance(node, gast.Assign):
            return {name for target in node.targets for name in plain_targets(target)}
        if isinstance(node, gast.AugAssign):
            return set(plain_targets(node.target))
        if isinstance(node, gast.AnnAssign):
            return set(plain_targets(node.target)) if node.value is not None else set()
        if isinstance(node, (*FUNCTIONS, gast.ClassDef)):
            return {node.name}
        if isinstance(node, gast.Import | gast.ImportFrom):
            return set(self._names.of(node).writes)
        return set()


def _jumps_out(node: Node) -> set[type]:
    """The kinds of jumps that leave a statement."""
    found: set[type] = {type(node)} & {gast.Break, gast.Continue, gast.Return}
    for child in gast.iter_child_nodes(node):
        if isinstance(child, gast.stmt | gast.ExceptHandler | gast.match_case):
            found |= set() if isinstance(child, SCOPES) else _jumps_out(child)
    if isinstance(node, gast.While | gast.For | gast.AsyncFor):
        found -= {gast.Break, gast.Continue}
        return found.union(*map(_jumps_out, node.orelse))
    return found


def plain_targets(target: Node) -> list[str]:
    """The variables that an assignment to a target binds."""
    if isinstance(target, gast.Name):
        return [target.id]
    if isinstance(target, gast.Starred):
        return plain_targets(target.value)
    if isinstance(target, gast.Tuple | gast.List):
        return [name for part in target.elts for name in plain_targets(part)]
    return []
