"""Rows of mathematical functions, and of activations made of them."""

from __future__ import annotations

from collections.abc import Callable

from dy2st_runtime.engine.native.lanes import Lanes, Value
from dy2st_runtime.engine.native.math import (
    arcs,
    error,
    exponential,
    logarithm,
    power,
    trigonometric,
)
from dy2st_runtime.engine.native.rows.row import Row, are, of_result, with_attributes


def _row(write: Callable[..., Value], cost: int) -> Row:
    return Row(of_result(write), cost)


def _sqrt(lanes: Lanes, x: Value) -> Value:
    return lanes.intrinsic("sqrt", x)


def _rsqrt(lanes: Lanes, x: Value) -> Value:
    return lanes.divide(lanes.constant(1, x.dtype), _sqrt(lanes, x))


def _silu(lanes: Lanes, x: Value) -> Value:
    return lanes.multiply(x, exponential.sigmoid(lanes, x))


def _softplus(lanes: Lanes, x: Value, beta: float, threshold: float) -> Value:
    factor = lanes.constant(beta, x.dtype)
    scaled = lanes.multiply(x, factor, exactly=True)
    smooth = logarithm.logaddexp(lanes, scaled, lanes.constant(0, x.dtype))
    is_above = lanes.compare("gt", scaled, lanes.constant(threshold, x.dtype))
    return lanes.select(is_above, x, lanes.divide(smooth, factor))


FUNCTIONS = {
    "sqrt": _row(_sqrt, 6),
    "rsqrt": _row(_rsqrt, 10),
    "exp": _row(exponential.exp, 22),
    "expm1": _row(exponential.expm1, 21),
    "log": _row(logarithm.log, 32),
    "log1p": _row(logarithm.log1p, 40),
    "log2": _row(logarithm.log2, 34),
    "log10": _row(logarithm.log10, 34),
    "logaddexp": _row(logarithm.logaddexp, 70),
    "sin": _row(trigonometric.sin, 30),
    "cos": _row(trigonometric.cos, 30),
    "tan": _row(trigonometric.tan, 36),
    "asin": _row(arcs.asin, 25),
    "acos": _row(arcs.acos, 25),
    "atan": _row(arcs.atan, 26),
    "atan2": _row(arcs.atan2, 32),
    "sinh": _row(exponential.sinh, 38),
    "cosh": _row(exponential.cosh, 32),
    "tanh": _row(exponential.tanh, 28),
    "asinh": _row(logarithm.asinh, 120),
    "acosh": _row(logarithm.acosh, 110),
    "atanh": _row(logarithm.atanh, 110),
    "erf": _row(error.erf, 35),
    "sigmoid": _row(exponential.sigmoid, 33),
    "silu": _row(_silu, 33),
    "pow": Row(of_result(power.pow), 100, are("f")),
    "gelu": Row(with_attributes(error.gelu), 39),
    "softplus": Row(with_attributes(_softplus), 77),
}

__all__ = ["FUNCTIONS"]
