"""The error function on arrays: NumPy has none, and SciPy is too heavy for a runtime.

Double precision after W. J. Cody, "Rational Chebyshev approximation for the error function",
Mathematics of Computation 23 (1969); relative error below 1e-15.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dy2st_runtime.ir import is_floating

Array = np.ndarray[Any, Any]

# |x| <= 0.5: erf(x) = x * P(x**2) / Q(x**2)
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
# 0.46875 <= |x| <= 4: erfc(x) = exp(-x**2) * P(x) / Q(x)
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


def erf_kernel(x: Any) -> Any:
    """erf(x), in the dtype of x (float64 for integers)."""
    x = np.asarray(x)
    dtype = x.dtype if is_floating(x.dtype) else np.dtype("float64")
    return _erf(x.astype(np.float64, copy=False)).astype(dtype, copy=False)


def _polynomial(coefficients: tuple[float, ...], x: Array) -> Array:
    result = np.full_like(x, coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        result *= x
        result += coefficient
    return result


def _erf(x: Array) -> Array:
    size = np.abs(x)
    square = np.minimum(size, 0.5) ** 2
    near = np.minimum(size, 0.5) * _polynomial(_P1, square) / _polynomial(_Q1, square)
    far = np.clip(size, 0.46875, 6.0)  # erf(6) is 1 in double precision
    head = np.trunc(far * 16.0) / 16.0
    decay = np.exp(-head * head) * np.exp(-(far - head) * (far + head))
    rest = decay * _polynomial(_P2, far) / _polynomial(_Q2, far)
    result = np.where(size <= 0.46875, near, 1.0 - rest)
    result = np.where(np.isnan(x), x, result)
    return np.asarray(np.copysign(result, x))
