"""Functions of each element: arithmetic, comparisons, activations."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dy2st.importers.torch.table import (
    Call,
    Row,
    as_tensor,
    is_real,
    row,
    rows,
    together,
    truth,
)
from dy2st_runtime.ir.dispatch import F
from dy2st_runtime.nn import functional as N


def _of_floats(name: str) -> Row:
    """A function that torch computes in the dtype of its result."""
    return lambda at, x: getattr(F, name)(at.cast(x))


_FLOATS = (
    "acos acosh asin asinh atan atanh cos cosh sin sinh tan tanh exp expm1 log log10 log1p log2 "
    "sqrt rsqrt reciprocal sigmoid erf erfinv lgamma digamma deg2rad rad2deg i0 sinc"
)
rows({name: _of_floats(name) for name in _FLOATS.split()})
rows({f"special_{name}": _of_floats(name) for name in ("i0e", "i1", "i1e")})
rows(
    {
        "abs": lambda at, x: F.abs(x),
        "angle": lambda at, x: F.angle(x if x.dtype.kind == "c" else at.cast(x)),
        "neg": lambda at, x: F.neg(x),
        "sign": lambda at, x: F.sign(x) if x.dtype.kind != "b" else x,
        "sgn": lambda at, x: F.sgn(x) if x.dtype.kind != "b" else x,
        "square": lambda at, x: F.multiply(at.cast(x), at.cast(x)),
        "positive": lambda at, x: x,
        "round": lambda at, x: F.round(x) if is_real(x) else x,
        "round.decimals": lambda at, x, *, decimals=0: F.round(x, decimals) if is_real(x) else x,
        "ceil": lambda at, x: F.ceil(x) if is_real(x) else x,
        "floor": lambda at, x: F.floor(x) if is_real(x) else x,
        "trunc": lambda at, x: F.trunc(x) if is_real(x) else x,
        "frac": lambda at, x: F.frac(x),
        "exp2": lambda at, x: F.pow(at.cast(2.0), at.cast(x)),
        "signbit": lambda at, x: F.signbit(x) if x.dtype.kind != "b" else F.zeros_like(x),
        "isnan": lambda at, x: F.isnan(x),
        "isinf": lambda at, x: F.isinf(x),
        "isfinite": lambda at, x: F.isfinite(x),
        "isposinf": lambda at, x: F.isposinf(x),
        "isneginf": lambda at, x: F.isneginf(x),
        "logical_not": lambda at, x: F.logical_not(truth(x)),
        "bitwise_not": lambda at, x: F.bitwise_not(x),
        "conj _conj conj_physical _conj_physical": lambda at, x: (
            F.conj(x) if x.dtype.kind == "c" else x
        ),
        "real": lambda at, x: F.real(x) if x.dtype.kind == "c" else x,
        "imag": lambda at, x: F.imag(x),
        "view_as_real": lambda at, x: F.as_real(x),
        "view_as_complex": lambda at, x: F.as_complex(x),
        "complex": lambda at, x, y: F.complex(*F.broadcast_tensors([x, y])),
        "polar": lambda at, x, y: F.polar(*F.broadcast_tensors([x, y])),
        "frexp.Tensor": lambda at, x: F.frexp(x),
        "nan_to_num": lambda at, x, nan=None, posinf=None, neginf=None: (
            F.nan_to_num(x, 0.0 if nan is None else nan, posinf, neginf) if is_real(x) else x
        ),
        "logit": lambda at, x, eps=None: F.logit(at.cast(x), eps),
    }
)


# -- two operands -----------------------------------------------------------------------------


def _binary(name: str, of_bools: str = "") -> Row:
    """A function that torch computes in the dtype of its result."""

    def record(at: Call, x: Any, y: Any) -> Any:
        used = of_bools if of_bools and at.dtype.kind == "b" else name
        return getattr(F, used)(at.cast(x), at.cast(y))

    return record


def _compared(name: str) -> Row:
    return lambda at, x, y: getattr(F, name)(*together(x, y))


def _logical(name: str) -> Row:
    return lambda at, x, y: getattr(F, name)(truth(x), truth(y))


def _scaled(at: Call, alpha: Any, y: Any) -> Any:
    return at.cast(y) if alpha == 1 else F.multiply(at.cast(y), at.cast(alpha))


_BINARY = {
    "mul.Tensor mul.Scalar multiply.Tensor multiply.Scalar": _binary("multiply", "logical_and"),
    "float_power.Tensor_Tensor float_power.Tensor_Scalar float_power.Scalar": _binary("pow"),
    "remainder.Tensor remainder.Scalar remainder.Scalar_Tensor": _binary("remainder"),
    "maximum max.other": _binary("maximum", "logical_or"),
    "minimum min.other": _binary("minimum", "logical_and"),
    "fmax": _binary("fmax", "logical_or"),
    "fmin": _binary("fmin", "logical_and"),
    "floor_divide floor_divide.Scalar": _binary("floor_divide"),
    "atan2": _binary("atan2"),
    "copysign.Tensor copysign.Scalar": _binary("copysign"),
    "hypot": _binary("hypot"),
    "gcd": _binary("gcd"),
    "lcm": _binary("lcm"),
    "heaviside": _binary("heaviside"),
    "bitwise_and.Tensor bitwise_and.Scalar bitwise_and.Scalar_Tensor": _binary("bitwise_and"),
    "bitwise_or.Tensor bitwise_or.Scalar bitwise_or.Scalar_Tensor": _binary("bitwise_or"),
    "bitwise_xor.Tensor bitwise_xor.Scalar bitwise_xor.Scalar_Tensor": _binary("bitwise_xor"),
    "bitwise_left_shift.Tensor bitwise_left_shift.Tensor_Scalar": _binary("bitwise_left_shift"),
    "bitwise_right_shift.Tensor bitwise_right_shift.Tensor_Scalar": _binary("bitwise_right_shift"),
    "__lshift__.Scalar __lshift__.Tensor": _binary("bitwise_left_shift"),
    "__rshift__.Scalar __rshift__.Tensor": _binary("bitwise_right_shift"),
    "igamma": _binary("gammainc"),
    "igammac": _binary("gammaincc"),
    "logical_and": _logical("logical_and"),
    "logical_or": _logical("logical_or"),
    "logical_xor": _logical("logical_xor"),
}
rows(_BINARY)
rows(
    {
        f"{short}.Tensor {short}.Scalar": _compared(name)
        for short, name in {
            "eq": "equal",
            "ne": "not_equal",
            "lt": "less_than",
            "le": "less_equal",
            "gt": "greater_than",
            "ge": "greater_equal",
        }.items()
    }
)


@row("aten.add.Tensor", "aten.add.Scalar")
def _add(at: Call, x: Any, y: Any, alpha: Any = 1) -> Any:
    if at.dtype.kind == "b":
        return F.logical_or(truth(x), truth(y)) if alpha else truth(x)
    return F.add(at.cast(x), _scaled(at, alpha, y))


@row("aten.sub.Tensor", "aten.sub.Scalar", "aten.subtract.Tensor", "aten.subtract.Scalar")
def _subtract(at: Call, x: Any, y: Any, alpha: Any = 1) -> Any:
    return F.subtract(at.cast(x), _scaled(at, alpha, y))


@row("aten.rsub.Tensor", "aten.rsub.Scalar")
def _subtract_from(at: Call, x: Any, y: Any, alpha: Any = 1) -> Any:
    return F.subtract(at.cast(y), _scaled(at, alpha, x))


@row(
    "aten.div.Tensor",
    "aten.div.Scalar",
    "aten.div.Tensor_mode",
    "aten.div.Scalar_mode",
    "aten.true_divide.Tensor",
    "aten.true_divide.Scalar",
    "aten.divide.Tensor",
    "aten.divide.Scalar",
    "aten.divide.Tensor_mode",
)
def _divide(at: Call, x: Any, y: Any, rounding_mode: Any = None) -> Any:
    return F.divide(at.cast(x), at.cast(y), rounding_mode=rounding_mode)


@row("aten.fmod.Tensor", "aten.fmod.Scalar")
def _fmod(at: Call, x: Any, y: Any) -> Any:
    x, y = at.cast(x), at.cast(y)  # with the sign of x, exact for large quotients
    rest = F.remainder(F.abs(x), F.abs(y))
    return F.where(F.less_than(x, F.zeros_like(x)), F.neg(rest), rest)


@row("aten.pow.Tensor_Tensor", "aten.pow.Tensor_Scalar", "aten.pow.Scalar")
def _power(at: Call, x: Any, y: Any) -> Any:
    """Of integers a negative power is 0, but of 1 and -1."""
    if at.dtype.kind not in "iu" or (isinstance(y, int) and y >= 0):
        return F.pow(at.cast(x), at.cast(y))
    x, y = F.broadcast_tensors([at.cast(x), at.cast(y)])
    zero, one = F.zeros_like(x), F.ones_like(x)
    sign = F.where(F.equal(F.bitwise_and(y, one), one), x, one)
    root = F.where(F.equal(F.multiply(x, x), one), sign, zero)
    return F.where(F.less_than(y, zero), root, F.pow(x, F.maximum(y, zero)))


@row("aten.nextafter.default")
def _next(at: Call, x: Any, y: Any) -> Any:
    x, y = at.cast(x), at.cast(y)
    return F.add(x, F.detach(F.subtract(F.nextafter(x, y), x)))


@row("aten.ldexp.Tensor")
def _ldexp(at: Call, x: Any, y: Any) -> Any:
    return F.multiply(at.cast(x), F.pow(at.cast(2.0), at.cast(y)))


@row("aten.isclose.default")
def _isclose(
    at: Call, x: Any, y: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Any:
    x, y = together(x, y)
    same = F.equal(x, y)
    if x.dtype.kind in "bc" and x.dtype.kind == "b":
        return same
    if x.dtype.kind in "iu":
        x, y = F.cast(x, "float64"), F.cast(y, "float64")
    off = F.abs(F.subtract(x, y))
    near = F.less_equal(
        off, F.add(F.multiply(F.abs(y), as_tensor(rtol, off.dtype)), as_tensor(atol, off.dtype))
    )
    found = F.logical_or(same, F.logical_and(near, F.isfinite(off)))
    return F.logical_or(found, F.logical_and(F.isnan(x), F.isnan(y))) if equal_nan else found


def _log_times(function: str) -> Row:
    def record(at: Call, x: Any, y: Any) -> Any:
        x, y = at.cast(x), at.cast(y)
        is_zero = F.logical_and(F.equal(x, F.zeros_like(x)), F.logical_not(F.isnan(y)))
        safe = F.where(is_zero, F.ones_like(y), y)
        return F.where(is_zero, at.cast(0.0), F.multiply(x, getattr(F, function)(safe)))

    return record


rows(
    {
        "xlogy.Tensor xlogy.Scalar_Self xlogy.Scalar_Other": _log_times("log"),
        "special_xlog1py special_xlog1py.self_scalar special_xlog1py.other_scalar": (
            _log_times("log1p")
        ),
    }
)


@row("aten.logaddexp.default")
def _logaddexp(at: Call, x: Any, y: Any) -> Any:
    x, y = at.cast(x), at.cast(y)
    if at.dtype.kind != "c":
        return F.logaddexp(x, y)
    most = F.detach(F.where(F.greater_equal(F.real(x), F.real(y)), x, y))
    return F.add(most, F.log(F.add(F.exp(F.subtract(x, most)), F.exp(F.subtract(y, most)))))


@row("aten.logaddexp2.default")
def _logaddexp2(at: Call, x: Any, y: Any) -> Any:
    half = at.cast(math.log(2))
    return F.divide(F.logaddexp(F.multiply(at.cast(x), half), F.multiply(at.cast(y), half)), half)


@row("aten.addcmul.default")
def _addcmul(at: Call, x: Any, a: Any, b: Any, value: Any = 1) -> Any:
    return F.add(at.cast(x), F.multiply(at.cast(value), F.multiply(at.cast(a), at.cast(b))))


@row("aten.addcdiv.default")
def _addcdiv(at: Call, x: Any, a: Any, b: Any, value: Any = 1) -> Any:
    return F.add(at.cast(x), F.multiply(at.cast(value), F.divide(at.cast(a), at.cast(b))))


@row("aten.lerp.Tensor", "aten.lerp.Scalar")
def _lerp(at: Call, x: Any, y: Any, weight: Any) -> Any:
    x, y, weight = at.cast(x), at.cast(y), at.cast(weight)
    return F.add(x, F.multiply(weight, F.subtract(y, x)))


@row("aten.where.self", "aten.where.ScalarSelf", "aten.where.ScalarOther", "aten.where.Scalar")
def _where(at: Call, condition: Any, x: Any, y: Any) -> Any:
    return F.where(truth(condition), at.cast(x), at.cast(y))


@row("aten.clamp.default", "aten.clamp.Tensor", "aten.clip.default", "aten.clip.Tensor")
def _clamp(at: Call, x: Any, min: Any = None, max: Any = None) -> Any:
    x = at.cast(x)
    if min is not None:
        x = F.where(F.less_than(x, at.cast(min)), at.cast(min), x)
    if max is not None:
        x = F.where(F.greater_than(x, at.cast(max)), at.cast(max), x)
    return x


rows(
    {
        "clamp_min clamp_min.Tensor": lambda at, x, least: _clamp(at, x, least),
        "clamp_max clamp_max.Tensor": lambda at, x, most: _clamp(at, x, None, most),
        "threshold": lambda at, x, threshold, value: F.where(
            F.less_equal(*together(x, threshold)), at.cast(value), x
        ),
    }
)


# -- activations ------------------------------------------------------------------------------


@row("aten.elu.default")
def _scaled_elu(at: Call, x: Any, alpha: Any = 1, scale: Any = 1, input_scale: Any = 1) -> Any:
    x = at.cast(x)
    if scale == 1 and input_scale == 1:
        return F.elu(x, alpha)
    is_above = F.greater_than(x, F.zeros_like(x))
    below = F.where(is_above, F.zeros_like(x), x)
    low = F.multiply(F.expm1(F.multiply(below, at.cast(input_scale))), at.cast(alpha * scale))
    return F.where(is_above, F.multiply(x, at.cast(scale)), low)


@row("aten.rrelu.default")
def _rrelu(
    at: Call, x: Any, lower: float = 0.125, upper: float = 1 / 3, training: bool = False
) -> Any:
    return N.rrelu(x, lower, upper, training)


@row("aten.prelu.default", "aten._prelu_kernel.default")
def _prelu(at: Call, x: Any, weight: Any) -> Any:
    if weight.ndim == 1 and x.ndim > 1 and at.name != "aten._prelu_kernel.default":
        weight = F.reshape(weight, [-1, *[1] * (x.ndim - 2)])
    elif weight.ndim == 1 and x.ndim < 2:
        weight = F.reshape(weight, [-1] if x.ndim else [])
    return F.where(F.greater_than(x, F.zeros_like(x)), x, F.multiply(weight, x))


def _softmax(name: str) -> Row:
    """Along an axis; the third argument is a dtype, which the result has anyway."""
    return lambda at, x, dim, *_, dtype=None: getattr(N, name)(at.cast(x), dim)


@row("aten._safe_softmax.default")
def safe_softmax(at: Call, x: Any, dim: int, dtype: Any = None) -> Any:
    """0 where all of a row are -inf."""
    x = at.cast(x)
    is_none = F.all(F.equal(x, as_tensor(-np.inf, x.dtype)), dim, True)
    return F.where(is_none, at.cast(0.0), N.softmax(F.where(is_none, at.cast(0.0), x), dim))


rows(
    {
        "relu": lambda at, x: F.relu(x),
        "relu6": lambda at, x: _hardtanh(at, x, 0, 6),
        "selu": lambda at, x: N.selu(x),
        "gelu": lambda at, x, approximate="none": N.gelu(x, approximate == "tanh"),
        "glu": lambda at, x, dim=-1: N.glu(x, dim),
        "hardtanh": lambda at, x, min_val=-1, max_val=1: _hardtanh(at, x, min_val, max_val),
        "log_sigmoid": lambda at, x: N.log_sigmoid(x),
        "log_sigmoid_forward": lambda at, x: (N.log_sigmoid(x), None),
        "softplus": lambda at, x, beta=1, threshold=20: N.softplus(
            x, float(beta), float(threshold)
        ),
        "softmax.int _softmax special_softmax": _softmax("softmax"),
        "log_softmax.int _log_softmax special_log_softmax": _softmax("log_softmax"),
        "celu": lambda at, x, alpha=1.0: N.celu(x, alpha),
        "hardshrink": lambda at, x, lambd=0.5: N.hardshrink(x, lambd),
        "softshrink": lambda at, x, lambd=0.5: N.softshrink(x, lambd),
        "leaky_relu": lambda at, x, negative_slope=0.01: N.leaky_relu(x, negative_slope),
        "hardsigmoid": lambda at, x: N.hardsigmoid(x),
        "hardswish": lambda at, x: N.hardswish(x),
        "mish": lambda at, x: N.mish(x),
        "silu": lambda at, x: N.silu(x),
    }
)


def _hardtanh(at: Call, x: Any, low: Any, high: Any) -> Any:
    """Its gradient is 0 at both ends."""
    low, high = at.cast(low), at.cast(high)
    return F.where(F.less_equal(x, low), low, F.where(F.greater_equal(x, high), high, x))
