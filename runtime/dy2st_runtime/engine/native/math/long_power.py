"""x**y of float64 that are not negative: e**(y * log(x)), with log(x) as a sum of two floats.

The product with y is as large as 745, so its error in the last place would be 500 of them in the
result. What a product or a sum loses is another float, found by a product and sum rounded once.
"""

from __future__ import annotations

import math

from dy2st_runtime.engine.native.math.exponential import exp
from dy2st_runtime.engine.native.math.logarithm import NATURAL, exponent_of
from dy2st_runtime.engine.native.text.lanes import FLOAT64, Lanes, Value

# 2 * atanh(s) = 2 * s + s**3 * (2 / 3 + s**2 * P(s**2))
_TAIL = (
    *(0.400000000000022645, 0.285714285700950237, 0.22222222520817051),
    *(0.181817842822480184, 0.153867615252460467, 0.13256713910275249),
    0.131973460766809419,
)
_TWO_THIRDS = (0.6666666666666666, 3.700743415417188e-17)

Pair = tuple[Value, Value]


def long_power(lanes: Lanes, size: Value, y: Value) -> Value:
    """size**y; NaN for 0 * inf in the exponent."""
    high, low = _log(lanes, size)
    product, lost = _product(lanes, y, high)
    more = lanes.add(lost, lanes.multiply(y, low))
    is_usual = lanes.compare("lt", lanes.magnitude(product), lanes.constant(800, FLOAT64))
    more = lanes.select(is_usual, more, lanes.constant(0, FLOAT64))
    return exp(lanes, product, more=more)


def _product(lanes: Lanes, x: Value, y: Value) -> Pair:
    """x * y, and what it loses."""
    product = lanes.multiply(x, y, exactly=True)
    return product, lanes.intrinsic("fma", x, y, lanes.negate(product))


def _total(lanes: Lanes, x: Value, y: Value) -> Pair:
    """x + y, and what it loses, where x is the larger one or 0."""
    total = lanes.add(x, y, exactly=True)
    return total, lanes.add(lanes.subtract(x, total, exactly=True), y, exactly=True)


def _log(lanes: Lanes, size: Value) -> Pair:
    zero, steps = lanes.constant(0, FLOAT64), lanes.constant(54, FLOAT64)
    is_small = lanes.compare("lt", size, lanes.constant(2.0**-1022, FLOAT64))
    larger = lanes.multiply(size, lanes.constant(2.0**54, FLOAT64))
    e, mantissa = exponent_of(lanes, lanes.select(is_small, larger, size))
    less = lanes.select(is_small, steps, zero)
    e = lanes.subtract(lanes.small_integer(e, FLOAT64), less)
    near, rest = _log_of_mantissa(lanes, mantissa)
    scale = lanes.multiply(e, lanes.constant(NATURAL.high[8], FLOAT64))
    high, lost = _total(lanes, scale, near)
    rest = lanes.add(rest, lanes.multiply(e, lanes.constant(NATURAL.low[8], FLOAT64)))
    low = lanes.add(lost, rest)
    infinity, least = (lanes.constant(end, FLOAT64) for end in (math.inf, -math.inf))
    is_usual = lanes.both(lanes.compare("gt", size, zero), lanes.compare("lt", size, infinity))
    end = lanes.select(lanes.compare("eq", size, zero), least, size)
    return lanes.select(is_usual, high, end), lanes.select(is_usual, low, zero)


def _log_of_mantissa(lanes: Lanes, mantissa: Value) -> Pair:
    """log of a number between sqrt(1/2) and sqrt(2), to some 65 bits."""
    one, two = lanes.constant(1, FLOAT64), lanes.constant(2, FLOAT64)
    f = lanes.subtract(mantissa, one, exactly=True)
    below, below_rest = _total(lanes, one, mantissa)
    s = lanes.divide(f, below)
    s_rest = lanes.intrinsic("fma", lanes.negate(s), below, f)
    s_rest = lanes.divide(lanes.subtract(s_rest, lanes.multiply(s, below_rest)), below)
    z, z_rest = _product(lanes, s, s)
    z_rest = lanes.fma(lanes.multiply(two, s), s_rest, z_rest)
    third, third_rest = (lanes.constant(part, FLOAT64) for part in _TWO_THIRDS)
    w, w_rest = _total(lanes, third, lanes.multiply(z, lanes.polynomial(z, _TAIL), exactly=True))
    w_rest = lanes.add(w_rest, third_rest)
    zw, zw_rest = _product(lanes, z, w)
    zw_rest = lanes.add(zw_rest, lanes.fma(z, w_rest, lanes.multiply(z_rest, w)))
    v, v_rest = _total(lanes, two, zw)
    v_rest = lanes.add(v_rest, zw_rest)
    found, rest = _product(lanes, s, v)
    return found, lanes.add(rest, lanes.fma(s, v_rest, lanes.multiply(s_rest, v)))
