"""Operators on each element, and comparisons."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dy2st.importers.paddle.calls import Call, table
from dy2st_runtime.ir.dispatch import F
from dy2st_runtime.ir.program import Variable
from dy2st_runtime.nn import functional as nn

Row = Callable[[Call], Any]
ROWS: dict[str, Row] = {}
_row = table(ROWS)

_OF_ONE = (
    "abs acos acosh angle as_complex as_real asin asinh atan atanh bitwise_not ceil conj cos cosh "
    "digamma erf erfinv exp expm1 floor i0 i0e i1 i1e imag isfinite isinf isnan lgamma log log10 "
    "log1p log2 logical_not mish real reciprocal relu relu6 rsqrt sigmoid sign silu sin "
    "sinh softsign sqrt square tan tanh trunc hardswish logsigmoid:log_sigmoid "
    "tanh_shrink:tanhshrink gammaln:lgamma"
)
_OF_TWO = (
    "add atan2 bitwise_and bitwise_or bitwise_xor copysign divide equal floor_divide fmax fmin "
    "greater_equal greater_than heaviside less_equal less_than logical_and logical_or logical_xor "
    "maximum minimum multiply nextafter not_equal remainder subtract complex "
    "elementwise_pow:pow gammaincc"
)


def _one(name: str) -> Row:
    def row(c: Call) -> Any:
        return getattr(F, name)(c[0])

    return row


def _two(name: str) -> Row:
    def row(c: Call) -> Any:
        x, y = c[0], c[1]
        axis, rank = c.get("axis", -1), getattr(y, "ndim", 0)
        if axis != -1 and isinstance(y, Variable) and 0 < rank < x.ndim:
            behind = x.ndim - rank - axis  # y begins at this axis of x
            c.refuse_unless(0 <= behind <= x.ndim - rank, f"y at the axis {axis}")
            y = F.unsqueeze(y, [*range(rank, rank + behind)]) if behind > 0 else y
        return getattr(F, name)(x, y)

    return row


@_row("scale")
def _scale(c: Call) -> Any:
    x, factor, bias = c[0], c.value(1), c.get("bias", 0.0)
    if isinstance(x, Variable) and x.dtype.kind in "iu":
        factor = int(factor) if isinstance(factor, float) and factor.is_integer() else factor
        bias = int(bias) if float(bias).is_integer() else bias
        if isinstance(factor, int) and isinstance(bias, int):
            # Sizes stay known through these two.
            if c.get("bias_after_scale", True):
                x = F.multiply(x, factor) if factor != 1 else x
                return F.add(x, bias) if bias else F.assign(x)
            return F.multiply(F.add(x, bias), factor)
    return F.scale(x, factor, bias, c.get("bias_after_scale", True))


@_row("clip")
def _clip(c: Call) -> Any:
    low, high = c.value(1), c.value(2)
    if c[0].dtype.kind in "iu":
        low, high = (int(one) if isinstance(one, float) else one for one in (low, high))
    return F.clip(c[0], low, high)


@_row("prelu")
def _prelu(c: Call) -> Any:
    x, alpha, mode = c[0], c[1], c.get("mode", "all")
    if mode == "element":
        return F.where(F.greater_than(x, 0), x, F.multiply(x, alpha))
    return F.prelu(x, F.reshape(alpha, [-1]), c.get("data_format", "NCHW"))


@_row("pow")
def _pow(c: Call) -> Any:
    return F.pow(c[0], c.get("y", 1.0) if c[1] is None else c.value(1))


ROWS |= {
    **{one.partition(":")[0]: _one(one.rpartition(":")[2]) for one in _OF_ONE.split()},
    **{one.partition(":")[0]: _two(one.rpartition(":")[2]) for one in _OF_TWO.split()},
    "bitwise_left_shift": lambda c: F.bitwise_left_shift(c[0], c[1], c.get("is_arithmetic", True)),
    "bitwise_right_shift": lambda c: F.bitwise_right_shift(
        c[0], c[1], c.get("is_arithmetic", True)
    ),
    "add_n": lambda c: F.add_n(c[0]),
    "celu": lambda c: F.celu(c[0], c.get("alpha", 1.0)),
    "elu": lambda c: F.elu(c[0], c.get("alpha", 1.0)),
    "fill": lambda c: F.full_like(c[0], c.value(1)),
    "gelu": lambda c: F.gelu(c[0], c.get("approximate", False)),
    "hardshrink": lambda c: F.hardshrink(c[0], c.get("threshold", 0.5)),
    "hardsigmoid": lambda c: F.hardsigmoid(c[0], c.get("slope", 0.2), c.get("offset", 0.5)),
    "hardtanh": lambda c: F.hardtanh(c[0], c.get("t_min", 0.0), c.get("t_max", 24.0)),
    "increment": lambda c: F.add(c[0], _step(c)),
    "isclose": lambda c: F.isclose(c[0], c[1], float(c.value(2)), float(c.value(3)),
                                   c.get("equal_nan", False)),
    "allclose": lambda c: F.allclose(c[0], c[1], float(c.value(2)), float(c.value(3)),
                                     c.get("equal_nan", False)),
    "equal_all": lambda c: F.equal_all(c[0], c[1]),
    "label_smooth": lambda c: nn.label_smooth(c[0], c[1], c.get("epsilon", 0.0)),
    "leaky_relu": lambda c: F.leaky_relu(c[0], c.get("negative_slope", 0.02)),
    "lerp": lambda c: F.lerp(c[0], c[1], c[2]),
    "logit": lambda c: F.logit(c[0], c.get("eps", 1e-6)),
    "maxout": lambda c: nn.maxout(c[0], c.need("groups"), c.get("axis", 1)),
    "polygamma": lambda c: F.polygamma(c[0], c.need("n")),
    "round": lambda c: F.round(c[0], c.get("decimals", 0)),
    "rrelu": lambda c: (nn.rrelu(c[0], c.get("lower", 0.125), c.get("upper", 1 / 3),
                                 not c.get("is_test", False)),),
    "selu": lambda c: F.selu(c[0], c.get("scale", 1.0507009873554805),
                             c.get("alpha", 1.6732632423543772)),
    "softplus": lambda c: F.softplus(c[0], c.get("beta", 1.0), c.get("threshold", 20.0)),
    "softshrink": lambda c: F.softshrink(c[0], c.get("threshold", 0.5)),
    "stanh": lambda c: F.stanh(c[0], c.get("scale_a", 0.67), c.get("scale_b", 1.7159)),
    "swiglu": lambda c: nn.swiglu(c[0], c[1]),
    "swish": lambda c: F.multiply(c[0], F.sigmoid(F.multiply(c[0], c.get("beta", 1.0)))),
    "thresholded_relu": lambda c: nn.thresholded_relu(c[0], c.get("threshold", 1.0),
                                                      c.get("value", 0.0)),
    "where": lambda c: F.where(c[0], c[1], c[2]),
}  # fmt: skip


def _step(c: Call) -> Any:
    step = c.get("value", 1.0)
    return int(step) if c[0].dtype.kind in "iu" else step


__all__ = ["ROWS"]
