"""The modified Bessel functions of order 0 and 1, and those times exp(-|x|)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dy2st_runtime.ir import F, apply, method
from dy2st_runtime.ops.bessel_series import FAR, FAR_TERMS, NEAR_TERMS
from dy2st_runtime.ops.gamma import define_special, polynomial
from dy2st_runtime.ops.rules import with_floats


def _bessel(order: int, is_scaled: bool) -> Callable[[Any], Any]:
    def function(x: Any) -> Any:
        size = np.abs(x)
        is_near = size <= FAR
        half = np.where(is_near, size, 0.0) * 0.5
        total = polynomial(half * half, NEAR_TERMS[order])
        near = half * total if order else total
        # Times exp(-size).
        share = 1 / np.where(is_near, FAR, size)
        far = polynomial(share, FAR_TERMS[order]) * np.sqrt(share)
        if is_scaled:
            near = near * np.exp(-size)
        else:  # by halves of the power, which may be too large where the product is not
            half = np.exp(size / 2)
            far = np.where(np.isinf(size), size, far * half * half)
        found = np.where(np.isnan(x), x, np.where(is_near, near, far))
        return np.copysign(found, x) if order else found

    return function


def _quotient(y: Any, x: Any) -> Any:
    """y / x, and 1/2 at 0, where it is the slope of both functions of order 1."""
    is_zero = F.equal(x, 0)
    safe = F.where(is_zero, F.ones_like(x), x)
    return F.where(is_zero, F.full_like(x, 0.5), F.divide(y, safe))


for _name, _doc, _function, _gradient in (
    (
        "i0",
        "The modified Bessel function of order 0.",
        _bessel(0, False),
        lambda g, y, x: g * F.i1(x),
    ),
    (
        "i0e",
        "exp(-|x|) * i0(x).",
        _bessel(0, True),
        lambda g, y, x: g * (F.i1e(x) - F.sign(x) * y),
    ),
    (
        "i1",
        "The modified Bessel function of order 1.",
        _bessel(1, False),
        lambda g, y, x: g * (F.i0(x) - _quotient(y, x)),
    ),
    (
        "i1e",
        "exp(-|x|) * i1(x).",
        _bessel(1, True),
        lambda g, y, x: g * (F.i0e(x) - F.sign(x) * y - _quotient(y, x)),
    ),
):
    define_special(_name, _doc, _function, _gradient, 0.5, 2.5)


@method
def i0(x: Any, name: str | None = None) -> Any:
    """The modified Bessel function of the first kind of order 0, elementwise.

    >>> print(dy2st.i0(dy2st.to_tensor([0.0, 1.0])).round(3))
    [1.    1.266]
    """
    return apply("i0", with_floats(x))


@method
def i0e(x: Any, name: str | None = None) -> Any:
    """exp(-|x|) * i0(x), elementwise.

    >>> print(dy2st.i0e(dy2st.to_tensor([0.0, 1.0])).round(3))
    [1.    0.466]
    """
    return apply("i0e", with_floats(x))


@method
def i1(x: Any, name: str | None = None) -> Any:
    """The modified Bessel function of the first kind of order 1, elementwise.

    >>> print(dy2st.i1(dy2st.to_tensor([0.0, 1.0])).round(3))
    [0.    0.565]
    """
    return apply("i1", with_floats(x))


@method
def i1e(x: Any, name: str | None = None) -> Any:
    """exp(-|x|) * i1(x), elementwise.

    >>> print(dy2st.i1e(dy2st.to_tensor([0.0, 1.0])).round(3))
    [0.    0.208]
    """
    return apply("i1e", with_floats(x))
