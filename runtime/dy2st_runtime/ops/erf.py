"""The error function on arrays: NumPy has none, and SciPy is too heavy for a runtime.

Double precision after W. J. Cody, "Rational Chebyshev approximation for the error function",
Mathematics of Computation 23 (1969); relative error below 1e-15. Single precision by one rational
function, error below 5e-7; `benchmarks/fit_erf.py` fits it, and says how.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dy2st_runtime.ops.blocks import in_blocks

Array = np.ndarray[Any, Any]

# float32: erf(x) = x * P(x**2) / Q(x**2) for |x| <= 3.92, the leading coefficient of Q is 1
_LIMIT = 3.92
_P = (
    2.962277756e04,
    4.998585566e03,
    1.384777328e03,
    9.885411633e01,
    7.478799821e00,
    5.382006909e-02,
)
_Q = (2.625250357e04, 1.318070010e04, 2.995624112e03, 3.929738604e02, 3.051875934e01)

# float64, |x| <= 0.5: erf(x) = x * P(x**2) / Q(x**2)
_P1 = (
    3.209377589138469472562e03,
    3.774852376853020208137e02,
    1.138641541510501556495e02,
    3.161123743870565596947e00,
    1.857777061846031526730e-01,
)
_Q1 = (
    2.844236833439170622273e03,
    1.282616526077372275645e03,
    2.440246379344441733056e02,
    2.360129095234412093499e01,
    1.0,
)
# float64, 0.46875 <= |x| <= 4: erfc(x) = exp(-x**2) * P(x) / Q(x)
_P2 = (
    1.23033935479799725272e03,
    2.05107837782607146532e03,
    1.71204761263407058314e03,
    8.81952221241769090411e02,
    2.98635138197400131132e02,
    6.61191906371416294775e01,
    8.88314979438837594118e00,
    5.64188496988670089180e-01,
    2.15311535474403846343e-08,
)
_Q2 = (
    1.23033935480374942043e03,
    3.43936767414372163696e03,
    4.36261909014324715820e03,
    3.29079923573345962678e03,
    1.62138957456669018874e03,
    5.37181101862009857509e02,
    1.17693950891312499305e02,
    1.57449261107098347253e01,
    1.0,
)

# The normal distribution beyond a: exp(-a**2 / 2) * u * P(u - 1/2) with u = 4 / (4 + a), by the
# size of floats; `benchmarks/fit_math.py` fits P. It keeps its digits where 1 + erf has lost them.
TAIL_MIDDLE = 4.0
TAIL = {
    4: (
        *(0.1888212838, 0.3039482941, 0.3871369011, 0.3730468829),
        *(0.2416153243, 0.06020217095, -0.05620086285, -0.05023755401),
        *(0.01147867126, 0.01689239362),
    ),
    8: (
        *(0.18882128260393788, 0.3039483209859454, 0.3871374007422231, 0.37304371591959695),
        *(0.24158629956212185, 0.060321511699475416, -0.05567507775137167, -0.05218618874794717),
        *(0.00853403061100391, 0.029580094672733388, -0.0004883737983512798, -0.017993055870365246),
        *(
            0.0007314870101114445,
            0.012113145404962972,
            -0.0025525712398754763,
            -0.008290755582441422,
        ),
        *(0.004257768494491987, 0.004770672350623243, -0.004698750045638848, -0.001194094602876932),
        *(0.0027985957104798274, -0.0008177310229279785),
    ),
}


def tail_formula(x: Array, out: Array) -> None:
    """The share of the normal distribution beyond |x| into `out`, for float32 or float64."""
    number, size = x.dtype.type, np.abs(x)
    if x.dtype.itemsize == 4:
        power = size.astype(np.float64)
        power *= power
        power *= -0.5
        power = np.exp(power, out=power).astype(np.float32)
    else:
        size = np.minimum(size, 60.0)  # beyond it is 0
        head = size.astype(np.float32).astype(np.float64)  # its square is exact
        power = np.exp(head * head * -0.5)
        power *= np.exp((size + head) * (size - head) * -0.5)
    size += number(TAIL_MIDDLE)
    share = np.divide(number(TAIL_MIDDLE), size, out=size)
    power *= share
    share -= number(0.5)
    terms = TAIL[min(x.dtype.itemsize, 8)]
    np.multiply(share, number(terms[-1]), out=out)
    for term in terms[-2:0:-1]:
        out += number(term)
        out *= share
    out += number(terms[0])
    out *= power


def erf_formula(x: Array, out: Array) -> None:
    """erf(x) into `out`, for arrays of float32 or float64."""
    if x.dtype.itemsize == 4:
        number = x.dtype.type
        near = x.clip(number(-_LIMIT), number(_LIMIT))
        square = near * near
        np.multiply(square, number(_P[-1]), out=out)
        for coefficient in _P[-2:0:-1]:
            out += number(coefficient)
            out *= square
        out += number(_P[0])
        below = square + number(_Q[-1])
        for coefficient in _Q[-2::-1]:
            below *= square
            below += number(coefficient)
        out /= below
        out *= near
        out.clip(number(-1), number(1), out=out)
    else:
        size = np.abs(x)
        square = np.minimum(size, 0.5) ** 2
        near = np.minimum(size, 0.5) * _polynomial(_P1, square) / _polynomial(_Q1, square)
        far = np.clip(size, 0.46875, 6.0)  # erf(6) is 1 in double precision
        head = np.trunc(far * 16.0) / 16.0
        decay = np.exp(-head * head) * np.exp(-(far - head) * (far + head))
        rest = decay * _polynomial(_P2, far) / _polynomial(_Q2, far)
        result = np.where(size <= 0.46875, near, 1.0 - rest)
        result = np.where(np.isnan(x), x, result)
        out[...] = np.asarray(np.copysign(result, x))


erf_kernel = in_blocks(erf_formula)


def _polynomial(coefficients: tuple[float, ...], x: Array) -> Array:
    result = np.full_like(x, coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        result *= x
        result += coefficient
    return result
