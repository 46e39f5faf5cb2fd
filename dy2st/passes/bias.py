"""FoldBias and CanonicalizeOps: make a bias an operand of its convolution, or an addition.

FoldBias:           %0 = conv(%x, %w)                   =>  %0 = conv(%x, %w, %b)
                    %1 = add(%0, reshape(%b))

CanonicalizeOps:    the other way round, for targets and passes that know additions only.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dy2st.passes.core.graph import constant_of
from dy2st.passes.patterns.match import Match
from dy2st.passes.patterns.pattern import Operation, constant, op, value
from dy2st.passes.patterns.rewrite_pass import rewrite_pass
from dy2st.passes.patterns.rule import Rule, rule
from dy2st.passes.simplify_inference import per_channel
from dy2st_runtime.ir import F, Variable, apply

_x, _w, _b, _c = value(), value(), value(), value()


def is_per_channel(variable: Variable, channels: Any, rank: int) -> bool:
    """Whether a value has one number a channel of (n, c, ...) and broadcasts along the rest."""
    shape = variable.tensor_type.shape
    wanted = (1, channels, *[1] * (rank - 2))
    if len(shape) not in (rank, rank - 1):
        return False
    pairs = zip(shape, wanted[rank - len(shape) :], strict=True)
    return all(isinstance(size, int) and size == number for size, number in pairs)


def _fold_rule(name: str) -> Rule:
    conv: Operation = getattr(op, name)(_x, _w)

    @rule(op.add(conv, _c))
    def bias(m: Match) -> Any:
        """conv(x, w) + b -> conv(x, w, b)."""
        y, addend = m[conv], m[_c]
        channels = y.tensor_type.shape[1]
        m.require(isinstance(channels, int), "the number of channels is not known")
        m.require(
            is_per_channel(addend, channels, y.ndim), "what is added is not one number a channel"
        )
        m.require(addend.dtype == y.dtype, "the bias has another dtype")
        array = constant_of(addend)
        vector = F.reshape(addend, [channels]) if array is None else array.reshape(channels)
        return apply(name, m[_x], m[_w], vector, **m.attributes(conv))

    return bias


def _sum_rule(name: str) -> Rule:
    c = constant()
    conv: Operation = getattr(op, name)(_x, _w, _b)

    @rule(op.add(conv, c))
    def second_bias(m: Match) -> Any:
        """conv(x, w, b) + c -> conv(x, w, b + c)."""
        y, addend = m[conv], m[c]
        channels = y.tensor_type.shape[1]
        m.require(
            is_per_channel(addend, channels, y.ndim), "what is added is not one number a channel"
        )
        m.require(addend.dtype == y.dtype, "the bias has another dtype")
        known = constant_of(m[_b])
        if known is None:
            total: Any = m[_b] + F.reshape(addend, [-1])
        else:
            with np.errstate(over="ignore", invalid="ignore"):
                total = known + m.array(c).reshape(-1)
            m.require(bool(np.isfinite(total).all()), "the sum of both is not finite")
        return apply(name, m[_x], m[_w], total, **m.attributes(conv))

    return second_bias


def _expand_rule(name: str) -> Rule:
    conv: Operation = getattr(op, name)(_x, _w, _b)

    @rule(conv)
    def expand_bias(m: Match) -> Any:
        """conv(x, w, b) -> conv(x, w) + b by channel."""
        y = apply(name, m[_x], m[_w], **m.attributes(conv))
        return y + per_channel(m[_b], y.ndim, 1)

    return expand_bias


_CONVOLUTIONS = ("conv", "conv_transpose")

FoldBias = rewrite_pass(
    "FoldBias",
    [make(name) for name in _CONVOLUTIONS for make in (_fold_rule, _sum_rule)],
    opt_level=2,
    doc="""Additions by channel become the bias of the convolution before them.

    >>> def f(x):
    ...     bias = dy2st.arange(2.0).reshape([1, 2, 1, 1])
    ...     return dy2st.nn.functional.conv2d(x, dy2st.ones([2, 3, 1, 1])) + bias
    >>> f = dy2st.to_static(f, [dy2st.static.InputSpec([1, 3, 8, 8])])
    >>> better = dy2st.passes.FoldBias()(dy2st.passes.FoldConstant()(f.main_program))
    >>> "add" in [one.name for one in better.operators]
    False
    """,
)
CanonicalizeOps = rewrite_pass(
    "CanonicalizeOps",
    [_expand_rule(name) for name in _CONVOLUTIONS],
    opt_level=3,
    doc="""The bias of a convolution becomes an addition by channel.

    >>> def f(x):
    ...     return dy2st.nn.functional.conv2d(x, dy2st.ones([2, 3, 1, 1]), dy2st.ones([2]))
    >>> f = dy2st.to_static(f, [dy2st.static.InputSpec([1, 3, 8, 8])])
    >>> better = dy2st.passes.CanonicalizeOps()(f.main_program)
    >>> "add" in [one.name for one in better.operators]
    True
    """,
)

__all__ = ["CanonicalizeOps", "FoldBias", "is_per_channel"]
