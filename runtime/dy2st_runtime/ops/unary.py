"""Elementwise functions of one tensor: a table of names, kernels and derivatives."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from dy2st_runtime.dims import maximum
from dy2st_runtime.errors import DTypeError
from dy2st_runtime.ir import (
    F,
    Kind,
    Sample,
    Scales,
    Tensor,
    TensorType,
    View,
    apply,
    define,
    method,
)
from dy2st_runtime.ir.arguments import dtype_of
from dy2st_runtime.ops.blocks import in_blocks
from dy2st_runtime.ops.erf import erf_kernel
from dy2st_runtime.ops.rules import float_result, holomorphic, same_type

Rule = Callable[[Any, Any, Any], Any]


class _Row(NamedTuple):
    """name, meaning, kernel, gradient (g, y, x), and where the samples lie."""

    name: str
    doc: str
    kernel: Callable[..., Any]
    gradient: Rule | None
    low: float = -2.0
    high: float = 2.0
    keeps_dtype: bool = False
    scales: Scales | None = None
    takes_out: bool = False


def sigmoid_formula(x: Any, out: Any, factor: Any = 1.0) -> None:
    """factor / (1 + e**-x) into `out`, of float32 or float64: no digits are lost below 0."""
    if out.dtype.itemsize == 4:  # e**x of float32 is wrong by 2.4 ulp: too much for what follows
        power = np.empty(x.shape)
        np.negative(np.maximum(x, x.dtype.type(-700)), out=power)
        np.exp(power, out=power)
        power += 1.0
        np.divide(factor, power, out=power)
        out[...] = power
    else:  # factor * e**min(x, 0) / (1 + e**-|x|)
        power = np.exp(-np.abs(x)) + 1.0
        share = np.exp(np.minimum(x, 0.0))
        np.divide(np.multiply(factor, share), power, out=out)


_real_sigmoid = in_blocks(sigmoid_formula)


def _rsqrt(x: Any) -> Any:
    root = np.sqrt(x)
    return root.dtype.type(1) / root


def _expm1(x: Any) -> Any:
    """NumPy's has no infinities of complex numbers; beside those nothing cancels."""
    made = np.expm1(x)
    if x.dtype.kind != "c":
        return made
    return np.where(np.isfinite(x), made, np.exp(x) - x.dtype.type(1))


def _direction(y: Any, x: Any) -> Any:
    """x / |x| of complex numbers, 0 at 0."""
    return x / F.where(F.equal(y, 0), F.ones_like(y), y)


_LN2, _LN10 = math.log(2.0), math.log(10.0)
_TWO_BY_ROOT_PI = 2.0 / math.sqrt(math.pi)

