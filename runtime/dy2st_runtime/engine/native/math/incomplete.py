"""The incomplete gamma functions, in float64, as NumPy's kernel has them.

Below a + 1 it is the lower part by its power series; beyond, the upper part by Lentz's continued
fraction. Both go on until no lane changes any more.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from dy2st_runtime.engine.native.math.exponential import exp
from dy2st_runtime.engine.native.math.gamma import lgamma
from dy2st_runtime.engine.native.math.logarithm import log
from dy2st_runtime.engine.native.text.lanes import Lanes, Value

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

    def turn(index: Value, term: Value, total: Value) -> list[Value]:
        share = lanes.divide(y, lanes.add(a, index))
        term = lanes.multiply(term, share)
        return [lanes.add(index, one), term, lanes.add(total, term)]

    return lanes.turns([one, first, first], more, turn)[2]


def _above(lanes: Lanes, a: Value, y: Value, is_low: Value) -> Value:
    """`change` is what the fraction was multiplied by last: 1 from then on where it was near it."""
    one, zero, two, large, small, last = _constants(lanes, a, 1, 0, 2, 1e300, 1e-15, _STEPS)
    step = lanes.subtract(lanes.add(y, one), a)
    first = lanes.divide(one, step)

    def changes(change: Value) -> Value:
        return lanes.compare("gt", lanes.magnitude(lanes.subtract(change, one)), small)

    def more(index: Value, change: Value, *_: Value) -> Value:
        return lanes.both(changes(change), lanes.compare("lt", index, last))

    def turn(index: Value, change: Value, *others: Value) -> list[Value]:
        step, c, d, total = others
        factor = lanes.multiply(index, lanes.subtract(a, index))
        step = lanes.add(step, two)
        d = lanes.divide(one, _not_zero(lanes, lanes.fma(factor, d, step)))
        c = _not_zero(lanes, lanes.add(step, lanes.divide(factor, c)))
        change = lanes.select(changes(change), lanes.multiply(c, d), one)
        return [lanes.add(index, one), change, step, c, d, lanes.multiply(total, change)]

    is_other = lanes.either(is_low, lanes.compare("lt", a, zero))
    start = lanes.select(is_other, one, zero)
    return lanes.turns([one, start, step, large, first, first], more, turn)[5]


def _not_zero(lanes: Lanes, x: Value) -> Value:
    least = lanes.constant(_LEAST, x.dtype)
    return lanes.select(lanes.compare("lt", lanes.magnitude(x), least), least, x)


__all__ = ["incomplete"]
