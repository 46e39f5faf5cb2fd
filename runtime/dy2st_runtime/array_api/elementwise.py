"""Elementwise functions of the array API: those of dy2st, where a number of Python yields to the
dtype of the tensor beside it, with the standard's special cases."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dy2st_runtime.ir import F, Tensor
from dy2st_runtime.ir.arguments import dtype_of

One = Callable[[Any], Any]
Two = Callable[[Any, Any], Any]
_KINDS = "biufc"
_NUMBERS = {bool: "b", int: "i", float: "f", complex: "c"}


def _one(name: str, function: One | None = None) -> One:
    """The function of one tensor with this name."""
    run = getattr(F, name) if function is None else function

    def call(x: Any, /) -> Any:
        return run(x)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = _text(name, run)
    return call


def _two(name: str, function: Two | None = None) -> Two:
    """The function of two tensors, or of a tensor and a number, with this name."""
    run = getattr(F, name) if function is None else function

    def call(x1: Any, x2: Any, /) -> Any:
        left, right = number_like(x1, x2), number_like(x2, x1)
        if dtype_of(left) != dtype_of(right) and dtype_of(left).kind == dtype_of(right).kind:
            wide = np.result_type(dtype_of(left), dtype_of(right))
            left, right = F.cast(left, wide), F.cast(right, wide)
        return run(left, right)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = _text(name, run)
    return call


def _text(name: str, run: Callable[..., Any]) -> str:
    """What the function of dy2st says of itself, its example with the standard's name."""
    return (run.__doc__ or "").replace(f"dy2st.{run.__name__}(", f"dy2st.array_api.{name}(")


def number_like(value: Any, tensor: Any) -> Any:
    """A number of Python as a tensor of the other one's dtype, if that has numbers of its kind."""
    kind = _NUMBERS.get(type(value))
    if kind is None or not isinstance(tensor, Tensor):
        return value
    if _KINDS.index(kind) > _KINDS.index(tensor.dtype.kind.replace("V", "f")):
        return value
    return F.full([], value, tensor.dtype)


def _conj(x: Any) -> Any:
    """The complex conjugate; of real numbers they themselves.

    >>> dy2st.array_api.conj(dy2st.to_tensor([1 + 2j])).tolist()
    [(1-2j)]
    """
    return F.conj(x) if x.dtype.kind == "c" else F.assign(x)


def _real(x: Any) -> Any:
    """The real part; of real numbers they themselves.

    >>> dy2st.array_api.real(dy2st.to_tensor([1 + 2j])).tolist()
    [1.0]
    """
    return F.real(x) if x.dtype.kind == "c" else F.assign(x)


def _round(x: Any) -> Any:
    """The nearest integer, halves to even, in the dtype of x; of complex numbers of both parts.

    >>> dy2st.array_api.round(dy2st.to_tensor([0.5, 1.5, 2.6])).tolist()
    [0.0, 2.0, 3.0]
    """
    return F.round(x)


def _divide(x: Any, y: Any) -> Any:
    """x / y; integers give a float.

    >>> dy2st.array_api.divide(dy2st.to_tensor([-7, 7]), 2).tolist()
    [-3.5, 3.5]
    """
    return F.divide(x, y)


def _floor_divide(x: Any, y: Any) -> Any:
    """floor(x / y): what Python has no number for is an infinity, or a zero with the sign of x / y.

    inf // 1 is inf here, and -1 // inf is -0.

    >>> dy2st.array_api.floor_divide(dy2st.to_tensor([-7.0, 7.0]), 2.0).tolist()
    [-4.0, 3.0]
    """
    made = F.floor_divide(x, y)
    if made.dtype.kind not in "fV":
        return made
    has_infinity = F.logical_or(F.isinf(F.cast(x, made.dtype)), F.isinf(F.cast(y, made.dtype)))
    return F.where(has_infinity, F.divide(x, y), made)


def _hypot(x: Any, y: Any) -> Any:
    """|x + iy|, which neither overflows nor loses an infinity beside NaN.

    >>> dy2st.array_api.hypot(dy2st.to_tensor([3.0]), dy2st.to_tensor([4.0])).tolist()
    [5.0]
    """
    return F.abs(F.complex(*F.broadcast_tensors([x, y])))


def _sign(x: Any) -> Any:
    """-1, 0 or 1; of complex numbers x / |x|, and NaN where a part is.

    >>> dy2st.array_api.sign(dy2st.to_tensor([-3.0, 0.0, 2.0])).tolist()
    [-1.0, 0.0, 1.0]
    """
    return (
        F.where(F.isnan(x), F.full([], np.nan * (1 + 1j), x.dtype), F.sign(x))
        if (x.dtype.kind == "c")
        else F.sign(x)
    )


def clip(x: Any, /, min: Any = None, max: Any = None) -> Any:
    """x with what is below `min` or above `max` replaced by that: numbers, or tensors that fit.

    >>> xp = dy2st.array_api
    >>> xp.clip(xp.asarray([1, 5, 9]), 2, max=6).tolist()
    [2, 5, 6]
    """
    made = x
    for limit, choose in ((min, F.maximum), (max, F.minimum)):
        if limit is not None:
            made = choose(made, number_like(limit, x))
    return F.assign(x) if made is x else F.cast(made, dtype_of(x))


abs = _one("abs")
acos = _one("acos")
acosh = _one("acosh")
add = _two("add")
asin = _one("asin")
asinh = _one("asinh")
atan = _one("atan")
atan2 = _two("atan2")
atanh = _one("atanh")
bitwise_and = _two("bitwise_and")
bitwise_invert = _one("bitwise_invert", F.bitwise_not)
bitwise_left_shift = _two("bitwise_left_shift")
bitwise_or = _two("bitwise_or")
bitwise_right_shift = _two("bitwise_right_shift")
bitwise_xor = _two("bitwise_xor")
ceil = _one("ceil")
conj = _one("conj", _conj)
copysign = _two("copysign")
cos = _one("cos")
cosh = _one("cosh")
divide = _two("divide", _divide)
equal = _two("equal")
exp = _one("exp")
expm1 = _one("expm1")
floor = _one("floor")
floor_divide = _two("floor_divide", _floor_divide)
greater = _two("greater", F.greater_than)
greater_equal = _two("greater_equal")
hypot = _two("hypot", _hypot)
imag = _one("imag")
isfinite = _one("isfinite")
isinf = _one("isinf")
isnan = _one("isnan")
less = _two("less", F.less_than)
less_equal = _two("less_equal")
log = _one("log")
log10 = _one("log10")
log1p = _one("log1p")
log2 = _one("log2")
logaddexp = _two("logaddexp")
logical_and = _two("logical_and")
logical_not = _one("logical_not")
logical_or = _two("logical_or")
logical_xor = _two("logical_xor")
maximum = _two("maximum")
minimum = _two("minimum")
multiply = _two("multiply")
negative = _one("negative", F.neg)
nextafter = _two("nextafter")
not_equal = _two("not_equal")
positive = _one("positive", F.assign)
pow = _two("pow")
real = _one("real", _real)
reciprocal = _one("reciprocal")
remainder = _two("remainder")
round = _one("round", _round)
sign = _one("sign", _sign)
signbit = _one("signbit")
sin = _one("sin")
sinh = _one("sinh")
sqrt = _one("sqrt")
square = _one("square")
subtract = _two("subtract")
tan = _one("tan")
tanh = _one("tanh")
trunc = _one("trunc")
