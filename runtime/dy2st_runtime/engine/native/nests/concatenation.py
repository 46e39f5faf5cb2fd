"""Writes tensors put together, or padded, as loop nests: parts that write each where it belongs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from dy2st_runtime.dims import Size, maximum, minimum, product
from dy2st_runtime.engine.native.nests.axes import Places, Use, new_axes
from dy2st_runtime.engine.native.nests.builder import Strides, build, contiguous
from dy2st_runtime.engine.native.nests.members import Group, Member, is_native
from dy2st_runtime.engine.native.nests.nests import Load, Nest
from dy2st_runtime.engine.native.nests.views import seen
from dy2st_runtime.ir.program import Operator, Variable
from dy2st_runtime.ir.types import TensorType

_MOST = 32
"""How many loops one function has: LLVM's time grows faster than their number."""


def joined(operator: Operator) -> Nest | None:
    """The nest of an operator that puts tensors together; None for all others."""
    rule = _RULES.get(operator.name)
    if rule is None or not _is_small(operator):
        return None
    nest = Nest([], list(operator.results), [])
    parts = rule(operator)
    if parts is None:
        return None
    for own in parts:
        # Append what another nest does.
        (part,) = own.parts
        part.nodes = [
            replace(node, leaf=node.leaf + len(nest.leaves)) if isinstance(node, Load) else node
            for node in part.nodes
        ]
        nest.leaves.extend(own.leaves)
        nest.parts.append(part)
    return nest


def _is_small(operator: Operator) -> bool:
    are_native = map(is_native, (*operator.operands, *operator.results))
    return len(operator.operands) <= _MOST and all(are_native)


def uses_of(operator: Operator) -> list[Use]:
    """What a concat or stack reads: the tensors behind its operands; nothing for all others."""
    if _RULES.get(operator.name) is not _copies or not _is_small(operator):
        return []
    return [seen(operand, new_axes(operand.tensor_type.shape)) for operand in operator.operands]


def copy(operator: Operator, operand: Variable, strides: Strides, offset: Size) -> Nest:
    """The nest that copies an operand where strides and offset say."""
    return _copied(operator, operand, strides, offset, Use)


def _copied(
    operator: Operator,
    operand: Variable,
    strides: Strides,
    offset: Size,
    read: Callable[[Variable, Places], Use],
) -> Nest:
    places = new_axes(operand.tensor_type.shape)
    made = Variable(operand.tensor_type, operator.block)
    return _written(operator, Member(made, [read(operand, places)], places), strides, offset)


def _written(operator: Operator, member: Member, strides: Strides, offset: Size) -> Nest:
    group, made = Group.alone(0, operator, [member]), member.variable
    return build(group, {made}, {made: (strides, offset)})


def moved(operator: Operator) -> Iterator[tuple[Variable, Strides, Size]]:
    """The operands of a concat or stack, each with strides and offset of its place."""
    axis, is_new = operator.attributes["axis"], operator.name == "stack"
    strides, start = contiguous(operator.results[0].tensor_type.shape), 0
    step = strides.pop(axis) if is_new else strides[axis]
    for operand in operator.operands:
        yield operand, strides, product([start, step])
        start = start + (1 if is_new else operand.tensor_type.shape[axis])


def _copies(operator: Operator) -> list[Nest]:
    return [_copied(operator, *place, seen) for place in moved(operator)]


def _padded(operator: Operator) -> list[Nest] | None:
    """What is kept, then along each axis what stands before and behind it."""
    if operator.attributes["mode"] != "constant":
        return None
    x, result = operator.operands[0], operator.results[0].tensor_type
    strides, pads = contiguous(result.shape), operator.attributes["pads"]
    starts = [maximum(before, 0) for before, _ in pads]
    kept = [size + minimum(before, 0) + minimum(after, 0)
            for size, (before, after) in zip(x.tensor_type.shape, pads, strict=True)]  # fmt: skip
    places, taken = new_axes(tuple(kept)), [maximum(product([-1, pad[0]]), 0) for pad in pads]
    use = Use(x, places, tuple(taken), (1,) * len(kept))
    made = Variable(TensorType(result.dtype, tuple(kept)), operator.block)
    offset = _offset(starts, strides)
    found = [_written(operator, Member(made, [use], places), strides, offset)]
    for axis, (before, after) in enumerate(pads):
        for size, start in ((before, 0), (after, starts[axis] + kept[axis])):
            if not isinstance(size, int) or size > 0:
                shape = (*kept[:axis], maximum(size, 0), *result.shape[axis + 1 :])
                lead = _offset([*starts[:axis], start], strides)
                # The nest that writes the operator's value everywhere in a part.
                dtype = operator.results[0].dtype
                number = np.full((), operator.attributes["value"], dtype).item()
                made = Variable(TensorType(dtype, shape), operator.block)
                member = Member(made, [], new_axes(shape), number=number)
                found.append(_written(operator, member, strides, lead))
    return found


def _offset(starts: Sequence[Size], strides: Strides) -> Size:
    """Where the element at these places lies."""
    offset: Size = 0
    for start, stride in zip(starts, strides, strict=False):
        offset = offset + product([start, stride])
    return offset


_RULES: dict[str, Callable[[Operator], list[Nest] | None]] = {
    "concat": _copies,
    "stack": _copies,
    "pad": _padded,
}

__all__ = ["copy", "joined", "moved", "uses_of"]
