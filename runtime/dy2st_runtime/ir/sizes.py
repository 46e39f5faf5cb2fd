"""Sizes of a Program: new symbols, the axes of inputs that give their values, and facts on them.

Facts hold everywhere, or inside of branches; symbols for sizes that only the data decides are
numbered from 0 in every trace.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

from dy2st_runtime.dims import (
    Condition,
    Contradiction,
    Dim,
    Facts,
    Size,
    bounds,
    conflict,
    current,
    decided,
    equal,
    is_symbol,
    is_total,
    simplified,
    substitute,
    symbol,
    symbols,
    using,
)
from dy2st_runtime.dims.samples import deep_atoms
from dy2st_runtime.errors import Location, ShapeError
from dy2st_runtime.ir.program import Block, Operator, Program, Variable
from dy2st_runtime.ir.types import ArrayType, TensorType, ValueType
from dy2st_runtime.thread_state import ThreadState

HEAVIEST_SIZE, DEEPEST_SIZE = 200, 16
"""How many symbols, written out, a formula of a size may have, and how deep it may nest."""


class _Counter(ThreadState):
    count = 0

    def __init__(self) -> None:
        self.limits: list[Condition] = []
        self.made: list[Dim] = []


_counter = _Counter()


def fresh_symbol(prefix: str, minimum: Size = 0, maximum: Size | None = None) -> Dim:
    """A symbol that no other size of this trace has: `nonzero_0`, `nonzero_1`, ..."""
    name = f"{prefix}_{_counter.count}"
    _counter.count += 1
    least = minimum if isinstance(minimum, int) else 0
    result = symbol(name, least, maximum if isinstance(maximum, int) else None)
    _counter.made.append(result)
    if isinstance(minimum, Dim):
        _counter.limits.append(Condition(">=", result, minimum))
    if isinstance(maximum, Dim):
        _counter.limits.append(Condition("<=", result, maximum))
    return result


def take_limits() -> list[Condition]:
    """What is known of new symbols whose least or largest value is a size; once."""
    limits, _counter.limits = _counter.limits, []
    return limits


def fresh_mark() -> int:
    """A moment of a trace, for `made_since`."""
    return len(_counter.made)


def made_since(mark: int) -> frozenset[Dim]:
    """The symbols that a trace has made since a moment: of a branch, those that it alone knows."""
    return frozenset(_counter.made[mark:])


def restart_fresh_symbols() -> None:
    """Number from 0 once more: a new trace begins."""
    _counter.count, _counter.limits, _counter.made = 0, [], []


@contextmanager
def fresh_symbols_from(number: int | None = None) -> Iterator[None]:
    """For types that are computed beside a trace: nothing is left of what the `with` makes.

    It numbers from here, or goes on.
    """
    before = _counter.count, _counter.limits, _counter.made
    _counter.count = before[0] if number is None else number
    _counter.limits, _counter.made = [], []
    try:
        yield
    finally:
        _counter.count, _counter.limits, _counter.made = before


class Solved(NamedTuple):
    """A size `factor * symbol + offset`, which gives the symbol."""

    symbol: Dim
    factor: int
    offset: int

    def value(self, real: int) -> int:
        """The symbol for a real size; another size than `real` may come of it: compare."""
        return (real - self.offset) // self.factor


class Origin(NamedTuple):
    """The axis of a Variable that binds a symbol."""

    variable: Variable
    axis: int
    solved: Solved


def solved(size: Size) -> Solved | None:
    """How a size gives the value of a symbol, None if it does not."""
    if not isinstance(size, Dim):
        return None
    if is_symbol(size):
        return Solved(size, 1, 0)
    found = symbols(size)
    if len(found) != 1:
        return None
    (own,) = found
    try:
        offset, one = substitute(size, {own: 0}), substitute(size, {own: 1})
    except ArithmeticError:  # a division by the symbol
        return None
    assert isinstance(offset, int) and isinstance(one, int)
    factor = one - offset
    # Forms are unique: this is all that the size is made of.
    return Solved(own, factor, offset) if factor and own * factor + offset is size else None


def origins(variables: Iterable[Variable]) -> dict[Dim, Origin]:
    """Where the symbols of a Program's parameters come from, in their order.

    An axis that is the symbol comes before one that is a multiple of it.
    """
    found: dict[Dim, Origin] = {}
    later: dict[Dim, Origin] = {}
    for variable in variables:
        if not isinstance(variable.type, TensorType):
            continue
        for axis, size in enumerate(variable.type.shape):
            known = solved(size)
            if known is not None:
                place = found if known.symbol is size else later
                place.setdefault(known.symbol, Origin(variable, axis, known))
    for known_symbol, origin in later.items():
        found.setdefault(known_symbol, origin)
    return found


def input_sizes(program: Program, shapes: Sequence[Sequence[int]]) -> dict[Dim, int]:
    """The values of all symbols that the inputs bind, for inputs of these shapes."""
    place = {variable: index for index, variable in enumerate(program.inputs)}
    return {
        symbol: origin.solved.value(shapes[place[origin.variable]][origin.axis])
        for symbol, origin in origins(program.inputs).items()
    }


def computed_sizes(program: Program) -> Iterator[tuple[Dim | Condition, Location | None]]:
    """Formulas that every run of a Program computes, and that may fail; with the line of each."""
    seen: set[Dim | Condition] = set()
    for operator in program.operators:
        shapes = tuple(v.type.shape for v in operator.results if isinstance(v.type, TensorType))
        for value in formulas((shapes, *operator.attributes.values())):
            if value not in seen:
                seen.add(value)
                if not is_total(value):
                    yield value, operator.location


def formulas(value: Any) -> Iterator[Dim | Condition]:
    """All sizes and conditions in nested tuples that are not known."""
    if isinstance(value, tuple):
        for entry in value:
            yield from formulas(entry)
    elif isinstance(value, (Dim, Condition)):
        yield value


def facts_of(program: Program) -> Facts:
    """The facts that hold wherever the Program runs: its constraints.

    Raises ShapeError, with both places, if no sizes fulfil them all.
    """
    facts = Facts()
    note_inputs(facts, program.inputs)
    for located in program.constraints:
        constraint = located.constraint
        origin = (
            f"{located.location}: {constraint.reason}" if located.location else constraint.reason
        )
        try:
            facts.assume(constraint.condition, origin)
        except Contradiction:
            beside = conflict(facts, constraint.condition)
            raise ShapeError(f"no sizes fulfil {constraint.condition} ({origin}){beside}") from None
    return facts


def note_inputs(facts: Facts, inputs: Iterable[Variable]) -> None:
    """Let the symbols of inputs stand for those found later, which Blocks inside do not know."""
    for variable in inputs:
        if isinstance(variable.type, TensorType):
            facts.note(*variable.type.shape)


def facts_where(condition: Condition | None) -> Facts:
    """The facts in force and a condition, for a place that may learn more.

    Where it cannot hold the code is never reached; then the condition is all that is known.
    """
    facts = current().inside()
    if condition is not None:
        try:
            facts.assume(condition)
        except Contradiction:
            facts = Facts()
            with suppress(Contradiction):
                facts.assume(condition)
    return facts


@contextmanager
def holding(condition: Condition | None) -> Iterator[None]:
    """Let a condition be known inside the `with`, and what the inside learns stay there."""
    with using(facts_where(condition)):
        yield


def assume(condition: object) -> None:
    """Know what holds from here on; where it cannot hold, the Program does not come here."""
    if isinstance(condition, Condition):
        with suppress(Contradiction):
            current().assume(condition)


def condition_of(predicate: Variable) -> Condition | None:
    """The condition on sizes that a bool stands for, None if it is anything else."""
    maker = predicate.maker
    if isinstance(maker, Operator) and maker.name == "from_dim":
        value = maker.attributes["value"]
        return value if isinstance(value, Condition) else None
    return None


def branch_condition(predicate: Variable, taken: bool) -> Condition | None:
    """What is known of sizes where a bool is true, or is false."""
    condition = condition_of(predicate)
    return condition if condition is None or taken else condition.negate()


def drop_implied(program: Program) -> None:
    """Leave out constraints that equalities found later make certain."""
    equalities = [c for c in program.constraints if c.constraint.condition.relation == "=="]
    if len(equalities) == len(program.constraints):
        return
    facts = Facts()
    for located in equalities:
        facts.assume(located.constraint.condition)
    with using(facts):
        program.constraints[:] = [
            located
            for located in program.constraints
            if located.constraint.condition.relation == "=="
            or _says_more(located.constraint.condition)
            or decided(located.constraint.condition) is not True
        ]


def _says_more(condition: Condition) -> bool:
    """Whether it decides which operand a minimum is: no proof would find that again."""
    atoms = {atom.kind for size in condition.sizes for atom in deep_atoms(size)}
    return not atoms.isdisjoint(("min", "max"))


def simplify_types(program: Program) -> None:
    """Write the sizes of all values as the constraints make them, in the way of the verifier.

    Inputs, and results that bind a symbol, keep theirs: there the sizes are found when it runs.
    """
    if program.constraints:
        with using(facts_of(program)):
            _simplify_block(program.block, set())


def _simplify_block(block: Block, bound: set[Dim]) -> None:
    """Write the sizes of a Block without symbols that are bound later, or in another Block."""
    for parameter in block.parameters:
        bound.update(_own_symbols(parameter))
    for operator in block.operators:
        for inner in operator.blocks:
            _simplify_block(inner, set(bound))
        for result in operator.results:
            own = _own_symbols(result)
            if bound.issuperset(own):
                simple = simplified_type(result.type)
                is_known = isinstance(simple, ArrayType) or bound.issuperset(symbols(simple.shape))
                result.type = simple if is_known else result.type
            bound.update(own)


def _own_symbols(value: Variable) -> list[Dim]:
    """The symbols that are sizes of a value."""
    if not isinstance(value.type, TensorType):
        return []
    return [size for size in value.type.shape if isinstance(size, Dim) and is_symbol(size)]


def _simplified(size: Size) -> Size:
    """The size as the facts make it, where it is provably the same: rules may go in circles."""
    simple = simplified(size)
    return simple if simple is size or equal(simple, size) is True else size


def simplified_type(type: ValueType) -> ValueType:
    """The type with its sizes as the facts in force make them."""
    if isinstance(type, ArrayType) or not current().mask:
        return type
    shape = tuple([_simplified(size) for size in type.shape])
    if all(new is old for new, old in zip(shape, type.shape, strict=True)):
        return type
    assert isinstance(type, TensorType)
    return type.with_shape(shape)


def lightened(type: ValueType) -> ValueType:
    """The type with a new symbol for each size whose formula has become too long to be of use."""
    if isinstance(type, ArrayType):
        return type
    for size in type.shape:
        if size.__class__ is not int and _is_heavy(size):
            return type.with_shape(
                fresh_symbol("size", max(0, bounds(size, current())[0] or 0))
                if _is_heavy(size)
                else size
                for size in type.shape
            )
    return type


def _is_heavy(size: Size) -> bool:
    return isinstance(size, Dim) and (size.weight > HEAVIEST_SIZE or size.depth > DEEPEST_SIZE)


__all__ = [
    "Origin",
    "Solved",
    "assume",
    "branch_condition",
    "computed_sizes",
    "condition_of",
    "drop_implied",
    "facts_of",
    "facts_where",
    "formulas",
    "fresh_mark",
    "fresh_symbol",
    "fresh_symbols_from",
    "holding",
    "input_sizes",
    "lightened",
    "made_since",
    "note_inputs",
    "origins",
    "restart_fresh_symbols",
    "simplified_type",
    "simplify_types",
    "solved",
    "take_limits",
]
