"""BackwardFoldScaleAxis: a scale after a convolution or matmul goes into its weights.

    %0 = conv(%x, %w)                               %0 = conv(%x, %w * scale)
    %1 = add(%0, %b)                        =>      %1 = add(%0, %b * scale)
    %2 = relu(%1)                                   %2 = relu(%1)
    %3 = multiply(%2, %scale)

The scale is carried back along the operators that it may pass, into both sides of a residual
addition; constants that are added on the way are scaled too. Nothing is changed unless every way
ends in weights, and no value on a way has another user. Products are rounded once.
"""

from __future__ import annotations

from dy2st.passes.core.base import FunctionPass, function_pass
from dy2st.passes.core.context import PassContext
from dy2st.passes.core.graph import blocks_of, constant_of, count_uses
from dy2st.passes.core.module import Array, Module
from dy2st.passes.scale_axis import (
    MOST_STEPS,
    Scale,
    Stuck,
    is_same_shape,
    leaky_input,
    put_constant,
    scale_of,
    scaled,
    to_operand,
    weights_of,
)
from dy2st_runtime.ir import Block, Operator, Program, Variable
from dy2st_runtime.ir.dead_code import drop_dead


@function_pass(opt_level=3)
class BackwardFoldScaleAxis(FunctionPass):
    """Multiplies scales behind convolutions and matmuls into their weights.

    The weights must be constants: `FreezeParameters` makes them, or the weight is one already.

    >>> def scaled(x):
    ...     y = dy2st.nn.functional.conv2d(x, dy2st.ones([2, 2, 1, 1]))
    ...     return y * dy2st.full([1, 2, 1, 1], 3.0)
    >>> f = dy2st.to_static(scaled, [dy2st.static.InputSpec([1, 2, 4, 4])])
    >>> better = dy2st.passes.FoldConstant()(f.main_program)
    >>> better = dy2st.passes.FoldConstant()(dy2st.passes.BackwardFoldScaleAxis()(better))
    >>> "multiply" in [one.name for one in better.operators]
    False
    """

    def transform_function(self, program: Program, module: Module, context: PassContext) -> Program:
        """The Program with scales inside of weights."""
        while True:
            uses = count_uses(program)
            if not sum([_fold_block(block, uses, context) for block in blocks_of(program)]):
                return program
            drop_dead(program)


def _fold_block(block: Block, uses: dict[Variable, int], context: PassContext) -> int:
    replaced: dict[Variable, Variable] = {}
    new: dict[Operator, list[Operator]] = {}
    for operator in block.operators:
        if replaced:
            operator.operands = [replaced.get(v, v) for v in operator.operands]
        found = scale_of(operator) if operator.name == "multiply" else None
        if found is None:
            continue
        value, scale = found
        ways = _Ways(uses)
        try:
            ways.absorb(value, scale)
        except Stuck as reason:
            context.explain("backward", operator, str(reason))
            continue
        for target, index, array in ways.changes:
            new.setdefault(target, []).append(put_constant(target, index, array))
        replaced[operator.results[0]] = value
        uses[value] = uses.get(operator.results[0], 0)
    if replaced:
        block.operators[:] = [o for old in block.operators for o in (*new.get(old, ()), old)]
        block.yields = [replaced.get(v, v) for v in block.yields]
    return len(replaced)


