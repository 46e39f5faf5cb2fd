"""What each `if` and loop of a function takes in and gives out, or why it is left as Python."""

from __future__ import annotations

from dataclasses import dataclass, field

import gast

from dy2st.transpiler.analysis.binding import Binding, reads_now
from dy2st.transpiler.analysis.closures import Closures
from dy2st.transpiler.analysis.liveness import Exits, Liveness, plain_targets
from dy2st.transpiler.analysis.obstacles import Left, obstacle
from dy2st.transpiler.analysis.scopes import Names, NameTable, bound_in, parameters
from dy2st.transpiler.context import Context
from dy2st.transpiler.nodes import CONTROL, SCOPES, Node, children, is_own, walk, walk_scope


@dataclass(eq=False, repr=False)
class StatementFacts:
    """How one `if` or loop is rewritten.

    changed: the variables it changes that are read later; a loop also counts the next turn.
    before: those of them without a value before, which nobody has read: they start undefined.
    true_args, false_args: what the branches of an `if` read or pass through.
    keeps: those of `changed` that code after an exception may read.
    own: variables that it changes and closures use too, or that Python may unbind; no results.
    inner: those of `own` that nothing outside of the statement reads.
    nonlocals, globals: variables of other functions and of the module that it changes.
    owner: the class around the function, for its private names.
    reread: whether the iterable of a `for` may be looked at again.
    """

    left: Left | None = None
    changed: list[str] = field(default_factory=list)
    before: list[str] = field(default_factory=list)
    true_args: list[str] = field(default_factory=list)
    false_args: list[str] = field(default_factory=list)
    keeps: list[str] = field(default_factory=list)
    own: list[str] = field(default_factory=list)
    inner: list[str] = field(default_factory=list)
    nonlocals: list[str] = field(default_factory=list)
    globals: list[str] = field(default_factory=list)
    owner: str = ""
    reread: bool = False


@dataclass(frozen=True, eq=False, repr=False)
class Analysed:
    """What the analysis of a function says of its variables.

    undefined: those that must hold `undefined(...)` from the start, since rewritten code passes
        them on where they may be unbound.
    kept_local: those that nothing binds any more.
    has_unsure_reads: whether some read is marked as to be checked.
    """

    undefined: list[str]
    kept_local: list[str]
    has_unsure_reads: bool


def analyse(function: Node, context: Context) -> Analysed:
    """Attach `facts` to each `if` and loop of a function and mark the reads to be `checked`."""
    analysis = _Analysis(function, context)
    undefined = analysis.run()
    return Analysed(undefined, sorted(analysis.kept_local), analysis.has_unsure_reads)


