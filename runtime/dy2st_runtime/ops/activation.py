"""Activations: composites of elementwise operators, some with a faster kernel beside."""

from __future__ import annotations

from typing import Any

import numpy as np

from dy2st_runtime.ir import F, Kind, Sample, apply, define, method, public
from dy2st_runtime.ir.arguments import as_dtype, normalize_axis
from dy2st_runtime.ir.attribute_kinds import SIGNED_AXIS
from dy2st_runtime.ops.blocks import in_blocks
from dy2st_runtime.ops.erf import tail_formula
from dy2st_runtime.ops.rules import float_type, holomorphic, on_floats
from dy2st_runtime.ops.short_floats import in_float32
from dy2st_runtime.ops.unary import sigmoid_formula
from dy2st_runtime.ops.zero_rank import of_numbers_too

_ROOT_HALF = 0.5**0.5
_ROOT_2_BY_PI = (2.0 / np.pi) ** 0.5


@in_float32
@on_floats
def _softmax_kernel(x: Any, axis: int) -> Any:
    if not x.size:
        return np.exp(x)
    powers = np.exp(x - np.maximum.reduce(x, axis=axis, keepdims=True))
    powers /= np.add.reduce(powers, axis=axis, keepdims=True)
    return powers


@in_float32
def _softmax_gradient(g: Any, y: Any, x: Any, axis: int) -> Any:
    product = g * y
    return product - y * F.sum(product, axis=axis, keepdim=True)


@in_float32
@on_floats
def _log_softmax_kernel(x: Any, axis: int) -> Any:
    if not x.size:
        return np.exp(x)
    low = x - np.maximum.reduce(x, axis=axis, keepdims=True)
    return low - np.log(np.add.reduce(np.exp(low), axis=axis, keepdims=True))


_AXES = (Sample(((2, 3),), {"axis": 1}), Sample(((2, 3),), {"axis": 0}))

define(
    "softmax",
    doc="exp(x) / sum(exp(x)) along an axis.",
    inputs="x",
    along="axis",
    attributes={"axis": SIGNED_AXIS},
    infer=float_type,
    kernel=_softmax_kernel,
    gradient=_softmax_gradient,
    samples=_AXES,
)
define(
    "log_softmax",
    doc="x - log(sum(exp(x))) along an axis.",
    inputs="x",
    along="axis",
    attributes={"axis": SIGNED_AXIS},
    infer=float_type,
    kernel=_log_softmax_kernel,
    gradient=in_float32(lambda g, y, x, axis: g - F.exp(y) * F.sum(g, axis=axis, keepdim=True)),
    samples=_AXES,
)


def _weighted(x: Any, y: Any, out: Any) -> None:
    """x * sigmoid(y) into `out`; NaN at -inf, as -inf * 0 is."""
    sigmoid_formula(y, out, x)
    lowest = x == -np.inf
    if lowest.any():
        out[lowest] = np.nan


@in_blocks
def _gelu_formula(x: Any, out: Any, approximate: bool) -> None:
    if approximate:  # (1 + tanh(y)) / 2 = sigmoid(2 * y), which keeps its digits below 0
        wide = x.astype(np.float64)
        bent = (wide * wide * (0.044715 * 2 * _ROOT_2_BY_PI) + 2 * _ROOT_2_BY_PI) * wide
        _weighted(x, bent, out)
        return
    tail_formula(x, out)
    # The share below x, without a choice for each element: 1 - out, or |0 - out| below 0.
    np.abs(np.subtract(x >= 0, out, out=out), out=out)
    out *= x


@in_float32
def _gelu_gradient(g: Any, y: Any, x: Any, approximate: bool) -> Any:
    if approximate:
        square = x * x
        bent = F.tanh((x + x * square * 0.044715) * _ROOT_2_BY_PI)
        slope = (square * (3 * 0.044715) + 1.0) * _ROOT_2_BY_PI * x * (1.0 - bent * bent)
        return g * ((bent + 1.0 + slope) * 0.5)
    density = F.exp(x * x * -0.5) * (0.5 * _ROOT_2_BY_PI)
    return g * ((F.erf(x * _ROOT_HALF) + 1.0) * 0.5 + x * density)


