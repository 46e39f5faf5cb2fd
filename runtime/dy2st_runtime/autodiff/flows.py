"""Through which results of a Program gradients flow: surely, never, or as a bool of the run tells.

Eagerly the result of an `if` has `stop_gradient` if the branch that ran has used nothing that needs
gradients. What a Program cannot tell beforehand, it computes beside its results.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dy2st_runtime.autodiff.activity import Key, Varied, is_differentiable
from dy2st_runtime.ir.definition import lookup
from dy2st_runtime.ir.program import Block, Operator, Program, Variable
from dy2st_runtime.ir.types import ArrayType, TensorType

_FLAG = TensorType("bool", ())


class NotTold(Exception):
    """Whether gradients flow through a list depends on the run."""

    def __init__(self) -> None:
        super().__init__("whether gradients flow through a list depends on the run")


class Surely(Varied):
    """The Variables that change with the inputs whatever branches and turns run.

    A list counts if all of its elements do.
    """

    def _passes_on(self, operator: Operator, key: Key) -> bool:
        if not operator.results or not isinstance(operator.results[0].type, ArrayType):
            return super()._passes_on(operator, key)
        return all(self.has(v, key) for v in operator.operands if is_differentiable(v))

    def _branches(self, operator: Operator, given: Sequence[bool]) -> list[bool]:
        for block in operator.blocks:
            self._enter(block, given)
            self.mark(block.operators)
        true, false = (block.yields for block in operator.blocks)
        return [self.has(a) and self.has(b) for a, b in zip(true, false, strict=True)]

    def _turns(self, operator: Operator, given: Sequence[bool]) -> list[bool]:
        body, count = operator.blocks[1], len(operator.results)
        sure = [*given[:count]]
        while True:
            trial = Surely(self.known)
            trial._enter(body, [*sure, *given[count:]])
            trial.mark(body.operators)
            ends = [trial.has(v) for v in body.yields]
            kept = [a and b for a, b in zip(sure, ends, strict=True)]
            if kept == sure:
                self.known = trial.known
                return sure
            sure = kept


class Flags:
    """Bools of a Program that tell whether gradients flow through a value, made once each."""

    def __init__(self, program: Program, varied: Varied) -> None:
        """Of a Program, and what changes with its inputs on some path."""
        self._varied = varied
        self._sure = Surely(v for v in program.block.parameters if v in varied.known)
        self._sure.mark(program.operators)
        self._owners = {b: o for o in program.block.walk() for b in o.blocks}
        self._known: dict[Variable, Variable] = {}

    def is_sure(self, variable: Variable) -> bool:
        """Whether gradients flow through on every path."""
        return self._sure.has(variable)

    def flag(self, variable: Variable) -> Variable:
        """The bool, in the Block of the value; NotTold for some lists."""
        known = self._known.get(variable)
        if known is None:
            known = self._known[variable] = self._made(variable)
        return known

    def _made(self, variable: Variable) -> Variable:
        if not self._varied.has(variable):
            return _constant(variable.block, False)
        if self._sure.has(variable):
            return _constant(variable.block, True)
        if isinstance(variable.type, ArrayType):
            raise NotTold
        maker = variable.maker
        if isinstance(maker, Block):
            return self._of_parameter(variable, maker)
        if maker.name == "cond":
            place = _place(variable, maker.results)
            for block in maker.blocks:
                block.yields.append(self.flag(block.yields[place]))
            return _added(maker.results, maker)
        if maker.name == "while":
            self._carry(maker, _place(variable, maker.results))
            return self._known[variable]
        return self._of_operands(maker)

    def _of_parameter(self, variable: Variable, block: Block) -> Variable:
        owner = self._owners[block]
        place = _place(variable, block.parameters)
        if owner.name == "while" and place < len(owner.results):
            self._carry(owner, place)
            return self._known[variable]
        outer = self.flag(owner.operands[place + (owner.name == "cond")])
        owner.operands.append(outer)
        for one in owner.blocks:
            inner = _added(one.parameters, one)
            self._known.setdefault(one.parameters[place], inner)
        return self._known[variable]

    def _carry(self, owner: Operator, place: int) -> None:
        """Let a loop carry the bool of one of its variables."""
        first = self.flag(owner.operands[place])
        count, body = len(owner.results), owner.blocks[1]
        result, end = owner.results[place], body.yields[place]
        owner.operands.insert(count, first)
        for block in owner.blocks:
            inner = Variable(_FLAG, block)
            block.parameters.insert(count, inner)
            self._known[block.parameters[place]] = inner
        self._known[result] = _added(owner.results, owner)
        body.yields.append(self.flag(end))

    def _of_operands(self, operator: Operator) -> Variable:
        operands = [v for v in operator.operands if self._varied.has(v)]
        flags = [self.flag(operand) for operand in dict.fromkeys(operands)]
        total = flags[0]
        for flag in flags[1:]:
            total = _inserted(operator, "logical_or", [total, flag])
        for result in operator.results:
            self._known[result] = total
        return total


def _constant(block: Block, value: bool) -> Variable:
    operator = Operator("constant", [], {"value": np.array(value)}, block)
    block.operators.insert(0, operator)
    return _added(operator.results, operator)


def _inserted(after: Operator, name: str, operands: list[Variable]) -> Variable:
    lookup(name)
    block = after.block
    operator = Operator(name, operands, {}, block, location=after.location)
    places = {id(one): i for i, one in enumerate(block.operators)}
    makers = (after, *(v.maker for v in operands))
    last = max(places[id(maker)] for maker in makers if id(maker) in places)
    block.operators.insert(last + 1, operator)
    return _added(operator.results, operator)


def _added(variables: list[Variable], maker: Operator | Block) -> Variable:
    made = Variable(_FLAG, maker)
    variables.append(made)
    return made


def _place(variable: Variable, variables: Sequence[Variable]) -> int:
    return next(i for i, one in enumerate(variables) if one is variable)


__all__ = ["Flags", "NotTold", "Surely"]