class _Ways:
    """Where the numbers of one scale go: operators, operands, and their new constants."""

    def __init__(self, uses: dict[Variable, int]):
        self.uses = uses
        self.changes: list[tuple[Operator, int, Array]] = []
        self.steps = 0

    def absorb(self, value: Variable, scale: Scale, users: int = 1) -> None:
        """Note what makes value * scale; Stuck if nothing does."""
        self.steps += 1
        operator = value.maker
        if self.steps > MOST_STEPS:
            raise Stuck(f"there are no weights within {MOST_STEPS} operators")
        if self.uses.get(value, 0) != users:
            name = operator.name if isinstance(operator, Operator) else "the caller"
            raise Stuck(f"the result of `{name}` has other users")
        if not isinstance(operator, Operator):
            raise Stuck("the value is a parameter of its Block")
        if any(self.uses.get(result) for result in operator.results if result is not value):
            raise Stuck(f"another result of `{operator.name}` is used")
        if operator.name in _WEIGHTED:
            _WEIGHTED[operator.name](self, operator, scale)
        elif operator.name in ("add", "subtract"):
            self.through_sum(operator, scale)
        elif operator.name in ("multiply", "divide"):
            self.through_product(operator, scale)
        elif operator.name == "concat":
            self.through_concat(operator, scale)
        elif (leaky := leaky_input(operator)) is not None:
            if not scale.is_positive:
                raise Stuck("only positive scales pass leaky relu")
            if self.uses.get(operator.operands[2]) != 1:
                raise Stuck("the product with the slope has other users")
            self.absorb(leaky[0], scale, users=3)
        else:
            scale = to_operand(operator, scale)  # Stuck at an operator without operands
            self.absorb(operator.operands[0], scale)

    # -- into weights ------------------------------------------------------------------------

    def into_conv(self, operator: Operator, scale: Scale) -> None:
        """(o, c/groups, ...) by output channel, and the bias."""
        if scale.axis not in (None, 1):
            raise Stuck("the scale does not go along the output channels")
        w = weights_of(operator, 1)
        self.change(operator, 1, scaled(w, scale.along(w.ndim, 0)))
        self.into_bias(operator, scale)

    def into_conv_transpose(self, operator: Operator, scale: Scale) -> None:
        """(c, o/groups, ...) by output channel, which count on from group to group."""
        if scale.axis not in (None, 1):
            raise Stuck("the scale does not go along the output channels")
        w = weights_of(operator, 1)
        self.change(operator, 1, scaled(w, scale.by_group(w.shape, operator.attributes["groups"])))
        self.into_bias(operator, scale)

    def into_bias(self, operator: Operator, scale: Scale) -> None:
        """The optional third operand."""
        if len(operator.operands) > 2:
            self.change(operator, 2, scaled(weights_of(operator, 2), scale.values))

    def into_matmul(self, operator: Operator, scale: Scale) -> None:
        """The columns of a constant right operand, or the rows of a left one."""
        rank = operator.results[0].tensor_type.rank
        for index, axis in ((1, rank - 1), (0, rank - 2)):
            w = constant_of(operator.operands[index])
            if w is None or w.ndim < 2 or scale.axis not in (None, axis):
                continue
            w = weights_of(operator, index)
            self.change(operator, index, scaled(w, scale.along(w.ndim, w.ndim - 1 - (index == 0))))
            return
        raise Stuck("no operand of `matmul` is a constant along the axis of the scale")

    def change(self, operator: Operator, index: int, array: Array) -> None:
        """Note a new constant."""
        self.changes.append((operator, index, array))

    # -- through operators with several operands ---------------------------------------------

    def through_sum(self, operator: Operator, scale: Scale) -> None:
        """(a + b) * s = a * s + b * s."""
        result = operator.results[0]
        for index, operand in enumerate(operator.operands):
            array = constant_of(operand)
            if array is not None:
                rank = result.tensor_type.rank
                factor = scale.along(rank, scale.axis or 0)
                self.change(operator, index, scaled(weights_of(operator, index), factor))
            elif not is_same_shape(operand, result):
                raise Stuck(f"`{operator.name}` broadcasts an operand")
            else:
                self.absorb(operand, scale)

    def through_product(self, operator: Operator, scale: Scale) -> None:
        """(a * c) * s = (a * s) * c for a constant c."""
        left, right = operator.operands
        if constant_of(right) is None and operator.name == "multiply":
            left, right = right, left
        if constant_of(right) is None or not is_same_shape(left, operator.results[0]):
            raise Stuck(f"`{operator.name}` has no constant operand")
        self.absorb(left, scale)

    def through_concat(self, operator: Operator, scale: Scale) -> None:
        """Every part takes its own numbers."""
        axis = operator.attributes["axis"] % operator.results[0].tensor_type.rank
        begin = 0
        for operand in operator.operands:
            part = scale
            if scale.axis == axis:
                size = operand.tensor_type.shape[axis]
                if not isinstance(size, int):
                    raise Stuck("a part of `concat` has an unknown number of channels")
                part = Scale(scale.values[begin : begin + size], axis)
                begin += size
            self.absorb(operand, part)


_WEIGHTED = {
    "conv": _Ways.into_conv,
    "conv_transpose": _Ways.into_conv_transpose,
    "matmul": _Ways.into_matmul,
}

__all__ = ["BackwardFoldScaleAxis"]
