"""Which values share memory, and which operators may write over an operand that nobody needs."""

from __future__ import annotations

from functools import cache

import numpy as np

from dy2st_runtime.ir.definition import DEFINITIONS
from dy2st_runtime.ir.program import Block, Operator, Variable
from dy2st_runtime.ir.types import TensorType

_ROUNDING = ("floor", "ceil", "round", "trunc")  # give back integers as they are
WHOLE_VIEWS = frozenset(("reshape", "transpose", "assign", "detach", *_ROUNDING))
"""Operators whose result is all of their first operand, perhaps in the same memory."""

VIEWS = WHOLE_VIEWS | {
    "slice",
    "split",
    "broadcast_to",
    "flip",
    "sum_to",
    "dynamic_reshape",
    "dynamic_squeeze",
    "dynamic_unsqueeze",
    "dynamic_broadcast_to",
}
"""Operators whose results may look into the memory of their first operand."""

# Made in memory of their own, whatever their attributes say; so is all that a ufunc makes.
_FRESH = frozenset(
    ("relu", "conv", "conv_transpose", "batch_norm", "layer_norm", "softmax", "gelu", "where")
    + ("max_pool", "window_sum", "concat", "sigmoid", "rsqrt", "reciprocal", "erf", "log_softmax")
)


@cache
def is_elementwise(name: str) -> bool:
    """Whether an operator reads every element once, before it writes that of the result."""
    kernel = DEFINITIONS[name].kernel
    return name == "relu" or (
        isinstance(kernel, np.ufunc) and kernel.signature is None and kernel.nout == 1
    )


def is_fresh(name: str) -> bool:
    """Whether the results of an operator have memory of their own."""
    return name in _FRESH or is_elementwise(name) or name == "matmul"


def may_give_back(operator: Operator) -> bool:
    """Whether results may be operands themselves, or hold them: of Blocks, lists and composites."""
    return DEFINITIONS[operator.name].kernel is None or operator.name.startswith("array_")


def owner(variable: Variable) -> Variable:
    """The value whose memory a value may look into; itself, if it is no view."""
    while isinstance(variable.maker, Operator) and variable.maker.name in VIEWS:
        variable = variable.maker.operands[0]
    return variable


def overwritten(block: Block) -> dict[Operator, int]:
    """For operators that may write their result over an operand, its position.

    The operand is of the result's type, made in this Block in memory of its own, and neither it nor
    a view of it is read later, yielded, or kept by a nested Block, a list or a composite.
    """
    last = _last_reads(block)
    found: dict[Operator, int] = {}
    for place, operator in enumerate(block.operators):
        if operator.blocks or not is_elementwise(operator.name):
            continue
        owners = [owner(operand) for operand in operator.operands]
        for index, (operand, own) in enumerate(zip(operator.operands, owners, strict=True)):
            pairs = zip(operator.operands, owners, strict=True)
            is_alone = all(other is operand for other, o in pairs if o is own)
            dies = last.get(own) == place
            if dies and is_alone and _may_hold(operand, own, operator.results[0], block):
                found[operator] = index
                break
    return found


def _last_reads(block: Block) -> dict[Variable, int]:
    """Where the memory of a value is read for the last time; never, if it is kept."""
    last: dict[Variable, int] = {}
    kept = {owner(variable) for variable in block.yields}
    for place, operator in enumerate(block.operators):
        for operand in operator.operands:
            known = owner(operand)
            last[known] = place
            if may_give_back(operator):
                kept.add(known)
    return {variable: place for variable, place in last.items() if variable not in kept}


def _may_hold(operand: Variable, own: Variable, result: Variable, block: Block) -> bool:
    """Whether the result fits exactly where the operand is."""
    type = result.type
    if not isinstance(type, TensorType) or type.rank == 0 or operand.type != type:
        return False
    while operand is not own:
        maker = operand.maker
        assert isinstance(maker, Operator)
        if maker.name not in WHOLE_VIEWS or maker.block is not block:
            return False
        operand = maker.operands[0]
    maker = own.maker
    return isinstance(maker, Operator) and maker.block is block and is_fresh(maker.name)


__all__ = [
    "VIEWS",
    "WHOLE_VIEWS",
    "is_elementwise",
    "is_fresh",
    "may_give_back",
    "overwritten",
    "owner",
]