_ROWS = (
    _Row("neg", "-x.", np.negative, lambda g, y, x: -g, keeps_dtype=True, scales=Scales.ALL),
    _Row(
        "abs",
        "|x|; the slope at 0 is 0.",
        np.absolute,
        lambda g, y, x: g * (_direction(y, x) if dtype_of(x).kind == "c" else F.sign(x)),
        scales=Scales.POSITIVE,
    ),
    _Row(
        "sign", "-1, 0 or 1.", np.sign, lambda g, y, x: F.zeros_like(x), 0.5, 2.0, keeps_dtype=True
    ),
    _Row("square", "x * x.", np.square, lambda g, y, x: g * x * 2, keeps_dtype=True),
    _Row("exp", "e**x.", np.exp, lambda g, y, x: g * y),
    _Row("expm1", "e**x - 1, exact near 0.", _expm1, lambda g, y, x: g * (y + 1)),
    _Row("log", "The natural logarithm.", np.log, lambda g, y, x: g / x, 0.5, 3.0),
    _Row("log1p", "log(1 + x), exact near 0.", np.log1p, lambda g, y, x: g / (x + 1), -0.5, 3.0),
    _Row("log2", "The logarithm to base 2.", np.log2, lambda g, y, x: g / (x * _LN2), 0.5, 3.0),
    _Row("log10", "The logarithm to base 10.", np.log10, lambda g, y, x: g / (x * _LN10), 0.5, 3.0),
    _Row("sqrt", "The square root.", np.sqrt, lambda g, y, x: g * 0.5 / y, 0.5, 3.0),
    _Row("rsqrt", "1 / sqrt(x).", _rsqrt, lambda g, y, x: g * -0.5 * y / x, 0.5, 3.0),
    _Row(
        "reciprocal",
        "1 / x.",
        lambda x: np.true_divide(x.dtype.type(1), x),
        lambda g, y, x: -g * y * y,
        0.5,
        3.0,
    ),
    _Row("sin", "The sine.", np.sin, lambda g, y, x: g * F.cos(x)),
    _Row("cos", "The cosine.", np.cos, lambda g, y, x: -g * F.sin(x)),
    _Row("tan", "The tangent.", np.tan, lambda g, y, x: g * (1 + y * y), -1.0, 1.0),
    _Row("asin", "The arc sine.", np.arcsin, lambda g, y, x: g * F.rsqrt(1 - x * x), -0.9, 0.9),
    _Row("acos", "The arc cosine.", np.arccos, lambda g, y, x: -g * F.rsqrt(1 - x * x), -0.9, 0.9),
    _Row("atan", "The arc tangent.", np.arctan, lambda g, y, x: g / (1 + x * x)),
    _Row("sinh", "The hyperbolic sine.", np.sinh, lambda g, y, x: g * F.cosh(x)),
    _Row("cosh", "The hyperbolic cosine.", np.cosh, lambda g, y, x: g * F.sinh(x)),
    _Row("tanh", "The hyperbolic tangent.", np.tanh, lambda g, y, x: g * (1 - y * y)),
    _Row("asinh", "The inverse of sinh.", np.arcsinh, lambda g, y, x: g * F.rsqrt(x * x + 1)),
    _Row(
        "acosh",
        "The inverse of cosh.",
        np.arccosh,
        lambda g, y, x: (
            # The root of x * x - 1 has the other sign left of the axis.
            g * F.rsqrt(x - 1) * F.rsqrt(x + 1)
            if dtype_of(x).kind == "c"
            else g * F.rsqrt(x * x - 1)
        ),
        1.5,
        3.0,
    ),
    _Row("atanh", "The inverse of tanh.", np.arctanh, lambda g, y, x: g / (1 - x * x), -0.9, 0.9),
    _Row(
        "erf",
        "2 / sqrt(pi) * integral of exp(-t**2) from 0 to x.",
        erf_kernel,
        lambda g, y, x: g * F.exp(-(x * x)) * _TWO_BY_ROOT_PI,
        takes_out=True,
    ),
    _Row(
        "sigmoid",
        "1 / (1 + exp(-x)).",
        lambda x, out=None: (
            np.true_divide(1, np.exp(-x) + x.dtype.type(1), out=out)
            if x.dtype.kind == "c"
            else _real_sigmoid(x, out=out)
        ),
        lambda g, y, x: g * y * (1 - y),
        takes_out=True,
    ),
    _Row(
        "relu",
        "max(x, 0); the slope at 0 is 0.",
        lambda x, out=None: np.maximum(x, x.dtype.type(0), out=out),
        lambda g, y, x: g * F.cast(F.greater_than(x, 0), g.dtype),
        0.1,
        2.0,
        keeps_dtype=True,
        scales=Scales.POSITIVE,
        takes_out=True,
    ),
    _Row(
        "floor",
        "The largest integer that is not above x.",
        np.floor,
        lambda g, y, x: F.zeros_like(x),
        0.1,
        0.9,
        keeps_dtype=True,
    ),
    _Row(
        "ceil",
        "The smallest integer that is not below x.",
        np.ceil,
        lambda g, y, x: F.zeros_like(x),
        0.1,
        0.9,
        keeps_dtype=True,
    ),
    _Row(
        "round",
        "The nearest integer, halves to even.",
        np.rint,
        lambda g, y, x: F.zeros_like(x),
        0.1,
        0.4,
        keeps_dtype=True,
    ),
    _Row(
        "trunc",
        "x without its fraction.",
        np.trunc,
        lambda g, y, x: F.zeros_like(x),
        0.1,
        0.9,
        keeps_dtype=True,
    ),
)


