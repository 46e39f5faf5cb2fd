"""Hard swishes among operators: one thing to oneDNN, where nobody else reads what they hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dy2st_runtime.engine.native.convolution.post_ops import number_of
from dy2st_runtime.ir.program import Operator, Variable


def hard_swishes(
    operators: Sequence[Operator], reads: Mapping[Variable, int]
) -> dict[Operator, list[Operator]]:
    """The products x * relu6(x + 3), or x * (relu6(x + 3) / 6), with what they hold.

    reads    how often each value is read.
    """
    found = {}
    makers = {operator.results[0]: operator for operator in operators}
    for operator in operators:
        if operator.name != "multiply":
            continue
        x, other = operator.operands
        held = [makers.get(other)]
        if held[0] is not None and held[0].name == "divide":
            is_sixth = number_of(held[0].operands[1]) == 6
            held.append(makers.get(held[0].operands[0]) if is_sixth else None)
        limit = held[-1]
        is_limit = limit is not None and limit.name == "relu6"
        held.append(makers.get(limit.operands[0]) if limit and is_limit else None)
        inner = [one for one in held if one is not None]
        if len(inner) < len(held):
            continue
        is_single = all(reads[one.results[0]] == 1 for one in inner)
        if is_single and _is_shift(inner[-1], x):
            found[operator] = inner
    return found


def _is_shift(operator: Operator, x: Variable) -> bool:
    """Whether it is x + 3."""
    left, right = operator.operands[0], operator.operands[-1]
    return operator.name == "add" and left is x and number_of(right) == 3.0


__all__ = ["hard_swishes"]
