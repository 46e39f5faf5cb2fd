"""What each `if` and loop of a function takes in and gives out, or why it is left as Python."""

from __future__ import annotations

from dataclasses import dataclass, field

import gast

from dy2st.transpiler.analysis.binding import Binding, reads_now
from dy2st.transpiler.analysis.closures import Closures
from dy2st.transpiler.analysis.liveness import Exits, Liveness, plain_targets
from dy2st.transpiler.analysis.obstacles import Left, obstacle
from dy2st.transpiler.analysis.scopes import Names, NameTable, bound_in
from dy2st.transpiler.context import Context
from dy2st.transpiler.nodes import CONTROL, SCOPES, Node, walk_scope


@dataclass
class StatementFacts:
    """How one `if` or loop is rewritten.

    changed: the variables it changes that are read later; a loop also counts the next turn.
    before: those of them without a value before, which nobody has read: they start undefined.
    true_args, false_args: what the branches of an `if` read or pass through.
    keeps: those of `changed` that code after an exception may read.
    """

    left: Left | None = None
    changed: list[str] = field(default_factory=list)
    before: list[str] = field(default_factory=list)
    true_args: list[str] = field(default_factory=list)
    false_args: list[str] = field(default_factory=list)
    keeps: list[str] = field(default_factory=list)


