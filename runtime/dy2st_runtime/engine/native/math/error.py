"""erf, gelu, which is made of it, and the inverse of erf, in float64.

erf(x) = x + x * P(x**2) near 0. Beyond it is 1 - erfc(x): in float32 erfc is e to a polynomial; in
float64 e**-x**2 times a polynomial of 2 / (2 + x). From 4, or 6, on it is 1. Where the processor
reads tables in registers, `tables.py` has it in float32. With w = -log(1 - x**2), the inverse is
x * P(w), and x * P(sqrt(w)) farther out.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from dy2st_runtime.engine.native.math.exponential import exp, exp_inside, sigmoid
from dy2st_runtime.engine.native.math.logarithm import log
from dy2st_runtime.engine.native.math.tables import ERF, has_tables, odd
from dy2st_runtime.engine.native.text.lanes import Lanes, Value
from dy2st_runtime.ops.erf import TAIL, TAIL_MIDDLE

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


class _Part(NamedTuple):
    """From w = `first` on, a polynomial of w - middle, or of its root - middle."""

    first: float
    is_root: bool
    middle: float
    terms: tuple[float, ...]


_INVERSE = (
    _Part(
        first=0.0,
        is_root=False,
        middle=3.125,
        terms=(
            *(
                1.6536545626831027,
                0.24015818242558837,
                -0.006033670871427755,
                -0.0007407025341547962,
            ),
            *(0.0001867342080242587, -1.388252339353925e-05, -1.3654691844362176e-06),
            *(4.2347881629691355e-07, -2.9070382775411025e-08, -4.112660071677585e-09),
            *(1.0512183993775674e-09, -5.414318780155809e-11, -1.2976958759759087e-11),
            *(2.6305689394395204e-12, -8.116996263424271e-14, -4.0027518575133646e-14),
            *(6.59468099382656e-15, -3.8535069082546916e-17, -1.300373628307204e-16),
            *(1.5447853145134758e-17, 1.1443277815986836e-18, -3.4474608341075623e-19),
            *(-1.007348248788488e-21, 3.147287331609315e-21),
        ),
    ),
    _Part(
        first=6.25,
        is_root=True,
        middle=3.25,
        terms=(
            *(3.0838856104922208, 1.0052589676941643, 0.005370914553564711, -0.003751208508121687),
            *(0.002491442097443201, -0.0016882755386003106, 0.0009532893524206769),
            *(-0.0003550377701836138, 2.4031394174583416e-05, 6.82867913786472e-05),
            *(-4.731992107600893e-05, 1.2466459277932853e-05, 2.9295785231459124e-06),
            *(-3.989504598936032e-06, 1.4890048329627336e-06, -2.1617275441285504e-08),
            *(-2.5662932594160193e-07, 1.2639537652952384e-07, -1.1608096596195543e-08),
            *(-1.3410610696496017e-08, 4.3626703829059825e-09),
        ),
    ),
    _Part(
        first=17.64,
        is_root=True,
        middle=5.0,
        terms=(
            *(
                4.849906401408584,
                1.0103004648645448,
                -0.00013871931838690642,
                -0.0002150301197995391,
            ),
            *(7.59952782847126e-05, -1.9681771256023205e-05, 4.526050540619647e-06),
            *(-9.930242562347956e-07, 2.2906293001336536e-07, -6.75820977928695e-08),
            *(2.899232454634702e-08, -1.517932358020524e-08, 7.85226590471832e-09),
            *(-3.5990613115393815e-09, 1.3157962471126318e-09, -3.2245656073789977e-10),
            3.761172561659064e-11,
        ),
    ),
)


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
    """x * Phi(x), with the normal distribution; or with the sigmoid of a polynomial for it."""
    dtype = x.dtype
    if approximate:  # (1 + tanh(y)) / 2 = sigmoid(2 * y)
        factor = 2 * math.sqrt(2 / math.pi)
        bent = lanes.polynomial(lanes.multiply(x, x), (factor, factor * 0.044715))
        return lanes.multiply(x, sigmoid(lanes, lanes.multiply(bent, x)))
    # The share of the normal distribution beyond a size.
    size = lanes.magnitude(x)
    middle, half, end = (lanes.constant(number, size.dtype) for number in (TAIL_MIDDLE, 0.5, 60))
    size = lanes.select(lanes.compare("gt", size, end), end, size)  # it is 0 beyond
    share = lanes.divide(middle, lanes.add(size, middle))
    terms = TAIL[size.dtype.itemsize]
    total = lanes.polynomial(lanes.subtract(share, half, exactly=True), terms)
    square = lanes.multiply(size, size, exactly=True)
    rest = lanes.intrinsic("fma", size, size, lanes.negate(square))
    less = [lanes.multiply(value, lanes.constant(-0.5, size.dtype)) for value in (square, rest)]
    tail = lanes.multiply(exp(lanes, less[0], more=less[1]), lanes.multiply(total, share))
    is_below = lanes.compare("lt", x, lanes.constant(0, dtype))
    share = lanes.select(is_below, tail, lanes.subtract(lanes.constant(1, dtype), tail))
    return lanes.multiply(x, share)


def erfinv(lanes: Lanes, x: Value) -> Value:
    """y with erf(y) = x: inf at 1, NaN beyond."""
    one = lanes.constant(1, x.dtype)
    rest = lanes.multiply(lanes.subtract(one, x), lanes.add(one, x))
    w = lanes.negate(log(lanes, rest))
    root, found = lanes.intrinsic("sqrt", w), w
    for part in _INVERSE:
        moved = lanes.subtract(root if part.is_root else w, lanes.constant(part.middle, x.dtype))
        total = lanes.polynomial(moved, part.terms)
        is_here = lanes.compare("ge", w, lanes.constant(part.first, x.dtype))
        found = lanes.select(is_here, total, found) if part.first else total
    is_end = lanes.compare("eq", w, lanes.constant(math.inf, x.dtype))
    return lanes.multiply(x, lanes.select(is_end, w, found))
