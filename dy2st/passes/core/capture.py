"""Brings an outer value into nested Blocks, which read nothing but their parameters."""

from __future__ import annotations

from collections.abc import Iterator

from dy2st.passes.core.graph import place_of
from dy2st_runtime.ir import Block, Operator, Program, Variable

Path = tuple[tuple[Operator, Block], ...]
"""The operators that a Block is nested in, each with its Block on the way; the outermost first."""


def paths_of(program: Program) -> Iterator[tuple[Block, Path]]:
    """Every Block, outer before inner, with its path."""
    todo: list[tuple[Block, Path]] = [(program.block, ())]
    while todo:
        block, path = todo.pop()
        yield block, path
        for operator in reversed(block.operators):
            todo += [(inner, (*path, (operator, inner))) for inner in operator.blocks[::-1]]


def first_captured(operator: Operator) -> tuple[int, int]:
    """Where captured values begin among the operands, and among the parameters of the Blocks."""
    if operator.name == "cond":
        return 1, 0
    return len(operator.results), len(operator.results)


def captured(variable: Variable, path: Path) -> Variable:
    """The parameter of the innermost Block of a path that stands for an outermost value."""
    for operator, block in path:
        begin, own = first_captured(operator)
        place = place_of(variable, operator.operands[begin:])
        if place >= 0:
            place += own
        else:
            place = len(block.parameters)
            operator.operands.append(variable)
            for inner in operator.blocks:
                made = inner.add_parameter(variable.type, variable.name)
                made.number, made.held = variable.number, variable.held
        variable = block.parameters[place]
    return variable


__all__ = ["Path", "captured", "first_captured", "paths_of"]
