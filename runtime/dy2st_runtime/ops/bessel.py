"""The modified Bessel functions of order 0 and 1, and those times exp(-|x|)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from dy2st_runtime.ir import F, apply, method
from dy2st_runtime.ops.gamma import define_special
from dy2st_runtime.ops.rules import with_floats

_POINTS, _FAR = 48, 30.0


def _near(size: Any, order: int) -> Any:
    """The mean of exp(|x| (cos t - 1)) * cos(order t) over half a turn: exact for so small x."""
    total = np.zeros_like(size)
    for index in range(_POINTS + 1):
        angle = math.pi * index / _POINTS
        weight = (0.5 if index in (0, _POINTS) else 1.0) * math.cos(order * angle)
        total += weight * np.exp(size * (math.cos(angle) - 1))
    return total / _POINTS


def _tiny(size: Any) -> Any:
    """The power series at 0, of order 1."""
    term = total = size / 2 * np.exp(-size)
    for index in range(1, 11):
        term = term * size * size / (4 * index * (index + 1))
        total = total + term
    return total


def _far(size: Any, order: int) -> Any:
    """The series at infinity."""
    term = np.ones_like(size)
    total = term.copy()
    for index in range(1, 21):
        term = term * ((2 * index - 1) ** 2 - 4 * order**2) / (8 * index * size)
        total += term
    return total / (math.sqrt(2 * math.pi) * np.sqrt(size))


def _scaled(order: int) -> Callable[[Any], Any]:
    def function(x: Any) -> Any:
        size = np.abs(x)
        is_near = size <= _FAR
        near, far = np.where(is_near, size, 0.0), np.where(is_near, _FAR, size)
        found = np.where(is_near, _near(near, order), _far(far, order))
        if order:  # so near to 0 the mean has lost its digits
            found = np.where(size < 1, _tiny(np.minimum(size, 1)), found)
        found = np.where(np.isnan(x), np.nan, found)
        return np.copysign(found, x) if order else found

    return function


def _whole(order: int) -> Callable[[Any], Any]:
    """By halves of the power, which may be too large where the product is not."""
    scaled = _scaled(order)

    def function(x: Any) -> Any:
        half = np.exp(np.abs(x) / 2)
        end = x if order else np.abs(x)
        return np.where(np.isinf(x), end, scaled(x) * half * half)

    return function


def _quotient(y: Any, x: Any) -> Any:
    """y / x, and 1/2 at 0, where it is the slope of both functions of order 1."""
    is_zero = F.equal(x, 0)
    safe = F.where(is_zero, F.ones_like(x), x)
    return F.where(is_zero, F.full_like(x, 0.5), F.divide(y, safe))


for _name, _doc, _function, _gradient in (
    ("i0", "The modified Bessel function of order 0.", _whole(0), lambda g, y, x: g * F.i1(x)),
    (
        "i0e",
        "exp(-|x|) * i0(x).",
        _scaled(0),
        lambda g, y, x: g * (F.i1e(x) - F.sign(x) * y),
    ),
    (
        "i1",
        "The modified Bessel function of order 1.",
        _whole(1),
        lambda g, y, x: g * (F.i0(x) - _quotient(y, x)),
    ),
    (
        "i1e",
        "exp(-|x|) * i1(x).",
        _scaled(1),
        lambda g, y, x: g * (F.i0e(x) - F.sign(x) * y - _quotient(y, x)),
    ),
):
    define_special(_name, _doc, _function, _gradient, 0.5, 2.5)


@method
def i0(x: Any, name: str | None = None) -> Any:
    """The modified Bessel function of the first kind of order 0, elementwise."""
    return apply("i0", with_floats(x))


@method
def i0e(x: Any, name: str | None = None) -> Any:
    """exp(-|x|) * i0(x), elementwise."""
    return apply("i0e", with_floats(x))


@method
def i1(x: Any, name: str | None = None) -> Any:
    """The modified Bessel function of the first kind of order 1, elementwise."""
    return apply("i1", with_floats(x))


@method
def i1e(x: Any, name: str | None = None) -> Any:
    """exp(-|x|) * i1(x), elementwise."""
    return apply("i1e", with_floats(x))
