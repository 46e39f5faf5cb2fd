"""Derives facts on sizes from a Program: everywhere, and inside of branches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress

from dy2st_runtime.dims import (
    Condition,
    Contradiction,
    Dim,
    Facts,
    Size,
    conflict,
    current,
    decided,
    equal,
    is_symbol,
    simplified,
    symbols,
    using,
)
from dy2st_runtime.dims.samples import deep_atoms
from dy2st_runtime.errors import ShapeError
from dy2st_runtime.ir.program import Block, Operator, Program, Variable
from dy2st_runtime.ir.types import ArrayType, TensorType, ValueType


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
