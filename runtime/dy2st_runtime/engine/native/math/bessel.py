"""The modified Bessel functions of order 0 and 1, and those times exp(-|x|), in float64.

Up to 12, I0(x) = P(x**2 / 4) and I1(x) = x / 2 * P(x**2 / 4). Beyond it is exp(x) / sqrt(x) times
a polynomial of 1 / x.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from dy2st_runtime.engine.native.math.exponential import exp
from dy2st_runtime.engine.native.text.lanes import Lanes, Value

_FAR = 12.0
_NEAR_TERMS = (
    (
        *(1.0, 1.0000000000000018, 0.24999999999998998, 0.027777777777798322),
        *(0.0017361111110903234, 6.944444445655468e-05, 1.9290123412230584e-06),
        *(3.9367599991701576e-08, 6.151185426716154e-10, 7.594082029062256e-12),
        *(7.593843685120867e-14, 6.277527074762954e-16, 4.351172498852432e-18),
        *(2.6054733981520768e-20, 1.2451162600922136e-22, 7.162610938228895e-25),
        *(6.869438459364508e-28, 1.8810030764311355e-29),
    ),
    (
        *(1.0, 0.5000000000000002, 0.08333333333333202, 0.006944444444446783),
        *(0.0003472222222201113, 1.1574074075189726e-05, 2.755731918623445e-07),
        *(4.920949948108189e-09, 6.834651180623606e-11, 7.59407492612245e-13),
        *(6.903546627789079e-15, 5.230987985298342e-17, 3.3481916233148773e-19),
        *(1.857768088173869e-21, 8.367631141644753e-24, 4.3858682227889137e-26),
        *(4.777961952435132e-29, 1.0179309611297471e-30),
    ),
)
_FAR_TERMS = (
    (
        *(0.3989422804014327, 0.04986778505012593, 0.028050629149565572, 0.02921937956825949),
        *(0.04474812035156511, 0.08978437489345924, 0.3027479727558298, -3.9662957275022768),
        *(209.86537718453374, -6690.658857574731, 158139.49681027047, -2717597.224333196),
        *(33555566.88858947, -288545408.5268317, 1631912815.1935585, -5416368995.46453),
        7932223662.497851,
    ),
    (
        *(0.39894228040143265, -0.14960335515048165, -0.04675104854601676, -0.04090714056400143),
        *(-0.05753186221153504, -0.10988432413495855, -0.34728334437691016, 4.043200035069325),
        *(-218.08301521802653, 6935.62811953838, -163723.8938468832, 2809188.205184452),
        *(-34626824.41813938, 297162178.0592282, -1676661031.167088, 5548620299.244625),
        -8096018832.34979,
    ),
)


def bessel(order: int, is_scaled: bool) -> Callable[[Lanes, Value], Value]:
    """What writes the function of an order, times exp(-|x|) if it is scaled."""

    def write(lanes: Lanes, x: Value) -> Value:
        size = lanes.magnitude(x)
        is_near = lanes.compare("le", size, lanes.constant(_FAR, x.dtype))
        near, far = _near(lanes, size, order), _far(lanes, size, order)
        if is_scaled:
            less = lanes.select(is_near, lanes.negate(size), lanes.constant(0, x.dtype))
            near = lanes.multiply(near, exp(lanes, less))
        else:
            far = _grown(lanes, far, size)
        found = lanes.select(is_near, near, far)
        return lanes.intrinsic("copysign", found, x) if order else found

    return write


def _near(lanes: Lanes, size: Value, order: int) -> Value:
    half = lanes.multiply(size, lanes.constant(0.5, size.dtype))
    total = lanes.polynomial(lanes.multiply(half, half), _NEAR_TERMS[order])
    return lanes.multiply(half, total) if order else total


def _far(lanes: Lanes, size: Value, order: int) -> Value:
    """Times exp(-size)."""
    share = lanes.divide(lanes.constant(1, size.dtype), size)
    total = lanes.polynomial(share, _FAR_TERMS[order])
    return lanes.multiply(total, lanes.intrinsic("sqrt", share))


def _grown(lanes: Lanes, far: Value, size: Value) -> Value:
    """Times exp(size), which may be too large where the product is not; inf stays."""
    half = exp(lanes, lanes.multiply(size, lanes.constant(0.5, size.dtype)))
    found = lanes.multiply(lanes.multiply(far, half), half)
    is_endless = lanes.compare("eq", size, lanes.constant(math.inf, size.dtype))
    return lanes.select(is_endless, size, found)


__all__ = ["bessel"]
