"""Finds values that share memory, and operators that may write over an operand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache

import numpy as np

from dy2st_runtime.dims import Size
from dy2st_runtime.ir.definition import DEFINITIONS, View
from dy2st_runtime.ir.program import Block, Operator, Variable
from dy2st_runtime.ir.types import TensorType, ValueType


@cache
def is_elementwise(name: str) -> bool:
    """Whether an operator reads every element once, before it writes that of the result."""
    definition = DEFINITIONS[name]
    kernel = definition.kernel
    return definition.takes_out or (
        isinstance(kernel, np.ufunc) and kernel.signature is None and kernel.nout == 1
    )


def is_fresh(operator: Operator) -> bool:
    """Whether the results of an operator have memory of their own."""
    definition = DEFINITIONS[operator.name]
    return bool(definition.inputs) and definition.view is None and not may_give_back(operator)


def may_give_back(operator: Operator) -> bool:
    """Whether results may be operands themselves, or hold them: of Blocks, lists and composites."""
    definition = DEFINITIONS[operator.name]
    return definition.borrows or definition.kernel is None


def view_of(operator: Operator) -> View | None:
    """How the results look into the memory of the first operand, None if they do not."""
    view = DEFINITIONS[operator.name].view
    if view is None or isinstance(view, View):
        return view
    return view(operator.operands[0].type, **operator.attributes)


def owner(variable: Variable) -> Variable:
    """The value whose memory a value may look into; itself, if it is no view."""
    while isinstance(variable.maker, Operator) and view_of(variable.maker) is not None:
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
        view = view_of(operator)
        if view is not None:
            is_ordered = operator.operands[0] in ordered
            if _is_sure(operator, view, is_ordered):
                found.add(operator)
                is_ordered = is_ordered and view in _IN_ORDER
            else:
                is_ordered = view is View.SAME  # a copy then
        else:
            is_ordered = operator not in over or operator.operands[over[operator]] in ordered
        if is_ordered:
            ordered.update(operator.results)
    return found


_IN_ORDER = (View.SAME, View.ROWS)


def _is_sure(operator: Operator, view: View, is_ordered: bool) -> bool:
    """Whether the result is no copy; the operand may lie in order."""
    if view is View.SAME:
        return is_ordered or _only_splits(operator.operands[0].type, operator.results[0].type)
    return view is not View.UNSURE


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
        if view_of(maker) not in (View.SAME, View.PERMUTED) or maker.block is not block:
            return False
        operand = maker.operands[0]
    maker = own.maker
    return isinstance(maker, Operator) and maker.block is block and is_fresh(maker)


__all__ = [
    "is_elementwise",
    "is_fresh",
    "may_give_back",
    "overwritten",
    "owner",
    "view_of",
    "views_in_order",
]
