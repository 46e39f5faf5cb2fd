"""DecomposeOpsForInference, DecomposeOpsForTraining and MutateOpsForTraining.

Inference:  batch_norm  =>  (x - mean) / sqrt(variance + epsilon) * weight + bias
            shape(x)    =>  the sizes, each found when the Program starts, stacked

Training:   batch_norm takes mean and (population) variance of the batch, and the buffers that it
            took become momentum * old + (1 - momentum) * batch: the Program then updates them.
            layer_norm becomes arithmetic.
"""

from __future__ import annotations

from typing import Any

from dy2st.passes.core.base import FunctionPass, Pass, Sequential, function_pass
from dy2st.passes.core.context import PassContext
from dy2st.passes.core.graph import blocks_of
from dy2st.passes.core.module import Module
from dy2st.passes.core.select import apply_to_function
from dy2st.passes.patterns.match import Match
from dy2st.passes.patterns.pattern import Operation, Pattern, op, value
from dy2st.passes.patterns.rewriter import rewrite
from dy2st.passes.patterns.rule import Rule, rule
from dy2st.passes.simplify_inference import LAYER_NORM, per_channel
from dy2st_runtime.dims import product
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir import F, Operator, Program, Tracer, Variable, interpreting
from dy2st_runtime.ir.grad_mode import enable_grad

_x, _mean, _variance, _weight, _bias = value(), value(), value(), value(), value()


def _batch_norm_rule(operands: tuple[Pattern, ...]) -> Rule:
    pattern: Operation = op.batch_norm(*operands)

    @rule(pattern)
    def batch_norm(m: Match) -> Any:
        """batch_norm(x) -> (x - mean) / sqrt(variance + epsilon) * weight + bias."""
        attributes, x = m.attributes(pattern), m[_x]
        axis = attributes["axis"] % x.ndim
        deviation = F.sqrt(per_channel(m[_variance], x.ndim, axis) + attributes["epsilon"])
        y = (x - per_channel(m[_mean], x.ndim, axis)) / deviation
        y = y * per_channel(m[_weight], x.ndim, axis) if m.has(_weight) else y
        y = y + per_channel(m[_bias], x.ndim, axis) if m.has(_bias) else y
        return F.cast(y, x.dtype)

    return batch_norm


@rule(op.shape(_x))
def shape_of(m: Match) -> Any:
    """shape(x) -> its sizes, stacked."""
    sizes = m[_x].shape
    m.require(bool(sizes), "a 0-d tensor has no sizes to stack")
    return F.stack([F.assign(F.full([], size, "int64")) for size in sizes])


_RULES = tuple(
    _batch_norm_rule((_x, _mean, _variance, *rest)) for rest in ((), (_weight,), (_weight, _bias))
)


@function_pass(opt_level=0)
class DecomposeOps(FunctionPass):
    """batch_norm and shape as arithmetic; everything else stays."""

    def transform_function(self, program: Program, module: Module, context: PassContext) -> Program:
        """The Program with the decompositions."""
        rewrite(program, (*_RULES, shape_of), context)
        return program


@function_pass(opt_level=0)
class MutateOpsForTraining(FunctionPass):
    """batch_norm takes the statistics of the batch, and updates the running ones it took before.

    momentum    running = momentum * running + (1 - momentum) * batch, as in PaddlePaddle.
    unbiased    the running variance takes the batch's with n - 1 in place of n, as in PyTorch.

    A batch_norm that already takes the batch's statistics stays. Raises ArgumentError for one with
    running statistics inside of a branch or loop, whose buffers could not be updated there.
    """

    def __init__(self, momentum: float = 0.9, unbiased: bool = False):
        """Choose how the running statistics follow."""
        self.momentum, self.unbiased = momentum, unbiased

    def transform_function(self, program: Program, module: Module, context: PassContext) -> Program:
        """The Program for training."""
        names = {variable: name for name, variable in program.buffers.items()}
        _refuse_nested(program)
        block = program.block
        operators, block.operators = block.operators, []
        with enable_grad(), interpreting(Tracer.of_block(program, block)):
            for operator in operators:
                if operator.name == "batch_norm" and operator.operands[1] in names:
                    self._take_batch(operator, names, program)
                block.operators.append(operator)
        rewrite(program, LAYER_NORM, context)
        return program

    def _take_batch(self, operator: Operator, names: dict[Variable, str], program: Program) -> None:
        mark = len(program.block.operators)
        x, *running = operator.operands[:3]
        axis = operator.attributes["axis"] % x.ndim
        others = [a for a in range(x.ndim) if a != axis]
        mean = F.mean(x, axis=others)
        variance = F.mean(F.square(x - per_channel(mean, x.ndim, axis)), axis=others)
        observed = variance
        if self.unbiased:
            count = product([x.shape[a] for a in others])
            observed = variance * (F.cast(F.full([], count, "int64"), x.dtype) / (count - 1))
        for old, batch in zip(running, (mean, observed), strict=True):
            moved = old * self.momentum + F.detach(batch) * (1.0 - self.momentum)
            _update(program, names[old], moved)
        operator.operands[1:3] = [mean, variance]
        for made in program.block.operators[mark:]:
            made.location = operator.location


def _update(program: Program, name: str, new: Variable) -> None:
    if name in program.updates:
        program.block.yields[len(program.outputs) + program.updates.index(name)] = new
    else:
        program.updates.append(name)
        program.block.yields.append(new)


def _refuse_nested(program: Program) -> None:
    for block in blocks_of(program):
        for operator in block.operators:
            if operator.name != "batch_norm" or block.parent is None:
                continue
            if operator.operands[1] in block.parameters:
                place = f"{operator.location}: " if operator.location else ""
                raise ArgumentError(
                    f"{place}batch_norm stands in a branch or loop: its running statistics cannot "
                    "be updated there; move it out, or convert the model in training mode"
                )


def DecomposeOpsForInference(func_name: str | None = None) -> Pass:
    """DecomposeOps, on one Program of a Module or on all.

    >>> DecomposeOpsForInference("forward").info.name
    'DecomposeOps on forward'
    """
    return DecomposeOps() if func_name is None else apply_to_function(DecomposeOps(), func_name)


def DecomposeOpsForTraining(
    func_name: str | None = None, momentum: float = 0.9, unbiased: bool = False
) -> Pass:
    """MutateOpsForTraining, then DecomposeOps, on one Program of a Module or on all."""
    both = Sequential(
        [MutateOpsForTraining(momentum, unbiased), DecomposeOps()], name="DecomposeOpsForTraining"
    )
    return both if func_name is None else apply_to_function(both, func_name)


__all__ = [
    "DecomposeOps",
    "DecomposeOpsForInference",
    "DecomposeOpsForTraining",
    "MutateOpsForTraining",
]
