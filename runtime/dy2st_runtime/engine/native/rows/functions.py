"""Has the rows of mathematical functions, and of activations made of them."""

from __future__ import annotations

from collections.abc import Callable

from dy2st_runtime.engine.native.math import (
    arcs,
    error,
    exponential,
    logarithm,
    power,
    special,
    trigonometric,
)
from dy2st_runtime.engine.native.rows.row import Row, are, of_result, with_attributes
from dy2st_runtime.engine.native.text.lanes import FLOAT64, Lanes, Value


def _row(write: Callable[..., Value], cost: int) -> Row:
    return Row(of_result(write), cost)


def _sqrt(lanes: Lanes, x: Value) -> Value:
    return lanes.intrinsic("sqrt", x)


def _softplus(lanes: Lanes, x: Value, beta: float, threshold: float) -> Value:
    factor = lanes.constant(beta, x.dtype)
    scaled = lanes.multiply(x, factor, exactly=True)
    smooth = logarithm.logaddexp(lanes, scaled, lanes.constant(0, x.dtype))
    is_above = lanes.compare("gt", scaled, lanes.constant(threshold, x.dtype))
    return lanes.select(is_above, x, lanes.divide(smooth, factor))


def _long(write: Callable[..., Value], cost: int) -> Row:
    """In float64 whatever the dtype."""

    def emit(lanes: Lanes, *operands: Value) -> Value:
        found = write(lanes, *(lanes.cast(operand, FLOAT64) for operand in operands))
        return lanes.cast(found, operands[0].dtype)

    return _row(emit, cost)


_MOST = 30
"""Up to which order: powers of more have lost digits."""


FUNCTIONS = {
    "sqrt": _row(_sqrt, 6),
    "rsqrt": _row(lambda lanes, x: lanes.divide(lanes.constant(1, x.dtype), _sqrt(lanes, x)), 10),
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
    "silu": _row(lambda lanes, x: lanes.multiply(x, exponential.sigmoid(lanes, x)), 33),
    "pow": Row(of_result(power.pow), 100, are("f")),
    "gelu": Row(with_attributes(error.gelu), 39),
    "erfinv": _long(error.erfinv, 250),
    "lgamma": _long(special.lgamma, 250),
    "polygamma": Row(
        with_attributes(
            lambda lanes, x, n: lanes.cast(
                special.polygamma(n)(lanes, lanes.cast(x, FLOAT64)), x.dtype
            )
        ),
        400,
        lambda dtypes, attributes: bool(attributes["n"] <= _MOST),
    ),
    "gammainc": _long(special.incomplete(upper=False), 900),
    "gammaincc": _long(special.incomplete(upper=True), 900),
    "i0": _long(special.bessel(0, is_scaled=False), 160),
    "i0e": _long(special.bessel(0, is_scaled=True), 160),
    "i1": _long(special.bessel(1, is_scaled=False), 160),
    "i1e": _long(special.bessel(1, is_scaled=True), 160),
    "softplus": Row(with_attributes(_softplus), 77),
}

__all__ = ["FUNCTIONS"]
