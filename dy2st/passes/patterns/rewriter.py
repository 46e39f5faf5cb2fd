"""Applies rules to a Program until none fits any more.

A sweep goes over the operators in order. Where a rule fires, what it records takes the place of the
operator and is looked at in turn; values that nobody reads any more go with it. Sweeps follow each
other until one fires nothing. The order of the rules and of the operators decides everything, so
the same Program gives the same result in every process.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

from dy2st.passes.core.context import PassContext
from dy2st.passes.core.graph import count_uses
from dy2st.passes.patterns.match import Match, NoMatch
from dy2st.passes.patterns.pattern import Operation, maker_name
from dy2st.passes.patterns.rule import Rule
from dy2st_runtime.dims import Constraint, collect, using
from dy2st_runtime.errors import Dy2stError, PassError
from dy2st_runtime.ir import (
    ArrayType,
    Block,
    Operator,
    Program,
    TensorType,
    Tracer,
    Variable,
    interpreting,
)
from dy2st_runtime.ir.checks.verifier import Finding, marked_text
from dy2st_runtime.ir.failures import is_dispensable
from dy2st_runtime.ir.grad_mode import enable_grad
from dy2st_runtime.ir.sizes import assume, branch_condition, facts_of, holding

MOST_FIRINGS = 10_000
"""How often rules may fire on what came of one operator."""

NEAR = 64
"""How far behind the first root of a rule its other roots are looked for."""

Root = tuple[Rule, Operation]
"""A rule, and the one of its patterns that is looked for."""


def rewrite(program: Program, rules: Sequence[Rule], context: PassContext) -> int:
    """Apply the rules in place; returns how often one has fired.

    Raises PassError, with the rule and the place, if a rule gives values of other types, or if
    rules undo each other without end.
    """
    return Rewriter(program, rules, context).run()


class Rewriter:
    """One Program, the rules by the operator that they start from, and the uses of all values."""

    def __init__(self, program: Program, rules: Sequence[Rule], context: PassContext):
        """Sort the rules; nothing is changed yet."""
        self.program, self.context = program, context
        ordered = sorted(rules, key=lambda rule: -rule.benefit)
        self.roots: list[Root] = [(rule, p) for rule in ordered for p in rule.patterns]
        self.rules: dict[str, list[Root]] = {}
        self.near: dict[tuple[Any, ...], list[Root]] = {}
        self.uses: dict[Variable, int] = {}
        self.dead: set[Operator] = set()
        self.replaced: dict[Variable, Variable] = {}
        self.fired: list[str] = []
        self.found: list[Constraint] = []
        self.around: list[tuple[Block, Operator, list[Operator]]] = []
        self.tracers: list[Tracer] = []

    def run(self) -> int:
        """Sweep until nothing fires."""
        self.uses = count_uses(self.program)
        total = 0
        with enable_grad(), collect() as self.found, using(facts_of(self.program)):
            for _ in range(self.context.option("rewrite.most_sweeps")):
                self.fired = []
                self._sweep(self.program.block)
                total += len(self.fired)
                if not self.fired:
                    return total
        names = ", ".join(dict.fromkeys(self.fired))
        raise PassError(
            f"the rules {names} still fire after {total} rewrites: they undo each other"
        )

    # -- sweeping ----------------------------------------------------------------------------

    def _sweep(self, block: Block) -> None:
        """Go over a Block; its list of operators is built anew meanwhile."""
        pending = block.operators[::-1]
        block.operators = done = []
        replaced, rules = self.replaced, self.rules
        is_untouched = replaced.keys().isdisjoint  # a view: it knows what is replaced later
        firings, left = 0, len(pending)
        self.tracers.append(Tracer.of_block(self.program, block))
        with interpreting(self.tracers[-1]):
            while pending:
                operator = pending.pop()
                if len(pending) < left:  # one of the Program, not of what a rule has made of it
                    firings, left = 0, len(pending)
                if operator in self.dead:
                    continue
                if replaced and not is_untouched(operator.operands):
                    self._resolve(operator)
                if operator.blocks:
                    self.around.append((block, operator, pending))
                    for index, inner in enumerate(operator.blocks):
                        condition = None
                        if operator.name == "cond":
                            condition = branch_condition(operator.operands[0], index == 0)
                        with holding(condition) if condition is not None else nullcontext():
                            self._sweep(inner)
                    self.around.pop()
                if operator.name == "require" and block.parent is None:
                    assume(operator.attributes["condition"])
                found = rules.get(operator.name)
                if found is None:
                    # the rules that may start from an operator of this name, in order
                    found = self.rules[operator.name] = [
                        root for root in self.roots if root[1].may_start(operator.name)
                    ]
                if found:
                    found = self._may_fit(found, operator)
                made = self._first(found, operator, block, pending) if found else None
                if operator not in self.dead:
                    done.append(operator)
                if made is None:
                    continue
                firings += 1
                if firings > MOST_FIRINGS:
                    names = ", ".join(dict.fromkeys(self.fired[-10:]))
                    raise PassError(
                        f"the rules {names} have fired {len(self.fired)} times and do not come "
                        f"to an end; the last place: `{operator.name}` of "
                        f"{operator.location or 'an unknown line'}"
                    )
                pending += made[::-1]
        self.tracers.pop()
        block.operators = [operator for operator in done if operator not in self.dead]
        block.yields = [self._latest(v) for v in block.yields]

    def _latest(self, variable: Variable) -> Variable:
        """What is read in place of a value by now."""
        while (other := self.replaced.get(variable)) is not None:
            variable = other
        return variable

    def _resolve(self, operator: Operator) -> None:
        operands = operator.operands
        for index, variable in enumerate(operands):
            if variable in self.replaced:
                operands[index] = self._latest(variable)

    def _first(
        self,
        rules: Sequence[Root],
        operator: Operator,
        block: Block,
        pending: list[Operator],
    ) -> list[Operator] | None:
        """What the first rule that fires has recorded, None if none does."""
        for rule, pattern in rules:
            try:
                match = self._matched(rule, pattern, operator, pending)
            except Exception as error:
                problem = f"its pattern raises {type(error).__name__}: {error}"
                raise self._wrong(
                    rule, operator, problem, block, len(block.operators), pending
                ) from error
            if match is None:
                continue
            made = self._fire(rule, match, operator, block, pending)
            if made is not None:
                self.fired.append(rule.name)
                return made
        return None

    def _may_fit(self, rules: list[Root], operator: Operator) -> list[Root]:
        """The rules that are worth a closer look, known by what makes the operands."""
        if self.context.explanations is not None:
            return rules
        operands = operator.operands
        makers = tuple([maker_name(v) for v in operands])
        is_square = len(operands) == 2 and operands[0] is operands[1]
        key = (operator.name, makers, is_square)
        near = self.near.get(key)
        if near is None:
            near = [root for root in rules if root[1].may_fit(makers, is_square)]
            self.near[key] = near
        return near

    # -- matching ----------------------------------------------------------------------------

    def _matched(
        self, rule: Rule, pattern: Operation, operator: Operator, pending: list[Operator]
    ) -> Match | None:
        """How a rule fits, with one of its patterns at an operator and the others behind it."""
        match = Match(self.uses, self.context.explanations is not None)
        if not self._is_read(pattern, operator):
            return None
        for _ in pattern.match(operator.results[pattern.index], match):
            bound = dict(match.values), dict(match.operators)
            if self._others(rule, pattern, match, pending):
                outside = match.outside_use([match.values[p] for p in rule.patterns])
                if outside is None:
                    # with what is bound now: matching goes on to unbind
                    kept = Match(match.uses)
                    kept.values, kept.operators = dict(match.values), dict(match.operators)
                    kept.paths = dict(match.paths)
                    return kept
                match.miss("{} of {} has other users", outside, outside.maker)
            match.values, match.operators = bound
        if match.nearest:
            self.context.explain(rule.name, operator, match.nearest)
        return None

    def _is_read(self, pattern: Operation, operator: Operator) -> bool:
        results = operator.results
        return len(results) > pattern.index and bool(self.uses.get(results[pattern.index]))

    def _others(self, rule: Rule, first: Operation, match: Match, pending: list[Operator]) -> bool:
        """Whether the other patterns are found too; then they stay bound."""
        for pattern in rule.patterns:
            if pattern is not first and not self._other(pattern, match, pending):
                match.miss("there is no other `{}` that fits", pattern.name)
                return False
        return True

    def _other(self, pattern: Operation, match: Match, pending: list[Operator]) -> bool:
        same = pattern.operator_of_others(match)
        if same is not None:
            # Another result of an operator that is found already.
            if len(same.results) <= pattern.index:
                return False
            for _ in pattern.match(same.results[pattern.index], match):
                match.values, match.operators = dict(match.values), dict(match.operators)
                return True
            return False
        taken = set(match.operators.values())
        known = set(match.values.values())
        for operator in reversed(pending[-NEAR:]):
            self._resolve(operator)
            if operator.name != pattern.name or operator in taken or operator in self.dead:
                continue
            if not self._is_read(pattern, operator):
                continue
            for _ in pattern.match(operator.results[pattern.index], match):
                if known.intersection(operator.operands):
                    match.values, match.operators = dict(match.values), dict(match.operators)
                    return True
        return False

    # -- firing ------------------------------------------------------------------------------

    def _fire(
        self, rule: Rule, match: Match, root: Operator, block: Block, pending: list[Operator]
    ) -> list[Operator] | None:
        """Let a rule record; None, and nothing recorded, if it leaves the place alone."""
        mark = len(block.operators)
        old = [match.values[pattern] for pattern in rule.patterns]
        try:
            result = rule.replace(match)
            if result is None:
                raise NoMatch("it gives None")
            results = list(result) if isinstance(result, (tuple, list)) else [result]
            if self.found:
                unknown: Constraint = self.found[0]
                raise NoMatch("{} is not known to hold ({})", unknown.condition, unknown.reason)
            if len(results) != len(old):
                raise PassError(f"it gives {len(results)} values for {len(old)} patterns")
            pairs = zip(results, old, strict=True)
            new: list[Variable] = []
            for value, like in pairs:
                dtype = None if isinstance(like.type, ArrayType) else like.type.dtype
                new.append(self.tracers[-1].variable(value, dtype))
            for value, like in zip(new, old, strict=True):
                if _is_unproved(value, like):
                    raise NoMatch("{} is not known to be {}", value.type, like.type)
            if all(value is like for value, like in zip(new, old, strict=True)):
                raise NoMatch("it gives what is there already")
            later = _later_constants(new, block.operators[mark:], pending) if len(old) > 1 else []
        except NoMatch as reason:
            del block.operators[mark:]
            self.found.clear()
            if self.context.explanations is not None:
                self.context.explain(rule.name, root, str(reason))
            return None
        except Exception as error:
            kind = "" if isinstance(error, Dy2stError) else f"{type(error).__name__}: "
            raise self._wrong(rule, root, f"{kind}{error}", block, mark, pending) from error
        made, block.operators[mark:] = block.operators[mark:], []
        problem = _problem(old, new, made)
        if problem is not None:
            raise self._wrong(rule, root, problem, block, mark, pending)
        self._take(rule, match, root, old, new, made)
        for constant in later:  # they are read here now, before the place where they stood
            place = next(i for i in range(len(pending) - 1, -1, -1) if pending[i] is constant)
            block.operators.append(pending.pop(place))
        return made

    def _take(
        self,
        rule: Rule,
        match: Match,
        root: Operator,
        old: Sequence[Variable],
        new: Sequence[Variable],
        made: list[Operator],
    ) -> None:
        """Let the new values be read in place of the old ones."""
        uses, own = self.uses, set(made)
        for operator in made:
            operator.location = root.location
            self._count(operator)
        roots = [match.operators[pattern] for pattern in rule.patterns]
        for before, now in zip(old, new, strict=True):
            if before is now:
                continue
            uses[now] = uses.get(now, 0) + uses.pop(before, 0)
            self.replaced[before] = now
            if isinstance(now.maker, Operator) and now.maker in own:
                now.type = before.type
                now.name, now.number = now.name or before.name, before.number
        for operator in roots:
            if all(uses.get(result, 0) == 0 for result in operator.results):
                # with it go those that only it has read
                todo = [operator]
                while todo:
                    one = todo.pop()
                    if one in self.dead:
                        continue
                    self.dead.add(one)
                    for operand in one.operands:
                        self.uses[operand] -= 1
                        maker = operand.maker
                        if (
                            isinstance(maker, Operator)
                            and not any(self.uses.get(result, 0) for result in maker.results)
                            and is_dispensable(maker)
                        ):
                            todo.append(maker)

    def _count(self, operator: Operator) -> None:
        """Enter what an operator reads, also inside."""
        read = [*operator.operands, *(v for inner in operator.blocks for v in inner.yields)]
        for variable in read:
            self.uses[variable] = self.uses.get(variable, 0) + 1
        for inner in operator.blocks:
            for entry in inner.operators:
                self._count(entry)

    # -- what goes wrong ---------------------------------------------------------------------

    def _wrong(
        self,
        rule: Rule,
        root: Operator,
        problem: str,
        block: Block,
        mark: int,
        pending: list[Operator],
    ) -> PassError:
        """What is said of a broken rule: it, its source line, and the place in the Program."""
        del block.operators[mark:]
        for outer, operator, rest in [*self.around, (block, root, pending)]:
            behind = [entry for entry in rest[::-1] if entry not in self.dead]
            for entry in behind:
                self._resolve(entry)
            outer.operators += [operator, *behind]
        text = marked_text(self.program, [Finding(f"rule {rule.name}", problem, root)])
        return PassError(f"the rule {rule.name} ({rule.place}) is wrong: {problem}\n{text}")


def _is_unproved(new: Variable, old: Variable) -> bool:
    """Whether the sizes might differ, as far as is known."""
    if not isinstance(new.type, TensorType) or not isinstance(old.type, TensorType):
        return False
    if new.type.dtype != old.type.dtype or new.type.rank != old.type.rank:
        return False
    static = all(isinstance(size, int) for size in (*new.type.shape, *old.type.shape))
    return not static and new.type != old.type


def _problem(
    old: Sequence[Variable], new: Sequence[Variable], made: Sequence[Operator]
) -> str | None:
    """What is wrong with the new values, None if nothing is."""
    gone = set()
    for before, now in zip(old, new, strict=True):
        if before.type != now.type:
            return f"it gives {now.type} where the Program has {before.type}"
        if before is not now:
            gone.add(before)
    if not all(gone.isdisjoint(operator.operands) for operator in made):
        return "it reads a value that it replaces"
    if not gone.isdisjoint(new):
        return "it gives a value that it replaces too"
    return None


def _later_constants(
    new: Sequence[Variable], made: Sequence[Operator], pending: Sequence[Operator]
) -> list[Operator]:
    """Constants that stand behind the first root and are to be read there.

    NoMatch, if what is read there is computed behind it.
    """
    later = set(pending[-NEAR:])
    found: dict[Operator, None] = {}
    for variable in (*new, *(operand for operator in made for operand in operator.operands)):
        maker = variable.maker
        if isinstance(maker, Operator) and maker in later:
            if maker.name != "constant":
                raise NoMatch("{} is computed only behind the first of the roots", maker)
            found[maker] = None
    return list(found)


__all__ = ["MOST_FIRINGS", "Rewriter", "rewrite"]
