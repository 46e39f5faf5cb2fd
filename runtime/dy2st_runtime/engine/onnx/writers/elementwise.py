"""Operators that compute element by element."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dy2st_runtime.engine.onnx.graph import Graph
from dy2st_runtime.engine.onnx.library import element_number
from dy2st_runtime.engine.onnx.nodes import BOOL, INT32, INT64, Value
from dy2st_runtime.engine.onnx.table import Writer, rows, write
from dy2st_runtime.ir import is_floating

_INT8 = np.dtype("int8")


def numbers(g: Graph, x: Value) -> Value:
    """x, its bools as NumPy counts them."""
    return g.cast(x, _INT8) if x.dtype == BOOL else x


def _on_floats(kind: str) -> Writer:
    return lambda g, x: g.op(kind, g.floats(x), shape=x.shape)


def _on_numbers(kind: str) -> Writer:
    return lambda g, *xs: g.op(kind, *[numbers(g, x) for x in xs], shape=g.result.shape)


def _compared(kind: str) -> Writer:
    return lambda g, x, y: g.op(kind, numbers(g, x), numbers(g, y), shape=g.result.shape)


def _logical(kind: str) -> Writer:
    return lambda g, *xs: g.op(kind, *[g.cast(x, BOOL) for x in xs], shape=g.result.shape)


def _rounded(kind: str) -> Writer:
    return lambda g, x: g.op(kind, x, shape=x.shape) if is_floating(x.dtype) else x


_FLOAT_FUNCTIONS = {
    **{name: name.capitalize() for name in ("exp", "log", "sqrt", "sin", "cos", "tan", "tanh")},
    **{name: name.capitalize() for name in ("sinh", "cosh", "asin", "acos", "atan", "asinh")},
    **{name: name.capitalize() for name in ("acosh", "atanh", "erf", "sigmoid", "reciprocal")},
}
_TRUTHS = {
    **{"equal": "Equal", "less_than": "Less", "greater_than": "Greater"},
    **{"less_equal": "LessOrEqual", "greater_equal": "GreaterOrEqual"},
}
rows({name: _on_floats(kind) for name, kind in _FLOAT_FUNCTIONS.items()})
rows({name: _compared(kind) for name, kind in _TRUTHS.items() if name != "equal"})
rows({name: _rounded(name.capitalize()) for name in ("floor", "ceil", "round")})
rows({f"logical_{name}": _logical(name.capitalize()) for name in ("and", "or", "xor", "not")})
rows(
    {
        "equal": lambda g, x, y: g.op("Equal", x, y, shape=g.result.shape),
        "not_equal": lambda g, x, y: g.op("Not", g.op("Equal", x, y), shape=g.result.shape),
        "subtract": _on_numbers("Sub"),
        "neg": _on_numbers("Neg"),
        "square": lambda g, x: g.op("Mul", numbers(g, x), numbers(g, x), shape=x.shape),
        "rsqrt": lambda g, x: g.op("Reciprocal", g.op("Sqrt", g.floats(x)), shape=x.shape),
        "divide": lambda g, x, y: g.op("Div", g.floats(x), g.floats(y), shape=g.result.shape),
        "cast": lambda g, x, dtype: g.cast(x, np.dtype(dtype)),
        "bitcast": lambda g, x, dtype: g.op(
            "BitCast", x, dtype=np.dtype(dtype), to=element_number(np.dtype(dtype)), shape=x.shape
        ),
        "assign": lambda g, x: x,
        "detach": lambda g, x: x,
        "set_stop_gradient": lambda g, x, value: x,
        "sealed": lambda g, x, *behind, maker: x,
        "sealed_results": lambda g, *values, count, maker: values[:count],
        "straight_through": lambda g, x, source: g.expand(x, g.result.shape),
        "conj": lambda g, x: x,
        "real": lambda g, x: x,
        "reshard": lambda g, x, mesh, placements: x,
    }
)


@write("add", "multiply", "maximum", "minimum")
def _joined(g: Graph, x: Value, y: Value) -> Value:
    name = g.operator.name if g.operator else ""
    if x.dtype == BOOL:
        is_any = name in ("add", "maximum")
        return g.op("Or" if is_any else "And", x, y, shape=g.result.shape)
    kind = {"add": "Add", "multiply": "Mul", "maximum": "Max", "minimum": "Min"}[name]
    return g.op(kind, x, y, shape=g.result.shape)


@write("abs")
def _abs(g: Graph, x: Value) -> Value:
    return x if x.dtype == BOOL or x.dtype.kind == "u" else g.op("Abs", x, shape=x.shape)


@write("sign")
def _sign(g: Graph, x: Value) -> Value:
    return g.op("Sign", numbers(g, x), shape=x.shape)


@write("relu")
def _relu(g: Graph, x: Value) -> Value:
    if is_floating(x.dtype):
        return g.op("Relu", x, shape=x.shape)
    is_whole = x.dtype == BOOL or x.dtype.kind == "u"
    return x if is_whole else g.op("Max", x, g.like(x, 0), shape=x.shape)


@write("trunc")
def _trunc(g: Graph, x: Value) -> Value:
    if not is_floating(x.dtype):
        return x
    is_below = g.op("Less", x, g.like(x, 0))
    return g.where(is_below, g.op("Ceil", x), g.op("Floor", x), x.shape)


@write("where")
def _where(g: Graph, condition: Value, x: Value, y: Value) -> Value:
    return g.where(g.cast(condition, BOOL), x, y, g.result.shape)


@write("expm1")
def _expm1(g: Graph, x: Value) -> Value:
    """(e**x + 1) * tanh(x / 2), which is exact near 0."""
    x = g.longer(g.floats(x))
    half = g.op("Tanh", g.op("Mul", x, g.like(x, 0.5)))
    power = g.op("Exp", x)
    made = g.op("Mul", g.op("Add", power, g.like(x, 1)), half, shape=x.shape)
    # Where e**x is infinite, so is the product; where tanh is 1 to the last bit it is e**x.
    return g.where(g.op("Greater", x, g.like(x, 20)), power, made, x.shape)


@write("log1p")
def _log1p(g: Graph, x: Value) -> Value:
    """log(u) * x / (u - 1) for u = x + 1, as it is rounded; x itself where that is 1."""
    x = g.longer(g.floats(x))
    one, more = g.like(x, 1), g.op("Add", x, g.like(x, 1))
    apart = g.op("Sub", more, one)
    log = g.op("Log", more)
    is_none = g.op("Equal", apart, g.like(x, 0))
    ratio = g.op("Div", x, g.where(is_none, one, apart))
    near = g.where(is_none, x, g.op("Mul", log, ratio))
    return g.where(g.op("Greater", x, one), log, near, x.shape)


def _log_to(base: float) -> Writer:
    def run(g: Graph, x: Value) -> Value:
        x = g.longer(g.floats(x))
        return g.op("Div", g.op("Log", x), g.like(x, math.log(base)), shape=x.shape)

    return run


rows({"log2": _log_to(2.0), "log10": _log_to(10.0)})


@write("isnan", "isinf", "isfinite")
def _kinds_of_numbers(g: Graph, x: Value) -> Value:
    name = g.operator.name if g.operator else ""
    if not is_floating(x.dtype):
        return g.expand(g.const(name == "isfinite"), x.shape or ())
    x = g.longer(x)
    if name == "isnan":
        return g.op("IsNaN", x, shape=x.shape)
    if name == "isinf":
        return g.op("IsInf", x, shape=x.shape)
    return g.op("Not", g.op("Or", g.op("IsNaN", x), g.op("IsInf", x)), shape=x.shape)


@write("signbit")
def _signbit(g: Graph, x: Value) -> Value:
    if not is_floating(x.dtype):
        return g.op("Less", x, g.like(x, 0), shape=x.shape)
    x = g.longer(x)
    zero = g.like(x, 0)
    below = g.op("Less", g.op("Reciprocal", x), zero)
    is_zero = g.op("Equal", x, zero)
    return g.op("Or", g.op("Less", x, zero), g.op("And", is_zero, below), shape=x.shape)


@write("clip")
def _clip(g: Graph, x: Value, min: Any, max: Any) -> Value:
    """As maximum, then minimum: where the limits are in the wrong order the upper one holds."""
    if not is_floating(x.dtype) or not all(
        isinstance(n, (int, float, type(None))) for n in (min, max)
    ):
        return NotImplemented  # type: ignore[no-any-return]
    limits = [None if limit is None else g.like(x, limit) for limit in (min, max)]
    return g.op("Clip", x, *limits, kernel="Exp", shape=x.shape)


@write("relu6")
def _relu6(g: Graph, x: Value) -> Value:
    if not is_floating(x.dtype):
        return NotImplemented  # type: ignore[no-any-return]
    return g.op("Clip", x, g.like(x, 0), g.like(x, 6), kernel="Exp", shape=x.shape)


@write("leaky_relu")
def _leaky_relu(g: Graph, x: Value, negative_slope: Any) -> Value:
    if not is_floating(x.dtype) or not isinstance(negative_slope, (int, float)):
        return NotImplemented  # type: ignore[no-any-return]
    return g.op("LeakyRelu", x, alpha=float(negative_slope), shape=x.shape)


@write("gelu")
def _gelu(g: Graph, x: Value, approximate: bool) -> Value:
    # Its constants are of float32.
    if g.opset < 20 or not is_floating(x.dtype) or x.dtype.itemsize > 4:
        return NotImplemented  # type: ignore[no-any-return]
    return g.op("Gelu", x, approximate="tanh" if approximate else "none", shape=x.shape)


# -- integers ------------------------------------------------------------------------------------


def nonzero(g: Graph, y: Value) -> Value:
    """A divisor; where it may be 0 the model fails, and 1 stands in its place."""
    if y.number is not None and y.number.all():
        return y
    is_zero = g.op("Equal", y, g.like(y, 0))
    g.require(g.all_of(g.op("Not", is_zero, shape=y.shape)))
    return g.where(is_zero, g.like(y, 1), y, y.shape)


def _whole(g: Graph, x: Value) -> Value:
    """Integers in a dtype that Div and Mod have."""
    x = numbers(g, x)
    return g.cast(x, INT32) if x.dtype.itemsize < 4 else x


@write("floor_divide")
def _floor_divide(g: Graph, x: Value, y: Value) -> Value:
    if not is_floating(x.dtype):
        x, y = _whole(g, x), nonzero(g, _whole(g, y))
        zero = g.like(x, 0)
        has_rest = g.op("Not", g.op("Equal", g.op("Mod", x, y), zero))
        is_below = g.op("Xor", g.op("Less", x, zero), g.op("Less", y, zero))
        less = g.cast(g.op("And", has_rest, is_below), x.dtype)
        return g.op("Sub", g.op("Div", x, y), less, shape=g.result.shape)
    x, y = g.longer(x), g.longer(y)
    # By way of the remainder, so that the quotient is exact.
    rest = g.op("Mod", x, y, fmod=1)
    quotient = g.op("Div", g.op("Sub", x, rest), y)
    is_less = g.cast(_is_other(g, rest, y), x.dtype)
    whole = g.op("Round", g.op("Sub", quotient, is_less))
    plain = g.op("Div", x, y)
    whole = g.where(g.op("Equal", whole, g.like(x, 0)), g.op("Mul", plain, g.like(x, 0)), whole)
    is_plain = g.op("Equal", y, g.like(y, 0))
    return g.where(is_plain, plain, whole, g.result.shape)


def _is_other(g: Graph, rest: Value, y: Value) -> Value:
    """Whether a remainder of the sign of x has not that of y."""
    zero = g.like(y, 0)
    is_other = g.op("Xor", g.op("Less", rest, zero), g.op("Less", y, zero))
    return g.op("And", g.op("Not", g.op("Equal", rest, zero)), is_other)


@write("remainder")
def _remainder(g: Graph, x: Value, y: Value) -> Value:
    if not is_floating(x.dtype):
        return g.op("Mod", _whole(g, x), nonzero(g, _whole(g, y)), shape=g.result.shape)
    x, y = g.longer(x), g.longer(y)
    rest = g.op("Mod", x, y, fmod=1)
    more = g.where(_is_other(g, rest, y), y, g.op("Mul", y, g.like(y, 0)))
    is_infinite = g.op("IsInf", y)
    more = g.where(g.op("And", is_infinite, g.op("Not", _is_other(g, rest, y))), g.like(y, 0), more)
    return g.op("Add", rest, more, shape=g.result.shape)


@write("pow")
def _pow(g: Graph, x: Value, y: Value) -> Value:
    x, y = numbers(g, x), numbers(g, y)
    exponent = y.number.item() if y.number is not None and y.number.size == 1 else None
    if exponent in (1, 2, 3) and (x.shape == g.result.shape):
        made = x
        for _ in range(int(exponent) - 1):
            made = g.op("Mul", made, x, shape=x.shape)
        return made
    if is_floating(x.dtype):
        return g.op("Pow", x, y, shape=g.result.shape)
    if y.dtype.kind == "i" and exponent is None:
        g.require(g.all_of(g.op("GreaterOrEqual", y, g.like(y, 0), shape=y.shape)))
    elif exponent is not None and exponent < 0:
        g.require(g.const(False))
    return _power_of_integers(g, x, y)


def _power_of_integers(g: Graph, x: Value, y: Value) -> Value:
    """By squares, since `Pow` may compute in floats: the product wraps round as NumPy's does."""
    x, y = g.cast(x, INT64), g.cast(y, INT64)
    two, one, zero = (g.const(np.int64(n)) for n in (2, 1, 0))
    bits = int(np.max(y.number, initial=1)).bit_length() if y.number is not None else 6
    y = g.op("Max", y, zero)
    made: Value = one
    for place in range(bits):
        has_bit = g.op("Equal", g.op("Mod", y, two), one)
        made = g.op("Mul", made, g.where(has_bit, x, one))
        y = g.op("Div", y, two)
        if place < bits - 1:
            x = g.op("Mul", x, x)
    # Longer powers are those of -1, 0 and 1, or have lost all bits but those of odd numbers.
    return made


def _bitwise(name: str) -> Writer:
    def run(g: Graph, *xs: Value) -> Value:
        if xs[0].dtype == BOOL:
            return g.op(name, *xs, shape=g.result.shape)
        return g.op(f"Bitwise{name}", *xs, shape=g.result.shape)

    return run


rows({f"bitwise_{name.lower()}": _bitwise(name) for name in ("And", "Or", "Xor", "Not")})


@write("angle")
def _angle(g: Graph, x: Value) -> Value:
    x = g.longer(g.floats(x))
    is_below = g.op("Less", x, g.like(x, 0))
    return g.where(is_below, g.like(x, math.pi), g.op("Mul", x, g.like(x, 0)), x.shape)