_OF_SIZES: dict[str, Callable[..., Any] | bool] = {
    "neg": True,
    "abs": lambda x: (
        np.frompyfunc(lambda size: maximum(size, -size), 1, 1)(x)
        if isinstance(x, np.ndarray)
        else None
    ),
    "floor": lambda x: x if isinstance(x, np.ndarray) else None,
    "ceil": lambda x: x if isinstance(x, np.ndarray) else None,
}


_OF_NUMBERS = ("neg", "sign")
# functions with a complex derivative
_DERIVED = (
    *("square", "exp", "reciprocal", "expm1", "log", "log1p", "log2", "log10", "sqrt", "rsqrt"),
    *("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh"),
    *("asinh", "acosh", "atanh", "sigmoid"),
)
_COMPLEX = ("neg", "abs", *_DERIVED)
_CHEAP = ("neg", "abs", "sign", "square", "relu", "reciprocal")
_ROUNDING = ("floor", "ceil", "round", "trunc")


def _define(row: _Row) -> None:
    samples = tuple(
        Sample((shape,), low=row.low, high=row.high) for shape in ((2, 3), (), (0, 2), (1,))
    )
    kernel = row.kernel
    if row.name in _ROUNDING:
        # The kernel for floats; integers are whole already.
        def rounded(x: Any) -> Any:
            return x if x.dtype.kind in "iub" else row.kernel(x)

        kernel = rounded
    infer: Callable[..., TensorType]
    if row.name == "square":

        def infer(x: TensorType) -> TensorType:
            return x.with_dtype("int8") if x.dtype.kind == "b" else x  # as NumPy counts bools

    elif row.keeps_dtype:
        infer = _numbers(row.name) if row.name in _OF_NUMBERS else same_type
    else:
        result = float_result(kernel)

        def infer(x: TensorType) -> TensorType:
            return x.with_dtype(result(x.dtype))

    define(
        row.name,
        doc=row.doc,
        inputs="x",
        infer=infer,
        kernel=kernel,
        takes_complex=row.name in _COMPLEX,
        gradient=holomorphic(row.gradient)
        if row.gradient and row.name in _DERIVED
        else row.gradient,
        kind=Kind.ELEMENTWISE,
        scales=row.scales,
        view=(lambda x: None if x.is_floating else View.SAME) if row.name in _ROUNDING else None,
        samples=samples,
        takes_out=row.takes_out,
        cheap=row.name in _CHEAP,
        promote=row.name in ("neg", "abs"),  # Python's operators: a number stays a number
        data=_OF_SIZES.get(row.name),
    )


def _numbers(name: str) -> Callable[[TensorType], TensorType]:
    def infer(x: TensorType) -> TensorType:
        if x.dtype.kind == "b":
            raise DTypeError(f"{name} takes numbers, not bools: cast them first")
        return x

    return infer


for _row in _ROWS:
    _define(_row)


@method
def neg(x: Any, name: str | None = None) -> Tensor:
    """-x, elementwise: (...,) -> (...,), in the dtype of x.

    Raises DTypeError for bools.

    >>> dy2st.neg(dy2st.to_tensor([1.5, -2.0])).tolist()
    [-1.5, 2.0]
    """
    return apply("neg", x)  # type: ignore[no-any-return]


@method
def abs(x: Any, name: str | None = None) -> Tensor:
    """|x|, elementwise: (...,) -> (...,); the slope at 0 is 0.

    Of complex numbers it is the magnitude, a float.

    >>> dy2st.abs(dy2st.to_tensor([-1.5, 2.0])).tolist()
    [1.5, 2.0]
    >>> dy2st.abs(dy2st.to_tensor([3 + 4j])).tolist()
    [5.0]
    """
    return apply("abs", x)  # type: ignore[no-any-return]