def analyse(function: Node, context: Context) -> tuple[list[str], list[str]]:
    """Attach `facts` to each `if` and loop of a function and mark the reads to be `checked`.

    Returns the variables that must hold `undefined(...)` from the start, since rewritten code
    passes them on where they may be unbound, and those that nothing binds any more.
    """
    analysis = _Analysis(function, context)
    return analysis.run(), analysis.kept_local


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
        self._declared = inside.declared
        self._closures = Closures(function, self._names)
        self._captured = inside.captured & self._local
        self._liveness = Liveness(self._names, function)
        self._binding = Binding(self._names, self._liveness, function, self._local)
        # What a closure uses must not hold `undefined`: such a name is only kept local.
        self.kept_local = sorted(self._lost & self._captured)
        self._undefined: set[str] = self._lost - self._captured
        self._unsure = {node.id for node in self._binding.unsure_reads.values()}

    def run(self) -> list[str]:
        """Decide statement by statement, then mark the reads that need a look."""
        for node, around in _control_statements(self._function, ()):
            node.facts = self._statement(node, around)
        self._undefined |= self._unsure_in_thunks()
        checks = self._undefined - self._context.flags
        for node in self._binding.unsure_reads.values():
            node.checked = node.id in checks
            node.in_comprehension = id(node) in self._binding.in_comprehension
        for node in self._binding.unsure_statements.values():
            node.checked = sorted(_changed_by(node) & checks)
        return sorted(self._undefined)

    def _statement(self, node: Node, around: tuple[Node, ...]) -> StatementFacts:
        names = self._own_names(node)
        left = obstacle(node, names, self._declared & names.writes, len(around))
        left = left or self._shared_or_unbound(node, names)
        if left is not None:
            return StatementFacts(left)
        facts = self._if(node) if isinstance(node, gast.If) else self._loop(node)
        key = id(node)
        # Inside a generated function a variable without use for its value is not passed in.
        passed = frozenset() if _is_inside_rewritten(around) else self._binding.at[key]
        facts.before = sorted(set(facts.changed) - passed - self._liveness.before[key])
        kept = names.writes & self._local & self._liveness.on_exception[key]
        # An exception ends every jump: no code after it asks for a flag.
        facts.keeps = sorted(kept - self._context.flags)
        self._undefined |= self._passed_on_unbound(node, names)
        # A name that only generated functions bind would be a global elsewhere.
        only_inside = (names.writes & self._unsure) | names.deletes
        self._undefined |= (only_inside & self._local) - self._captured
        return facts

    def _own_names(self, node: Node) -> Names:
        """The names in what becomes a function: a test of `if` and an iterable stay outside."""
        parts = [*node.body, *node.orelse]
        parts += [node.test] if isinstance(node, gast.While) else []
        parts += [node.target] if isinstance(node, gast.For) else []
        names = self._names.of_all(parts)
        names.writes |= names.deletes
        return names

    def _shared_or_unbound(self, node: Node, names: Names) -> Left | None:
        """The obstacles that come from closures and from names that Python may unbind."""
        shared = sorted(self._closures.shared_with(node) & names.writes & self._local)
        if shared:
            return Left("captured", shared[0])
        for name in sorted(names.deletes & self._captured):
            return Left("delete", name)
        unbound = self._passed_on_unbound(node, names)
        for name in sorted(unbound & self._captured):
            return Left("unbound-captured", name)
        excepts = _exception_names_of(self._function)
        inside = names.writes & excepts & (self._liveness.after[id(node)] | self._unsure)
        for name in sorted((unbound & excepts) | inside):
            return Left("exception-name", name)
        return None

    def _passed_on_unbound(self, node: Node, names: Names) -> set[str]:
        """Variables that the statement uses and that may have no value before it."""
        used: set[str] = (names.reads | names.writes | names.captured) & self._local
        return (used & self._liveness.before[id(node)]) - self._binding.at[id(node)]

    def _if(self, node: Node) -> StatementFacts:
        names = self._names.of_all([*node.body, *node.orelse])
        live = self._liveness.after[id(node)]
        live |= self._liveness.on_exception[id(node)]
        changed = sorted((names.writes | names.deletes) & live & self._local)
        return StatementFacts(
            changed=changed,
            true_args=self._arguments(node, node.body, changed),
            false_args=self._arguments(node, node.orelse, changed),
        )

    def _arguments(self, node: Node, block: list[Node], changed: list[str]) -> list[str]:
        used = self._names.of_all(block)
        exits = Exits(at_exception=self._liveness.on_exception[id(node)])
        live = Liveness(self._names, _EMPTY).block(block, frozenset(changed), exits)
        known = (used.reads | used.writes | used.deletes | set(changed)) & self._local
        return sorted(live & known - (self._captured - used.writes - set(changed)))

    def _loop(self, node: Node) -> StatementFacts:
        parts = [*node.body]
        parts += [node.test] if isinstance(node, gast.While) else [node.target]
        names = self._names.of_all(parts)
        live = self._liveness.header[id(node)] | self._liveness.after[id(node)]
        live |= self._liveness.on_exception[id(node)]
        return StatementFacts(changed=sorted((names.writes | names.deletes) & live & self._local))

    def _unsure_in_thunks(self) -> set[str]:
        """Unsure reads inside operands that become lambdas, where Python's own error differs."""
        unsure = self._binding.unsure_reads
        if not unsure:
            return set()
        found: set[str] = set()
        excepts = _exception_names_of(self._function)
        for statement in self._function.body:
            for node in () if isinstance(statement, SCOPES) else walk_scope(statement):
                for operand in lazy_operands(node):
                    names = {n.id for n in reads_now(operand) if id(n) in unsure}
                    if names & (self._captured | excepts):
                        node.stays = True
                        continue
                    found |= names
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


def _is_inside_rewritten(around: tuple[Node, ...]) -> bool:
    return any(statement.facts.left is None for statement in around)


def _control_statements(
    node: Node, around: tuple[Node, ...]
) -> list[tuple[Node, tuple[Node, ...]]]:
    """The `if` and loops of a function, outer ones first, each with those around it."""
    found: list[tuple[Node, tuple[Node, ...]]] = []
    for child in gast.iter_child_nodes(node):
        is_control = isinstance(child, CONTROL)
        if is_control:
            found.append((child, around))
        if isinstance(child, gast.stmt | gast.ExceptHandler | gast.match_case) and not isinstance(
            child, SCOPES
        ):
            found += _control_statements(child, (*around, child) if is_control else around)
    return found
