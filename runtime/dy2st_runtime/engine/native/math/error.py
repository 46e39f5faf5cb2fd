"""erf, and gelu, which is made of it.

erf(x) = x + x * P(x**2) near 0. Beyond it is 1 - erfc(x): in float32 erfc is e to a polynomial; in
float64 e**-x**2 times a polynomial of 2 / (2 + x). From 4, or 6, on it is 1. Where the processor
reads tables in registers, `tables.py` has it in float32.
"""

from __future__ import annotations

import math

from dy2st_runtime.engine.native.lanes import Lanes, Value
from dy2st_runtime.engine.native.math.exponential import exp_inside, tanh
from dy2st_runtime.engine.native.math.tables import ERF, has_tables, odd

_LIMITS = {4: (0.925, 4.0), 8: (1.0, 6.0)}
_NEAR = {
    4: (
        *(0.1283791666, -0.3761263319, 0.1128368719, -0.0268589415, 0.005199906657),
        *(-0.000813001259, 8.316775056e-5),
    ),
    8: (
        *(0.128379167095512566, -0.376126389031835195, 0.112837916709441848),
        *(-0.0268661706431114776, 0.0052239776061185755, -0.000854832592931978242),
        *(0.000120552935770666665, -0.000014924712305310656, 1.64471316130872684e-6),
        *(-1.62063140853451394e-7, 1.371098183503464e-8, -7.77947120581421356e-10),
    ),
}
_FAR = {
    4: (
        *(-0.0001956792329, -1.127675611, -0.637182275, -0.1039315713, 0.02222690736),
        *(-0.003043213965, 0.0001959368695),
    ),
    8: (
        *(-7.27370754039438288e-6, 0.282290720725267325, 0.279660632799266627),
        *(0.265287695694898051, 0.0811756525392139208, 0.43499985235873585),
        *(-0.955863795432263565, 1.8425107606228483, -2.80632276359209568),
        *(2.77623502921894365, -1.74085178718978243, 0.673736679535223778),
        *(-0.146133870768321915, 0.0132822125769093151),
    ),
}


def erf(lanes: Lanes, x: Value) -> Value:
    """The error function."""
    if has_tables(lanes, x):
        return odd(lanes, x, ERF)
    dtype = x.dtype
    begin, end = (lanes.constant(limit, dtype) for limit in _LIMITS[dtype.itemsize])
    size, square = lanes.magnitude(x), lanes.multiply(x, x)
    near = lanes.fma(size, lanes.polynomial(square, _NEAR[dtype.itemsize]), size)
    least = lanes.select(lanes.compare("gt", size, end), end, size)
    far = lanes.subtract(lanes.constant(1, dtype), _complement(lanes, least))
    result = lanes.select(lanes.compare("lt", size, begin), near, far)
    return lanes.intrinsic("copysign", result, x)


def _complement(lanes: Lanes, x: Value) -> Value:
    """erfc(x) between the limits."""
    dtype, terms = x.dtype, _FAR[x.dtype.itemsize]
    if dtype.itemsize == 4:
        return exp_inside(lanes, lanes.polynomial(x, terms))
    two = lanes.constant(2, dtype)
    share = lanes.divide(two, lanes.add(x, two))
    power = exp_inside(lanes, lanes.negate(lanes.multiply(x, x)))
    return lanes.multiply(power, lanes.polynomial(share, terms))


def gelu(lanes: Lanes, x: Value, approximate: bool) -> Value:
    """x * (1 + erf(x / sqrt(2))) / 2; or tanh of a polynomial in the place of erf."""
    dtype = x.dtype
    if approximate:
        factor = math.sqrt(2 / math.pi)
        square = lanes.multiply(x, x)
        bent = lanes.polynomial(square, (factor, factor * 0.044715))
        share = tanh(lanes, lanes.multiply(bent, x))
    else:
        share = erf(lanes, lanes.multiply(x, lanes.constant(math.sqrt(0.5), dtype)))
    half = lanes.multiply(x, lanes.constant(0.5, dtype))
    return lanes.multiply(lanes.add(share, lanes.constant(1, dtype)), half)
