"""Finds through which results of a Program gradients flow: surely, never, or by a flag of the run.

Eagerly the result of an `if` has `stop_gradient` if the branch that ran has used nothing that needs
gradients. What is not known beforehand, the Program computes beside its results.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

import numpy as np

from dy2st_runtime.autodiff.activity import Key, Varied, is_differentiable
from dy2st_runtime.ir.program import Block, Operator, Program, Variable
from dy2st_runtime.ir.types import ArrayType, TensorType

_FLAG = TensorType("bool", ())

Task = Generator[Variable, Any, Variable]
"""Makes the bool of a value; it asks for those of other values by yielding them."""


class UnknownFlow(Exception):
    """Whether gradients flow through a result is known only at run time."""

    def __init__(
        self, why: str = "whether gradients flow through a list depends on the run"
    ) -> None:
        super().__init__(why)


class SurelyVaried(Varied):
    """The Variables that change with the inputs whatever branches and iterations run.

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

    def _iterations(self, operator: Operator, given: Sequence[bool]) -> list[bool]:
        body, count = operator.blocks[1], len(operator.results)
        # A variable is sure if it is before the loop and after each iteration: assume it of all
        # that are before, and take it back until it holds.
        sure = [*given[:count]]
        while True:
            trial = SurelyVaried(self.known)
            trial._enter(body, [*sure, *given[count:]])
            trial.mark(body.operators)
            ends = [trial.has(v) for v in body.yields]
            kept = [a and b for a, b in zip(sure, ends, strict=True)]
            if kept == sure:
                self.known = trial.known
                return sure
            sure = kept


class Flags:
    """Flags of a Program, true if gradients flow through a value, made once each.

    Tasks wait for each other in a list: a chain of operators may be longer than Python's stack.
    """

    def __init__(self, program: Program, varied: Varied) -> None:
        """Of a Program, and what changes with its inputs on some path."""
        self._varied = varied
        self._sure = SurelyVaried(v for v in program.block.parameters if v in varied.known)
        self._sure.mark(program.operators)
        self._owners = {b: o for o in program.block.walk() for b in o.blocks}
        self._known: dict[Variable, Variable] = {}
        self._behind: dict[Operator, list[Operator]] = {}  # what is to stand behind an operator

    def is_sure(self, variable: Variable) -> bool:
        """Whether gradients flow through on every path."""
        return self._sure.has(variable)

    def flags(self, variables: Sequence[Variable]) -> list[Variable]:
        """The bools, each in the Block of its value; UnknownFlow for some lists."""
        found = [self._flag(variable) for variable in variables]
        for block in {operator.block for operator in self._behind}:
            block.operators[:] = [
                one for each in block.operators for one in (each, *self._behind.get(each, ()))
            ]
        self._behind = {}
        return found

    def _flag(self, variable: Variable) -> Variable:
        wanted, tasks = [variable], [self._made(variable)]
        answer: Variable | None = None
        while tasks:
            try:
                asked = tasks[-1].send(answer)
            except StopIteration as done:
                tasks.pop()
                answer = self._known.setdefault(wanted.pop(), done.value)
                continue
            answer = self._known.get(asked)
            if answer is None:
                wanted.append(asked)
                tasks.append(self._made(asked))
        return self._known[variable]

    def _made(self, variable: Variable) -> Task:
        if not self._varied.has(variable):
            return _constant(variable.block, False)
        if self._sure.has(variable):
            return _constant(variable.block, True)
        if isinstance(variable.type, ArrayType):
            raise UnknownFlow
        maker = variable.maker
        if isinstance(maker, Block):
            return (yield from self._of_parameter(variable, maker))
        if maker.name == "cond":
            return (yield from self._of_branches(maker, _place(variable, maker.results)))
        if maker.name == "while":
            return (yield from self._of_iterations(maker, _place(variable, maker.results)))
        operands = [v for v in maker.operands if self._varied.has(v)]
        flags = []
        for operand in dict.fromkeys(operands):
            flags.append((yield operand))
        total: Variable = flags[0]
        for flag in flags[1:]:
            either = Operator("logical_or", [total, flag], {}, maker.block, location=maker.location)
            self._behind.setdefault(maker, []).append(either)
            total = _added(either.results, either)
        for result in maker.results:
            self._known[result] = total
        return total

    def _of_parameter(self, variable: Variable, block: Block) -> Task:
        owner = self._owners[block]
        place = _place(variable, block.parameters)
        if owner.name == "while" and place < len(owner.results):
            yield from self._of_iterations(owner, place)
            return self._known[variable]
        # The first operand of a `cond` is its condition, which is no parameter of the branches.
        outer = yield owner.operands[place + (owner.name == "cond")]
        owner.operands.append(outer)
        place = _place(variable, block.parameters)  # a loop may carry more by now
        for one in owner.blocks:
            inner = _added(one.parameters, one)
            self._known.setdefault(one.parameters[place], inner)
        return self._known[variable]

    def _of_branches(self, owner: Operator, place: int) -> Task:
        """Let both branches give the bool of one of their values."""
        result, slot = owner.results[place], len(owner.results)
        self._known[result] = _added(owner.results, owner)
        for block in owner.blocks:
            block.yields.append(block.yields[place])  # until the bool is there: it holds the place
        for block in owner.blocks:
            block.yields[slot] = yield block.yields[place]
        return self._known[result]

    def _of_iterations(self, owner: Operator, place: int) -> Task:
        """Let a loop carry the bool of one of its variables."""
        first = yield owner.operands[place]
        slot, body, result = len(owner.results), owner.blocks[1], owner.results[place]
        if result in self._known:
            return self._known[result]
        # The flag is a loop variable of its own before the body is asked, which may depend on it.
        owner.operands.insert(slot, first)
        for block in owner.blocks:
            inner = Variable(_FLAG, block)
            block.parameters.insert(slot, inner)
            self._known[block.parameters[place]] = inner
        self._known[result] = _added(owner.results, owner)
        body.yields.append(body.yields[place])  # as above
        body.yields[slot] = yield body.yields[place]
        return self._known[result]


def _constant(block: Block, value: bool) -> Variable:
    operator = Operator("constant", [], {"value": np.array(value)}, block)
    block.operators.insert(0, operator)  # before all that may read it
    return _added(operator.results, operator)


def _added(variables: list[Variable], maker: Operator | Block) -> Variable:
    made = Variable(_FLAG, maker)
    variables.append(made)
    return made


def _place(variable: Variable, variables: Sequence[Variable]) -> int:
    return next(i for i, one in enumerate(variables) if one is variable)


__all__ = ["Flags", "SurelyVaried", "UnknownFlow"]
