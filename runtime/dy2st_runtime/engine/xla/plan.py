"""Cuts a Block into islands, which XLA runs as a whole, and steps of the host between them.

The host runs operators of `host_operators.py`, those on lists, those whose results have sizes that
depend on the data, and branches and loops that hold one of them; inside of these it begins anew.

Each operator has a *time*, as early as its operands allow: islands run at even times, the host at
odd ones. So random numbers that need nothing are drawn before the first island, and do not cut it.
What Python sees stays in order: what may raise or prints passes nothing else that does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeGuard

from dy2st_runtime.dims import Condition, Dim, product, symbols
from dy2st_runtime.engine.xla import lowerings
from dy2st_runtime.engine.xla.host_operators import HOST_OPERATORS, IDENTITIES, NEVER_RAISE
from dy2st_runtime.engine.xla.lists import EMPTY_LISTS, LIST_OPERATORS, rooms
from dy2st_runtime.engine.xla.table import CHECKS, DRAWS, LOWERINGS
from dy2st_runtime.ir.definition import Effect, lookup
from dy2st_runtime.ir.dispatch import interpreting
from dy2st_runtime.ir.program import Block, Operator, Variable
from dy2st_runtime.ir.tracing.tracer import Tracer
from dy2st_runtime.ir.types import ArrayType, TensorType

assert lowerings  # they fill the table

_SMALL = 16
"""Results of so few elements are left to NumPy beside lists: a call of XLA takes longer."""


class Known(dict[Variable, Any]):
    """Values, also under the names of those that are the same."""

    def __init__(self, alias: dict[Variable, Variable]) -> None:
        """Begin with none."""
        super().__init__()
        self._alias = alias

    def __missing__(self, variable: Variable) -> Any:
        """The value that it is."""
        return self[self._alias[variable]]


@dataclass(eq=False)
class Island:
    """Operators that run as one function of XLA: what they read, what others read of them."""

    operators: list[Operator]
    reads: list[Variable] = field(default_factory=list)
    writes: list[Variable] = field(default_factory=list)
    symbols: tuple[Dim, ...] = ()
    calls_back: bool = False  # whether NumPy draws random numbers in its branches and loops
    takes_key: bool = False  # whether it draws some by itself
    alias: dict[Variable, Variable] = field(default_factory=dict)
    chosen: list[int] = field(default_factory=list)  # those written that may be one that is read

    def known(self, values: Iterable[Any]) -> Known:
        """What its operators read, of the values of `reads`."""
        known = Known(self.alias)
        known.update(zip(self.reads, values, strict=True))
        return known


Step = Island | Operator


@dataclass(eq=False)
class Plan:
    """The steps of a Block, and for each value that is another one, that one.

    sized   the parameters whose shapes have symbols.
    yields  what the Block yields, where it is another value by the name of that.
    """

    steps: list[Step]
    alias: dict[Variable, Variable]
    sized: list[Variable]
    yields: list[Variable]


class Planner:
    """Plans the Blocks of a Program.

    plans    for each Block that the host runs.
    reasons  why the host runs an operator.
    """

    def __init__(self, block: Block, draws_on_device: bool = False) -> None:
        """Plan the outermost Block, and those of the host's branches and loops.

        `draws_on_device`: random numbers are not NumPy's, but drawn by XLA.
        """
        self._draws_on_device = draws_on_device
        self.plans: dict[Block, Plan] = {}
        self.reasons: dict[Operator, str] = {}
        self._parts: dict[Operator, Block] = {}
        self._fails: dict[Operator, bool] = {}
        self._plan(block, set(_symbols_of(block.parameters)))
        self._leave_small_ones()

    @property
    def islands(self) -> list[Island]:
        """Those of all Blocks."""
        steps = [step for plan in self.plans.values() for step in plan.steps]
        return [step for step in steps if isinstance(step, Island)]

    def parts(self, operator: Operator) -> Block | None:
        """The operators that a composite one is made of; None of one that has a row of its own."""
        definition = lookup(operator.name)
        if operator.name in LOWERINGS or operator.blocks or definition.decompose is None:
            return None
        if operator not in self._parts:
            self._parts[operator] = _decomposed(operator)
        return self._parts[operator]

    def may_fail(self, operator: Operator) -> bool:
        """Whether it, or what is in it, has a check."""
        if operator not in self._fails:
            parts = self.parts(operator) if operator.name not in HOST_OPERATORS else None
            blocks = operator.blocks if parts is None else [parts]
            inside = any(self.may_fail(one) for block in blocks for one in block.operators)
            self._fails[operator] = operator.name in CHECKS or inside
        return self._fails[operator]

    def draws(self, operator: Operator) -> bool:
        """Whether it gives random numbers that XLA draws."""
        return self._draws_on_device and operator.name in DRAWS

    def takes_key(self, operator: Operator) -> bool:
        """Whether such numbers are drawn by it, or in it."""
        return any(map(self.draws, _walk(operator)))

    def _calls_back(self, operator: Operator) -> bool:
        return any(
            lookup(one.name).effect is Effect.RANDOM and not self.draws(one)
            for one in _walk(operator)
        )

    def _reason(self, operator: Operator, bound: set[Dim], is_inner: bool = False) -> str | None:
        """Why the host runs an operator; None if XLA does. `bound` are the symbols that are known.

        Inside of XLA's branches and loops random numbers are drawn by a call to NumPy.
        """
        is_drawn = self.draws(operator)
        is_list = operator.name in LIST_OPERATORS and (is_inner or self._is_length(operator, bound))
        if operator.name in EMPTY_LISTS and not (is_inner or operator.operands):
            return None  # each island makes one for itself
        if lookup(operator.name).effect is Effect.RANDOM and is_inner and not is_drawn:
            return None
        if operator.name in HOST_OPERATORS and not (is_drawn or is_list):
            return HOST_OPERATORS[operator.name]
        if not (is_list or self._has_room(operator, bound, is_inner)):
            return "a list of tensors, whose length only the run decides"
        if not bound.issuperset(_symbols_of(operator.results)):
            return "a size of the result depends on the data"
        parts = self.parts(operator)
        has_row = is_drawn or operator.name in LOWERINGS
        if parts is None and not operator.blocks and not has_row:
            return "XLA has no function for it"
        for block in operator.blocks if parts is None else [parts]:
            if not bound.issuperset(_symbols_of(block.parameters)):
                return "a size changes from iteration to iteration"
            for one in block.operators:
                found = self._reason(one, bound, is_inner=True)
                if found is not None:
                    return f"{one.name}: {found}"
        return None

    def _is_length(self, operator: Operator, bound: set[Dim]) -> bool:
        """Whether it is the length of a list that may be a buffer already."""
        (array,) = operator.operands[:1]
        is_of_host = array.maker in self.reasons
        return operator.name == "array_length" and not is_of_host and _are_alike([array], bound)

    def _has_room(self, operator: Operator, bound: set[Dim], is_inner: bool) -> bool:
        """Whether there are no lists in it, or XLA can have buffers for them.

        Those of inner branches and loops are counted with the outermost.
        """
        if not any(map(_is_list, (*operator.operands, *operator.results))):
            return True
        lists = [v for block in operator.blocks for v in block.parameters if _is_list(v)]
        if not (lists and _are_alike(lists, bound)):
            return False
        found = {} if is_inner else rooms(operator)
        return found is not None and bound.issuperset(_symbols_in_value(tuple(found.values())))

    def _plan(self, block: Block, outer: set[Dim]) -> None:
        times: dict[Variable, int] = {}
        known_at: dict[Dim, int] = {}  # when the symbols that the host finds are known
        bound, alias = set(outer), dict[Variable, Variable]()
        steps: dict[int, list[Operator]] = {}
        sources: dict[Variable, Operator] = {}
        drawn = visible = 0  # the last times of random numbers, and of what may raise or prints
        for operator in block.operators:
            if operator.name in IDENTITIES:
                first = operator.operands[0]
                alias[operator.results[0]] = alias.get(first, first)
            needed = [times.get(operand, 0) for operand in operator.operands]
            needed += [known_at.get(symbol, 0) for symbol in _symbols_in(operator)]
            time = max(needed, default=0)
            reason = self._reason(operator, bound)
            is_lowered, new = reason is None, set[Dim]()
            is_pure = lookup(operator.name).effect is Effect.PURE
            if is_lowered and is_pure and not operator.operands and operator.results:
                sources[operator.results[0]] = operator
                times[operator.results[0]] = time
                continue
            if is_lowered:
                time = max(2, time + time % 2)
                draws, is_visible = self._calls_back(operator), self.may_fail(operator)
            else:
                self.reasons[operator] = reason or ""
                time += 1 - time % 2
                draws = self._calls_back(operator) or self.takes_key(operator)
                is_visible = operator.name not in NEVER_RAISE
                new = set(_symbols_of(operator.results)) - bound
                bound |= new
                for inner in operator.blocks:
                    self._plan(inner, bound | set(_symbols_of(inner.parameters)))
            if draws:
                time = max(time, drawn + (drawn - time) % 2)
            if is_visible:
                time = visible = max(time, visible + (visible - time) % 2)
            drawn = time if draws else drawn
            known_at.update(dict.fromkeys(new, time))
            times.update(dict.fromkeys(operator.results, time))
            steps.setdefault(time, []).append(operator)
        sized = [one for one in block.parameters if any(True for _ in _symbols_of([one]))]
        yields = [alias.get(variable, variable) for variable in block.yields]
        self.plans[block] = Plan(_joined(block, steps, alias, sources), alias, sized, yields)
        for island in filter(_is_island, self.plans[block].steps):
            island.calls_back = any(map(self._calls_back, island.operators))
            island.takes_key = any(map(self.takes_key, island.operators))
            island.chosen = [n for n, v in enumerate(island.writes) if is_flow(v)]

    def _leave_small_ones(self) -> None:
        """Beside steps of the host, islands of a few numbers are theirs, too."""
        if len(self.plans) == 1 and all(
            isinstance(step, Island) for step in next(iter(self.plans.values())).steps
        ):
            return
        for plan in self.plans.values():
            kept: list[Step] = []
            for step in plan.steps:
                is_small = isinstance(step, Island) and all(map(_is_small, step.operators))
                kept += step.operators if isinstance(step, Island) and is_small else [step]
            plan.steps = kept


def _is_island(step: Step) -> TypeGuard[Island]:
    return isinstance(step, Island)


def is_flow(variable: Variable) -> bool:
    """Whether a branch or loop gives it, so that it may be a value that was there before."""
    return isinstance(variable.maker, Operator) and bool(variable.maker.blocks)


def _walk(operator: Operator) -> Iterator[Operator]:
    """An operator, and all that are in it."""
    yield operator
    for block in operator.blocks:
        for one in block.operators:
            yield from _walk(one)


def _is_small(operator: Operator) -> bool:
    if operator.blocks or lookup(operator.name).kernel is None:
        return False
    for value in (*operator.results, *operator.operands):
        if _is_list(value):
            return False
        size = product(value.tensor_type.shape)
        if not isinstance(size, int) or size > _SMALL:
            return False
    return True


def _joined(
    block: Block,
    steps: dict[int, list[Operator]],
    alias: dict[Variable, Variable],
    sources: dict[Variable, Operator],
) -> list[Step]:
    """The steps in order, those of an even time as one island.

    What is made of nothing, as zeros are, each island makes for itself, and the host once.
    """

    def made_of_nothing(read: Iterable[Variable]) -> list[Operator]:
        used = dict.fromkeys(alias.get(variable, variable) for variable in read)
        return [sources[variable] for variable in used if variable in sources]

    found: list[Step] = []
    of_host: dict[Operator, None] = {}
    for time in sorted(steps):
        if time % 2 == 0:
            read = [operand for one in steps[time] for operand in one.operands]
            found.append(Island([*made_of_nothing(read), *steps[time]], alias=alias))
            continue
        for one in steps[time]:  # a size that a constant is made of may come from the one before
            new = [source for source in made_of_nothing(one.operands) if source not in of_host]
            of_host.update(dict.fromkeys(new))
            found += [*new, one]
    found += [one for one in made_of_nothing(block.yields) if one not in of_host]
    needed = {alias.get(variable, variable) for variable in block.yields}
    for step in reversed(found):
        operators = step.operators if isinstance(step, Island) else [step]
        needs = dict.fromkeys(alias.get(v, v) for one in operators for v in one.operands)
        if isinstance(step, Island):
            made = dict.fromkeys(result for one in operators for result in one.results)
            step.reads = [variable for variable in needs if variable not in made]
            step.writes = [v for v in made if v in needed and v not in sources]
            step.symbols = tuple(dict.fromkeys(_symbols_of_all(operators)))
        needed.update(step.reads if isinstance(step, Island) else needs)
    return found


def _symbols_of_all(operators: Iterable[Operator]) -> Iterator[Dim]:
    for operator in operators:
        yield from _symbols_in(operator)
        yield from _symbols_of(operator.operands)
        yield from _symbols_of_lists((*operator.operands, *operator.results))


def _is_list(variable: Variable) -> bool:
    return isinstance(variable.type, ArrayType)


def _are_alike(lists: Iterable[Variable], bound: set[Dim]) -> bool:
    """Whether these lists hold tensors of one shape each, which is known."""
    elements = [one.type.element for one in lists if isinstance(one.type, ArrayType)]
    are_tensors = all(isinstance(element, TensorType) for element in elements)
    return are_tensors and bound.issuperset(_symbols_of_lists(lists))


def _symbols_of_lists(variables: Iterable[Variable]) -> Iterator[Dim]:
    """The symbols in the types of the tensors that lists hold."""
    for variable in variables:
        if isinstance(variable.type, ArrayType) and isinstance(variable.type.element, TensorType):
            yield from symbols(variable.type.element.shape)


def _symbols_of(variables: Iterable[Variable]) -> Iterator[Dim]:
    """The symbols in the types of tensors."""
    for variable in variables:
        if isinstance(variable.type, TensorType):
            for size in variable.type.shape:
                if isinstance(size, Dim):
                    yield from symbols(size)


def _symbols_in(operator: Operator) -> Iterator[Dim]:
    """Those that an operator, and what is in it, needs to know."""
    yield from _symbols_in_value(tuple(operator.attributes.values()))
    yield from _symbols_of(operator.results)
    for block in operator.blocks:
        yield from _symbols_of(block.parameters)
        for one in block.operators:
            yield from _symbols_in(one)


def _symbols_in_value(value: Any) -> Iterator[Dim]:
    if isinstance(value, (Dim, Condition)):
        yield from symbols(value)
    elif isinstance(value, tuple):
        for entry in value:
            yield from _symbols_in_value(entry)


def _decomposed(operator: Operator) -> Block:
    """The Block of what a composite operator is made of."""
    decompose = lookup(operator.name).decompose
    assert decompose is not None
    tracer = Tracer()
    parameters = [tracer.block.add_parameter(operand.type) for operand in operator.operands]
    with tracer.tracing(), interpreting(tracer):
        results = decompose(*parameters, **operator.attributes)
    results = results if isinstance(results, tuple) else (results,)
    for inner in tracer.block.operators:
        inner.location = operator.location
    tracer.block.yields = list(results)
    return tracer.block


__all__ = ["Island", "Known", "Plan", "Planner", "Step", "is_flow"]
