"""Takes operators apart: DecomposeOpsForInference, DecomposeOpsForTraining, MutateOpsForTraining.

Inference:  batch_norm  =>  (x - mean) / sqrt(variance + epsilon) * weight + bias
            shape(x)    =>  the sizes, each found when the Program starts, stacked

Training:   batch_norm takes mean and (population) variance of the batch, and the buffers that it
            took become momentum * old + (1 - momentum) * batch: the Program then updates them.
            layer_norm becomes arithmetic.
"""

from __future__ import annotations

import re
from typing import Any

from dy2st.passes.core.base import FunctionPass, Pass, Sequential, function_pass
from dy2st.passes.core.capture import first_captured, paths_of
from dy2st.passes.core.context import PassContext
from dy2st.passes.core.module import Module
from dy2st.passes.core.select import apply_to_function
from dy2st.passes.patterns.match import Match
from dy2st.passes.patterns.pattern import Operation, Pattern, op, value
from dy2st.passes.patterns.rewriter import rewrite
from dy2st.passes.patterns.rule import Rule, rule
from dy2st.passes.simplify_inference import LAYER_NORM, per_channel
from dy2st_runtime.dims import product
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir import Block, F, Operator, Program, Tracer, Variable, interpreting
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
    """batch_norm and shape as arithmetic; everything else stays.

    >>> net = dy2st.nn.BatchNorm1D(3).eval()
    >>> net = dy2st.to_static(net, [dy2st.static.InputSpec(["n", 3])])
    >>> better = dy2st.passes.DecomposeOps()(net.forward.main_program)
    >>> "batch_norm" in [one.name for one in better.operators]
    False
    """

    def transform_function(self, program: Program, module: Module, context: PassContext) -> Program:
        """The Program with the decompositions."""
        rewrite(program, (*_RULES, shape_of), context)
        return program


@function_pass(opt_level=0)
class MutateOpsForTraining(FunctionPass):
    """batch_norm takes the statistics of the batch, and updates the running ones it took before.

    A batch_norm that already takes the batch's statistics stays. Buffers that several batch_norms
    take move once for each. Raises ArgumentError for one with running statistics inside of a
    branch or loop, whose buffers could not be updated there, for buffers that the Program sets by
    itself, and for an unbiased variance of one number a channel.

    Parameters
    ----------
    momentum
        running = momentum * running + (1 - momentum) * batch, as in PaddlePaddle.
    unbiased
        the running variance takes the batch's with n - 1 in place of n, as in PyTorch.

    Examples
    --------
    >>> net = dy2st.to_static(dy2st.nn.BatchNorm1D(3).eval(), [dy2st.static.InputSpec(["n", 3])])
    >>> better = dy2st.passes.MutateOpsForTraining()(net.forward.main_program)
    >>> sorted(better.updates)
    ['_mean', '_variance']
    """

    def __init__(self, momentum: float = 0.9, unbiased: bool = False):
        """Choose how the running statistics follow."""
        self.momentum, self.unbiased = momentum, unbiased

    def transform_function(self, program: Program, module: Module, context: PassContext) -> Program:
        """The Program for training."""
        running = {variable: variable for variable in program.buffers.values()}
        # What stands in branches and loops cannot be updated.
        inside = set(program.buffers.values())
        for nested, path in paths_of(program):
            if path:
                owner = path[-1][0]
                begin, own = first_captured(owner)
                pairs = zip(nested.parameters[own:], owner.operands[begin:], strict=True)
                inside.update(inner for inner, outer in pairs if outer in inside)
                for inner in nested.operators:
                    if inner.name == "batch_norm" and inner.operands[1] in inside:
                        raise ArgumentError(
                            f"{_place(inner)}batch_norm stands in a branch or loop: its running "
                            "statistics cannot be updated there; move it out, or convert the "
                            "model in training mode"
                        )
        block = program.block
        operators, block.operators = block.operators, []
        with enable_grad(), interpreting(Tracer.of_block(program, block)):
            for operator in operators:
                if operator.name == "batch_norm" and operator.operands[1] in running:
                    names = {variable: name for name, variable in program.buffers.items()}
                    if operator.operands[2] not in names:
                        raise ArgumentError(
                            f"{_place(operator)}batch_norm takes its mean from a buffer, its "
                            "variance from elsewhere: they cannot move together; make both buffers"
                        )
                    for buffer in operator.operands[1:3]:
                        if names[buffer] in program.updates:
                            raise ArgumentError(
                                f"{_place(operator)}the Program sets {names[buffer]!r} by itself, "
                                "which batch_norm would have to do, too; take one of both out"
                            )
                    self._take_batch(operator, running)
                block.operators.append(operator)
        for name, variable in program.buffers.items():
            if running[variable] is not variable:
                program.updates.append(name)
                block.yields.append(running[variable])
        rewrite(program, LAYER_NORM, context)
        return program

    def _take_batch(self, operator: Operator, running: dict[Variable, Variable]) -> None:
        """Compute the batch's statistics, and move what `running` has for the buffers."""
        assert isinstance(operator.block, Block)
        mark = len(operator.block.operators)
        x, *buffers = operator.operands[:3]
        axis = operator.attributes["axis"] % x.ndim
        others = [a for a in range(x.ndim) if a != axis]
        mean = F.mean(x, axis=others)
        variance = F.mean(F.square(x - per_channel(mean, x.ndim, axis)), axis=others)
        observed = variance
        if self.unbiased:
            count = product([x.shape[a] for a in others])
            if not isinstance(count, int):
                ratio = F.full([], count, "float32") / F.full([], count - 1, "float32")
                observed = variance * F.cast(ratio, variance.dtype)
            elif count < 2:
                raise ArgumentError(
                    f"{_place(operator)}batch_norm sees {count} number a channel, which has no "
                    "unbiased variance; train with larger batches, or with unbiased=False"
                )
            else:
                observed = variance * (count / (count - 1))
        for buffer, batch in zip(buffers, (mean, observed), strict=True):
            share = F.detach(batch) * (1.0 - self.momentum)
            moved = running[buffer] * self.momentum + share
            running[buffer] = moved if moved.dtype == buffer.dtype else F.cast(moved, buffer.dtype)
        operator.operands[1:3] = [mean, variance]
        for made in operator.block.operators[mark:]:
            made.location = operator.location


def _place(operator: Operator) -> str:
    return f"{operator.location}: " if operator.location else ""


def DecomposeOpsForInference(func_name: str | None = None) -> Pass:
    """DecomposeOps, on one Program of a Module or on all.

    >>> DecomposeOpsForInference("forward").info.name
    'DecomposeOps on forward'
    """
    return _selected(DecomposeOps(), func_name)


def DecomposeOpsForTraining(
    func_name: str | None = None, momentum: float = 0.9, unbiased: bool = False
) -> Pass:
    """MutateOpsForTraining, then DecomposeOps, on one Program of a Module or on all.

    >>> [one.info.name for one in dy2st.passes.DecomposeOpsForTraining().passes]
    ['MutateOpsForTraining', 'DecomposeOps']
    """
    both = Sequential(
        [MutateOpsForTraining(momentum, unbiased), DecomposeOps()], name="DecomposeOpsForTraining"
    )
    return _selected(both, func_name)


def _selected(inner: Pass, name: str | None) -> Pass:
    """The pass for one Program; ArgumentError when it runs if there is none of that name."""
    return inner if name is None else apply_to_function(inner, re.escape(name), True)


__all__ = [
    "DecomposeOps",
    "DecomposeOpsForInference",
    "DecomposeOpsForTraining",
    "MutateOpsForTraining",
]
