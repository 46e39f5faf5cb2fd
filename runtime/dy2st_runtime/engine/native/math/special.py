"""Computes special functions in float64: the gamma family, and modified Bessel functions.

lgamma: with |t| <= 1/2, lgamma(2 + t) = t * P(t); products bring what is below 8 there. Beyond, it
is Stirling's series. The derivatives: a sum of the first terms, then the series at infinity. What
is left of 0 is reflected.

The incomplete gamma functions: below a + 1 the lower part by its power series; beyond, the upper
part by Lentz's continued fraction. Both go on until no lane changes any more.

The modified Bessel functions of order 0 and 1 by the polynomials of `ops/bessel_series.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from dy2st_runtime.engine.native.math.exponential import exp
from dy2st_runtime.engine.native.math.logarithm import log
from dy2st_runtime.engine.native.math.trigonometric import sin, tan
from dy2st_runtime.engine.native.text.lanes import Lanes, Value
from dy2st_runtime.ops import bessel_series
from dy2st_runtime.ops.gamma_series import (
    DIGAMMA,
    DIGAMMA_NEAR,
    FAR,
    NEAR,
    ROOT,
    STIRLING,
    cotangent_slope,
    euler_maclaurin,
)


def _angle(lanes: Lanes, x: Value) -> Value:
    """x without the nearest integer, beyond 1/2, times pi."""
    is_near = lanes.compare("le", lanes.magnitude(x), lanes.constant(0.5, x.dtype))
    less = lanes.subtract(x, lanes.intrinsic("rint", x), exactly=True)
    return lanes.multiply(lanes.select(is_near, x, less), lanes.constant(math.pi, x.dtype))


# -- the logarithm --------------------------------------------------------------------------------


def lgamma(lanes: Lanes, x: Value) -> Value:
    """log(|gamma(x)|); inf at 0, -1, -2, ... and at -inf."""
    is_left = lanes.compare("le", x, lanes.constant(-0.5, x.dtype))
    size = lanes.magnitude(x)
    right = _right(lanes, lanes.select(is_left, size, x))

    def reflected() -> Value:
        sine = lanes.magnitude(sin(lanes, _angle(lanes, size)))
        found = lanes.add(log(lanes, lanes.multiply(size, sine)), right)
        found = lanes.subtract(lanes.constant(math.log(math.pi), x.dtype), found)
        is_pole = lanes.compare("eq", size, lanes.intrinsic("rint", size))
        found = lanes.select(is_pole, lanes.constant(math.inf, x.dtype), found)
        return lanes.select(is_left, found, right)

    return lanes.where_any(is_left, reflected, lambda: right)


def _right(lanes: Lanes, x: Value) -> Value:
    """Above -1/2: of one logarithm, of x or of what brings it between 1.5 and 2.5."""
    half, one, down, far = (lanes.constant(number, x.dtype) for number in (0.5, 1, 1.5, FAR))
    is_tiny, is_small = (lanes.compare("lt", x, limit) for limit in (half, down))
    is_far = lanes.compare("ge", x, far)
    t, product = _moved_down(lanes, x)
    t = lanes.select(is_small, lanes.subtract(x, one, exactly=True), t)
    t = lanes.select(is_tiny, x, t)
    inside = lanes.select(is_small, x, product)
    inside = lanes.select(is_tiny, lanes.magnitude(lanes.fma(x, x, x)), inside)
    power = log(lanes, lanes.select(is_far, x, inside))
    signed = lanes.select(is_small, lanes.negate(power), power)
    near = lanes.fma(t, lanes.polynomial(t, NEAR), signed)
    # (x - 1/2) * (log(x) - 1) + (log(2 * pi) - 1) / 2 + series.
    share = lanes.divide(lanes.constant(1, x.dtype), x)
    series = lanes.polynomial(lanes.multiply(share, share), STIRLING)
    rest = lanes.fma(share, series, lanes.constant((math.log(2 * math.pi) - 1) / 2, x.dtype))
    below = lanes.subtract(x, lanes.constant(0.5, x.dtype))
    far = lanes.fma(below, lanes.subtract(power, lanes.constant(1, x.dtype)), rest)
    return lanes.select(is_far, far, near)


def _moved_down(lanes: Lanes, x: Value) -> tuple[Value, Value]:
    """t = x - k - 2 below 1/2, and the product of what is gamma(x) / gamma(2 + t)."""
    one, limit = lanes.constant(1, x.dtype), lanes.constant(2.5, x.dtype)
    product = one
    for _ in range(FAR - 2):
        is_above, less = lanes.compare("ge", x, limit), lanes.subtract(x, one, exactly=True)
        x = lanes.select(is_above, less, x)
        product = lanes.select(is_above, lanes.multiply(product, x), product)
    return lanes.subtract(x, lanes.constant(2, x.dtype), exactly=True), product


# -- its derivatives ------------------------------------------------------------------------------


def polygamma(n: int) -> Callable[[Lanes, Value], Value]:
    """What writes the derivative of order n + 1."""
    return _digamma if n == 0 else lambda lanes, x: _slope(lanes, x, n)


def _digamma(lanes: Lanes, x: Value) -> Value:
    """NaN at -1, -2, ..."""
    is_left = lanes.compare("lt", x, lanes.constant(0.5, x.dtype))
    one = lanes.constant(1, x.dtype)
    right = _digamma_right(lanes, lanes.select(is_left, lanes.subtract(one, x), x))

    def reflected() -> Value:
        pi, zero = lanes.constant(math.pi, x.dtype), lanes.constant(0, x.dtype)
        found = lanes.subtract(right, lanes.divide(pi, tan(lanes, _angle(lanes, x))))
        is_whole = lanes.compare("eq", x, lanes.intrinsic("rint", x))
        is_pole = lanes.both(is_whole, lanes.compare("lt", x, zero))
        found = lanes.select(is_pole, lanes.constant(math.nan, x.dtype), found)
        return lanes.select(is_left, found, right)

    return lanes.where_any(is_left, reflected, lambda: right)


def _digamma_right(lanes: Lanes, x: Value) -> Value:
    """From 1/2 on: steps to between 1 and 2, where it is a polynomial, or the series beyond 10."""
    one, two, far = (lanes.constant(number, x.dtype) for number in (1, 2, 10))
    is_far, is_below = lanes.compare("ge", x, far), lanes.compare("lt", x, one)
    share = lanes.divide(one, x)
    square = lanes.multiply(share, share)
    rest = lanes.multiply(square, lanes.polynomial(square, DIGAMMA))
    rest = lanes.fma(share, lanes.constant(0.5, x.dtype), rest)
    beyond = lanes.subtract(log(lanes, x), rest)
    # 1 / (x - 1) + 1 / (x - 2) + ... as one fraction
    zero = lanes.constant(0, x.dtype)
    above, below = lanes.select(is_below, lanes.constant(-1, x.dtype), zero), one
    below = lanes.select(is_below, x, below)
    x = lanes.select(is_below, lanes.add(x, one), x)
    for _ in range(8):
        is_large, less = lanes.compare("ge", x, two), lanes.subtract(x, one, exactly=True)
        x = lanes.select(is_large, less, x)
        above = lanes.select(is_large, lanes.fma(above, x, below), above)
        below = lanes.select(is_large, lanes.multiply(below, x), below)
    moved = lanes.subtract(x, lanes.constant(ROOT[0], x.dtype), exactly=True)
    moved = lanes.subtract(moved, lanes.constant(ROOT[1], x.dtype), exactly=True)
    near = lanes.fma(moved, lanes.polynomial(moved, DIGAMMA_NEAR), lanes.divide(above, below))
    return lanes.select(is_far, beyond, near)


def _slope(lanes: Lanes, x: Value, n: int) -> Value:
    is_left = lanes.compare("lt", x, lanes.constant(0, x.dtype))
    reflected_x = lanes.subtract(lanes.constant(1, x.dtype), x)
    factor = math.factorial(n) * (-1) ** (n + 1)
    total = _powers(lanes, lanes.select(is_left, reflected_x, x), n + 1)
    right = lanes.multiply(total, lanes.constant(factor, x.dtype))

    def reflected() -> Value:
        cotangent = lanes.divide(lanes.constant(1, x.dtype), tan(lanes, _angle(lanes, x)))
        slope = lanes.polynomial(cotangent, cotangent_slope(n))
        less = lanes.multiply(slope, lanes.constant(math.pi ** (n + 1), x.dtype))
        found = lanes.subtract(right if n % 2 == 0 else lanes.negate(right), less)
        return lanes.select(is_left, found, right)

    return lanes.where_any(is_left, reflected, lambda: right)


def _powers(lanes: Lanes, x: Value, s: int) -> Value:
    """The sum of (x + k)**-s over all k from 0 on: the first ones, then Euler and Maclaurin."""
    one, total = lanes.constant(1, x.dtype), lanes.constant(0, x.dtype)
    for _ in range(12):
        total = lanes.add(total, _power(lanes, lanes.divide(one, x), s))
        x = lanes.add(x, one)
    share = lanes.divide(one, x)
    series = lanes.polynomial(lanes.multiply(share, share), euler_maclaurin(s))
    series = lanes.fma(share, series, lanes.constant(0.5, x.dtype))
    series = lanes.fma(share, series, lanes.constant(1 / (s - 1), x.dtype))
    return lanes.fma(_power(lanes, share, s - 1), series, total)


def _power(lanes: Lanes, x: Value, n: int) -> Value:
    """x**n for whole n from 1 on."""
    if n == 1:
        return x
    half = _power(lanes, x, n // 2)
    square = lanes.multiply(half, half)
    return lanes.multiply(square, x) if n % 2 else square


_STEPS = 2000
_LEAST = 1e-300


def incomplete(upper: bool) -> Callable[[Lanes, Value, Value], Value]:
    """What writes the upper or the lower part, divided by all."""

    def write(lanes: Lanes, a: Value, y: Value) -> Value:
        one, zero, none, endless = _constants(lanes, a, 1, 0, math.nan, math.inf)
        is_low = lanes.compare("lt", y, lanes.add(a, one))
        lower, higher = _below(lanes, a, y, is_low), _above(lanes, a, y, is_low)
        part = lanes.multiply(lanes.select(is_low, lower, higher), _scale(lanes, a, y))
        is_other = is_low if upper else lanes.invert(is_low)
        found = lanes.select(is_other, lanes.subtract(one, part), part)
        at_0, at_inf = (one, zero) if upper else (zero, one)
        found = lanes.select(lanes.compare("eq", y, endless), at_inf, found)
        found = lanes.select(lanes.compare("eq", y, zero), at_0, found)
        found = lanes.select(lanes.compare("eq", a, zero), at_inf, found)
        outside = lanes.either(lanes.compare("lt", a, zero), lanes.compare("lt", y, zero))
        outside = lanes.either(outside, lanes.is_nan(lanes.add(a, y)))
        return lanes.select(outside, none, found)

    return write


def _constants(lanes: Lanes, like: Value, *numbers: float) -> list[Value]:
    return [lanes.constant(number, like.dtype) for number in numbers]


def _scale(lanes: Lanes, a: Value, y: Value) -> Value:
    """y**a * exp(-y) / gamma(a)."""
    power = lanes.subtract(lanes.multiply(a, log(lanes, y)), y)
    return exp(lanes, lanes.subtract(power, lgamma(lanes, a)))


def _below(lanes: Lanes, a: Value, y: Value, is_low: Value) -> Value:
    one, zero, small, last = _constants(lanes, a, 1, 0, 1e-17, _STEPS)
    first = lanes.select(is_low, lanes.divide(one, a), zero)

    def more(index: Value, term: Value, total: Value) -> Value:
        limit = lanes.multiply(lanes.magnitude(total), small)
        changes = lanes.compare("gt", lanes.magnitude(term), limit)
        return lanes.both(changes, lanes.compare("lt", index, last))

    def advance(index: Value, term: Value, total: Value) -> list[Value]:
        share = lanes.divide(y, lanes.add(a, index))
        term = lanes.multiply(term, share)
        return [lanes.add(index, one), term, lanes.add(total, term)]

    return lanes.iterate([one, first, first], more, advance)[2]


def _above(lanes: Lanes, a: Value, y: Value, is_low: Value) -> Value:
    """`change` is what the fraction was multiplied by last: 1 from then on where it was near it."""
    one, zero, two, large, small, last = _constants(lanes, a, 1, 0, 2, 1e300, 1e-15, _STEPS)
    step = lanes.subtract(lanes.add(y, one), a)
    first = lanes.divide(one, step)

    def changes(change: Value) -> Value:
        return lanes.compare("gt", lanes.magnitude(lanes.subtract(change, one)), small)

    def more(index: Value, change: Value, *_: Value) -> Value:
        return lanes.both(changes(change), lanes.compare("lt", index, last))

    def advance(index: Value, change: Value, *others: Value) -> list[Value]:
        step, c, d, total = others
        factor = lanes.multiply(index, lanes.subtract(a, index))
        step = lanes.add(step, two)
        d = lanes.divide(one, _not_zero(lanes, lanes.fma(factor, d, step)))
        c = _not_zero(lanes, lanes.add(step, lanes.divide(factor, c)))
        change = lanes.select(changes(change), lanes.multiply(c, d), one)
        return [lanes.add(index, one), change, step, c, d, lanes.multiply(total, change)]

    is_other = lanes.either(is_low, lanes.compare("lt", a, zero))
    start = lanes.select(is_other, one, zero)
    return lanes.iterate([one, start, step, large, first, first], more, advance)[5]


def _not_zero(lanes: Lanes, x: Value) -> Value:
    least = lanes.constant(_LEAST, x.dtype)
    return lanes.select(lanes.compare("lt", lanes.magnitude(x), least), least, x)


def bessel(order: int, is_scaled: bool) -> Callable[[Lanes, Value], Value]:
    """What writes the function of an order, times exp(-|x|) if it is scaled."""

    def write(lanes: Lanes, x: Value) -> Value:
        size = lanes.magnitude(x)
        is_near = lanes.compare("le", size, lanes.constant(bessel_series.FAR, x.dtype))
        half = lanes.multiply(size, lanes.constant(0.5, size.dtype))
        total = lanes.polynomial(lanes.multiply(half, half), bessel_series.NEAR_TERMS[order])
        near, far = (lanes.multiply(half, total) if order else total), _far(lanes, size, order)
        if is_scaled:
            less = lanes.select(is_near, lanes.negate(size), lanes.constant(0, x.dtype))
            near = lanes.multiply(near, exp(lanes, less))
        else:
            # Times exp(size), which may be too large where the product is not; inf stays.
            root = exp(lanes, lanes.multiply(size, lanes.constant(0.5, size.dtype)))
            found = lanes.multiply(lanes.multiply(far, root), root)
            is_endless = lanes.compare("eq", size, lanes.constant(math.inf, size.dtype))
            far = lanes.select(is_endless, size, found)
        found = lanes.select(is_near, near, far)
        return lanes.intrinsic("copysign", found, x) if order else found

    return write


def _far(lanes: Lanes, size: Value, order: int) -> Value:
    """Times exp(-size)."""
    share = lanes.divide(lanes.constant(1, size.dtype), size)
    total = lanes.polynomial(share, bessel_series.FAR_TERMS[order])
    return lanes.multiply(total, lanes.intrinsic("sqrt", share))


__all__ = ["bessel", "incomplete", "lgamma", "polygamma"]
