"""Which values share memory, and which operators may write over an operand that nobody needs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache

import numpy as np

from dy2st_runtime.dims import Size
from dy2st_runtime.ir.definition import DEFINITIONS
from dy2st_runtime.ir.program import Block, Operator, Variable
from dy2st_runtime.ir.types import TensorType, ValueType

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
    ("conv", "conv_transpose", "batch_norm", "layer_norm", "softmax", "gelu", "where")
    + ("max_pool", "window_sum", "concat", "sigmoid", "rsqrt", "reciprocal", "erf", "log_softmax")
)


@cache
def is_elementwise(name: str) -> bool:
    """Whether an operator reads every element once, before it writes that of the result."""
    definition = DEFINITIONS[name]
    kernel = definition.kernel
    return definition.takes_out or (
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


def views_in_order(
    block: Block, over: Mapping[Operator, int], in_order: Iterable[Variable]
) -> set[Operator]:
    """The operators of a Block whose results surely lie in the memory of their first operand.

    `in_order` are the parameters that lie row by row, without gaps; only such values are reshaped
    where they are. `over` is what `overwritten` says: the result lies as the operand did.
    """
    found: set[Operator] = set()
    ordered = set(in_order)
    for operator in block.operators:
        if operator.name in VIEWS:
            is_ordered = operator.operands[0] in ordered
            if _is_view(operator, is_ordered):
                found.add(operator)
                is_ordered = _stays_in_order(operator, is_ordered)
            else:
                is_ordered = True
        else:
            is_ordered = operator not in over or operator.operands[over[operator]] in ordered
        if is_ordered:
            ordered.update(operator.results)
    return found


def _is_view(operator: Operator, is_ordered: bool) -> bool:
    """Whether one of VIEWS looks into its operand, which may lie in order."""
    given, made = operator.operands[0].type, operator.results[0].type
    if operator.name in _ROUNDING:
        return isinstance(given, TensorType) and not given.is_floating
    if operator.name == "sum_to":
        return given == made
    is_reshaped = operator.name in ("reshape", "dynamic_reshape")
    return is_ordered or not is_reshaped or _only_splits(given, made)


def _only_splits(given: ValueType, made: ValueType) -> bool:
    """Whether every axis stays, or falls into several: so in any memory a view will do."""
    if not isinstance(given, TensorType) or not isinstance(made, TensorType):
        return False
    rest = list(made.shape)
    for size in given.shape:
        found: Size = 1
        while not _is_same(found, size):
            if not rest:
                return False
            found = found * rest.pop(0)
    return all(_is_same(size, 1) for size in rest)


def _is_same(left: Size, right: Size) -> bool:
    """Whether two sizes are written as the same number or formula."""
    return left is right or (isinstance(left, int) and isinstance(right, int) and left == right)


def _stays_in_order(operator: Operator, is_ordered: bool) -> bool:
    """Whether the results of a view lie in order."""
    name, attributes = operator.name, operator.attributes
    if name in ("transpose", "flip", "broadcast_to", "dynamic_broadcast_to"):
        return False
    if name == "split":
        return is_ordered and attributes["axis"] == 0
    if name == "slice":
        shape = operator.operands[0].tensor_type.shape
        are_whole = [
            _is_same(start, 0) and _is_same(stop, size)
            for start, stop, size in zip(attributes["starts"], attributes["stops"], shape)
        ]
        return (
            is_ordered
            and all(_is_same(step, 1) for step in attributes["steps"])
            and all(are_whole[1:])
        )
    return is_ordered


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
    "views_in_order",
]
