"""Finds through which results of a Program gradients flow: surely, never, or by a flag of the run.

Eagerly the result of an `if` has `stop_gradient` if the branch that ran has used nothing that needs
gradients. What is not known beforehand, the Program computes beside its results: a bool for each
tensor, and a list of bools for each list, to which is done what is done to the list.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

import numpy as np

from dy2st_runtime.autodiff.activity import Key, Varied, is_differentiable, is_on_lists
from dy2st_runtime.dims import symbol
from dy2st_runtime.ir.program import Block, Operator, Program, Variable
from dy2st_runtime.ir.types import ArrayType, TensorType, ValueType

_FLAG = TensorType("bool", ())
# What these do to a list and its elements, they do to their flags.
_NAMES = "append create delete extend gather insert pop read repeat slice write"
_ON_LISTS = frozenset(f"array_{name}" for name in _NAMES.split())
_OF_ALL = frozenset({"array_stack", "array_concat"})  # a tensor of all elements

Task = Generator[Variable, Any, Variable]
"""Makes the flag of a value; it asks for those of other values by yielding them."""


class UnknownFlow(Exception):
    """Whether gradients flow through a result is known only at run time."""

    def __init__(
        self, why: str = "whether gradients flow through lists in a list depends on the run"
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
        """The flags, each in the Block of its value; UnknownFlow for some lists of lists."""
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
        is_varied = self._varied.has(variable)
        if not is_varied or self._sure.has(variable):
            return self._constant(variable, is_varied)
        maker = variable.maker
        if isinstance(maker, Block):
            return (yield from self._of_parameter(variable, maker))
        if maker.name == "cond":
            return (yield from self._of_branches(maker, _place(variable, maker.results)))
        if maker.name == "while":
            return (yield from self._of_iterations(maker, _place(variable, maker.results)))
        if is_on_lists(maker):
            return (yield from self._of_list(variable, maker))
        operands = [v for v in maker.operands if self._varied.has(v)]
        flags = []
        for operand in dict.fromkeys(operands):
            flags.append((yield operand))
        total: Variable = flags[0]
        for flag in flags[1:]:
            total = self._appended("logical_or", [total, flag], {}, maker, _FLAG)
        for result in maker.results:
            self._known[result] = total
        return total

    def _of_list(self, variable: Variable, maker: Operator) -> Task:
        """The flags of what an operator gives that takes or gives a list."""
        operands = []
        for operand in maker.operands:
            operands.append((yield operand) if is_differentiable(operand) else operand)
        if maker.name in _OF_ALL:
            size = symbol(f"flags_{len(self._known)}")
            listed = TensorType("bool", (size,))
            of_all = self._appended("array_stack", operands, {"axis": 0}, maker, listed)
            return self._appended("any", [of_all], {"axis": (0,), "keepdim": False}, maker, _FLAG)
        if maker.name not in _ON_LISTS:
            raise UnknownFlow
        made = Operator(
            maker.name, operands, maker.attributes, maker.block, location=maker.location
        )
        self._behind.setdefault(maker, []).append(made)
        for result in maker.results:
            self._known[result] = _added(made.results, made, result.type)
        return self._known[variable]

    def _appended(
        self,
        name: str,
        operands: list[Variable],
        attributes: dict[str, Any],
        maker: Operator,
        type: ValueType,
    ) -> Variable:
        """The result of an operator that is to stand behind another."""
        made = Operator(name, operands, attributes, maker.block, location=maker.location)
        self._behind.setdefault(maker, []).append(made)
        made.results.append(Variable(type, made))
        return made.results[0]

    def _constant(self, variable: Variable, value: bool) -> Variable:
        """The same flag for all of a value."""
        block, maker = variable.block, variable.maker
        flag = Operator("constant", [], {"value": np.array(value)}, block)
        found = _added(flag.results, flag)
        block.operators.insert(0, flag)  # before all that may read it
        type = variable.type
        if not isinstance(type, ArrayType):
            return found
        if isinstance(type.element, ArrayType):
            raise UnknownFlow
        created = Operator("array_create", [found], {}, block)
        length = Operator("array_length", [variable], {}, block)
        length.results.append(Variable(TensorType("int64", ()), length))
        operands = [_added(created.results, created, type), length.results[0]]
        repeated = Operator("array_repeat", operands, {}, block)
        made = [created, length, repeated]
        if isinstance(maker, Operator):
            self._behind.setdefault(maker, []).extend(made)
        else:
            block.operators[1:1] = made
        return _added(repeated.results, repeated, type)

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
            inner = _added(one.parameters, one, variable.type)
            self._known.setdefault(one.parameters[place], inner)
        return self._known[variable]

    def _of_branches(self, owner: Operator, place: int) -> Task:
        """Let both branches give the bool of one of their values."""
        result, slot = owner.results[place], len(owner.results)
        self._known[result] = _added(owner.results, owner, result.type)
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
            inner = Variable(_type(result.type), block)
            block.parameters.insert(slot, inner)
            self._known[block.parameters[place]] = inner
        self._known[result] = _added(owner.results, owner, result.type)
        body.yields.append(body.yields[place])  # as above
        body.yields[slot] = yield body.yields[place]
        return self._known[result]


def _type(type: ValueType) -> ValueType:
    """The type of the flag of a value."""
    if not isinstance(type, ArrayType):
        return _FLAG
    return ArrayType(None if type.element is None else _type(type.element))


def _added(variables: list[Variable], maker: Operator | Block, type: ValueType = _FLAG) -> Variable:
    """Another Variable: the flag of a value of this type."""
    made = Variable(_type(type), maker)
    variables.append(made)
    return made


def _place(variable: Variable, variables: Sequence[Variable]) -> int:
    return next(i for i, one in enumerate(variables) if one is variable)


__all__ = ["Flags", "SurelyVaried", "UnknownFlow"]