class _Analysis:
    def __init__(self, function: Node, context: Context):
        self._function = function
        self._context = context
        self._names = NameTable()
        inside = self._names.inside(function)
        now = bound_in(inside, function)
        # Names bound only in code that can never run are local to Python all the same.
        self._lost: set[str] = function.local_names - now
        self._local: set[str] = now | self._lost
        self._declared, self._nonlocals = inside.declared, inside.nonlocals
        self._closures = Closures(function, self._names)
        self._captured = inside.captured & self._local
        self._liveness = Liveness(self._names, function)
        written = inside.writes & inside.declared - inside.nonlocals
        function.written_first = written - self._liveness.at_start - inside.captured
        has_walrus = context.has(gast.NamedExpr)
        self._binding = Binding(self._names, self._liveness, function, self._local, has_walrus)
        self.has_unsure_reads = bool(self._binding.unsure_reads)
        # What a closure uses must not hold `undefined`: such a name is only kept local.
        self.kept_local = self._lost & self._captured
        self._undefined: set[str] = self._lost - self._captured
        has_handlers = context.has(gast.ExceptHandler)
        self._excepts = _exception_names_of(function) if has_handlers else set()
        # What Python may unbind while a closure sees it, or at the end of an `except`.
        self._cells: set[str] = set()
        self._unsure = {node.id for node in self._binding.unsure_reads.values()}

    def run(self) -> list[str]:
        """Decide statement by statement, then mark the reads that need a look."""
        statements = _control_statements(self._function, ())
        for node, _ in statements:
            self._cells |= self._unbindable(node, self._own_names(node))
        for node, around in statements:
            node.facts = self._statement(node, around)
        self._mark_reads([node for node, _ in statements if node.facts.left is None])
        return sorted(self._undefined)

    def _mark_reads(self, rewritten: list[Node]) -> None:
        """Reads of variables that hold `undefined`, and of cells inside generated functions."""
        if not self._binding.unsure_reads and not self._binding.unsure_statements:
            return
        moved: set[int] = set()
        for node in rewritten:  # outer ones first
            if id(node) not in moved:
                moved.update(map(id, walk_scope(node)))
        moved |= self._unsure_in_thunks()
        operands = {id(inner) for node in _own_functions(self._function) for inner in walk(node)}
        checks = self._undefined - self._context.flags
        for node in self._binding.unsure_reads.values():
            node.checked = node.id in checks
            is_shared = id(node) in moved and node.id in self._captured | self._cells
            node.of_cell = is_shared or (id(node) in operands and not node.checked)
            node.in_comprehension = id(node) in self._binding.in_comprehension
        for node in self._binding.unsure_statements.values():
            cells = self._captured | self._cells if id(node) in moved else set()
            node.checked = sorted(_changed_by(node) & checks)
            node.cells = sorted(_changed_by(node) & cells)

    def _statement(self, node: Node, around: tuple[Node, ...]) -> StatementFacts:
        names = self._own_names(node)
        left = obstacle(node, len(around), _is_inside_rewritten(around))
        if left is not None:
            return StatementFacts(left)
        own = (self._closures.shared_with(node) | self._cells) & names.writes & self._local
        facts = self._if(node, own) if isinstance(node, gast.If) else self._loop(node, own)
        read_after = self._liveness.after[id(node)] | self._liveness.on_exception[id(node)]
        self._share(node, own, names, facts, read_after)
        key = id(node)
        # Inside a generated function a variable without use for its value is not passed in.
        passed = frozenset() if _is_inside_rewritten(around) else self._binding.at[key]
        facts.before = sorted(set(facts.changed) - passed - self._liveness.before[key])
        kept = (names.writes & self._local & self._liveness.on_exception[key]) - own
        # An exception ends every jump: no code after it asks for a flag.
        facts.keeps = sorted(kept - self._context.flags)
        cells = self._captured | self._cells
        self._undefined |= self._passed_on_unbound(node, names) - cells
        # A name that only generated functions bind would be a global elsewhere.
        only_inside = (names.writes & self._unsure) | names.deletes
        self._undefined |= (only_inside & self._local) - cells
        return facts

    def _share(
        self,
        node: Node,
        own: set[str],
        names: Names,
        facts: StatementFacts,
        read_after: frozenset[str],
    ) -> None:
        """Variables that generated functions declare `nonlocal` or `global`."""
        facts.owner = self._function.owner
        facts.own = sorted(own)
        around = self._closures.shared_with(node, outside=True)
        facts.inner = sorted(own - around - read_after)
        facts.nonlocals = sorted(names.writes & self._nonlocals)
        facts.globals = sorted((names.writes & self._declared) - self._nonlocals)
        # Python must see that they are variables of this function.
        self.kept_local |= own - parameters(self._function)

    def _own_names(self, node: Node) -> Names:
        """The names in what becomes a function: a test of `if` and an iterable stay outside."""
        parts = [*node.body, *node.orelse]
        parts += [node.test] if isinstance(node, gast.While) else []
        parts += [node.target] if isinstance(node, gast.For) else []
        names = self._names.of_all(parts)
        names.writes |= names.deletes
        return names

    def _unbindable(self, node: Node, names: Names) -> set[str]:
        """Variables that cannot hold `undefined`, as closures see them or `except` unbinds them."""
        unbound = self._passed_on_unbound(node, names)
        found: set[str] = (names.deletes | unbound) & self._captured
        inside = names.writes & (self._liveness.after[id(node)] | self._unsure)
        return found | ((unbound | inside) & self._excepts)

    def _passed_on_unbound(self, node: Node, names: Names) -> set[str]:
        """Variables that the statement uses and that may have no value before it."""
        used: set[str] = (names.reads | names.writes | names.captured) & self._local
        return (used & self._liveness.before[id(node)]) - self._binding.at[id(node)]

    def _if(self, node: Node, own: set[str]) -> StatementFacts:
        names = self._names.of_all([*node.body, *node.orelse])
        live = self._liveness.after[id(node)]
        live |= self._liveness.on_exception[id(node)]
        changed = sorted(((names.writes | names.deletes) & live & self._local) - own)
        free = own | self._cells
        return StatementFacts(
            changed=changed,
            true_args=self._arguments(node, node.body, changed, free),
            false_args=self._arguments(node, node.orelse, changed, free),
        )

    def _arguments(
        self, node: Node, block: list[Node], changed: list[str], free: set[str]
    ) -> list[str]:
        used = self._names.of_all(block)
        exits = Exits(at_exception=self._liveness.on_exception[id(node)])
        live = Liveness(self._names, _EMPTY).settled(block, frozenset(changed), exits)
        known = (used.reads | used.writes | used.deletes | set(changed)) & self._local
        return sorted(live & known - (self._captured - used.writes - set(changed)) - free)

    def _loop(self, node: Node, own: set[str]) -> StatementFacts:
        parts = [*node.body]
        parts += [node.test] if isinstance(node, gast.While) else [node.target]
        names = self._names.of_all(parts)
        live = self._liveness.header[id(node)] | self._liveness.after[id(node)]
        live |= self._liveness.on_exception[id(node)]
        changed = (names.writes | names.deletes) & live & self._local
        return StatementFacts(changed=sorted(changed - own), reread=self._is_reread(node, live))

    def _is_reread(self, node: Node, live: frozenset[str]) -> bool:
        """Whether the iterable is a place that is looked at again, and no value made here."""
        if not isinstance(node, gast.For):
            return False
        if isinstance(node.iter, gast.Name):
            name = node.iter.id
            return name in live or name not in self._local - self._captured
        return isinstance(node.iter, gast.Attribute | gast.Subscript)

    def _unsure_in_thunks(self) -> set[int]:
        """Unsure reads inside operands that become lambdas, where Python's own error differs."""
        unsure = self._binding.unsure_reads
        if not unsure:
            return set()
        found: set[int] = set()
        for statement in self._function.body:
            for node in () if isinstance(statement, SCOPES) else walk_scope(statement):
                for operand in lazy_operands(node):
                    reads = [n for n in reads_now(operand) if id(n) in unsure]
                    found |= {id(n) for n in reads}
                    self._cells |= {n.id for n in reads} & self._excepts
                    self._undefined |= {n.id for n in reads} - self._captured - self._cells
        return found


