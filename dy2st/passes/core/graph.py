"""Helps passes that work by hand: who reads a value, and putting values in place of others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from dy2st_runtime.dims import collect
from dy2st_runtime.ir import (
    Block,
    Operator,
    Program,
    TensorType,
    Tracer,
    Variable,
    interpreting,
)
from dy2st_runtime.ir.grad_mode import enable_grad


def blocks_of(program: Program) -> Iterator[Block]:
    """Every Block, outer before inner."""
    todo = [program.block]
    while todo:
        block = todo.pop()
        yield block
        for operator in block.operators:
            if operator.blocks:
                todo += operator.blocks


def count_uses(program: Program) -> dict[Variable, int]:
    """How often every value is read, by operators and as what a Block yields."""
    uses: dict[Variable, int] = {}
    get = uses.get
    for block in blocks_of(program):
        for operator in block.operators:
            for operand in operator.operands:
                uses[operand] = get(operand, 0) + 1
        for variable in block.yields:
            uses[variable] = get(variable, 0) + 1
    return uses


def readers_of(block: Block) -> dict[Variable, list[Operator]]:
    """The operators of a Block that read a value, in order, each once."""
    readers: dict[Variable, list[Operator]] = {}
    for operator in block.operators:
        for operand in dict.fromkeys(operator.operands):
            readers.setdefault(operand, []).append(operator)
    return readers


def replace_values(block: Block, replaced: Mapping[Variable, Variable]) -> None:
    """Let operators and yields of a Block read other values."""
    if not replaced:
        return
    get = replaced.get
    for operator in block.operators:
        operator.operands = [get(v, v) for v in operator.operands]
    block.yields = [get(v, v) for v in block.yields]


def may_end_early(operator: Operator) -> bool:
    """Whether it holds a loop, which might never end: then it is not computed where it need not."""
    return operator.name == "while" or any(
        may_end_early(inner) for block in operator.blocks for inner in block.operators
    )


def constant_of(variable: Variable) -> np.ndarray[Any, Any] | None:
    """The array of a constant, None of anything else."""
    maker = variable.maker
    if isinstance(maker, Operator) and maker.name == "constant":
        array: np.ndarray[Any, Any] = maker.attributes["value"]
        return array
    return None


def constant_operator(
    block: Block, array: np.ndarray[Any, Any], like: Variable | None = None
) -> Operator:
    """An operator that makes a constant, not yet in the Block's list; its name is `like`'s."""
    operator = Operator("constant", [], {"value": array}, block)
    result = Variable(TensorType(array.dtype, array.shape), operator)
    if like is not None:
        result.name, result.number = like.name, like.number
        if isinstance(like.maker, Operator):
            operator.location = like.maker.location
    operator.results = [result]
    return operator


def place_of(variable: Variable, values: Sequence[Variable]) -> int:
    """Where a Variable stands in a list, -1 if it does not: == of Variables is an operator."""
    for index, entry in enumerate(values):
        if entry is variable:
            return index
    return -1


def recorded(
    program: Program, block: Block, function: Callable[[], Any]
) -> tuple[list[Operator], list[Variable]] | None:
    """What a function records at the end of a Block, taken out again, and the values it gives.

    None, if a shape rule needs something of unknown sizes that is not known to hold.
    """
    mark = len(block.operators)
    tracer = Tracer.of_block(program, block)
    with enable_grad(), collect() as found, interpreting(tracer):
        result = function()
        results = list(result) if isinstance(result, (tuple, list)) else [result]
        values = [tracer.variable(entry) for entry in results]
    made, block.operators[mark:] = block.operators[mark:], []
    return None if found else (made, values)


__all__ = [
    "blocks_of",
    "constant_of",
    "constant_operator",
    "count_uses",
    "may_end_early",
    "place_of",
    "readers_of",
    "recorded",
    "replace_values",
]
