"""Operators that compute element by element, and casts."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from dy2st.importers.onnx.calls import Call, Row, known, row, rows
from dy2st_runtime.dims import Dim, less_equal
from dy2st_runtime.ir.dispatch import F, apply
from dy2st_runtime.ir.types import is_floating

_BROADCAST = 7
"""The version from which on operands broadcast as NumPy's; before, an attribute says how."""


def operands(n: Call) -> tuple[Any, Any]:
    """Both operands, brought to shapes that broadcast."""
    x, y = n[0], n[1]
    axis = n.get("axis")
    if n.version < _BROADCAST and n.get("broadcast") and axis is not None and y.ndim:
        axis += x.ndim if axis < 0 else 0
        y = F.reshape(y, [*y.shape, *[1] * (x.ndim - axis - y.ndim)])
    return x, y


def _binary(function: Callable[[Any, Any], Any]) -> Row:
    return lambda n: function(*operands(n))


def _many(function: Callable[[Any, Any], Any]) -> Row:
    return lambda n: reduce(function, n.inputs)


def _unary(name: str) -> Row:
    return lambda n: apply(name, n[0])


def _is_never_negative(value: Any) -> bool:
    if value.dtype.kind in "ub":
        return True
    found = known(value)
    return found is not None and all(
        isinstance(entry, (int, Dim)) and less_equal(0, entry) is True for entry in found.flat
    )


def divide(x: Any, y: Any) -> Any:
    """x / y; of integers without the fraction."""
    if x.dtype.kind not in "iu":
        return F.divide(x, y)
    if _is_never_negative(x) and _is_never_negative(y):
        return F.floor_divide(x, y)
    return F.divide(x, y, rounding_mode="trunc")


@row("Mod")
def _mod(n: Call) -> Any:
    x, y = operands(n)
    if not n.get("fmod", 0) or x.dtype.kind == "u":
        return F.remainder(x, y)
    if x.dtype.kind == "i":
        return x - divide(x, y) * y
    rest = F.remainder(F.abs(x), F.abs(y))  # exact, for numbers that are not negative
    return F.where(F.less_than(x, 0), -rest, rest)


@row("Pow")
def _pow(n: Call) -> Any:
    x, y = operands(n)
    exponent = known(y, n.reader)
    if exponent is not None and exponent.size == 1 and y.ndim <= x.ndim:
        one = exponent.reshape(-1)[0]
        if not isinstance(one, Dim) and float(one) in (0.5, 2.0) and is_floating(x.dtype):
            return F.sqrt(x) if float(one) == 0.5 else F.square(x)
    return F.cast(F.pow(x, y), x.dtype)


def plain(n: Call, place: int) -> Any:
    """An input of one element as a number of Python if it is known, else as it is."""
    found = n.known(place)
    if found is None or found.size != 1 or isinstance(found.reshape(-1)[0], Dim):
        return n[place]
    return np.asarray(found).reshape(-1)[0].item() if found.dtype != object else found.item()


@row("Clip")
def _clip(n: Call) -> Any:
    x = n[0]
    low = n.get("min") if n.get("min") is not None else plain(n, 1)
    high = n.get("max") if n.get("max") is not None else plain(n, 2)
    if low is None and high is None:
        return F.assign(x)
    for limit, larger in ((low, F.maximum), (high, F.minimum)):
        if limit is not None and not isinstance(limit, (int, float)):
            low, high, x = _without(low, high, limit, larger(x, limit), x)
    return x if low is None and high is None else F.clip(x, low, high)


def _without(low: Any, high: Any, limit: Any, done: Any, x: Any) -> tuple[Any, Any, Any]:
    """The limits that are left after one of them, a tensor, was applied."""
    if limit is low:
        return None, high, done
    # The lower limit comes first.
    first = done if low is None else F.minimum(F.clip(x, low, None), limit)
    return None, None, first


@row("BitShift")
def _shift(n: Call) -> Any:
    x, y = n[0], n[1]
    is_left = n.attributes["direction"] == "LEFT"
    return (F.bitwise_left_shift if is_left else F.bitwise_right_shift)(x, y)


@row("HardSigmoid")
def _hard_sigmoid(n: Call) -> Any:
    return F.clip(n[0] * n.get("alpha", 0.2) + n.get("beta", 0.5), 0.0, 1.0)


@row("IsInf")
def _infinite(n: Call) -> Any:
    x = n[0]
    is_infinite = F.isinf(x)
    if not n.get("detect_negative", 1):
        is_infinite = F.logical_and(is_infinite, F.greater_than(x, 0))
    if not n.get("detect_positive", 1):
        is_infinite = F.logical_and(is_infinite, F.less_than(x, 0))
    return is_infinite


