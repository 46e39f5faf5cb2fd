"""Finds values that change with the inputs of a gradient, and those that outputs depend on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from dy2st_runtime.ir.definition import lookup
from dy2st_runtime.ir.functions import CALL
from dy2st_runtime.ir.program import Block, Operator, Variable
from dy2st_runtime.ir.tracing.gradient_flow import SETTER
from dy2st_runtime.ir.types import ArrayType, TensorType

Key = Callable[[Variable], Variable]
"""The Variable under which the gradients of a value are gathered."""


def before_setting(variable: Variable) -> Variable:
    """The Variable before its `stop_gradient` was set: the same tensor."""
    while isinstance(variable.maker, Operator) and variable.maker.name == SETTER:
        variable = variable.maker.operands[0]
    return variable


def is_differentiable(variable: Variable) -> bool:
    """Whether a value can have a gradient by its type; lists are as the tensors in them."""
    type = variable.type
    if isinstance(type, TensorType):
        return type.is_differentiable
    return type.tensor is None or type.tensor.is_differentiable


def is_set_to_stop(variable: Variable) -> bool:
    """Whether the code has set its `stop_gradient` to True."""
    maker = variable.maker
    if not isinstance(maker, Operator) or maker.name != SETTER:
        return False
    return bool(maker.attributes["value"])


def is_opened(variable: Variable) -> bool:
    """Whether the code has set its `stop_gradient` to False."""
    maker = variable.maker
    return isinstance(maker, Operator) and maker.name == SETTER and not is_set_to_stop(variable)


def is_stopped(variable: Variable) -> bool:
    """Whether no gradient flows through a Variable, by what it is alone."""
    return is_set_to_stop(variable) or not is_differentiable(variable)


def passes(operator: Operator) -> bool:
    """Whether gradients flow through an operator without Blocks."""
    if operator.name == CALL or is_on_lists(operator):
        return True
    definition = lookup(operator.name)
    return definition.gradient is not None or definition.decompose is not None


def is_on_lists(operator: Operator) -> bool:
    """Whether an operator takes or gives a list."""
    for variable in (*operator.operands, *operator.results):
        if isinstance(variable.type, ArrayType):
            return True
    return False


class Varied:
    """The Variables that change with the inputs, under their keys."""

    def __init__(self, inputs: Iterable[Variable], stopped: Iterable[Variable] = ()) -> None:
        """Begin with the inputs; `stopped` are values through which no gradient flows."""
        self.known = {variable for variable in inputs if is_differentiable(variable)}
        self._stopped = set(stopped)

    def has(self, variable: Variable, key: Key = before_setting) -> bool:
        """Whether a Variable changes with them, and gradients flow through."""
        if key(variable) not in self.known:
            return False
        return not is_set_to_stop(variable) and variable not in self._stopped

    def mark(self, operators: Sequence[Operator], key: Key = before_setting) -> None:
        """Go through operators in their order."""
        for operator in operators:
            if operator.blocks:
                given = [self.has(operand, key) for operand in operator.operands]
                if operator.name == "cond":
                    found = self._branches(operator, given[1:])
                else:
                    found = self._iterations(operator, given)
            elif operator.name == SETTER or not passes(operator):
                continue
            else:
                found = [self._passes_on(operator, key)] * len(operator.results)
            for result, is_varied in zip(operator.results, found, strict=False):
                if is_varied and is_differentiable(result):
                    self.known.add(result)

    def _passes_on(self, operator: Operator, key: Key) -> bool:
        for operand in operator.operands:  # noqa: SIM110  twice as fast as any()
            if self.has(operand, key):
                return True
        return False

    def _branches(self, operator: Operator, given: Sequence[bool]) -> list[bool]:
        if not any(given):  # then nothing in it needs to be looked at
            return [False] * len(operator.results)
        for block in operator.blocks:
            self._enter(block, given)
            self.mark(block.operators)
        true, false = (block.yields for block in operator.blocks)
        return [self.has(a) or self.has(b) for a, b in zip(true, false, strict=True)]

    def _iterations(self, operator: Operator, given: Sequence[bool]) -> list[bool]:
        if not any(given):
            return [False] * len(operator.results)
        # One iteration may change a variable by which the next one changes another: a fixpoint.
        body, before = operator.blocks[1], -1
        carried = body.parameters[: len(operator.results)]
        self._enter(body, given)
        while before != len(self.known):
            before = len(self.known)
            self.mark(body.operators)
            for start, end in zip(carried, body.yields, strict=True):
                if self.has(end) and is_differentiable(start):
                    self.known.add(start)
        return [start in self.known for start in carried]

    def _enter(self, block: Block, given: Sequence[bool]) -> None:
        for parameter, is_varied in zip(block.parameters, given, strict=True):
            if is_varied:
                self.known.add(parameter)


def behind(operators: Sequence[Operator], ends: Iterable[Variable], key: Key) -> set[Variable]:
    """What values are made of, as far as gradients flow; of Blocks all that they read."""
    found = {key(end) for end in ends if not is_stopped(end)}
    for operator in reversed(operators):
        if operator.name == SETTER or found.isdisjoint(operator.results):
            continue
        if operator.blocks or passes(operator):
            found.update(key(v) for v in operator.operands if not is_stopped(v))
    return found


__all__ = [
    "Key",
    "Varied",
    "before_setting",
    "behind",
    "is_differentiable",
    "is_on_lists",
    "is_stopped",
    "passes",
]
