"""EliminateCommonSubexpr: what is computed twice is computed once.

    %0 = exp(%x)                    %0 = exp(%x)
    %1 = exp(%x)            =>      %1 = add(%0, %0)
    %2 = add(%0, %1)

Two operators are the same if name, attributes and operands are; operands of commutative operators
in any order (not of maximum, which chooses between 0.0 and -0.0 by their places), constants by
their bits, large ones by identity. What random operators draw is never shared. A Block sees what
the Blocks around it have computed, and takes it in as one more operand of its `cond` or `while`;
nothing leaves a branch or a loop.
"""

from __future__ import annotations

from struct import pack
from typing import Any

import numpy as np

from dy2st.passes.core.base import FunctionPass, function_pass
from dy2st.passes.core.capture import Path, captured, first_captured
from dy2st.passes.core.context import PassContext
from dy2st.passes.core.module import Module
from dy2st_runtime.ir import DEFINITIONS, Block, Effect, Operator, Program, TensorType, Variable
from dy2st_runtime.ir.dead_code import drop_dead

_COMPARED_BY_BITS = 64


class _Scope:
    """What a Block has computed, and what the Blocks around it had when it began.

    home    the outer value that a parameter of a nested Block stands for.
    """

    def __init__(self, outer: _Scope | None = None, path: Path = ()):
        self.outer, self.path = outer, path
        self.found: dict[Any, list[Variable]] = {}
        self.home: dict[Variable, Variable] = {} if outer is None else dict(outer.home)

    def find(self, key: Any) -> list[Variable] | None:
        """The results of an equal operator, as this Block sees them."""
        scope: _Scope | None = self
        while scope is not None:
            known = scope.found.get(key)
            if known is not None:
                return [self._brought_in(v, scope) for v in known] if scope is not self else known
            scope = scope.outer
        return None

    def _brought_in(self, variable: Variable, scope: _Scope) -> Variable:
        path = self.path[len(scope.path) :]
        seen = captured(variable, path) if path else variable
        if seen is not variable:
            self.home[seen] = self.home.get(variable, variable)
        return seen


@function_pass(opt_level=3)
class EliminateCommonSubexpr(FunctionPass):
    """Computes once what several operators compute alike.

    >>> f = dy2st.to_static(lambda x: dy2st.exp(x) + dy2st.exp(x), [dy2st.static.InputSpec([3])])
    >>> better = dy2st.passes.EliminateCommonSubexpr()(f.main_program)
    >>> [one.name for one in better.operators]
    ['exp', 'add']
    """

    def transform_function(self, program: Program, module: Module, context: PassContext) -> Program:
        """The Program in which nothing is computed twice."""
        if _share(program.block, _Scope()):
            drop_dead(program)
        return program


def _share(block: Block, scope: _Scope) -> int:
    """Merge what is the same; how often."""
    replaced: dict[Variable, Variable] = {}
    kept: list[Operator] = []
    merged = 0
    for operator in block.operators:
        if replaced:
            operator.operands = [replaced.get(v, v) for v in operator.operands]
        if operator.blocks:
            begin, own = first_captured(operator)
            for inner in operator.blocks:
                nested = _Scope(scope, (*scope.path, (operator, inner)))
                pairs = zip(inner.parameters[own:], operator.operands[begin:], strict=True)
                for parameter, operand in pairs:
                    nested.home[parameter] = scope.home.get(operand, operand)
                merged += _share(inner, nested)
            kept.append(operator)
            continue
        known = _known(operator, scope)
        if known is None:
            kept.append(operator)
        else:
            merged += 1
            replaced.update(zip(operator.results, known, strict=True))
    block.operators[:] = kept
    block.yields = [replaced.get(v, v) for v in block.yields]
    return merged


def _known(operator: Operator, scope: _Scope) -> list[Variable] | None:
    """Values that equal all results of an operator; else its own are there from now on."""
    key = _key(operator, scope.home)
    if key is None:
        return None
    results = operator.results
    find = scope.found.get if operator.name == "constant" else scope.find
    found = find(key)
    if found and all(map(_same_type, found, results)):
        return found
    if results:
        scope.found[key] = results
    return None


def _same_type(old: Variable, new: Variable) -> bool:
    """Whether the sizes are the same too: two data-dependent ones are two symbols."""
    left, right = old.type, new.type
    if left is right:
        return True
    if not isinstance(left, TensorType) or not isinstance(right, TensorType):
        return left == right
    if left.dtype != right.dtype or len(left.shape) != len(right.shape):
        return False
    pairs = zip(left.shape, right.shape, strict=True)
    same = all(a is b or (a.__class__ is b.__class__ is int and a == b) for a, b in pairs)
    return same and old.number is new.number


def _key(operator: Operator, home: dict[Variable, Variable]) -> Any:
    """What equal operators have in common, None if the operator is never shared."""
    if operator.name == "constant":
        array: np.ndarray[Any, Any] = operator.attributes["value"]
        number = operator.results[0].number
        if array.size > _COMPARED_BY_BITS:
            return ("constant", id(array), number)
        return ("constant", array.dtype, array.shape, array.tobytes(), number)
    definition = DEFINITIONS[operator.name]
    if definition.effect is not Effect.PURE:
        return None
    operands = [id(home.get(v, v)) for v in operator.operands] if home else None
    operands = operands or [id(v) for v in operator.operands]
    if definition.commutes and definition.same_bits:
        operands.sort()
    attributes = tuple([_plain(value) for value in operator.attributes.values()])
    return (operator.name, *operands, attributes)


def _plain(value: Any) -> Any:
    """An attribute such that 1, 1.0 and True differ, and 0.0 and -0.0."""
    if value.__class__ is tuple:
        return tuple([_plain(entry) for entry in value])
    if value.__class__ is int or value.__class__ is str:
        return value
    if value.__class__ is float:
        return ("float", pack("d", value))  # by its bits: NaN has a sign too
    if isinstance(value, np.dtype):
        return value
    return (value.__class__, value if value.__class__ is bool else id(value), value is None)


__all__ = ["EliminateCommonSubexpr"]