@in_float32
def _gelu(x: Any, approximate: bool) -> Any:
    if approximate:
        return x * 0.5 * (F.tanh((x + x * x * x * 0.044715) * _ROOT_2_BY_PI) + 1.0)
    return x * ((F.erf(x * _ROOT_HALF) + 1.0) * 0.5)


define(
    "gelu",
    doc="x * (1 + erf(x / sqrt(2))) / 2.",
    inputs="x",
    kind=Kind.ELEMENTWISE,
    attributes={"approximate": False},
    infer=float_type,
    kernel=_gelu_formula,
    gradient=_gelu_gradient,
    decompose=_gelu,
    takes_out=True,
    samples=(Sample(((2, 3),)), Sample(((2, 3),), {"approximate": True})),
)


@holomorphic
@in_float32
def _silu_gradient(g: Any, y: Any, x: Any) -> Any:
    share = F.sigmoid(x)
    return g * (share + y * (1.0 - share))


_real_silu = in_blocks(lambda x, out: _weighted(x, x, out))


define(
    "silu",
    takes_complex=True,
    doc="x * sigmoid(x).",
    inputs="x",
    kind=Kind.ELEMENTWISE,
    infer=float_type,
    kernel=lambda x, out=None: (
        np.true_divide(x, np.exp(-x) + x.dtype.type(1), out=out)
        if x.dtype.kind == "c"
        else _real_silu(x, out=out)
    ),
    gradient=_silu_gradient,
    decompose=in_float32(lambda x: x * F.sigmoid(x)),
    takes_out=True,
    samples=(Sample(((2, 3),)), Sample(((),)), Sample(((0, 2),))),
)


@in_float32
@on_floats
def _softplus_kernel(x: Any, beta: float, threshold: float) -> Any:
    kind = x.dtype.type
    scaled = x * kind(beta)
    return np.where(scaled > kind(threshold), x, np.logaddexp(scaled, kind(0)) / kind(beta))


@in_float32
def _softplus(x: Any, beta: float, threshold: float) -> Any:
    scaled = x * beta
    # log(1 + e**s) = max(s, 0) + log(1 + e**-|s|) does not overflow
    smooth = (F.relu(scaled) + F.log1p(F.exp(-F.abs(scaled)))) / beta
    return F.where(F.greater_than(scaled, threshold), x, smooth)


@in_float32
def _softplus_gradient(g: Any, y: Any, x: Any, beta: float, threshold: float) -> Any:
    scaled = x * beta
    return F.where(F.greater_than(scaled, threshold), g, g * F.sigmoid(scaled))


define(
    "softplus",
    doc="log(1 + exp(beta * x)) / beta; x above the threshold.",
    inputs="x",
    kind=Kind.ELEMENTWISE,
    attributes={"beta": 1.0, "threshold": 20.0},
    infer=float_type,
    kernel=_softplus_kernel,
    gradient=_softplus_gradient,
    decompose=_softplus,
    samples=(Sample(((2, 3),)), Sample(((2, 3),), {"beta": 2.0, "threshold": 1.0}, low=0.6)),
)


@method
@of_numbers_too
def softmax(x: Any, axis: int = -1, dtype: Any = None, name: str | None = None) -> Any:
    """exp(x) / sum(exp(x)) along an axis, without overflow: the shape of x.

    `dtype` is that of the result, and x is cast to it first.

    >>> print(dy2st.nn.functional.softmax(dy2st.to_tensor([1000.0, 1000.0, 0.0])))
    [0.5 0.5 0. ]
    """
    x = x if dtype is None else F.cast(x, as_dtype(dtype))
    return apply("softmax", x, axis=normalize_axis(axis, x.ndim))


@public
@of_numbers_too
def log_softmax(x: Any, axis: int = -1, dtype: Any = None, name: str | None = None) -> Any:
    """x - log(sum(exp(x))) along an axis: the shape of x.

    >>> print(dy2st.nn.functional.log_softmax(dy2st.to_tensor([1.0, 1.0])).round(3))
    [-0.693 -0.693]
    """
    x = x if dtype is None else F.cast(x, as_dtype(dtype))
    return apply("log_softmax", x, axis=normalize_axis(axis, x.ndim))


