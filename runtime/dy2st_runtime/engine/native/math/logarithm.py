"""log to several bases, log1p, the inverses of sinh, cosh and tanh, and log(e**x + e**y).

x = 2**e * (1 + f) with 1 + f between sqrt(1/2) and sqrt(2). float32: log(1 + f) = f + f**2 * P(f).
float64: with s = f / (2 + f), it is 2 * atanh(s) = 2 * s + s**3 * P(s**2), summed so that what is
small is added first.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from dy2st_runtime.engine.native.math.exponential import exp, format_of
from dy2st_runtime.engine.native.text.lanes import FLOAT64, Lanes, Value, integers_of

_SHORT = (
    *(-0.4999998835, 0.3333332569, -0.2500158298, 0.2000197398, -0.1660908234),
    *(0.1418182418, -0.1324298842, 0.1290443899, -0.0762178362),
)
_LONG = (
    *(0.666666666666673464, 0.399999999994127986, 0.285714287428881832, 0.222221985137881577),
    *(0.181835678103461338, 0.15313951696346274, 0.147970319873784303),
)


class _Base(NamedTuple):
    """log(2) and log(e) to a base; of log(2) the upper bits, whose product with e is exact."""

    high: dict[int, float]
    low: dict[int, float]
    factor: float


NATURAL = _Base(
    {4: 0.693359375, 8: 6.93147180369123816490e-01},
    {4: -2.12194440054690583e-4, 8: 1.90821492927058770002e-10},
    1.0,
)
BINARY = _Base({4: 1.0, 8: 1.0}, {4: 0.0, 8: 0.0}, 1 / math.log(2))
DECIMAL = _Base(
    {4: 0.30078125, 8: 0.3010299955494702},
    {4: 2.48745663981195214e-4, 8: 1.14511008980218387e-10},
    1 / math.log(10),
)


def exponent_of(lanes: Lanes, x: Value) -> tuple[Value, Value]:
    """e as an integer, and 1 + f."""
    form, whole = format_of(x.dtype), integers_of(x.dtype)
    bits, places = lanes.bits(x, whole), lanes.constant(form.mantissa, whole)
    root = np.array(0.5**0.5, x.dtype).view(whole)
    e = lanes.binary("ashr", lanes.subtract(bits, lanes.constant(root, whole)), places)
    rest = lanes.subtract(bits, lanes.binary("shl", e, places))
    return e, lanes.bits(rest, x.dtype)


def _near_one(lanes: Lanes, f: Value) -> Value:
    """log(1 + f)."""
    square = lanes.multiply(f, f)
    if f.dtype.itemsize == 4:
        return lanes.fma(square, lanes.polynomial(f, _SHORT), f)
    half = lanes.multiply(square, lanes.constant(0.5, f.dtype))
    s = lanes.divide(f, lanes.add(f, lanes.constant(2, f.dtype)))
    z = lanes.multiply(s, s)
    series = lanes.fma(z, lanes.polynomial(z, _LONG), half)
    return lanes.subtract(f, lanes.subtract(half, lanes.multiply(s, series)))


def _sum(lanes: Lanes, e: Value, near: Value, base: _Base) -> Value:
    """e * log(2) + near * log(e) to a base."""
    size, dtype = near.dtype.itemsize, near.dtype
    if base.low[size]:
        small = lanes.multiply(e, lanes.constant(base.low[size], dtype))
        near = lanes.fma(near, lanes.constant(base.factor, dtype), small)
    elif base.factor != 1.0:
        near = lanes.multiply(near, lanes.constant(base.factor, dtype))
    return lanes.fma(e, lanes.constant(base.high[size], dtype), near)


def _with_ends(lanes: Lanes, x: Value, result: Value) -> Value:
    """The logarithm of x, given what it is of x that is above 0 and finite."""
    zero, infinity = (lanes.constant(number, x.dtype) for number in (0.0, math.inf))
    least, none = (lanes.constant(number, x.dtype) for number in (-math.inf, math.nan))
    is_above = lanes.compare("gt", x, zero)
    end = lanes.select(lanes.compare("eq", x, zero), least, none)
    end = lanes.select(is_above, x, end)
    is_usual = lanes.both(is_above, lanes.compare("lt", x, infinity))
    return lanes.select(is_usual, result, end)


def log_to(lanes: Lanes, x: Value, base: _Base) -> Value:
    """The logarithm to a base; subnormals are made larger first."""
    dtype = x.dtype
    steps = 24 if dtype.itemsize == 4 else 54
    is_small = lanes.compare("lt", x, lanes.constant(np.finfo(dtype).tiny, dtype))
    larger = lanes.multiply(x, lanes.constant(2.0**steps, dtype))
    e, mantissa = exponent_of(lanes, lanes.select(is_small, larger, x))
    less = lanes.select(is_small, lanes.constant(steps, dtype), lanes.constant(0, dtype))
    e = lanes.subtract(lanes.small_integer(e, x.dtype), less)
    near = _near_one(lanes, lanes.subtract(mantissa, lanes.constant(1, dtype)))
    return _with_ends(lanes, x, _sum(lanes, e, near, base))


def log(lanes: Lanes, x: Value) -> Value:
    """The natural logarithm."""
    return log_to(lanes, x, NATURAL)


def log2(lanes: Lanes, x: Value) -> Value:
    """The logarithm to base 2."""
    return log_to(lanes, x, BINARY)


def log10(lanes: Lanes, x: Value) -> Value:
    """The logarithm to base 10."""
    return log_to(lanes, x, DECIMAL)


def log1p(lanes: Lanes, x: Value) -> Value:
    """log(1 + x): what the sum 1 + x loses is added to f."""
    dtype, one = x.dtype, lanes.constant(1, x.dtype)
    total = lanes.add(one, x, exactly=True)
    share = lanes.subtract(total, one, exactly=True)
    lost = lanes.subtract(one, lanes.subtract(total, share, exactly=True), exactly=True)
    lost = lanes.add(lost, lanes.subtract(x, share, exactly=True), exactly=True)
    e, mantissa = exponent_of(lanes, total)
    form = format_of(dtype)
    least = lanes.intrinsic("smin", e, lanes.constant(form.bias - 1, e.dtype))
    places = lanes.binary("shl", least, lanes.constant(form.mantissa, e.dtype))
    unit = lanes.constant(form.bias << form.mantissa, e.dtype)
    scale = lanes.bits(lanes.subtract(unit, places), dtype)
    f = lanes.fma(lost, scale, lanes.subtract(mantissa, one))
    result = _sum(lanes, lanes.small_integer(e, x.dtype), _near_one(lanes, f), NATURAL)
    return lanes.intrinsic("copysign", _with_ends(lanes, total, result), x)


# -- inverses of sinh, cosh, tanh: of float32 in float64 ------------------------------------------


def asinh(lanes: Lanes, x: Value) -> Value:
    """log(|x| + sqrt(x**2 + 1)), with the sign of x."""
    size = lanes.magnitude(lanes.cast(x, FLOAT64))
    one = lanes.constant(1, FLOAT64)
    square = lanes.multiply(size, size)
    below = lanes.add(lanes.intrinsic("sqrt", lanes.add(square, one)), one)
    more = lanes.add(size, lanes.divide(square, below))
    result = lanes.cast(_log1p_or_log(lanes, size, more), x.dtype)
    return lanes.intrinsic("copysign", result, x)


def acosh(lanes: Lanes, x: Value) -> Value:
    """log(x + sqrt(x**2 - 1)), by what x is above 1."""
    size = lanes.cast(x, FLOAT64)
    above = lanes.subtract(size, lanes.constant(1, FLOAT64))
    square = lanes.fma(above, above, lanes.add(above, above))
    more = lanes.add(above, lanes.intrinsic("sqrt", square))
    found = lanes.cast(_log1p_or_log(lanes, size, more), x.dtype)
    is_inside = lanes.compare("ge", x, lanes.constant(1, x.dtype))
    return lanes.select(is_inside, found, lanes.constant(math.nan, x.dtype))


def _log1p_or_log(lanes: Lanes, size: Value, more: Value) -> Value:
    """log1p(more); log(2 * size) where the square of size may be too large."""
    is_large = lanes.compare("gt", size, lanes.constant(2.0**60, FLOAT64))
    found = log1p(lanes, lanes.select(is_large, size, more))
    return lanes.select(is_large, lanes.add(found, lanes.constant(math.log(2), FLOAT64)), found)


def atanh(lanes: Lanes, x: Value) -> Value:
    """log1p(2 * |x| / (1 - |x|)) / 2, with the sign of x."""
    size = lanes.magnitude(lanes.cast(x, FLOAT64))
    rest = lanes.subtract(lanes.constant(1, FLOAT64), size)
    found = log1p(lanes, lanes.divide(lanes.add(size, size), rest))
    found = lanes.multiply(found, lanes.constant(0.5, FLOAT64))
    return lanes.intrinsic("copysign", lanes.cast(found, x.dtype), x)


def logaddexp(lanes: Lanes, x: Value, y: Value) -> Value:
    """max(x, y) + log1p(e**-|x - y|); equal ones, infinities among them, are ln(2) apart."""
    apart = lanes.magnitude(lanes.subtract(x, y, exactly=True))
    small = log1p(lanes, exp(lanes, lanes.negate(apart)))
    larger = lanes.maximum(x, y)
    twice = lanes.constant(math.log(2), x.dtype)
    more = lanes.select(lanes.compare("eq", x, y), twice, small)
    return lanes.add(larger, more)
