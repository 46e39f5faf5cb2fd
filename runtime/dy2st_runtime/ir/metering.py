"""Makes a Program count the memory and operators that it takes, for limits in any engine.

    spend(operators = 3, sizes = [4, 2, n, m, ...], ...)       before three operators
    spend_result(x, operator = "unique", ...)                  before one whose size is data

`sizes` has for each tensor that is made the bytes of an element, how many axes, and their sizes.
`scratch` has for each operator that makes more than its results how many arrays, and each likewise.
Operators are counted by runs between branches, loops, and new sizes, so a size is known there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dy2st_runtime.dims import symbols
from dy2st_runtime.errors import LimitExceeded
from dy2st_runtime.ir.aliasing import view_of
from dy2st_runtime.ir.definition import View, lookup
from dy2st_runtime.ir.program import Block, Operator, Program, Variable
from dy2st_runtime.ir.rebuild import rebuild
from dy2st_runtime.ir.types import ArrayType, TensorType


def metered(program: Program) -> Program:
    """The Program with operators that spend before its own.

    Functions are inlined; LimitExceeded for those that call themselves.
    """
    lookup("spend")
    made = rebuild(program)
    if made.functions:
        raise LimitExceeded(
            f"{program.name!r} has functions that call themselves, whose memory nobody counts: it "
            "runs without limits alone"
        )
    known = {symbol for variable in made.block.parameters for symbol in _symbols(variable)}
    _meter(made.block, 0, known)
    return made


def _symbols(variable: Variable) -> Any:
    type = variable.tensor_type if isinstance(variable.type, TensorType) else None
    return () if type is None else symbols(type.shape)


class _Run:
    """Operators that follow each other, counted in one place."""

    def __init__(self, block: Block, depth: int, begins: bool) -> None:
        self._block, self._depth, self._begins = block, depth, begins
        self.operators, self._sizes = list[Operator](), list[Any]()
        self._scratch: list[Any] = []

    def add(self, operator: Operator, results: list[Variable]) -> None:
        self.operators.append(operator)
        if view_of(operator) is View.SAME:
            return
        for result in results:
            type = result.type.tensor if isinstance(result.type, ArrayType) else result.type
            if isinstance(type, TensorType):
                self._sizes += _entry(type.dtype.itemsize, type.shape)
        self._scratch += _scratch(operator)

    def written(self) -> list[Operator]:
        if not self.operators and not self._begins:
            return []
        attributes = {
            "operators": max(len(self.operators), 1),
            "sizes": tuple(self._sizes),
            "scratch": tuple(self._scratch),
            "depth": self._depth,
            "begins": self._begins,
        }
        return [Operator("spend", [], attributes, self._block), *self.operators]


def _entry(width: int, shape: Sequence[Any]) -> list[Any]:
    return [width, len(shape), *shape]


def _scratch(operator: Operator) -> list[Any]:
    """What its kernel makes beside the results: an entry for each array, and how many they are."""
    rule = lookup(operator.name).scratch
    if rule is None:
        return []
    types = [operand.type for operand in operator.operands]
    width = max(type.dtype.itemsize for type in types if isinstance(type, TensorType))
    made = tuple(result.type for result in operator.results)
    shapes = list(rule(made[0] if len(made) == 1 else made, *types, **operator.attributes))
    return [len(shapes), *(number for shape in shapes for number in _entry(width, shape))]


def _meter(block: Block, depth: int, outer: set[Any]) -> None:
    """Put in what counts; sizes of `outer` are known where the Block begins."""
    known = set(outer)
    for parameter in block.parameters:
        known.update(_symbols(parameter))
    found: list[Operator] = []
    run = _Run(block, depth, True)
    for operator in block.operators:
        new = {s for result in operator.results for s in _symbols(result)} - known
        if operator.blocks:
            run.add(operator, [])
            found += run.written()
            for inner in operator.blocks:
                _meter(inner, depth + 1, known | new)
            run = _Run(block, depth, False)
        elif new:
            found += run.written()
            widths = [r.dtype.itemsize for r in operator.results if isinstance(r.type, TensorType)]
            attributes = {
                "operator": operator.name,
                "width": max(widths, default=8),
                "depth": depth,
            }
            found += [
                Operator("spend_result", list(operator.operands), attributes, block),
                operator,
            ]
            run = _Run(block, depth, False)
        else:
            run.add(operator, operator.results)
        known |= new
    block.operators[:] = [*found, *run.written()]


__all__ = ["metered"]
