"""The modified Bessel functions of order 0 and 1, and those times exp(-|x|), in float64.
`ops/bessel_series.py` has the polynomials.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from dy2st_runtime.engine.native.math.exponential import exp
from dy2st_runtime.engine.native.text.lanes import Lanes, Value
from dy2st_runtime.ops.bessel_series import FAR, FAR_TERMS, NEAR_TERMS


def bessel(order: int, is_scaled: bool) -> Callable[[Lanes, Value], Value]:
    """What writes the function of an order, times exp(-|x|) if it is scaled."""

    def write(lanes: Lanes, x: Value) -> Value:
        size = lanes.magnitude(x)
        is_near = lanes.compare("le", size, lanes.constant(FAR, x.dtype))
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
    total = lanes.polynomial(lanes.multiply(half, half), NEAR_TERMS[order])
    return lanes.multiply(half, total) if order else total


def _far(lanes: Lanes, size: Value, order: int) -> Value:
    """Times exp(-size)."""
    share = lanes.divide(lanes.constant(1, size.dtype), size)
    total = lanes.polynomial(share, FAR_TERMS[order])
    return lanes.multiply(total, lanes.intrinsic("sqrt", share))


def _grown(lanes: Lanes, far: Value, size: Value) -> Value:
    """Times exp(size), which may be too large where the product is not; inf stays."""
    half = exp(lanes, lanes.multiply(size, lanes.constant(0.5, size.dtype)))
    found = lanes.multiply(lanes.multiply(far, half), half)
    is_endless = lanes.compare("eq", size, lanes.constant(math.inf, size.dtype))
    return lanes.select(is_endless, size, found)


__all__ = ["bessel"]
