"""x**y of floats: 2**(y * log2(|x|)), of float32 computed in float64; and of integers."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from dy2st_runtime.engine.native.math.exponential import format_of
from dy2st_runtime.engine.native.math.long_power import long_power
from dy2st_runtime.engine.native.text.lanes import FLOAT64, INT64, Lanes, Value

_LOG = (
    *(2.88539008177784916, 0.961796694114916583, 0.5770779418965139),
    *(0.412209300802973017, 0.319903665951473885, 0.282929810074540701),
)
_POWER = (
    *(1.00000000056304611, 0.693147206037343785, 0.240226468448972645, 0.0555032812360402098),
    *(0.00961849183702252223, 0.00134001955285641244, 0.000153455816016197692),
)


def pow(lanes: Lanes, x: Value, y: Value) -> Value:
    """x**y as C has it: 1 where x is 1 or y is 0, whatever the other one; NaN of roots of x < 0."""
    for exponent, write in _SHORT.items():
        if y.text == lanes.constant(exponent, y.dtype).text:
            return write(lanes, x)
    one, zero = lanes.constant(1, x.dtype), lanes.constant(0, x.dtype)
    size = lanes.magnitude(x)
    if x.dtype.itemsize == 8:
        power = long_power(lanes, size, y)
    else:
        wide = lanes.multiply(_log2(lanes, size), lanes.cast(y, FLOAT64))
        power = lanes.cast(_power_of_2(lanes, wide), x.dtype)
    is_one = lanes.either(lanes.compare("eq", size, one), lanes.compare("eq", y, zero))
    # Odd powers keep the sign of x, fractions of it have none: those of x < 0 are NaN.
    power = lanes.select(is_one, one, power)
    half = lanes.multiply(y, lanes.constant(0.5, x.dtype))
    is_whole = lanes.compare("eq", lanes.intrinsic("trunc", y), y)
    is_even = lanes.compare("eq", lanes.intrinsic("trunc", half), half)
    is_odd = lanes.both(is_whole, lanes.invert(is_even))
    minus = lanes.has_minus(x)
    power = lanes.select(lanes.both(minus, is_odd), lanes.negate(power), power)
    zero, infinity = lanes.constant(0, x.dtype), lanes.constant(-math.inf, x.dtype)
    is_root = lanes.both(lanes.compare("lt", x, zero), lanes.compare("ne", x, infinity))
    is_root = lanes.both(is_root, lanes.invert(is_whole))
    return lanes.select(is_root, lanes.constant(math.nan, x.dtype), power)


# Exponents that stand in the code: NumPy, too, takes the root for one 0.5 of all elements.
_SHORT: dict[float, Callable[[Lanes, Value], Value]] = {
    2: lambda lanes, x: lanes.multiply(x, x),
    3: lambda lanes, x: lanes.multiply(lanes.multiply(x, x), x),
    -1: lambda lanes, x: lanes.divide(lanes.constant(1, x.dtype), x),
    0.5: lambda lanes, x: lanes.intrinsic("sqrt", x),
}


def _log2(lanes: Lanes, size: Value) -> Value:
    """log2 of a float32 that is not negative, to 43 bits."""
    x, one = lanes.cast(size, FLOAT64), lanes.constant(1, FLOAT64)
    zero, infinity = lanes.constant(0, FLOAT64), lanes.constant(math.inf, FLOAT64)
    bits, places = lanes.bits(x, INT64), lanes.constant(52, INT64)
    root = lanes.constant(int(np.array(0.5**0.5).view(np.int64)), INT64)
    e = lanes.binary("ashr", lanes.subtract(bits, root), places)
    mantissa = lanes.bits(lanes.subtract(bits, lanes.binary("shl", e, places)), FLOAT64)
    s = lanes.divide(lanes.subtract(mantissa, one), lanes.add(mantissa, one))
    near = lanes.multiply(s, lanes.polynomial(lanes.multiply(s, s), _LOG))
    found = lanes.add(lanes.small_integer(e, FLOAT64), near)
    end = lanes.select(lanes.compare("eq", x, zero), lanes.constant(-math.inf, FLOAT64), x)
    is_usual = lanes.both(lanes.compare("gt", x, zero), lanes.compare("lt", x, infinity))
    return lanes.select(is_usual, found, end)


def _power_of_2(lanes: Lanes, x: Value) -> Value:
    """2**x in float64, to 29 bits; 0 or larger than any float32 outside of -160 to 160."""
    least, most = lanes.constant(-160, FLOAT64), lanes.constant(160, FLOAT64)
    x = lanes.select(lanes.compare("lt", x, least), least, x)
    x = lanes.select(lanes.compare("gt", x, most), most, x)
    form = format_of(FLOAT64)
    magic = lanes.constant(form.magic, FLOAT64)
    shifted = lanes.add(x, magic, exactly=True)
    r = lanes.subtract(x, lanes.subtract(shifted, magic, exactly=True))
    moved = lanes.binary("shl", lanes.bits(shifted, INT64), lanes.constant(52, INT64))
    scale = lanes.bits(lanes.add(moved, lanes.constant(form.bias << 52, INT64)), FLOAT64)
    return lanes.multiply(lanes.polynomial(r, _POWER), scale)