@public
def gelu(x: Any, approximate: bool = False, name: str | None = None) -> Any:
    """x * (1 + erf(x / sqrt(2))) / 2; `approximate` takes tanh for erf (Hendrycks 2016).

    (...,) -> (...,).

    >>> print(dy2st.nn.functional.gelu(dy2st.to_tensor([-1.0, 0.0, 1.0])).round(3))
    [-0.159  0.     0.841]
    """
    return apply("gelu", x, approximate=bool(approximate))


@public
def softplus(x: Any, beta: float = 1.0, threshold: float = 20.0, name: str | None = None) -> Any:
    """log(1 + exp(beta * x)) / beta; x where beta * x is above the threshold.

    (...,) -> (...,).

    >>> print(dy2st.nn.functional.softplus(dy2st.to_tensor([0.0, 30.0])).round(3))
    [ 0.693 30.   ]
    """
    return apply("softplus", x, beta=float(beta), threshold=float(threshold))


@public
def silu(x: Any, inplace: bool = False, name: str | None = None) -> Any:
    """x * sigmoid(x): (...,) -> (...,).

    >>> print(dy2st.nn.functional.silu(dy2st.to_tensor([0.0, 2.0])).round(3))
    [0.    1.762]
    """
    return apply("silu", x)


@public
def swish(x: Any, name: str | None = None) -> Any:
    """x * sigmoid(x): `silu` under another name.

    >>> print(dy2st.nn.functional.swish(dy2st.to_tensor([0.0, 2.0])).round(3))
    [0.    1.762]
    """
    return silu(x)


@public
@in_float32
def mish(x: Any, name: str | None = None) -> Any:
    """x * tanh(softplus(x)) (Misra 2019): (...,) -> (...,).

    >>> print(dy2st.nn.functional.mish(dy2st.to_tensor([0.0, 1.0])).round(3))
    [0.    0.865]
    """
    return x * F.tanh(softplus(x))


@public
def prelu(x: Any, weight: Any, data_format: str = "NCHW", name: str | None = None) -> Any:
    """x where x > 0, else weight * x; one weight, (1,), or one a channel, (c,).

    (...,) -> (...,).

    >>> dy2st.nn.functional.prelu(dy2st.to_tensor([-4.0, 4.0]), dy2st.to_tensor([0.25])).tolist()
    [-1.0, 4.0]
    """
    if weight.size != 1 and x.ndim > 1:
        shape: list[Any] = [1] * x.ndim
        shape[-1 if data_format[-1] == "C" else 1] = weight.shape[0]
        weight = F.reshape(weight, shape)
    elif weight.ndim > x.ndim:  # a number has one weight
        weight = F.reshape(weight, [])
    return F.where(F.greater_than(x, 0), x, x * weight)


def _up_to_0(x: Any) -> Any:
    """min(x, 0), whose slope at 0 is that of the branch below it."""
    return F.where(F.greater_than(x, 0), F.zeros_like(x), x)


@public
@in_float32
def elu(x: Any, alpha: float = 1.0, name: str | None = None) -> Any:
    """x where x > 0, else alpha * (exp(x) - 1) (Clevert 2015): (...,) -> (...,).

    >>> print(dy2st.nn.functional.elu(dy2st.to_tensor([-1.0, 2.0])).round(3))
    [-0.632  2.   ]
    """
    return F.where(F.greater_than(x, 0), x, F.expm1(_up_to_0(x)) * alpha)


@public
@in_float32
def celu(x: Any, alpha: float = 1.0, name: str | None = None) -> Any:
    """max(x, 0) + min(alpha * (exp(x / alpha) - 1), 0) (Barron 2017): (...,) -> (...,).

    >>> print(dy2st.nn.functional.celu(dy2st.to_tensor([-2.0, 2.0]), alpha=2.0).round(3))
    [-1.264  2.   ]
    """
    return F.where(F.greater_than(x, 0), x, F.expm1(_up_to_0(x) / alpha) * alpha)


