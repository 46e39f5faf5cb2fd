"""Adds residuals to forward Blocks: values that the backward computation reads.

A value of a branch is kept in a list of one element, which is empty where the other branch runs;
that of an iteration is appended to a list, one element an iteration. So nobody needs to know how
many iterations a loop takes, and no tensor stands for what was not computed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dy2st_runtime.dims import Dim, Size, is_symbol, symbols
from dy2st_runtime.ir.definition import lookup
from dy2st_runtime.ir.join import differs_by_element
from dy2st_runtime.ir.program import Block, Operator, Variable
from dy2st_runtime.ir.sizes import origins
from dy2st_runtime.ir.tracing.tracer import infer
from dy2st_runtime.ir.types import ArrayType, TensorType, ValueType


class SymbolBinders:
    """The Blocks in which the symbols of a Program are bound, with a value that binds each."""

    def __init__(self, block: Block) -> None:
        """Look through a Block and all that is nested in it."""
        self._binders: dict[Block, dict[Dim, Variable]] = {}
        self._outermost = block
        todo = [block]
        while todo:
            one = todo.pop()
            found = self._binders.setdefault(one, {})
            found.update({s: origin.variable for s, origin in origins(one.parameters).items()})
            for operator in one.operators:
                for variable in operator.results:
                    type = variable.type
                    if type.__class__ is TensorType:
                        for size in type.shape:
                            if size.__class__ is not int and is_symbol(size):
                                found.setdefault(size, variable)  # type: ignore[arg-type]
                todo += operator.blocks

    def next_number(self) -> int:
        """A number from which on no symbol of the Program is numbered."""
        names = (str(symbol) for found in self._binders.values() for symbol in found)
        ends = [name.rpartition("_")[2] for name in names]
        return max((int(end) + 1 for end in ends if end.isdecimal()), default=0)

    def binder(self, symbol: Dim, block: Block) -> Variable | None:
        """A value of a Block whose size, on some axis, is a symbol."""
        return self._binders.get(block, {}).get(symbol)

    def is_known_everywhere(self, size: Size) -> bool:
        """Whether a size is made of symbols that the outermost Block knows."""
        return all(symbol in self._binders[self._outermost] for symbol in symbols(size))

    def is_known_around(self, symbol: Dim, block: Block) -> bool:
        """Whether a symbol is known in the Blocks around one."""
        _, *around = block.outwards()
        return any(symbol in self._binders.get(one, {}) for one in around)


class Residuals:
    """The lists that `cond` and `while` operators of a Program give out, each made once."""

    def __init__(self, homes: SymbolBinders, known: dict[Any, Variable] | None = None) -> None:
        """`known` has what they give out already, and gets what is new."""
        self.homes = homes
        self._known: dict[Any, Variable] = {} if known is None else known

    def of_branch(self, operator: Operator, number: int, value: Variable) -> Variable:
        """The list with a value of a branch, empty after the other branch."""
        known = self._known.get((operator, number, value))
        if known is not None:
            return known
        # Both branches must yield it: the other one yields a list without elements.
        for index, block in enumerate(operator.blocks):
            if index == number:
                end = _appended(block, "array_create", [value], {})
            else:
                end = self._empty(block, value, operator.blocks[number])
            block.yields.append(end)
        attributes = self._described(value, operator.blocks[number])
        result = Variable(infer(lookup("array_empty"), [], attributes)[0], operator)
        operator.results.append(result)
        self._known[operator, number, value] = result
        return result

    def of_iterations(self, operator: Operator, value: Variable) -> Variable:
        """The list of what a value of the body was in each iteration."""
        known = self._known.get((operator, 1, value))
        if known is None:
            body = operator.blocks[1]
            first = self._empty(operator.block, value, body, operator)
            own, known = self._carried(operator, first, first.type)
            body.yields.append(_appended(body, "array_append", [own, value], {}))
            self._known[operator, 1, value] = known
            # Its length is the number of iterations, so no counter is needed.
            self._known.setdefault(operator, known)
        return known

    def iterations(self, operator: Operator) -> Variable:
        """How many iterations a loop has made: a 0-d int64, or a list of as many elements."""
        known = self._known.get(operator)
        if known is None:
            body, type = operator.blocks[1], TensorType("int64", ())
            first = _inserted(operator, "constant", {"value": np.zeros((), np.int64)})
            own, known = self._carried(operator, first, type)
            one = _appended(body, "constant", [], {"value": np.ones((), np.int64)})
            body.yields.append(_appended(body, "add", [own, one], {}))
            self._known[operator] = known
        return known

    def _carried(
        self, operator: Operator, first: Variable, type: ValueType
    ) -> tuple[Variable, Variable]:
        """One more loop variable: what it is in the body, and after the loop."""
        place = len(operator.results)
        operator.operands.insert(place, first)
        inner = [Variable(type, block) for block in operator.blocks]
        for block, parameter in zip(operator.blocks, inner, strict=True):
            block.parameters.insert(place, parameter)
        result = Variable(type, operator)
        operator.results.append(result)
        return inner[1], result

    def _empty(
        self, block: Block, value: Variable, home: Block, before: Operator | None = None
    ) -> Variable:
        """An empty list for a value, made at the end of a Block or before an operator of it."""
        attributes = self._described(value, home)
        if before is None:
            return _appended(block, "array_empty", [], attributes)
        return _inserted(before, "array_empty", attributes)

    def _described(self, value: Variable, home: Block) -> dict[str, Any]:
        """The attributes of an empty list for a value of a Block."""
        list_type = ArrayType(value.type)
        tensor = list_type.tensor
        dtype, shape = (None, ()) if tensor is None else (tensor.dtype, tensor.shape)
        # None is for a size that may differ from element to element.
        sizes = tuple(size if self._is_known(size, home) else None for size in shape)
        return {"dtype": dtype, "shape": sizes, "depth": list_type.depth}

    def _is_known(self, size: Size, home: Block) -> bool:
        if differs_by_element(size):
            return False
        return all(self.homes.is_known_around(symbol, home) for symbol in symbols(size))


def _appended(
    block: Block, name: str, operands: Sequence[Variable], attributes: Mapping[str, Any]
) -> Variable:
    operator = _made(block, name, operands, attributes)
    block.operators.append(operator)
    return operator.results[0]


def _inserted(before: Operator, name: str, attributes: Mapping[str, Any]) -> Variable:
    operators = before.block.operators
    operator = _made(before.block, name, [], attributes)
    place = next(i for i, one in enumerate(operators) if one is before)
    operators.insert(place, operator)
    operator.location = before.location
    return operator.results[0]


def _made(
    block: Block, name: str, operands: Sequence[Variable], attributes: Mapping[str, Any]
) -> Operator:
    operator = Operator(name, [*operands], dict(attributes), block)
    if name == "constant":
        value = attributes["value"]
        types: list[ValueType] = [TensorType(value.dtype, value.shape)]
    else:
        types = infer(lookup(name), [v.type for v in operands], attributes)
    operator.results = [Variable(type, operator) for type in types]
    return operator


__all__ = ["Residuals", "SymbolBinders"]