_EMPTY = gast.Module([], [])


def lazy_operands(node: Node) -> list[Node]:
    """The operands of an expression that Python evaluates only if it needs them."""
    if isinstance(node, gast.BoolOp):
        return list(node.values[1:])
    if isinstance(node, gast.IfExp):
        return [node.body, node.orelse]
    if isinstance(node, gast.Compare):
        return list(node.comparators) if len(node.ops) > 1 else []
    if isinstance(node, gast.Assert):
        return [node.msg] if node.msg is not None else []
    if isinstance(node, gast.Lambda) and getattr(node, "own", False):
        return [node.body]
    return []


def _changed_by(node: Node) -> set[str]:
    targets = [node.target] if isinstance(node, gast.AugAssign) else node.targets
    return {name for target in targets for name in plain_targets(target)}


def _exception_names_of(function: Node) -> set[str]:
    return {
        node.name.id
        for statement in function.body
        for node in walk_scope(statement)
        if isinstance(node, gast.ExceptHandler) and node.name is not None
    }


def _own_functions(function: Node) -> list[Node]:
    """The operands that an earlier rewrite has made functions."""
    return [n for n in walk(function) if isinstance(n, gast.FunctionDef) and is_own(n)]


def _is_inside_rewritten(around: tuple[Node, ...]) -> bool:
    return any(statement.facts.left is None for statement in around)


def _control_statements(
    node: Node, around: tuple[Node, ...]
) -> list[tuple[Node, tuple[Node, ...]]]:
    """The `if` and loops of a function, outer ones first, each with those around it."""
    found: list[tuple[Node, tuple[Node, ...]]] = []
    for child in children(node):
        is_control = isinstance(child, CONTROL)
        if is_control:
            found.append((child, around))
        if isinstance(child, gast.stmt | gast.ExceptHandler | gast.match_case) and not isinstance(
            child, SCOPES
        ):
            found += _control_statements(child, (*around, child) if is_control else around)
    return found
