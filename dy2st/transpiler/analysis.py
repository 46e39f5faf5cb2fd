"""What each name of a function is, which names are read later, and which may be unbound.

Names are collected bottom up. Liveness is one walk backwards, binding one walk forwards; of both
`analyse` makes what goes in and out of each statement that becomes a call.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import gast

from dy2st.transpiler.nodes import (
    COMPREHENSIONS,
    CONTROL,
    FUNCTIONS,
    LOOPS,
    SCOPES,
    TRIES,
    YIELDS,
    Block,
    Context,
    Node,
    blocks,
    children,
    is_bare_super,
    is_own,
    own_nodes,
    own_statements,
    statements_inside,
    walk,
    walk_scope,
)


@dataclass(eq=False, repr=False)
class Names:
    """The names of one statement or expression, as the function around it sees them.

    captured: names that a closure made here (function, lambda, generator expression, class) uses;
    they may be read at any later time. Names that only a comprehension uses are read at once.
    jumps: the kinds of jumps that leave a statement.
    """

    reads: set[str] = field(default_factory=set)
    writes: set[str] = field(default_factory=set)
    deletes: set[str] = field(default_factory=set)
    captured: set[str] = field(default_factory=set)
    declared: set[str] = field(default_factory=set)
    nonlocals: set[str] = field(default_factory=set)
    jumps: set[type] = field(default_factory=set)

    def add(self, other: Names) -> None:
        """Take in the names of a part."""
        its = vars(other)
        for kind, names in vars(self).items():
            names |= its[kind]


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
            # A lambda that a rewrite has made runs at once, for the code that it stands for.
            if is_own(node):
                names.reads |= free
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
        if isinstance(node, LOOPS):
            names.jumps -= {gast.Break, gast.Continue}
            names.jumps |= self.of_all(node.orelse).jumps
        return names

    def inside(self, node: Node) -> Names:
        """The names in the body of a function, as the body sees them."""
        return self.of_all(node.body if isinstance(node.body, list) else [node.body])

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
            return set(self.of(node).writes)
        return set()


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
    if kind in _JUMPS:
        names.jumps.add(kind)
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


_JUMPS = frozenset({gast.Break, gast.Continue, gast.Return})
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


_NONE: frozenset[str] = frozenset()


@dataclass(frozen=True, eq=False, repr=False)
class Exits:
    """The names live at the places where control may go from inside a block."""

    at_break: frozenset[str] = _NONE
    at_continue: frozenset[str] = _NONE
    at_return: frozenset[str] = _NONE
    at_exception: frozenset[str] = _NONE

    def of(self, jumps: set[type]) -> frozenset[str]:
        """The names live where jumps of some kinds go."""
        places = {gast.Break: self.at_break, gast.Continue: self.at_continue}
        return _NONE.union(*(places.get(kind, self.at_return) for kind in jumps))


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
        # Walked until loops know what the next iteration reads.
        self._grows = True
        while self._grows:
            self._grows = False
            self.block(function.body, _NONE, Exits())

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
        if isinstance(node, gast.While | gast.For):
            return self._loop(node, after, exits)
        if isinstance(node, TRIES):
            return self._try(node, after, exits)
        if isinstance(node, gast.With):
            # A context manager may swallow an exception: what follows then runs at once.
            inside = replace(exits, at_exception=exits.at_exception | after)
            self.when_caught[id(node)] = inside.at_exception
            items = self._names.of_all(node.items)
            body = self.block(node.body, after, inside) - items.writes
            return body | items.reads | items.captured
        if isinstance(node, gast.Break):
            return exits.at_break
        if isinstance(node, gast.Continue):
            return exits.at_continue
        reads = self._reads(node)
        if isinstance(node, gast.Return):
            return reads | exits.at_return
        if isinstance(node, gast.Raise):
            return reads
        return (after - self._names.surely_bound(node)) | reads

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
        last = after
        if node.finalbody:
            # Every way out leads through `finally`.
            leaving = exits.at_exception | exits.of(self._names.of(node).jumps)
            last = self.block(node.finalbody, after | leaving, exits)
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


def plain_targets(target: Node) -> list[str]:
    """The variables that an assignment to a target binds."""
    if isinstance(target, gast.Name):
        return [target.id]
    if isinstance(target, gast.Starred):
        return plain_targets(target.value)
    if isinstance(target, gast.Tuple | gast.List):
        return [name for part in target.elts for name in plain_targets(part)]
    return []


class Binding:
    """Names surely bound at each control statement, and the reads that are not sure."""

    def __init__(self, names: NameTable, function: Node, local: set[str], has_walrus: bool):
        """Walk the whole function; `local` are its variables."""
        self._has_walrus = has_walrus
        self._names = names
        self._local = frozenset(local)
        self.at: dict[int, frozenset[str]] = {}
        self.unsure: dict[int, Node] = {}  # names, `del`s, and assignments as `+=`
        self.starts: set[str] = set()  # the variables that these read
        self.in_comprehension: set[str] = set()  # of these, but in its first iterable
        self.block(function.body, frozenset(parameters(function)))

    def block(self, block: Block, bound: frozenset[str]) -> frozenset[str]:
        """The names surely bound after a block; after a jump all count as bound."""
        for statement in block:
            bound = self._statement(statement, bound)
        return bound

    def _statement(self, node: Node, bound: frozenset[str]) -> frozenset[str]:
        if isinstance(node, (*CONTROL, *TRIES, gast.With)):
            # A `finally` is walked twice: sure is what both walks have bound.
            self.at[id(node)] = self.at.get(id(node), bound) & bound
        if isinstance(node, gast.If):
            bound = self._read(node.test, bound)
            return self.block(node.body, bound) & self.block(node.orelse, bound)
        if isinstance(node, gast.While | gast.For):
            return self._loop(node, bound)
        if isinstance(node, TRIES):
            return self._try(node, bound)
        if isinstance(node, gast.With):
            for item in node.items:
                bound = self._read(item.context_expr, bound)
            inside = bound.union(self._names.of_all(node.items).writes)
            self.block(node.body, inside)
            # It may swallow an exception, so the body may end anywhere.
            return bound - self._names.of_all(node.body).deletes - _exception_names(node)
        if isinstance(node, gast.AugAssign | gast.Delete):
            targets = [node.target] if isinstance(node, gast.AugAssign) else node.targets
            changed = {n for target in targets for n in plain_targets(target)}
            if changed & self._local - bound:
                self.unsure[id(node)] = node
                self.starts |= changed
        bound = self._read(node, bound)
        if isinstance(node, gast.Return | gast.Raise | gast.Break | gast.Continue):
            # No path goes on behind a jump: all names count as bound, so that a join asks the other
            # path.
            return self._local
        if isinstance(node, gast.Delete):
            return bound - self._names.of(node).deletes
        return bound | self._names.surely_bound(node)

    def _loop(self, node: Node, bound: frozenset[str]) -> frozenset[str]:
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

    def _try(self, node: Node, bound: frozenset[str]) -> frozenset[str]:
        removed = self._names.of_all(node.body).deletes
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

    def _read(self, node: Node, bound: frozenset[str]) -> frozenset[str]:
        """Note the reads in an expression (or simple statement) that are not sure."""
        if not self._names.of(node).reads & self._local <= bound:
            for name in reads_now(node):
                if name.id in self._local and name.id not in bound:
                    self.unsure[id(name)] = name
                    self.starts.add(name.id)
            # All but its first iterable a comprehension reads in its own scope.
            for inner in walk(node):
                if isinstance(inner, COMPREHENSIONS):
                    first = {id(n) for n in walk(inner.generators[0].iter)}
                    names = [n for n in walk(inner) if id(n) in self.unsure and id(n) not in first]
                    self.in_comprehension.update(name.id for name in names)
        if not self._has_walrus:
            return bound
        return bound | {walrus.target.id for walrus in _sure_walruses(node)}


def _exception_names(node: Node) -> set[str]:
    found = own_statements([node])
    return {n.name.id for n in found if isinstance(n, gast.ExceptHandler) and n.name}


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
            todo += [node.body] if is_own(node) else []
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
        elif isinstance(node, (gast.Assert, gast.IfExp)):
            todo.append(node.test)
        # A chain may stop behind its second operand.
        elif isinstance(node, gast.Compare):
            todo += [node.left, node.comparators[0]]
        elif not isinstance(node, (*FUNCTIONS, *COMPREHENSIONS, gast.Lambda, gast.ClassDef)):
            todo += children(node)


# Whether a comprehension has no frame of its own.
INLINES = sys.version_info >= (3, 12)


@dataclass(eq=False, repr=False)
class Scope:
    """The variables of a function or of a comprehension in it.

    is_inlined: whether Python runs it in the frame of `outer`, as comprehensions since 3.12.
    """

    local: frozenset[str]
    cells: frozenset[str]
    outer: Scope | None = None
    is_inlined: bool = False

    def kind(self, name: str) -> str:
        """ "local", "cell", or "" for what no scope has."""
        if name in self.cells:
            return "cell"
        if name in self.local:
            return "local"
        return self.outer.kind(name) if self.outer is not None else ""

    def has_cell(self, name: str) -> bool:
        """Whether a cell is of the frame itself, and not of one around it."""
        if name in self.cells:
            return True
        if name in self.local or self.outer is None or not self.is_inlined:
            return False
        return self.outer.has_cell(name)


@dataclass(eq=False, repr=False)
class Flow:
    """What goes in and out of a staged statement: its `flow`. Others stay Python's own.

    state: the variables that it changes and that are read later, or in the next iteration.
    given: those of `state` that may have a value before.
    own: variables that it changes, whose values before it may read, and that nobody reads later.
    reads: of an `if`, what each branch reads of what is before it, or gives back.
    """

    state: list[str]
    given: frozenset[str]
    own: frozenset[str]
    reads: tuple[list[str], ...] = ()


@dataclass(eq=False, repr=False)
class Analysis:
    """The names of one function whose jumps are rewritten.

    unsure: the nodes that read a variable where it may be unbound.
    starts: the variables that start as `unbound`.
    """

    scope: Scope
    table: NameTable
    unsure: dict[int, Node]
    starts: set[str] = field(default_factory=set)


def analyse(function: Node, local: set[str], captured: set[str], context: Context) -> Analysis:
    """Look through a function.

    local: its variables before the rewrites. captured: those that functions inside it use.
    """
    table = NameTable()
    inside = table.inside(function)
    local = local | bound_in(inside, function).difference(context.function.__code__.co_freevars)
    liveness = Liveness(table, function)
    has_walrus = context.has(gast.NamedExpr)
    binding = Binding(table, function, local, has_walrus)
    # The statements that become calls: no `yield` and no jump that stays is in them
    staged: list[Node] = []
    todo = [(statement, 0) for statement in function.body]
    while todo:
        node, depth = todo.pop()
        if isinstance(node, SCOPES):
            continue
        if isinstance(node, (*CONTROL, gast.Try, gast.With)):
            staged += [] if obstacle(node, table, depth, not context.yields) else [node]
            depth += 1
        todo += [(child, depth) for child in statements_inside(node)]
    cells = captured & local
    if has_walrus:
        # A `:=` in a comprehension, or in an operand that may not run.
        sure = {id(one) for statement in function.body for one in _sure_walruses(statement)}
        walruses = [one for one in own_nodes(function) if isinstance(one, gast.NamedExpr)]
        cells |= {one.target.id for one in walruses if id(one) not in sure} & local
    if not INLINES:  # what has no value is a free variable there
        cells |= binding.in_comprehension & local
    for node in staged:
        written = _written(node, table)
        live = liveness.on_exception[id(node)] | liveness.when_caught.get(id(node), _NONE)
        # What a handler reads must be as it was at the exception: a cell is, the results of a call
        # that has raised are not.
        cells |= (written & local & live) - context.flags
    plain = frozenset(local - cells)
    found = Analysis(Scope(plain, frozenset(cells)), table, binding.unsure)
    for node in staged:
        node.flow = flow = _flow(node, table, liveness, plain)
        passed = {*flow.given, *flow.own}.union(*flow.reads)
        # What is passed to a staged statement needs a value: `unbound`, where it may have none.
        found.starts |= passed - binding.at[id(node)]
    found.starts |= binding.starts
    found.starts &= plain - parameters(function)
    return found


def _written(node: Node, table: NameTable) -> set[str]:
    """The variables that a statement changes, but for its test or iterable, which run outside."""
    parts = [inner for block in blocks(node) for inner in block]
    if isinstance(node, gast.With):
        parts += [one.optional_vars for one in node.items if one.optional_vars is not None]
    parts += getattr(node, "handlers", [])
    parts += [node.test] if isinstance(node, gast.While) else []
    parts += [node.target] if isinstance(node, gast.For) else []
    names = table.of_all(parts)
    return names.writes | names.deletes


def _flow(node: Node, table: NameTable, liveness: Liveness, plain: frozenset[str]) -> Flow:
    written = _written(node, table) & plain
    before, later = liveness.before[id(node)], liveness.after[id(node)]
    # What the next iteration, `else` or `finally` reads.
    later |= liveness.header.get(id(node), _NONE)
    state = sorted(written & later)
    given, own = before.intersection(state), before & written - {*state}
    if not isinstance(node, gast.If):
        return Flow(state, given, own)
    reads = []
    for block, live in zip(blocks(node), liveness.in_branches[id(node)], strict=True):
        used = table.of_all(block)
        # A branch takes what it names, and what it gives back as it was.
        known = used.reads | used.writes | used.deletes | {*state}
        reads.append(sorted(live & known & plain))
    return Flow(state, given, own, tuple(reads))


# As deep as branches may stand in each other when a Program is made and runs.
MAXIMAL_DEPTH = 200 if sys.version_info[:2] == (3, 12) else 300


def obstacle(node: Node, table: NameTable, depth: int, is_inside: bool = False) -> str:
    """The code of the first obstacle in a statement.

    is_inside: it stands in a statement without one, so that only a jump may be in its way.
    """
    if depth > MAXIMAL_DEPTH:
        return "depth"
    for inner in () if is_inside else walk_scope(node):
        if type(inner) in YIELDS:
            return "yield"
        if is_bare_super(inner):
            return "super"
    return "jump" if any(table.of(one).jumps for one in statements_inside(node)) else ""
