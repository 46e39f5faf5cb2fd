"""Makes stand-ins: values of a forward Block as its gradients see them, in another Block.

A rule asks for operands and results; what it really reads is known when it has run. So each value
has a *stand-in* at first. In the end a stand-in that is read becomes what gives it: a parameter, a
copy of a cheap operator where what that reads is at hand, or what is kept of the forward
computation.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from dy2st_runtime.autodiff.recompute import is_part, is_repeatable, leaving, sizes_of, when_read
from dy2st_runtime.autodiff.residuals import SymbolBinders
from dy2st_runtime.dims import (
    Condition,
    Contradiction,
    Dim,
    Size,
    current,
    is_symbol,
    require_equal,
    symbols,
)
from dy2st_runtime.ir.definition import lookup
from dy2st_runtime.ir.failures import is_dispensable
from dy2st_runtime.ir.join import size_of_elements
from dy2st_runtime.ir.program import Block, Operator, Variable
from dy2st_runtime.ir.sizes import fresh_symbol
from dy2st_runtime.ir.tracing.tracer import Tracer
from dy2st_runtime.ir.types import ArrayType, TensorType, ValueType

_DEEPEST = 8
"""How many cheap operators, one behind the other, are recomputed rather than kept."""


class StandIns:
    """The stand-ins for the values of one Block.

    outside   the parameters that come from around, and what they are there.
    keep      lets the forward Block give a value out in a list, and gives that, as it is around.
    index     records where in these lists the values are.
    settled   what is given out already: nothing else can be kept; None where anything can.
    """

    settled: Collection[Variable] | None = None

    def __init__(
        self,
        tracer: Tracer,
        home: Block,
        homes: SymbolBinders,
        outside: Mapping[Variable, Callable[[], Variable]],
        keep: Callable[[Variable], Variable],
        index: Callable[[], Variable],
    ) -> None:
        """For a Block, and the one that is being recorded."""
        self._tracer, self._home, self._homes = tracer, home, homes
        self._outside, self._keep, self._index = outside, keep, index
        self._made = tracer.block
        self._known: dict[Variable, Variable] = {}
        self._required = [one for one in home.operators if _condition_of(one) is not None]
        for operator in self._required:
            with suppress(Contradiction):  # of a Block that no run can reach
                current().assume(operator.attributes["condition"])

    def value(self, variable: Variable) -> Variable:
        """The stand-in for a value of the forward Block."""
        known = self._known.get(variable)
        if known is None:
            known = Variable(self._loosened(variable.type), self._made, variable.name)
            known.number, known.held = variable.number, variable.held
            self._known[variable] = known
        return known

    # -- the end -----------------------------------------------------------------------------

    def finish(self, given: Iterable[ValueType] = ()) -> None:
        """Let all stand-ins that are read be what they stand for.

        `given` are the types of what the Block gives: what was required of their sizes is known
        around, too, only if the Block says it.
        """
        made, copies = self._made, list[Operator]()
        # The operators of a Block without those that nobody reads.
        read = set(made.yields)
        kept = []
        for operator in reversed(made.operators):
            if not read.isdisjoint(operator.results) or not is_dispensable(operator):
                read.update(operator.operands)
                kept.append(operator)
        made.operators[:] = kept[::-1]
        # The values whose stand-ins are read.
        read = set(made.yields)
        for operator in made.operators:
            read.update(operator.operands)
        needed = [variable for variable, known in self._known.items() if known in read]
        plan = _Plan(self._home, self._outside, needed, self.settled)
        mark = len(made.operators)
        # Keep what binds symbols that are read, though nothing that is read binds them. Returns
        # all that are read.
        # The symbols that the operators of a Block have in attributes and types.
        wanted: set[Dim] = set()
        for operator in self._made.walk():
            wanted.update(symbols(tuple(operator.attributes.values())))
            for result in operator.results:
                wanted.update(sizes_of(result))
        for type in given:
            wanted.update(symbols(type.shape) if isinstance(type, TensorType) else ())
        for operator in plan.recomputed:
            wanted.update(symbols(tuple(operator.attributes.values())))
        for variable in [*plan.residuals, *(v for o in plan.recomputed for v in o.results)]:
            wanted.update(sizes_of(variable))
        self._add_equal(wanted)
        for symbol in sorted(wanted, key=str):
            if self._homes.is_known_around(symbol, self._home):
                continue
            binder = self._homes.binder(symbol, self._home)
            is_bound = any(symbol in _plain(v) for v in (*plan.residuals, *plan.outside))
            if binder is not None and not is_bound:
                plan.keep(binder)
        self._give(plan.residuals)
        # Require once more what the forward Block has required of sizes that are read.
        for operator in self._required:
            condition = _condition_of(operator)
            unknown = {s for s in symbols(condition) if not self._is_around(s)}
            if unknown.issubset(wanted):
                self._tracer.append("require", [], operator.attributes, [])
        for operator in plan.recomputed:
            copies.append(self._copy(operator))
        for variable in plan.outside:
            self._take(variable)
        # What gives values to the rules was recorded last, and comes first.
        operators = made.operators[mark:] + made.operators[:mark]
        made.operators[:] = when_read(operators, copies, made.yields)

    def _give(self, kept: Iterable[Variable]) -> None:
        """Let stand-ins be elements of the lists that the forward Block gives out.

        All are read before their sizes are compared: some bind symbols that others are made of.
        """
        tracer, bound, index = self._tracer, set[Dim](), None
        equal: list[tuple[Size, Size]] = []
        for variable in kept:
            known = self.value(variable)
            index = self._index() if index is None else index
            held = tracer.as_it_was(from_around(tracer, partial(self._keep, variable)))
            operator = tracer.append("array_read", [held, index], {}, [known.type])
            type: Any = known.type
            if not isinstance(type, ArrayType):
                # A symbol is bound once, and other sizes equal it.
                element: Any = held.type
                pairs = zip(type.shape, element.element.shape, strict=True)
                sizes = [one if one is other else self._size(one, bound) for one, other in pairs]
                type = type.with_shape(sizes)
                equal += zip(type.shape, known.tensor_type.shape, strict=True)
            known.type, known.maker, operator.results = type, operator, [known]
        for new, size in equal:
            if new is not size:
                require_equal(new, size, "a size of the forward computation")
        tracer.locate_constraints(tracer.locate())  # in this Block

    def _loosened(self, type: ValueType) -> ValueType:
        """The type of a list with sizes that differ by element, but for those known everywhere.

        It may come through Blocks around in lists of lists, where nothing else is known.
        """
        if not isinstance(type, ArrayType) or type.element is None:
            return type
        if isinstance(type.element, ArrayType):
            return ArrayType(self._loosened(type.element))
        sizes = (
            size if self._homes.is_known_everywhere(size) else size_of_elements()
            for size in type.element.shape
        )
        return ArrayType(type.element.with_shape(sizes))

    def _size(self, size: Size, bound: set[Dim]) -> Size:
        if isinstance(size, int):
            return size
        # The first axis of a symbol binds it; others get a symbol that is required to be equal.
        if is_symbol(size) and size not in bound and not self._is_around(size):
            bound.add(size)
            return size
        return fresh_symbol("size")

    def _is_around(self, size: Size) -> bool:
        return all(self._homes.is_known_around(one, self._home) for one in symbols(size))

    def _copy(self, operator: Operator) -> Operator:
        operands = [self.value(operand) for operand in operator.operands]
        types = [result.type for result in operator.results]
        made = self._tracer.append(operator.name, operands, operator.attributes, types)
        made.results = [self.value(result) for result in operator.results]
        for result in made.results:
            result.maker = made
        return made

    def _take(self, variable: Variable) -> None:
        """Let a stand-in be what comes from around."""
        known, tracer = self.value(variable), self._tracer
        outer = from_around(tracer, self._outside[variable])
        if not tracer.adopt(self._made, outer, known):
            local = tracer.as_it_was(outer)
            made = tracer.append("assign", [local], {}, [known.type])
            known.maker, made.results = made, [known]

    # -- sizes -------------------------------------------------------------------------------

    def _add_equal(self, wanted: set[Dim]) -> None:
        """Add symbols that are known to be equal to others: what is read was typed by that."""
        before = -1
        while before != len(wanted):
            before = len(wanted)
            for operator in self._required:
                condition = operator.attributes["condition"]
                found = symbols(condition)
                if condition.relation == "==" and not wanted.isdisjoint(found):
                    wanted.update(found)


def from_around(tracer: Tracer, give: Callable[[], Variable]) -> Variable:
    """A value of the Block around the current one."""
    around = tracer.block.parent
    assert around is not None
    with tracer.inside(around):
        return give()


class MissingResidual(Exception):
    """A value is wanted that the forward computation does not give."""


class _Plan:
    """What is kept, recomputed, or comes from around, in the order of the forward Block."""

    def __init__(
        self,
        home: Block,
        outside: Iterable[Variable],
        needed: Sequence[Variable],
        settled: Collection[Variable] | None,
    ) -> None:
        self._outside = set(outside)
        self._settled = None if settled is None else set(settled)
        self._order: dict[Variable, int] = {v: -1 for v in home.parameters}
        self.residuals: dict[Variable, None] = {}
        self._recomputed: dict[Operator, None] = {}
        self._taken: dict[Variable, None] = {}
        if needed:
            for place, operator in enumerate(home.operators):
                for result in operator.results:
                    self._order[result] = place
            needed = sorted(needed, key=self._order.__getitem__)
            given = self._settled or ()
            later = {v for v in needed if isinstance(v.maker, Operator) and _is_cheap(v.maker)}
            later.difference_update(given)
            self._leaving = leaving(home.operators, home.yields)
            parts = {v for v in needed if isinstance(v.maker, Operator) and is_part(v.maker)}
            parts.difference_update(given, self._leaving)
            # Expensive values are kept first: cheap ones may be computed of them.
            for variable in needed:
                if variable not in later and variable not in parts:
                    self.keep(variable)
            for variable in filter(parts.__contains__, needed):
                # Recompute what `recompute` has made, of what came into that.
                assert isinstance(variable.maker, Operator)
                number, todo = variable.maker.recompute_call, [variable]
                while todo:
                    one = todo.pop()
                    maker, is_given = one.maker, one in (self._settled or ())
                    if (
                        one in self.residuals
                        or is_given
                        or one in self._outside
                        or one in self._leaving
                    ):
                        self.keep(one)
                    elif (
                        isinstance(maker, Operator)
                        and maker.recompute_call == number
                        and is_part(maker)
                    ):
                        if maker not in self._recomputed:
                            self._recomputed[maker] = None
                            todo.extend(maker.operands)
                    else:
                        self._copy_or_keep(one)
            for variable in filter(later.__contains__, needed):
                self._copy_or_keep(variable)

    @property
    def recomputed(self) -> list[Operator]:
        """The operators that are recomputed."""
        return sorted(self._recomputed, key=lambda operator: self._order[operator.results[0]])

    @property
    def outside(self) -> list[Variable]:
        """What comes from around."""
        return list(self._taken)

    def keep(self, variable: Variable) -> None:
        """Keep one more value, or take it from around; MissingResidual where that is too late."""
        if self._settled is not None and variable not in self._settled | self._outside:
            raise MissingResidual
        (self._taken if variable in self._outside else self.residuals).setdefault(variable)

    def _copy_or_keep(self, variable: Variable) -> None:
        found: dict[Operator, None] = {}
        taken: dict[Variable, None] = {}
        if self._is_at_hand(variable, found, taken, _DEEPEST):
            self._recomputed.update(found)
            self._taken.update(taken)
        else:
            self.keep(variable)

    def _is_at_hand(
        self,
        variable: Variable,
        found: dict[Operator, None],
        taken: dict[Variable, None],
        depth: int,
    ) -> bool:
        """Whether a value can be computed of what is kept, or comes from around."""
        if variable in self.residuals:
            return True
        if self._settled is not None and variable in self._settled:
            self.keep(variable)
            return True
        if variable in self._outside:
            taken[variable] = None
            return True
        maker = variable.maker
        if not isinstance(maker, Operator) or not _is_cheap(maker):
            return False
        if maker in self._recomputed or maker in found:
            return True
        found[maker] = None
        return depth > 0 and all(
            self._is_at_hand(operand, found, taken, depth - 1) for operand in maker.operands
        )


def _is_cheap(operator: Operator) -> bool:
    """Whether to recompute it costs no more than to keep it, and changes nothing."""
    is_cheap = not operator.operands or lookup(operator.name).is_cheap
    return is_cheap and is_repeatable(operator)


def _condition_of(operator: Operator) -> Condition | None:
    """What an operator requires of sizes."""
    if operator.name != "require":
        return None
    condition = operator.attributes["condition"]
    return condition if isinstance(condition, Condition) else None


def _plain(variable: Variable) -> set[Dim]:
    """The symbols that a value binds."""
    type = variable.type
    if not isinstance(type, TensorType):
        return set()
    return {size for size in type.shape if isinstance(size, Dim) and is_symbol(size)}


__all__ = ["MissingResidual", "StandIns", "from_around"]