@method
def sign(x: Any, name: str | None = None) -> Tensor:
    """-1, 0 or 1, elementwise: (...,) -> (...,); of complex numbers x / |x|, and 0 of 0.

    >>> dy2st.sign(dy2st.to_tensor([-3.0, 0.0, 2.0])).tolist()
    [-1.0, 0.0, 1.0]
    """
    if dtype_of(x).kind != "c":
        return apply("sign", x)  # type: ignore[no-any-return]
    return _direction(F.abs(x), x)  # type: ignore[no-any-return]


@method
def square(x: Any, name: str | None = None) -> Tensor:
    """x * x, elementwise: (...,) -> (...,), in the dtype of x.

    >>> dy2st.square(dy2st.to_tensor([-3, 2])).tolist()
    [9, 4]
    """
    return apply("square", x)  # type: ignore[no-any-return]


@method
def exp(x: Any, name: str | None = None) -> Tensor:
    """e**x, elementwise: (...,) -> (...,); integers give floats.

    >>> print(dy2st.exp(dy2st.to_tensor([0.0, 1.0])).round(3))
    [1.    2.718]
    """
    return apply("exp", x)  # type: ignore[no-any-return]


@method
def expm1(x: Any, name: str | None = None) -> Tensor:
    """e**x - 1, elementwise: (...,) -> (...,); exact near 0, where exp(x) - 1 is not.

    >>> print(dy2st.expm1(dy2st.to_tensor([0.0, 1e-10])))
    [0.e+00 1.e-10]
    """
    return apply("expm1", x)  # type: ignore[no-any-return]


@method
def log(x: Any, name: str | None = None) -> Tensor:
    """The natural logarithm, elementwise: (...,) -> (...,); -inf at 0, NaN below.

    >>> print(dy2st.log(dy2st.to_tensor([1.0, 10.0])).round(3))
    [0.    2.303]
    """
    return apply("log", x)  # type: ignore[no-any-return]


@method
def log1p(x: Any, name: str | None = None) -> Tensor:
    """log(1 + x), elementwise: (...,) -> (...,); exact near 0, where 1 + x is not.

    >>> print(dy2st.log1p(dy2st.to_tensor([0.0, 1e-10])))
    [0.e+00 1.e-10]
    """
    return apply("log1p", x)  # type: ignore[no-any-return]


@method
def log2(x: Any, name: str | None = None) -> Tensor:
    """The logarithm to base 2, elementwise: (...,) -> (...,).

    >>> dy2st.log2(dy2st.to_tensor([0.5, 1.0, 8.0])).tolist()
    [-1.0, 0.0, 3.0]
    """
    return apply("log2", x)  # type: ignore[no-any-return]


@method
def log10(x: Any, name: str | None = None) -> Tensor:
    """The logarithm to base 10, elementwise: (...,) -> (...,).

    >>> print(dy2st.log10(dy2st.to_tensor([1.0, 1000.0])).round(3))
    [0. 3.]
    """
    return apply("log10", x)  # type: ignore[no-any-return]


@method
def sqrt(x: Any, name: str | None = None) -> Tensor:
    """The square root, elementwise: (...,) -> (...,); NaN of negative numbers.

    >>> dy2st.sqrt(dy2st.to_tensor([0.0, 9.0])).tolist()
    [0.0, 3.0]
    """
    return apply("sqrt", x)  # type: ignore[no-any-return]


@method
def rsqrt(x: Any, name: str | None = None) -> Tensor:
    """1 / sqrt(x), elementwise: (...,) -> (...,).

    >>> dy2st.rsqrt(dy2st.to_tensor([1.0, 4.0])).tolist()
    [1.0, 0.5]
    """
    return apply("rsqrt", x)  # type: ignore[no-any-return]


