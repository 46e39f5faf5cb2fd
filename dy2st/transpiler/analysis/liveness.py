"""Where names may be read after a statement, and where they may be unbound when they are.

Liveness is one walk backwards, binding one walk forwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import gast

from dy2st.transpiler.analysis.scopes import NameTable, parameters
from dy2st.transpiler.nodes import (
    COMPREHENSIONS,
    CONTROL,
    FUNCTIONS,
    SCOPES,
    TRIES,
    Block,
    Node,
    children,
    is_own,
    walk,
)

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


Bound = frozenset[str]


class Binding:
    """Names surely bound at each control statement, and the reads that are not sure."""

    def __init__(
        self,
        names: NameTable,
        liveness: Liveness,
        function: Node,
        local: set[str],
        has_walrus: bool = True,
    ):
        """Walk the whole function; `local` are its variables."""
        self._has_walrus = has_walrus
        self._names = names
        self._surely_bound: Callable[[Node], set[str]] = liveness.surely_bound
        self._local = frozenset(local)
        self.at: dict[int, Bound] = {}
        self.unsure_reads: dict[int, Node] = {}
        self.unsure_statements: dict[int, Node] = {}
        self.in_comprehension: set[int] = set()
        self.block(function.body, frozenset(parameters(function)))

    def block(self, block: Block, bound: Bound) -> Bound:
        """The names surely bound after a block; after a jump all count as bound."""
        for statement in block:
            bound = self._statement(statement, bound)
        return bound

    def _statement(self, node: Node, bound: Bound) -> Bound:
        if isinstance(node, (*CONTROL, *TRIES, gast.With)):
            # A `finally` is walked twice: sure is what both walks have bound.
            self.at[id(node)] = self.at.get(id(node), bound) & bound
        if isinstance(node, gast.If):
            bound = self._read(node.test, bound)
            return self.block(node.body, bound) & self.block(node.orelse, bound)
        if isinstance(node, gast.While | gast.For | gast.AsyncFor):
            return self._loop(node, bound)
        if isinstance(node, TRIES):
            return self._try(node, bound)
        if isinstance(node, gast.With | gast.AsyncWith):
            for item in node.items:
                bound = self._read(item.context_expr, bound)
            inside = bound.union(self._names.of_all(node.items).writes)
            self.block(node.body, inside)
            # It may swallow an exception, so the body may end anywhere.
            return bound - self._names.of_all(node.body).deletes - _exception_names(node)
        if isinstance(node, gast.Match):
            bound = self._read(node.subject, bound)
            after = bound
            for case in node.cases:
                caught = self._names.of(case.pattern).writes
                inside = bound | caught
                if case.guard is not None:
                    self._read(case.guard, inside)
                after &= self.block(case.body, inside)
            return after
        if isinstance(node, gast.AugAssign | gast.Delete):
            targets = [node.target] if isinstance(node, gast.AugAssign) else node.targets
            changed = {n for target in targets for n in plain_targets(target)}
            if changed & self._local - bound:
                self.unsure_statements[id(node)] = node
        bound = self._read(node, bound)
        if isinstance(node, gast.Return | gast.Raise | gast.Break | gast.Continue):
            # No path goes on behind a jump: all names count as bound, so that a join asks the other
            # path.
            return self._local
        if isinstance(node, gast.Delete):
            return bound - self._names.of(node).deletes
        return bound | self._surely_bound(node)

    def _loop(self, node: Node, bound: Bound) -> Bound:
        # An earlier iteration may have unbound these; `except E as e` unbinds e at its end.
        removed = self._names.of_all(node.body).deletes | _exception_names(node)
        if isinstance(node, gast.While):
            bound = self._read(node.test, bound - removed) - removed
            ended = self.block(node.body, bound)
            # `while not flag` begins with the flag down, so its body has run when it ends.
            if getattr(node, "at_least_once", False):
                return ended
        else:
            bound = self._read(node.iter, bound) - removed
            self._read(node.target, bound)
            self.block(node.body, bound.union(plain_targets(node.target)))
        return bound & self.block(node.orelse, bound)

    def _try(self, node: Node, bound: Bound) -> Bound:
        removed = {name for part in node.body for name in self._names.of(part).deletes}
        at_exception = bound - removed - _exception_names(node)
        after = self.block(node.orelse, self.block(node.body, bound))
        for handler in node.handlers:
            if handler.type is not None:
                self._read(handler.type, at_exception)
            name = {handler.name.id} if handler.name is not None else set()
            after &= self.block(handler.body, at_exception | name) - name
        if not node.finalbody:
            return after
        elsewhere = [*node.handlers, *node.orelse]
        # Once as behind an exception, for its reads; once as behind the end, for what follows.
        self.block(node.finalbody, at_exception - self._names.of_all(elsewhere).deletes)
        return self.block(node.finalbody, after)

    def _read(self, node: Node, bound: Bound) -> Bound:
        """Note the reads in an expression (or simple statement) that are not sure."""
        if not self._names.of(node).reads & self._local <= bound:
            for name in reads_now(node):
                if name.id in self._local and name.id not in bound:
                    self.unsure_reads[id(name)] = name
            # All but its first iterable a comprehension reads in its own scope.
            for inner in walk(node):
                if isinstance(inner, COMPREHENSIONS):
                    first = {id(n) for n in walk(inner.generators[0].iter)}
                    names = {id(n) for n in walk(inner) if isinstance(n, gast.Name)}
                    self.in_comprehension |= names - first
        if not self._has_walrus:
            return bound
        return bound | {walrus.target.id for walrus in _sure_walruses(node)}


def _exception_names(node: Node) -> set[str]:
    return {n.name.id for n in walk(node) if isinstance(n, gast.ExceptHandler) and n.name}


def reads_now(node: Node) -> Iterator[Node]:
    """The names that an expression or simple statement reads itself, not in a closure."""
    todo = [node]
    while todo:
        node = todo.pop()
        if isinstance(node, gast.Name):
            if isinstance(node.ctx, gast.Load):
                yield node
        elif isinstance(node, (*FUNCTIONS, gast.Lambda)):
            arguments = node.args
            todo += [*arguments.defaults, *(d for d in arguments.kw_defaults if d is not None)]
            todo += getattr(node, "decorator_list", [])
            body = node.body if isinstance(node.body, list) else [node.body]
            todo += body if is_own(node) else []
        # All but its first iterable is read when somebody asks for an item.
        elif isinstance(node, gast.GeneratorExp):
            todo.append(node.generators[0].iter)
        elif isinstance(node, COMPREHENSIONS):
            targets = [n for g in node.generators for n in walk(g.target)]
            names = [n for n in targets if isinstance(n, gast.Name)]
            hidden = {n.id for n in names if isinstance(n.ctx, gast.Store)}
            inner = (n for child in children(node) for n in reads_now(child))
            yield from (name for name in inner if name.id not in hidden)
        elif isinstance(node, gast.ClassDef):
            todo += [*node.decorator_list, *node.bases, *node.keywords]
        else:
            todo += children(node)


def _sure_walruses(node: Node) -> Iterator[Node]:
    """The `:=` of an expression that surely run."""
    todo = [node]
    while todo:
        node = todo.pop()
        if isinstance(node, gast.NamedExpr):
            yield node
        if isinstance(node, gast.BoolOp):
            todo.append(node.values[0])
        elif isinstance(node, gast.IfExp):
            todo.append(node.test)
        # A chain may stop behind its second operand.
        elif isinstance(node, gast.Compare):
            todo += [node.left, node.comparators[0]]
        elif not isinstance(node, (*FUNCTIONS, *COMPREHENSIONS, gast.Lambda, gast.ClassDef)):
            todo += children(node)
