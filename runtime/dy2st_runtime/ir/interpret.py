"""The meaning of a Program: its operators, one by one, on eager tensors.

It is slow and plain. Training runs through it, because the tape then sees the branches and turns
that are really taken; and the compiled engines are tested against it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dy2st_runtime.dims import Condition, Dim, evaluate, is_symbol
from dy2st_runtime.errors import ShapeError
from dy2st_runtime.ir.dispatch import apply, eagerly
from dy2st_runtime.ir.program import Block, Operator, Program, Variable
from dy2st_runtime.ir.types import TensorType

Sizes = dict[Dim, int]


def interpret(
    program: Program, inputs: Sequence[Any], state: Mapping[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    """Outputs, and new values of buffers by name."""
    sizes: Sizes = {}
    values = [*inputs, *(state[name] for name in program.state)]
    with eagerly():
        results = _run_block(program.block, values, sizes)
    for entry in program.constraints:
        condition = entry.constraint.condition
        if not evaluate(condition, sizes):
            raise ShapeError(f"{entry.constraint.reason} (from {entry.location})")
    count = len(program.outputs)
    return results[:count], dict(zip(program.updates, results[count:], strict=True))


def _run_block(block: Block, arguments: Sequence[Any], sizes: Sizes) -> list[Any]:
    known: dict[Variable, Any] = {}
    for parameter, value in zip(block.parameters, arguments, strict=True):
        _bind(known, parameter, value, sizes)
    for operator in block.operators:
        operands = [known[operand] for operand in operator.operands]
        for variable, value in zip(
            operator.results, _run(operator, operands, sizes), strict=True
        ):
            _bind(known, variable, value, sizes)
    return [known[variable] for variable in block.yields]


def _bind(known: dict[Variable, Any], variable: Variable, value: Any, sizes: Sizes) -> None:
    known[variable] = value
    if isinstance(variable.type, TensorType):
        for size, real in zip(variable.type.shape, value.shape, strict=True):
            if is_symbol(size):
                sizes[size] = real  # type: ignore[index]


def _run(operator: Operator, operands: list[Any], sizes: Sizes) -> Sequence[Any]:
    if operator.name == "cond":
        chosen = operator.blocks[0 if bool(operands[0]) else 1]
        return _run_block(chosen, operands[1:], sizes)
    if operator.name == "while":
        return _run_while(operator, operands, sizes)
    attributes = {name: concrete(value, sizes) for name, value in operator.attributes.items()}
    result = apply(operator.name, *operands, **attributes)
    return result if isinstance(result, (tuple, list)) and len(operator.results) != 1 else [result]


def _run_while(operator: Operator, operands: list[Any], sizes: Sizes) -> Sequence[Any]:
    condition, body = operator.blocks
    count = len(operator.results)
    values, captured = operands[:count], operands[count:]
    while bool(_run_block(condition, [*values, *captured], sizes)[0]):
        values = _run_block(body, [*values, *captured], sizes)
    return values


def concrete(value: Any, sizes: Mapping[Dim, int]) -> Any:
    """An attribute with numbers in place of Dims."""
    if isinstance(value, (Dim, Condition)):
        return evaluate(value, sizes)
    if isinstance(value, tuple):
        return tuple(concrete(entry, sizes) for entry in value)
    return value