@method
def reciprocal(x: Any, name: str | None = None) -> Tensor:
    """1 / x, elementwise: (...,) -> (...,); integers give floats.

    >>> dy2st.reciprocal(dy2st.to_tensor([4.0, -0.5])).tolist()
    [0.25, -2.0]
    """
    return apply("reciprocal", x)  # type: ignore[no-any-return]


@method
def sin(x: Any, name: str | None = None) -> Tensor:
    """The sine of radians, elementwise: (...,) -> (...,).

    >>> print(dy2st.sin(dy2st.to_tensor([0.0, np.pi / 6])).round(3))
    [0.  0.5]
    """
    return apply("sin", x)  # type: ignore[no-any-return]


@method
def cos(x: Any, name: str | None = None) -> Tensor:
    """The cosine of radians, elementwise: (...,) -> (...,).

    >>> print(dy2st.cos(dy2st.to_tensor([0.0, np.pi / 3])).round(3))
    [1.  0.5]
    """
    return apply("cos", x)  # type: ignore[no-any-return]


@method
def tan(x: Any, name: str | None = None) -> Tensor:
    """The tangent of radians, elementwise: (...,) -> (...,).

    >>> print(dy2st.tan(dy2st.to_tensor([0.0, np.pi / 4])).round(3))
    [0. 1.]
    """
    return apply("tan", x)  # type: ignore[no-any-return]


@method
def asin(x: Any, name: str | None = None) -> Tensor:
    """The arc sine in radians, elementwise: (...,) -> (...,); NaN beyond -1 and 1.

    >>> print(dy2st.asin(dy2st.to_tensor([0.0, 1.0])).round(3))
    [0.    1.571]
    """
    return apply("asin", x)  # type: ignore[no-any-return]


@method
def acos(x: Any, name: str | None = None) -> Tensor:
    """The arc cosine in radians, elementwise: (...,) -> (...,); NaN beyond -1 and 1.

    >>> print(dy2st.acos(dy2st.to_tensor([1.0, 0.0])).round(3))
    [0.    1.571]
    """
    return apply("acos", x)  # type: ignore[no-any-return]


@method
def atan(x: Any, name: str | None = None) -> Tensor:
    """The arc tangent in radians, elementwise: (...,) -> (...,), between -pi/2 and pi/2.

    >>> print(dy2st.atan(dy2st.to_tensor([0.0, 1.0])).round(3))
    [0.    0.785]
    """
    return apply("atan", x)  # type: ignore[no-any-return]


@method
def sinh(x: Any, name: str | None = None) -> Tensor:
    """The hyperbolic sine (e**x - e**-x) / 2, elementwise: (...,) -> (...,).

    >>> print(dy2st.sinh(dy2st.to_tensor([0.0, 1.0])).round(3))
    [0.    1.175]
    """
    return apply("sinh", x)  # type: ignore[no-any-return]


@method
def cosh(x: Any, name: str | None = None) -> Tensor:
    """The hyperbolic cosine (e**x + e**-x) / 2, elementwise: (...,) -> (...,).

    >>> print(dy2st.cosh(dy2st.to_tensor([0.0, 1.0])).round(3))
    [1.    1.543]
    """
    return apply("cosh", x)  # type: ignore[no-any-return]


@method
def tanh(x: Any, name: str | None = None) -> Tensor:
    """The hyperbolic tangent sinh(x) / cosh(x), elementwise: (...,) -> (...,).

    >>> print(dy2st.tanh(dy2st.to_tensor([0.0, 1.0, 100.0])).round(3))
    [0.    0.762 1.   ]
    """
    return apply("tanh", x)  # type: ignore[no-any-return]


@method
def asinh(x: Any, name: str | None = None) -> Tensor:
    """The inverse of sinh, elementwise: (...,) -> (...,).

    >>> print(dy2st.asinh(dy2st.sinh(dy2st.to_tensor([0.0, 2.0]))).round(3))
    [0. 2.]
    """
    return apply("asinh", x)  # type: ignore[no-any-return]


