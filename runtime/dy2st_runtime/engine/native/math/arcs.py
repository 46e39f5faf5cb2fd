"""atan, atan2, asin, acos.

atan(t) = t + t**3 * P(t**2) for t <= 1, in float64 for t <= sqrt(2) - 1, beyond which
(t - 1) / (t + 1) lies pi / 4 lower; larger t are inverted. One division serves it all.
asin(x) = x + x**3 * P(x**2) for x <= 1/2, and pi / 2 - 2 * asin(sqrt((1 - x) / 2)) beyond.
"""

from __future__ import annotations

import math

from dy2st_runtime.engine.native.text.lanes import Lanes, Value

_ARC = {
    4: (
        *(-0.3333329909, 0.1999854829, -0.1426424174, 0.1095218606, -0.0840345117),
        *(0.05795760849, -0.03117786149, 0.01091461465, -0.001793623826),
    ),
    8: (
        *(-0.333333333333331959, 0.199999999999531801, -0.142857142801594447),
        *(0.111111107817842757, -0.0909089771420677563, 0.0769205951475555513),
        *(-0.0666309683523254407, 0.0584784160341428986, -0.0503910897734419346),
        *(0.0380600268950011491, -0.0179026804694319016),
    ),
}
_ARC_SINE = {
    4: (0.1666675248, 0.07495297651, 0.04547037508, 0.0241795185, 0.04216630257),
    8: (
        *(0.166666666666667605, 0.0749999999997079771, 0.0446428571746135402),
        *(0.0303819427077180904, 0.0223722149891310281, 0.0173516119925919117),
        *(0.0139808207446631618, 0.0113989109520408882, 0.0107802585842367284),
        *(0.0037063903213093066, 0.02170748583608219, -0.0209991108869712997),
        0.0326286508500533643,
    ),
}
# What pi is more than the nearest float.
_REST = {4: -8.74227766e-8, 8: 1.2246467991473532e-16}


def _arc(lanes: Lanes, t: Value) -> Value:
    """atan(t) for 0 <= t <= 1."""
    dtype = t.dtype
    if dtype.itemsize == 4:
        return _series(lanes, t, _ARC)
    one = lanes.constant(1, dtype)
    is_far = lanes.compare("gt", t, lanes.constant(math.sqrt(2) - 1, dtype))
    moved = lanes.divide(lanes.subtract(t, one), lanes.add(t, one))
    near = _series(lanes, lanes.select(is_far, moved, t), _ARC)
    return lanes.select(is_far, _beyond(lanes, 4, near), near)


def _series(lanes: Lanes, x: Value, coefficients: dict[int, tuple[float, ...]]) -> Value:
    """x + x**3 * P(x**2)."""
    return lanes.add(x, _tail(lanes, x, coefficients))


def _tail(lanes: Lanes, x: Value, coefficients: dict[int, tuple[float, ...]]) -> Value:
    square = lanes.multiply(x, x)
    series = lanes.polynomial(square, coefficients[x.dtype.itemsize])
    return lanes.multiply(lanes.multiply(x, square), series)


def _beyond(lanes: Lanes, part: int, value: Value) -> Value:
    """pi / part + value, with more digits of pi than a float has."""
    dtype = value.dtype
    rest = lanes.constant(_REST[dtype.itemsize] / part, dtype)
    return lanes.add(lanes.constant(math.pi / part, dtype), lanes.add(value, rest))


def _steep(lanes: Lanes, above: Value, below: Value) -> tuple[Value, Value, Value]:
    """Whether above > below, the smaller and the larger one."""
    is_steep = lanes.compare("gt", above, below)
    least = lanes.select(is_steep, below, above)
    return is_steep, least, lanes.select(is_steep, above, below)


def atan(lanes: Lanes, x: Value) -> Value:
    """The arc tangent."""
    one = lanes.constant(1, x.dtype)
    is_steep, least, most = _steep(lanes, lanes.magnitude(x), one)
    angle = _arc(lanes, lanes.divide(least, most))
    opposite = _beyond(lanes, 2, lanes.negate(angle))
    return lanes.intrinsic("copysign", lanes.select(is_steep, opposite, angle), x)


def atan2(lanes: Lanes, y: Value, x: Value) -> Value:
    """The angle of the point (x, y); signs of zeros and infinities count."""
    dtype = x.dtype
    zero, one = lanes.constant(0, dtype), lanes.constant(1, dtype)
    is_steep, least, most = _steep(lanes, lanes.magnitude(y), lanes.magnitude(x))
    ratio = lanes.divide(least, most)
    ratio = lanes.select(lanes.compare("eq", least, most), one, ratio)
    are_zero = lanes.compare("eq", lanes.add(least, most), zero)
    angle = _arc(lanes, lanes.select(are_zero, zero, ratio))
    angle = lanes.select(is_steep, _beyond(lanes, 2, lanes.negate(angle)), angle)
    opposite = _beyond(lanes, 1, lanes.negate(angle))
    angle = lanes.select(lanes.has_minus(x), opposite, angle)
    return lanes.intrinsic("copysign", angle, y)


def _arc_sine(lanes: Lanes, x: Value) -> tuple[Value, Value, Value]:
    """Whether |x| > 1/2; sqrt((1 - |x|) / 2) then, else |x|; how much longer its arc is."""
    dtype, size = x.dtype, lanes.magnitude(x)
    half = lanes.constant(0.5, dtype)
    is_far = lanes.compare("gt", size, half)
    rest = lanes.multiply(lanes.subtract(lanes.constant(1, dtype), size), half)
    begin = lanes.select(is_far, lanes.intrinsic("sqrt", rest), size)
    return is_far, begin, _tail(lanes, begin, _ARC_SINE)


def asin(lanes: Lanes, x: Value) -> Value:
    """The arc sine; NaN beyond 1."""
    is_far, begin, tail = _arc_sine(lanes, x)
    minus, half_pi = (lanes.constant(number, x.dtype) for number in (-2, math.pi / 2))
    upper = lanes.fma(minus, begin, half_pi)
    lost = lanes.fma(minus, begin, lanes.subtract(half_pi, upper, exactly=True))
    rest = lanes.add(lost, lanes.constant(_REST[x.dtype.itemsize] / 2, x.dtype))
    far = lanes.add(upper, lanes.fma(minus, tail, rest))
    near = lanes.add(begin, tail)
    return lanes.intrinsic("copysign", lanes.select(is_far, far, near), x)


def acos(lanes: Lanes, x: Value) -> Value:
    """The arc cosine; NaN beyond 1."""
    is_far, begin, tail = _arc_sine(lanes, x)
    is_left, arc = lanes.has_minus(x), lanes.add(begin, tail)
    near = _beyond(lanes, 2, lanes.select(is_left, arc, lanes.negate(arc)))
    right = lanes.add(arc, arc)
    left = _beyond(lanes, 1, lanes.negate(right))
    return lanes.select(is_far, lanes.select(is_left, left, right), near)
