"""Finds what each name of a function is: a local, a cell, or global; and where it is unbound."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field

import gast

from dy2st.transpiler.analysis.liveness import Binding, Liveness, plain_targets
from dy2st.transpiler.analysis.scopes import NameTable, bound_in, parameters
from dy2st.transpiler.nodes import (
    COMPREHENSIONS,
    CONTROL,
    LOOPS,
    SCOPES,
    Block,
    Context,
    Node,
    blocks,
    children,
    is_bare_super,
    lazy_operands,
    walk,
    walk_scope,
)

_NONE: frozenset[str] = frozenset()


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
    """What goes in and out of a staged statement.

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
    flows: by the id of each staged statement; those without one stay Python's own.
    """

    scope: Scope
    table: NameTable
    unsure: dict[int, Node]
    starts: set[str] = field(default_factory=set)
    flows: dict[int, Flow] = field(default_factory=dict)


def analyse(function: Node, local: set[str], captured: set[str], context: Context) -> Analysis:
    """Look through a function.

    local: its variables before the rewrites. captured: those that functions inside it use.
    """
    table = NameTable()
    inside = table.inside(function)
    local = local | bound_in(inside, function)
    liveness = Liveness(table, function)
    has_walrus = context.has(gast.NamedExpr)
    binding = Binding(table, liveness, function, local, has_walrus)
    # The statements that become calls: no `yield` and no jump that stays is in them
    yields = context.has(gast.Yield, gast.YieldFrom)
    staged: list[Node] = []
    todo = [(statement, 0) for statement in function.body]
    while todo:
        node, depth = todo.pop()
        if isinstance(node, SCOPES):
            continue
        if isinstance(node, (*CONTROL, gast.Try, gast.With)):
            staged += [] if obstacle(node, depth, not yields) else [node]
            depth += 1
        inner = (gast.stmt, gast.ExceptHandler, gast.match_case)
        todo += [(child, depth) for child in children(node) if isinstance(child, inner)]
    cells = captured & local
    if has_walrus:
        cells |= _bound_lazily(function) & local
    if not INLINES:  # what has no value is a free variable there
        reads = binding.unsure_reads.values()
        cells |= {node.id for node in reads if id(node) in binding.in_comprehension} & local
    for node in staged:
        written = _written(node, table)
        live = liveness.on_exception[id(node)] | liveness.when_caught.get(id(node), _NONE)
        # What a handler reads must be as it was at the exception: a cell is, the results of a call
        # that has raised are not.
        cells |= (written & local & live) - context.flags
    plain = frozenset(local - cells)
    unsure = {**binding.unsure_reads, **binding.unsure_statements}
    found = Analysis(Scope(plain, frozenset(cells)), table, unsure)
    for node in staged:
        found.flows[id(node)] = flow = _flow(node, table, liveness, plain)
        passed = {*flow.given, *flow.own}.union(*flow.reads)
        # What is passed to a staged statement needs a value: `unbound`, where it may have none.
        found.starts |= passed - binding.at[id(node)]
    found.starts.update(node.id for node in binding.unsure_reads.values())
    for node in binding.unsure_statements.values():
        targets = [node.target] if isinstance(node, gast.AugAssign) else node.targets
        found.starts.update(name for target in targets for name in plain_targets(target))
    found.starts &= plain - parameters(function)
    return found


def _bound_lazily(function: Node) -> set[str]:
    """The variables that `:=` binds in a comprehension, or in an operand that may not run."""
    found: set[str] = set()
    for statement in function.body:
        for node in () if isinstance(statement, SCOPES) else walk_scope(statement):
            parts = [node] if isinstance(node, COMPREHENSIONS) else lazy_operands(node)
            inner = (one for part in parts for one in walk(part))
            found |= {one.target.id for one in inner if isinstance(one, gast.NamedExpr)}
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


def obstacle(node: Node, depth: int, is_inside: bool = False) -> str:
    """The code of the first obstacle in a statement.

    is_inside: it stands in a statement without one, so that only a jump may be in its way.
    """
    if depth > MAXIMAL_DEPTH:
        return "depth"
    for inner in () if is_inside else walk_scope(node):
        if isinstance(inner, gast.Yield | gast.YieldFrom):
            return "yield"
        if is_bare_super(inner):
            return "super"
    return "jump" if _jumps_out(node) else ""


def _jumps_out(node: Node) -> bool:
    """Whether a jump that was not rewritten leaves the statement."""
    return any(map(_jumps, blocks(node)))


def _jumps(block: Block) -> bool:
    for statement in block:
        if isinstance(statement, gast.Return | gast.Break | gast.Continue):
            return True
        if isinstance(statement, LOOPS):
            if _returns(statement.body) or _jumps(statement.orelse):
                return True
        elif not isinstance(statement, SCOPES) and _jumps_out(statement):
            return True
    return False


def _returns(block: Block) -> bool:
    for statement in block:
        if isinstance(statement, gast.Return):
            return True
        if not isinstance(statement, SCOPES) and any(map(_returns, blocks(statement))):
            return True
    return False