@method
def acosh(x: Any, name: str | None = None) -> Tensor:
    """The inverse of cosh, elementwise: (...,) -> (...,); NaN below 1.

    >>> print(dy2st.acosh(dy2st.cosh(dy2st.to_tensor([0.0, 2.0]))).round(3))
    [0. 2.]
    """
    return apply("acosh", x)  # type: ignore[no-any-return]


@method
def atanh(x: Any, name: str | None = None) -> Tensor:
    """The inverse of tanh, elementwise: (...,) -> (...,); inf at 1, NaN beyond.

    >>> print(dy2st.atanh(dy2st.tanh(dy2st.to_tensor([0.0, 2.0]))).round(3))
    [0. 2.]
    """
    return apply("atanh", x)  # type: ignore[no-any-return]


@method
def erf(x: Any, name: str | None = None) -> Tensor:
    """2 / sqrt(pi) * integral of exp(-t**2) from 0 to x, elementwise: (...,) -> (...,).

    >>> print(dy2st.erf(dy2st.to_tensor([0.0, 1.0])).round(3))
    [0.    0.843]
    """
    return apply("erf", x)  # type: ignore[no-any-return]


@method
def sigmoid(x: Any, name: str | None = None) -> Tensor:
    """1 / (1 + exp(-x)), elementwise: (...,) -> (...,).

    >>> print(dy2st.sigmoid(dy2st.to_tensor([0.0, 2.0])).round(3))
    [0.5   0.881]
    """
    return apply("sigmoid", x)  # type: ignore[no-any-return]


@method
def relu(x: Any, name: str | None = None) -> Tensor:
    """max(x, 0), elementwise: (...,) -> (...,); the slope at 0 is 0.

    >>> dy2st.relu(dy2st.to_tensor([-1.0, 2.0])).tolist()
    [0.0, 2.0]
    """
    return apply("relu", x)  # type: ignore[no-any-return]


@method
def floor(x: Any, name: str | None = None) -> Tensor:
    """The largest integer that is not above x, elementwise: (...,) -> (...,), in the dtype of x.

    >>> dy2st.floor(dy2st.to_tensor([-1.5, 1.5])).tolist()
    [-2.0, 1.0]
    """
    return apply("floor", x)  # type: ignore[no-any-return]


@method
def ceil(x: Any, name: str | None = None) -> Tensor:
    """The smallest integer that is not below x, elementwise: (...,) -> (...,), in the dtype of x.

    >>> dy2st.ceil(dy2st.to_tensor([-1.5, 1.5])).tolist()
    [-1.0, 2.0]
    """
    return apply("ceil", x)  # type: ignore[no-any-return]


@method
def round(x: Any, decimals: int = 0, name: str | None = None) -> Tensor:
    """The nearest integer, halves to even, elementwise: (...,) -> (...,).

    With `decimals` so many places behind the point stay. Of complex numbers both parts are rounded.

    >>> dy2st.round(dy2st.to_tensor([0.5, 1.5, 2.6])).tolist()
    [0.0, 2.0, 3.0]
    >>> print(dy2st.round(dy2st.to_tensor([1.234]), 1))
    [1.2]
    """
    if dtype_of(x).kind == "c":
        parts = (round(part, decimals) for part in (F.real(x), F.imag(x)))
        return F.complex(*parts)  # type: ignore[no-any-return]
    if decimals:
        factor = 10.0**decimals
        return round(x * factor) / factor  # type: ignore[no-any-return]
    return apply("round", x)  # type: ignore[no-any-return]


@method
def trunc(x: Any, name: str | None = None) -> Tensor:
    """x without its fraction, elementwise: (...,) -> (...,), in the dtype of x.

    >>> dy2st.trunc(dy2st.to_tensor([-1.5, 1.5])).tolist()
    [-1.0, 1.0]
    """
    return apply("trunc", x)  # type: ignore[no-any-return]
