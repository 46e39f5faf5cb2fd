"""sin, cos and tan.

x = n * pi / 2 + r with n whole and |r| <= pi / 4; pi / 2 is the sum of constants whose products
with n are exact as long as x is inside of `limit`. Where any lane is beyond, the C library is
called for each of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from dy2st_runtime.engine.native.math.exponential import format_of
from dy2st_runtime.engine.native.text.lanes import FLOAT64, DType, Lanes, Value, integers_of


class _Series(NamedTuple):
    limit: float
    half_pi: tuple[float, ...]
    sine: tuple[float, ...]
    cosine: tuple[float, ...]


_SERIES = {
    4: _Series(
        12000.0,
        # pi / 2 in parts: n times the first ones is exact, so that nothing is lost near n * pi / 2.
        (1.5703125, 4.837512969970703125e-4, 7.549789415861596e-08, 5.39030285815811905e-15),
        (-0.1666665461, 0.008332160573, -0.0001951525702),
        (0.04166664568, -0.0013887316, 2.44331273e-5),
    ),
    8: _Series(
        1.0e6,
        (1.57079632673412561417e00, 6.07710050630396597660e-11, 2.02226624879595063154e-21),
        (
            *(-0.166666666666666307, 0.00833333333332211408, -0.000198412698295857877),
            *(2.75573136200375479e-6, -2.50507475448122747e-8, 1.58962171349835189e-10),
        ),
        (
            *(0.0416666666666665929, -0.001388888888887305, 0.0000248015872888475582),
            *(-2.75573141780659356e-7, 2.08757006704097123e-9, -1.13585274269331628e-11),
        ),
    ),
}


def _series(dtype: DType) -> _Series:
    return _SERIES[dtype.itemsize]


def _reduced(lanes: Lanes, x: Value) -> tuple[Value, Value]:
    """n in the lowest bits of an integer, and r."""
    dtype = x.dtype
    magic = lanes.constant(format_of(dtype).magic, dtype)
    shifted = lanes.fma(x, lanes.constant(2 / np.pi, dtype), magic)
    n = lanes.subtract(shifted, magic, exactly=True)
    for part in _series(dtype).half_pi:
        x = lanes.fma(n, lanes.constant(-part, dtype), x)
    return lanes.bits(shifted, integers_of(dtype)), x


def _sine_and_cosine(lanes: Lanes, r: Value) -> tuple[Value, Value]:
    """Of |r| <= pi / 4."""
    dtype, series = r.dtype, _series(r.dtype)
    z = lanes.multiply(r, r)
    sine = lanes.fma(lanes.multiply(r, z), lanes.polynomial(z, series.sine), r)
    bend = lanes.fma(z, lanes.polynomial(z, series.cosine), lanes.constant(-0.5, dtype))
    # Of r = -0 the sum is +0.
    return lanes.intrinsic("copysign", sine, r), lanes.fma(z, bend, lanes.constant(1, dtype))


def _has_bit(lanes: Lanes, n: Value, bit: int) -> Value:
    zero = lanes.constant(0, n.dtype)
    return lanes.compare("ne", lanes.both(n, lanes.constant(bit, n.dtype)), zero)


def _wave(quarters: int) -> Callable[[Lanes, Value], Value]:
    def write(lanes: Lanes, x: Value) -> Value:
        n, r = _reduced(lanes, x)
        n = lanes.add(n, lanes.constant(quarters, n.dtype)) if quarters else n
        sine, cosine = _sine_and_cosine(lanes, r)
        result = lanes.select(_has_bit(lanes, n, 1), cosine, sine)
        return lanes.select(_has_bit(lanes, n, 2), lanes.negate(result), result)

    return write


def _slope(lanes: Lanes, x: Value) -> Value:
    """In float64: the errors of sine and cosine add up."""
    n, r = _reduced(lanes, lanes.cast(x, FLOAT64))
    sine, cosine = _sine_and_cosine(lanes, r)
    is_odd = _has_bit(lanes, n, 1)
    above = lanes.select(is_odd, lanes.negate(cosine), sine)
    found = lanes.divide(above, lanes.select(is_odd, sine, cosine))
    return lanes.cast(found, x.dtype)


def _or_called(name: str, near: Callable[[Lanes, Value], Value]) -> Callable[[Lanes, Value], Value]:
    """`near` for lanes inside of the limit; the C library's function where any is beyond."""

    def write(lanes: Lanes, x: Value) -> Value:
        limit = lanes.constant(_series(x.dtype).limit, x.dtype)
        is_far = lanes.compare("gt", lanes.magnitude(x), limit)
        return lanes.where_any(
            is_far,
            lambda: lanes.each(lambda one, value: one.intrinsic(name, value), x),
            lambda: near(lanes, x),
        )

    return write


sin = _or_called("sin", _wave(0))
cos = _or_called("cos", _wave(1))
tan = _or_called("tan", _slope)
