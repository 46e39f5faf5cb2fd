"""Tensors put together, as loop nests: a part for each operand, which writes where it belongs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from dy2st_runtime.dims import Size, product
from dy2st_runtime.engine.native.axes import Use, new_axes
from dy2st_runtime.engine.native.building import Strides, build, contiguous
from dy2st_runtime.engine.native.members import Group, Member, is_native
from dy2st_runtime.engine.native.nests import Load, Nest
from dy2st_runtime.ir.program import Operator, Variable

_MOST = 32
"""How many loops one function has: LLVM's time grows faster than their number."""

Pieces = Iterator[tuple[Variable, Strides, Size]]
"""Operands, with the strides of their axes in the result, and where they begin there."""


def joined(operator: Operator) -> Nest | None:
    """The nest of an operator that puts tensors together; None for all others."""
    rule = _RULES.get(operator.name)
    if rule is None or len(operator.operands) > _MOST:
        return None
    if not all(is_native(variable) for variable in (*operator.operands, *operator.results)):
        return None
    nest = Nest([], list(operator.results), [])
    for operand, strides, offset in rule(operator):
        _add(nest, copy(operator, operand, strides, offset))
    return nest


def copy(operator: Operator, operand: Variable, strides: Strides, offset: Size) -> Nest:
    """The nest that copies an operand where strides and offset say."""
    made = Variable(operand.tensor_type, operator.block)
    places = new_axes(operand.tensor_type.shape)
    group = Group.alone(0, operator, [Member(made, [Use(operand, places)], places)])
    return build(group, {made}, {made: (strides, offset)})


def _add(nest: Nest, own: Nest) -> None:
    """Append what another nest does."""
    (part,) = own.parts
    part.nodes = [
        replace(node, leaf=node.leaf + len(nest.leaves)) if isinstance(node, Load) else node
        for node in part.nodes
    ]
    nest.leaves.extend(own.leaves)
    nest.parts.append(part)


def _concat(operator: Operator) -> Pieces:
    axis, start = operator.attributes["axis"], 0
    strides = contiguous(operator.results[0].tensor_type.shape)
    for operand in operator.operands:
        yield operand, strides, product([start, strides[axis]])
        start = start + operand.tensor_type.shape[axis]


def _stack(operator: Operator) -> Pieces:
    axis = operator.attributes["axis"]
    strides = contiguous(operator.results[0].tensor_type.shape)
    step = strides.pop(axis)
    for number, operand in enumerate(operator.operands):
        yield operand, strides, product([number, step])


_RULES: dict[str, Callable[[Operator], Pieces]] = {"concat": _concat, "stack": _stack}

__all__ = ["copy", "joined"]
