"""What a Program says of its sizes: everywhere, and inside of branches."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from dy2st_runtime.dims import Condition, Contradiction, Facts, current, simplified, using
from dy2st_runtime.errors import ShapeError
from dy2st_runtime.ir.program import LocatedConstraint, Operator, Program, Variable
from dy2st_runtime.ir.types import ArrayType, TensorType, ValueType


def facts_of(program: Program) -> Facts:
    """The facts that hold wherever the Program runs: its constraints.

    Raises ShapeError, with both places, if no sizes fulfil them all.
    """
    facts = Facts()
    for variable in program.inputs:
        if isinstance(variable.type, TensorType):
            facts.note(*variable.type.shape)
    for index, located in enumerate(program.constraints):
        try:
            facts.assume(located.constraint.condition)
        except Contradiction:
            raise contradiction(program.constraints[: index + 1]) from None
    return facts


def contradiction(constraints: list[LocatedConstraint]) -> ShapeError:
    """The error for constraints of which the last one cannot hold beside the others.

    It names those that matter: without any of them the rest could hold.
    """
    *others, last = constraints
    kept = list(others)
    for located in others:
        rest = [entry for entry in kept if entry is not located]
        if _is_contradictory([*rest, last]):
            kept = rest
    lines = [f"  {entry.constraint.condition}  ({_origin(entry)})" for entry in (*kept, last)]
    if not kept:
        return ShapeError(f"no sizes fulfil what the Program requires:\n{lines[0]}")
    return ShapeError("no sizes fulfil what the Program requires together:\n" + "\n".join(lines))


def _origin(located: LocatedConstraint) -> str:
    reason = located.constraint.reason
    return f"{located.location}: {reason}" if located.location else reason


def _is_contradictory(constraints: list[LocatedConstraint]) -> bool:
    facts = Facts()
    try:
        for located in constraints:
            facts.assume(located.constraint.condition)
    except Contradiction:
        return True
    return False


@contextmanager
def holding(condition: Condition | None) -> Iterator[None]:
    """Let a condition be known inside the `with`, and what the inside learns stay there.

    Where it cannot hold the code is never reached, and nothing need be known.
    """
    facts = current().inside()
    if condition is not None:
        try:
            facts.assume(condition)
        except Contradiction:
            facts = current().inside()
    with using(facts):
        yield


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


def simplify_types(program: Program) -> None:
    """Write the sizes of all results as the constraints of the Program make them.

    Inputs keep their symbols: there the sizes are found when the Program is called.
    """
    if not program.constraints:
        return
    bound = set(program.inputs)
    with using(facts_of(program)):
        blocks = [program.block]
        while blocks:
            block = blocks.pop()
            for operator in block.operators:
                blocks += operator.blocks
                for result in operator.results:
                    result.type = _simplified_type(result.type)
            for parameter in block.parameters:
                if parameter not in bound:
                    parameter.type = _simplified_type(parameter.type)


def _simplified_type(type: ValueType) -> ValueType:
    if isinstance(type, ArrayType):
        return type
    shape = tuple([simplified(size) for size in type.shape])
    if all(new is old for new, old in zip(shape, type.shape, strict=True)):
        return type
    assert isinstance(type, TensorType)
    return type.with_shape(shape)
