"""ForwardFoldScaleAxis: a scale before convolutions or matmuls goes into their weights.

    %0 = multiply(%x, %scale)               %0 = relu(%x)
    %1 = relu(%0)                   =>      %1 = conv(%0, %w * scale)
    %2 = conv(%1, %w)

Every user must take the scale, also through operators that it may pass. A constant that is added on
the way is divided by the scale, in which no number may then be zero.
"""

from __future__ import annotations

import numpy as np

from dy2st.passes.backward_fold_scale_axis import BackwardFoldScaleAxis
from dy2st.passes.core.base import FunctionPass, Pass, Sequential, function_pass
from dy2st.passes.core.context import PassContext
from dy2st.passes.core.graph import blocks_of, constant_of, place_of, readers_of
from dy2st.passes.core.module import Array, Module
from dy2st.passes.core.registry import register
from dy2st.passes.fold_constant import FoldConstant
from dy2st.passes.scale_axis import (
    MOST_STEPS,
    Scale,
    Stuck,
    is_same_shape,
    leaky_input,
    put_constant,
    scale_of,
    scaled,
    to_result,
    weights_of,
)
from dy2st_runtime.ir import Block, Operator, Program, Variable
from dy2st_runtime.ir.dead_code import drop_dead


@function_pass(opt_level=3)
class ForwardFoldScaleAxis(FunctionPass):
    """Multiplies scales before convolutions and matmuls into their weights, which are constants.

    >>> def scaled(x):
    ...     return dy2st.matmul(x * dy2st.full([3], 2.0), dy2st.ones([3, 2]))
    >>> f = dy2st.to_static(scaled, [dy2st.static.InputSpec([4, 3])])
    >>> better = dy2st.passes.FoldConstant()(f.main_program)
    >>> better = dy2st.passes.FoldConstant()(dy2st.passes.ForwardFoldScaleAxis()(better))
    >>> [one.name for one in better.operators]
    ['constant', 'matmul']
    """

    def transform_function(self, program: Program, module: Module, context: PassContext) -> Program:
        """The Program with scales inside of weights."""
        while sum([_fold_block(block, context) for block in blocks_of(program)]):
            drop_dead(program)
        return program


def _fold_block(block: Block, context: PassContext) -> int:
    if not any(operator.name == "multiply" for operator in block.operators):
        return 0
    readers = readers_of(block)
    new: dict[Operator, list[Operator]] = {}
    folded = 0
    # The last first: a scale that two multiplies give is carried on by the second.
    for operator in reversed(block.operators):
        found = scale_of(operator) if operator.name == "multiply" else None
        if found is None:
            continue
        value, scale = found
        ways = _Ways(block, readers)
        try:
            ways.give(operator.results[0], scale)
        except Stuck as reason:
            context.explain("forward", operator, str(reason))
            continue
        for target, index, array in ways.changes:
            new.setdefault(target, []).append(put_constant(target, index, array))
        folded += 1
        # whoever reads the product reads its operand
        own = readers[value]
        own.remove(operator)
        for reader in readers.pop(operator.results[0], []):
            reader.operands = [value if v is operator.results[0] else v for v in reader.operands]
            if reader not in own:
                own.append(reader)
    if folded:
        block.operators[:] = [o for old in block.operators for o in (*new.get(old, ()), old)]
    return folded