@public
@in_float32
def selu(
    x: Any,
    scale: float = 1.0507009873554805,
    alpha: float = 1.6732632423543772,
    name: str | None = None,
) -> Any:
    """scale * (x where x > 0, else alpha * (exp(x) - 1)) (Klambauer 2017): (...,) -> (...,).

    >>> print(dy2st.nn.functional.selu(dy2st.to_tensor([-1.0, 1.0])).round(3))
    [-1.111  1.051]
    """
    return elu(x, alpha) * scale


@public
@in_float32
def softsign(x: Any, name: str | None = None) -> Any:
    """x / (1 + |x|): (...,) -> (...,).

    >>> dy2st.nn.functional.softsign(dy2st.to_tensor([-1.0, 3.0])).tolist()
    [-0.5, 0.75]
    """
    return x / (F.abs(x) + 1.0)


@public
@in_float32
def log_sigmoid(x: Any, name: str | None = None) -> Any:
    """-log(1 + exp(-x)), elementwise, without overflow.

    >>> print(dy2st.nn.functional.log_sigmoid(dy2st.to_tensor([0.0, -1000.0])).round(3))
    [-6.93e-01 -1.00e+03]
    """
    return -softplus(-x, threshold=float("inf"))


@public
@in_float32
def hardsigmoid(
    x: Any, slope: float = 1.0 / 6.0, offset: float = 0.5, name: str | None = None
) -> Any:
    """min(max(slope * x + offset, 0), 1): (...,) -> (...,).

    >>> dy2st.nn.functional.hardsigmoid(dy2st.to_tensor([-3.0, 0.0, 3.0])).tolist()
    [0.0, 0.5, 1.0]
    """
    return F.hardtanh(x * slope + offset, 0.0, 1.0)


@public
@in_float32
def hardswish(x: Any, name: str | None = None) -> Any:
    """x * min(max(x + 3, 0), 6) / 6 (Howard 2019): (...,) -> (...,).

    >>> dy2st.nn.functional.hardswish(dy2st.to_tensor([-3.0, 0.0, 3.0])).tolist()
    [-0.0, 0.0, 3.0]
    """
    return x * (F.relu6(x + 3.0) / 6.0)  # x * 6 may be too large


@public
def hardshrink(x: Any, threshold: float = 0.5, name: str | None = None) -> Any:
    """x where |x| > threshold, else 0: (...,) -> (...,).

    >>> dy2st.nn.functional.hardshrink(dy2st.to_tensor([-1.0, 0.25, 2.0])).tolist()
    [-1.0, 0.0, 2.0]
    """
    return F.where(F.less_equal(F.abs(x), threshold), F.zeros_like(x), x)


@public
def softshrink(x: Any, threshold: float = 0.5, name: str | None = None) -> Any:
    """sign(x) * max(|x| - threshold, 0): (...,) -> (...,).

    >>> dy2st.nn.functional.softshrink(dy2st.to_tensor([-1.0, 0.25, 2.0])).tolist()
    [-0.5, 0.0, 1.5]
    """
    return F.relu(x - threshold) - F.relu(-x - threshold)


@public
@in_float32
def tanhshrink(x: Any, name: str | None = None) -> Any:
    """x - tanh(x): (...,) -> (...,).

    >>> print(dy2st.nn.functional.tanhshrink(dy2st.to_tensor([0.0, 1.0])).round(3))
    [0.    0.238]
    """
    return x - F.tanh(x)


@public
@in_float32
def glu(x: Any, axis: int = -1, name: str | None = None) -> Any:
    """a * sigmoid(b), with a and b the halves of an axis: (..., 2 * n) -> (..., n) (Dauphin 2016).

    >>> dy2st.nn.functional.glu(dy2st.to_tensor([3.0, 5.0, 0.0, 0.0])).tolist()
    [1.5, 2.5]
    """
    a, b = F.split(x, 2, axis)
    return a * F.sigmoid(b)
