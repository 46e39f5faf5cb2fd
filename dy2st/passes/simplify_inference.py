"""SimplifyInference: makes normalisations arithmetic, dropout nothing, and pools without places.

    %0 = batch_norm(%x, %mean, %variance, %weight, %bias)       =>
        %scale = weight / sqrt(variance + epsilon)
        %shift = bias - mean * scale
        %0 = add(multiply(%x, %scale), %shift)

One multiplication and one addition by channel are what FoldScaleAxis puts into the weights of a
convolution. Where constant statistics say that mean * scale would cancel digits, the mean is taken
off first. A training Program's batch_norm takes the statistics of the batch, which are no constants
nor parameters; it is simplified all the same, for it computes just that.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dy2st.passes.core.base import FunctionPass, function_pass
from dy2st.passes.core.context import PassContext
from dy2st.passes.core.graph import blocks_of, constant_of, count_uses
from dy2st.passes.core.module import Module
from dy2st.passes.patterns.match import Match
from dy2st.passes.patterns.pattern import Operation, Pattern, constant, op, value
from dy2st.passes.patterns.rewriter import rewrite
from dy2st.passes.patterns.rule import Rule, rule
from dy2st_runtime.ir import F, Operator, Program, apply
from dy2st_runtime.ir.dead_code import drop_dead

CANCELS_ABOVE = 1e3
"""|mean| / deviation from which on x * scale + shift loses digits that x - mean keeps."""


def per_channel(values: Any, rank: int, axis: int) -> Any:
    """A vector, shaped to go along one axis of a tensor of some rank."""
    shape = [1] * rank
    shape[axis] = -1
    return F.reshape(values, shape)


_x, _mean, _variance, _weight, _bias = value(), value(), value(), value(), value()


def _batch_norm_rule(operands: tuple[Pattern, ...]) -> Rule:
    pattern: Operation = op.batch_norm(*operands)

    @rule(pattern)
    def batch_norm(m: Match) -> Any:
        """batch_norm(x) -> x * scale + shift."""
        attributes = m.attributes(pattern)
        x, mean, variance = m[_x], m[_mean], m[_variance]
        m.require(x.tensor_type.is_floating, "integers would cut the scale")
        axis, epsilon = attributes["axis"] % x.ndim, attributes["epsilon"]
        scale = F.rsqrt(variance + epsilon)
        scale = scale * m[_weight] if m.has(_weight) else scale
        means, variances = constant_of(mean), constant_of(variance)
        cancel = False
        if means is not None and variances is not None and means.size:
            deviations = np.sqrt(variances.astype(np.float64) + epsilon)
            cancel = (np.abs(means.astype(np.float64)) / deviations).max() > CANCELS_ABOVE
        if cancel:
            x, shift = x - _along(mean, x, axis), m[_bias] if m.has(_bias) else None
        else:
            shift = m[_bias] - mean * scale if m.has(_bias) else F.neg(mean * scale)
        y = x * _along(scale, x, axis)
        return y if shift is None else y + _along(shift, x, axis)

    return batch_norm


def _along(values: Any, x: Any, axis: int) -> Any:
    return F.cast(per_channel(values, x.ndim, axis), x.dtype)


_layer = (
    op.layer_norm(_x),
    op.layer_norm(_x, _weight),
    op.layer_norm(_x, _weight, _bias),
)


def _layer_norm_rule(pattern: Operation) -> Rule:
    @rule(pattern)
    def layer_norm(m: Match) -> Any:
        """layer_norm(x) -> (x - mean) / sqrt(variance + epsilon) * weight + bias."""
        attributes = m.attributes(pattern)
        x = m[_x]
        axes = list(range(x.ndim - attributes["axes"], x.ndim))
        centred = x - F.mean(x, axis=axes, keepdim=True)
        variance = F.mean(F.square(centred), axis=axes, keepdim=True)
        y = centred * F.rsqrt(variance + attributes["epsilon"])
        y = y * m[_weight] if m.has(_weight) else y
        return y + m[_bias] if m.has(_bias) else y

    return layer_norm


def _dropout_rule(kept: Pattern) -> Rule:
    rate = constant()
    pattern = op.multiply(_x, op.divide(op.bernoulli(kept), rate))

    @rule(pattern)
    def dropout(m: Match) -> Any:
        """x * bernoulli(p) / p -> x: at inference nothing is dropped."""
        is_whole = isinstance(kept, Operation)
        p = m.attributes(kept)["value"] if is_whole else m.array(kept)  # type: ignore[arg-type]
        m.require(bool(np.all(m.array(rate) == np.asarray(p, m[_x].dtype))), "it is no dropout")
        m.require(m[_x].type == m[pattern].type, "the mask is wider than what it is put on")
        return m[_x]

    return dropout


_pool = op.max_pool(_x)


@rule(_pool)
def places_of_largest(m: Match) -> Any:
    """max_pool(x)[0] -> window_max(x): only gradients need to know where the largest stand."""
    m.require(not m.uses.get(m.operators[_pool].results[1]), "somebody reads the places")
    return apply("window_max", m[_x], **m.attributes(_pool))


BATCH_NORM = tuple(
    _batch_norm_rule((_x, _mean, _variance, *rest)) for rest in ((), (_weight,), (_weight, _bias))
)
LAYER_NORM = tuple(map(_layer_norm_rule, _layer))
DROPOUT = (_dropout_rule(op.full()), _dropout_rule(constant()))


@function_pass(opt_level=0)
class SimplifyInference(FunctionPass):
    """Takes out dropout, and batch_norm by its running statistics, and what only gradients need.

    group_norm and instance_norm are recorded as a layer_norm between reshapes; without `layer_norm`
    those stay whole, for engines that have a kernel for them.

    >>> net = dy2st.nn.Sequential(dy2st.nn.BatchNorm1D(3), dy2st.nn.Dropout(0.5)).eval()
    >>> net = dy2st.to_static(net, [dy2st.static.InputSpec(["n", 3])])
    >>> better = dy2st.passes.SimplifyInference()(net.forward.main_program)
    >>> "batch_norm" in [one.name for one in better.operators]
    False
    """

    def __init__(self, layer_norm: bool = True):
        """Choose whether layer_norm is taken apart."""
        rules = (*BATCH_NORM, *DROPOUT, places_of_largest)
        self.rules = (*rules, *LAYER_NORM) if layer_norm else rules

    def transform_function(self, program: Program, module: Module, context: PassContext) -> Program:
        """The Program without batch_norm, dropout and what only gradients need."""
        masks = _read_masks(program)
        if rewrite(program, self.rules, context) and masks:
            unread = masks - _read_masks(program)
            for block in blocks_of(program):
                block.operators[:] = [o for o in block.operators if o not in unread]
            drop_dead(program)
        return program


def _read_masks(program: Program) -> set[Operator]:
    """What draws masks that somebody reads; one that nobody reads would be drawn all the same."""
    uses = count_uses(program)
    operators = (o for block in blocks_of(program) for o in block.operators)
    return {o for o in operators if o.name == "bernoulli" and uses.get(o.results[0])}


__all__ = ["CANCELS_ABOVE", "SimplifyInference", "per_channel"]
