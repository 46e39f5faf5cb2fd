"""Decides whether an operator of a Program may fail, as far as its operands are known.

One that may raise is no dead code: Python raises there, whether or not the result is read. Its
record proves where it cannot, as for constant positions inside of known axes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dy2st_runtime.ir.definition import DEFINITIONS, Effect
from dy2st_runtime.ir.functions import CALL, function_of, reached_from, recursive
from dy2st_runtime.ir.program import Operator, Variable


def may_fail(operator: Operator) -> bool:
    """Whether an operator stops or warns for some data: the largest of no elements, 2 ** -1."""
    known = map(_known, operator.operands)
    return DEFINITIONS[operator.name].may_fail(known, operator.attributes)


def is_dispensable(operator: Operator) -> bool:
    """Whether nobody can observe that an operator is left out whose results nobody reads.

    Neither it nor what is inside of it has effects, or may raise what Python raises there.
    """
    if operator.blocks:
        return all(is_dispensable(inner) for block in operator.blocks for inner in block.operators)
    if operator.name == CALL:
        return _ends_unseen(operator)
    if DEFINITIONS[operator.name].effect is not Effect.PURE:
        return False
    return raised_by(operator.name, operator.operands, operator.attributes) is None


def _ends_unseen(call: Operator) -> bool:
    """Whether a call comes to an end, and nothing in it can be observed."""
    function = function_of(call)
    if function is None or function.program is None:
        return False
    functions = function.program.functions
    names = reached_from(function.program, [call.attributes["function"]])
    if not names.keys().isdisjoint(recursive(function.program)):
        return False
    operators = (one for name in names for one in functions[name].walk())
    return all(is_dispensable(one) for one in operators if one.name != CALL)


def raised_by(
    name: str, operands: Sequence[Variable], attributes: Mapping[str, Any]
) -> tuple[type[Exception], ...] | None:
    """The classes of errors that an operator raises for some data, None if it raises for none."""
    definition = DEFINITIONS[name]
    if definition.raises is None or not definition.may_fail(map(_known, operands), attributes):
        return None
    return definition.raises


def _known(variable: Variable) -> Any:
    """The array of a constant, the type of anything else: what rules for failing are given."""
    maker = variable.maker
    if isinstance(maker, Operator) and maker.name == "constant":
        return maker.attributes["value"]
    return variable.type


__all__ = ["is_dispensable", "may_fail", "raised_by"]
