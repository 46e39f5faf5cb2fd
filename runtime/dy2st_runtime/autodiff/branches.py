"""Differentiates a `cond`: by another one, which does the work of the branch that was taken."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from dy2st_runtime.autodiff.gradient import Gradient, Presence, cleaned, flag_of, type_of_gradient
from dy2st_runtime.autodiff.stand_ins import StandIns
from dy2st_runtime.autodiff.walk import Found, Walk, same_sizes
from dy2st_runtime.autodiff.zero_gradients import zero_gradient
from dy2st_runtime.ir.dispatch import F
from dy2st_runtime.ir.join import join_types
from dy2st_runtime.ir.program import Block, Operator, Variable
from dy2st_runtime.ir.sizes import branch_condition
from dy2st_runtime.ir.types import ArrayType, TensorType
from dy2st_runtime.ops.control_flow import close_blocks


class _Side(NamedTuple):
    """One branch of the gradient, and what it has found for the operands that are wanted."""

    block: Block
    forward: StandIns
    found: list[Gradient | None]


def through_branches(walk: Walk, operator: Operator, found: Found) -> None:
    """Pass the gradients of the results of a `cond` on to what its branches read."""
    tracer = walk.tracer
    condition = walk.forward.value(operator.operands[0])
    found = [gradient and cleaned(gradient) for gradient in found]
    wanted = [i for i, v in enumerate(operator.operands) if i and walk.is_varied(v)]
    # Both are recorded before either yields: each must give what the other one has found.
    sides = [_side(walk, operator, number, found, wanted) for number in (0, 1)]
    given = [i for i in range(len(wanted)) if any(side.found[i] for side in sides)]
    if not given:
        return
    places = [wanted[i] for i in given]
    types = [type_of_gradient(operator.operands[place].type) for place in places]
    presences = [[side.found[i] for side in sides] for i in given]
    # Whether each branch surely has a gradient, or surely has none.
    flagged = [
        i
        for i, pair in enumerate(presences)
        if not all(gradient is None or gradient.there is None for gradient in pair)
    ]
    listed = [isinstance(type, ArrayType) for type in types]
    for number, side in enumerate(sides):
        with tracer.inside(side.block):
            side.block.yields = [
                _value(walk, side, i, operator.operands[place])
                for i, place in zip(given, places, strict=True)
            ]
            for i in flagged:
                gradient = presences[i][number]
                if gradient is None:
                    is_there: Variable = F.full([], False, "bool")
                else:
                    is_there = flag_of(gradient.there)
                side.block.yields.append(tracer.local(is_there))
            side.forward.finish(types)
    blocks = [side.block for side in sides]
    for i in filter(listed.__getitem__, range(len(places))):
        # The list of a branch may hold elements of more sizes than the one around.
        left, right = (block.yields[i].type for block in blocks)
        types[i] = join_types(left, right, AssertionError)
    captured = close_blocks(tracer, blocks, own=0)
    operands = [tracer.as_it_was(condition), *captured]
    types += [TensorType("bool", ()) for _ in flagged]
    results = tracer.append("cond", operands, {}, types, blocks).results
    flags = dict(zip(flagged, results[len(places) :], strict=True))
    for i, (place, pair) in enumerate(zip(places, presences, strict=True)):
        true, false = pair
        there: Presence = None
        if i in flags:
            there = (flags[i],)
        elif true is None or false is None:
            # A gradient of one branch alone is there where that is taken: the condition says it.
            there = (condition if false is None else F.logical_not(condition),)
        there = None if listed[i] else there  # entries of a list say it for each element
        is_full = all(side is not None and side.is_full for side in pair)
        walk.add(operator.operands[place], Gradient(results[i], there, True, is_full))


def _side(
    walk: Walk, operator: Operator, number: int, found: Found, wanted: Sequence[int]
) -> _Side:
    """Record the gradients of one branch."""
    tracer, block = walk.tracer, operator.blocks[number]
    with tracer.nested(branch_condition(operator.operands[0], number == 0)) as made:
        outside = {
            parameter: partial(walk.forward.value, operand)
            for parameter, operand in zip(block.parameters, operator.operands[1:], strict=True)
        }
        residuals = walk.shared.residuals
        forward = StandIns(
            tracer,
            block,
            residuals.homes,
            outside,
            lambda v: walk.forward.value(residuals.of_branch(operator, number, v)),
            lambda: tracer.constant(np.zeros((), np.int64)),
        )
        inner = Walk(walk.shared, forward)
        for end, gradient in zip(block.yields, found, strict=False):
            if gradient is not None:
                inner.seed(end, gradient)
        inner.run(block)
        gradients = [inner.gradient(block.parameters[place - 1]) for place in wanted]
    return _Side(made, forward, gradients)


def _value(walk: Walk, side: _Side, index: int, operand: Variable) -> Variable:
    """What a branch gives for an operand: zeros where it has no gradient."""
    gradient = side.found[index]
    if gradient is None:
        return zero_gradient(walk, operand)
    value = walk.tracer.local(cleaned(gradient).value)
    same_sizes(walk.tracer, value, operand)
    return value


__all__ = ["through_branches"]