@row("Shrink")
def _shrink(n: Call) -> Any:
    x, bias, limit = n[0], n.get("bias", 0.0), n.get("lambd", 0.5)
    low, high = F.less_than(x, -limit), F.greater_than(x, limit)
    return F.cast(F.where(low, x + bias, F.where(high, x - bias, F.zeros_like(x))), x.dtype)


@row("PRelu")
def _prelu(n: Call) -> Any:
    x, slope = n[0], n[1]
    if n.version < _BROADCAST and slope.ndim == 1 and x.ndim > 1:
        slope = F.reshape(slope, [slope.shape[0], *[1] * (x.ndim - 2)])
    return F.where(F.less_than(x, 0), x * slope, x)


@row("Selu")
def _selu(n: Call) -> Any:
    alpha, gamma = n.get("alpha", 1.6732632423543772), n.get("gamma", 1.0507009873554805)
    return F.elu(n[0], alpha) * gamma


@row("Gelu")
def _gelu(n: Call) -> Any:
    if n.get("approximate", "none") == "tanh":
        return F.gelu(n[0], approximate=True)
    return F.gelu(n[0])


@row("Swish")
def _swish(n: Call) -> Any:
    alpha = n.get("alpha", 1.0)
    return F.silu(n[0]) if alpha == 1.0 else n[0] * F.sigmoid(n[0] * alpha)


rows(
    {
        "Abs": _unary("abs"),
        "Acos": _unary("acos"),
        "Acosh": _unary("acosh"),
        "Add": _binary(F.add),
        "And": _binary(F.logical_and),
        "Asin": _unary("asin"),
        "Asinh": _unary("asinh"),
        "Atan": _unary("atan"),
        "Atanh": _unary("atanh"),
        "BitwiseAnd": _binary(F.bitwise_and),
        "BitwiseNot": lambda n: F.bitwise_not(n[0]),
        "BitwiseOr": _binary(F.bitwise_or),
        "BitwiseXor": _binary(F.bitwise_xor),
        "Ceil": _unary("ceil"),
        "Celu": lambda n: F.celu(n[0], n.get("alpha", 1.0)),
        "Cos": _unary("cos"),
        "Cosh": _unary("cosh"),
        "Div": lambda n: divide(*operands(n)),
        "Elu": lambda n: F.elu(n[0], n.get("alpha", 1.0)),
        "Equal": _binary(F.equal),
        "Erf": _unary("erf"),
        "Exp": _unary("exp"),
        "Floor": _unary("floor"),
        "Greater": _binary(F.greater_than),
        "GreaterOrEqual": _binary(F.greater_equal),
        "HardSwish": lambda n: n[0] * F.clip(n[0] * (1 / 6) + 0.5, 0.0, 1.0),
        "IsNaN": lambda n: F.isnan(n[0]),
        "LeakyRelu": lambda n: F.leaky_relu(n[0], n.get("alpha", 0.01)),
        "Less": _binary(F.less_than),
        "LessOrEqual": _binary(F.less_equal),
        "Log": _unary("log"),
        "Max": _many(F.maximum),
        "Mean": lambda n: reduce(F.add, n.inputs) / len(n),
        "Min": _many(F.minimum),
        "Mish": lambda n: F.mish(n[0]),
        "Mul": _binary(F.multiply),
        "Neg": lambda n: F.neg(n[0]),
        "Not": lambda n: F.logical_not(n[0]),
        "Or": _binary(F.logical_or),
        "Reciprocal": lambda n: F.reciprocal(n[0]),
        "Relu": lambda n: F.relu(n[0]) if is_floating(n[0].dtype) else F.maximum(n[0], 0),
        "Round": _unary("round"),
        "Sigmoid": _unary("sigmoid"),
        "Sign": _unary("sign"),
        "Sin": _unary("sin"),
        "Sinh": _unary("sinh"),
        "Softplus": lambda n: F.softplus(n[0]),
        "Softsign": lambda n: F.softsign(n[0]),
        "Sqrt": _unary("sqrt"),
        "Sub": _binary(F.subtract),
        "Sum": _many(F.add),
        "Tan": _unary("tan"),
        "Tanh": _unary("tanh"),
        "ThresholdedRelu": lambda n: F.where(
            F.greater_than(n[0], n.get("alpha", 1.0)), n[0], F.zeros_like(n[0])
        ),
        "Where": lambda n: F.where(n[0], n[1], n[2]),
        "Xor": _binary(F.logical_xor),
    }
)