class _Ways:
    """Where the numbers of one scale go: operators, operands, and their new constants."""

    def __init__(self, block: Block, readers: dict[Variable, list[Operator]]):
        self.readers, self.yields = readers, set(block.yields)
        self.changes: list[tuple[Operator, int, Array]] = []
        self.steps = 0

    def give(self, value: Variable, scale: Scale) -> None:
        """Let every user take the scale; Stuck if one does not."""
        self.steps += 1
        readers = self.readers.get(value, [])
        if self.steps > MOST_STEPS or not readers:
            raise Stuck("nobody near takes the scale")
        if value in self.yields:
            raise Stuck("the scaled value is a result")
        for end in readers:
            leaky = leaky_input(end)
            if leaky is not None and leaky[0] is value:
                self.through_leaky(end, scale)
                readers = [reader for reader in readers if reader not in leaky[1]]
        for reader in readers:
            self.into(reader, value, scale)

    def into(self, reader: Operator, value: Variable, scale: Scale) -> None:
        """One user."""
        if sum(operand is value for operand in reader.operands) > 1:
            raise Stuck(f"`{reader.name}` reads the scaled value twice")
        if reader.name == "conv":
            self.into_conv(reader, value, scale)
        elif reader.name == "matmul":
            self.into_matmul(reader, value, scale)
        elif reader.name in ("add", "subtract", "multiply"):
            self.through(reader, value, scale)
        else:
            passed = to_result(reader, scale)
            used = [v for v in reader.results[1:] if v in self.yields or self.readers.get(v)]
            if used:
                raise Stuck(f"a second result of `{reader.name}` is used")
            self.give(reader.results[0], passed)

    def into_conv(self, reader: Operator, value: Variable, scale: Scale) -> None:
        """(o, c/groups, ...) by input channel, which count on from group to group."""
        if reader.operands[0] is not value or scale.axis not in (None, 1):
            raise Stuck("the scale does not go along the input channels")
        w = weights_of(reader, 1)
        self.change(reader, 1, scaled(w, scale.by_group(w.shape, reader.attributes["groups"])))

    def into_matmul(self, reader: Operator, value: Variable, scale: Scale) -> None:
        """The rows of the right operand."""
        left, right = reader.operands
        rank = left.tensor_type.rank
        w = weights_of(reader, 1)
        if left is not value or right.tensor_type.rank < 2 or scale.axis not in (None, rank - 1):
            raise Stuck("the scale does not go along the rows of constant weights")
        self.change(reader, 1, scaled(w, scale.along(w.ndim, w.ndim - 2)))

    def through(self, reader: Operator, value: Variable, scale: Scale) -> None:
        """x * s + c = (x + c / s) * s, and x * s * c = (x * c) * s."""
        index = 1 - place_of(value, reader.operands)
        if constant_of(reader.operands[index]) is None:
            raise Stuck(f"the other operand of `{reader.name}` is no constant")
        if not is_same_shape(value, reader.results[0]):
            raise Stuck(f"`{reader.name}` broadcasts the scaled value")
        if reader.name != "multiply":
            array = weights_of(reader, index)
            if not scale.values.all():
                raise Stuck("a number of the scale is zero, and a constant is added")
            rank = value.tensor_type.rank
            with np.errstate(over="ignore"):
                factor = 1.0 / scale.along(rank, scale.axis or 0)
            self.change(reader, index, scaled(array, factor))
        self.give(reader.results[0], scale)

    def through_leaky(self, end: Operator, scale: Scale) -> None:
        """where(x > 0, x, x * slope) of x * s is that of x, times s, for a positive s."""
        product = end.operands[2]
        if not scale.is_positive:
            raise Stuck("only positive scales pass leaky relu")
        if product in self.yields or len(self.readers[product]) > 1:
            raise Stuck("the product with the slope has other users")
        self.give(end.results[0], scale)

    def change(self, operator: Operator, index: int, array: Array) -> None:
        """Note a new constant; Stuck if two values would change one."""
        if any(other is operator and place == index for other, place, _ in self.changes):
            raise Stuck("two ways lead to the same weights")
        self.changes.append((operator, index, array))


class FoldScaleAxis(Sequential):
    """BackwardFoldScaleAxis, ForwardFoldScaleAxis, FoldConstant, one after the other.

    >>> [one.info.name for one in dy2st.passes.FoldScaleAxis().passes]
    ['BackwardFoldScaleAxis', 'ForwardFoldScaleAxis', 'FoldConstant']
    """

    def __init__(self) -> None:
        """The three."""
        members: list[Pass] = [BackwardFoldScaleAxis(), ForwardFoldScaleAxis(), FoldConstant()]
        super().__init__(members, opt_level=3, name="FoldScaleAxis")


register("FoldScaleAxis", FoldScaleAxis)

__all__ = ["FoldScaleAxis", "ForwardFoldScaleAxis"]
