"""The gamma function's family and the inverse of erf, computed in float64 whatever the dtype."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir import F, Kind, Sample, apply, define, method
from dy2st_runtime.ir.arguments import as_int
from dy2st_runtime.ir.attribute_kinds import between
from dy2st_runtime.ops.gamma_series import (
    DIGAMMA,
    DIGAMMA_NEAR,
    FAR,
    NEAR,
    ROOT,
    STIRLING,
    cotangent_slope,
    euler_maclaurin,
)
from dy2st_runtime.ops.rules import PAIRS, define_binary, require_floats, with_floats


def in_float64(function: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel that computes in float64 and gives the dtype of the first array back."""

    def kernel(x: Any, *others: Any, **attributes: Any) -> Any:
        wide = [np.asarray(array, np.float64) for array in (x, *others)]
        with np.errstate(all="ignore"):
            return np.asarray(function(*wide, **attributes)).astype(x.dtype)

    return kernel


def define_special(
    name: str, doc: str, function: Callable[..., Any], gradient: Any, low: float, high: float
) -> None:
    """Define an elementwise function of floats."""
    define(
        name,
        doc=doc,
        inputs="x",
        infer=lambda x: require_floats(name, x),
        kernel=in_float64(function),
        gradient=gradient,
        kind=Kind.ELEMENTWISE,
        samples=tuple(Sample((shape,), low=low, high=high) for shape in ((2, 3), (), (0, 2))),
    )


# -- log gamma and its derivatives ------------------------------------------------------------


def _each(function: Callable[[float], float]) -> Callable[[Any], Any]:
    called = np.frompyfunc(function, 1, 1)
    return lambda x: np.asarray(called(x), np.float64)


def polynomial(x: Any, terms: tuple[float, ...]) -> Any:
    """c0 + c1 * x + c2 * x**2 + ..., by Horner's rule."""
    total = np.full_like(x, terms[-1])
    for term in terms[-2::-1]:
        total *= x
        total += term
    return total


def _log_gamma(x: Any) -> Any:
    """By products to between 1.5 and 2.5, or by Stirling's series; left of -1/2 by reflection."""
    is_left = x <= -0.5
    at = np.where(is_left, -x, x)
    is_tiny, is_small, is_far = at < 0.5, at < 1.5, at >= FAR
    moved, product = at, np.ones_like(at)
    for _ in range(FAR - 2):
        is_above = moved >= 2.5
        moved = np.where(is_above, moved - 1, moved)
        product = np.where(is_above, product * moved, product)
    t = np.where(is_tiny, at, np.where(is_small, at - 1, moved - 2))
    product = np.where(is_tiny, np.abs(at * at + at), np.where(is_small, at, product))
    power = np.log(np.where(is_far, at, product))
    near = t * polynomial(t, NEAR) + np.where(is_small, -power, power)
    series = polynomial(1 / (at * at), STIRLING) / at + (math.log(2 * math.pi) - 1) / 2
    right = np.where(is_far, (at - 0.5) * (power - 1) + series, near)
    if not is_left.any():
        return right
    left = math.log(math.pi) - (np.log(at * np.abs(np.sin(np.pi * _rest(at)))) + right)
    return np.where(is_left, np.where(at == np.rint(at), np.inf, left), right)


def _rest(x: Any) -> Any:
    """x without the nearest integer, beyond 1/2."""
    return np.where(np.abs(x) <= 0.5, x, x - np.rint(x))


def _hurwitz(s: int, x: Any) -> Any:
    """The sum of (x + k)**-s over all k from 0 on: the first ones, then Euler and Maclaurin."""
    total, at = np.zeros_like(x), x.copy()
    for _ in range(12):
        total += at ** (-s)
        at = at + 1
    total += at ** (1 - s) / (s - 1) + 0.5 * at ** (-s)
    for index, factor in enumerate(euler_maclaurin(s), 1):
        total += factor * at ** (1 - s - 2 * index)
    return total


_HIGHEST = 170
"""The order whose factorial a float still holds."""


@in_float64
def _polygamma(x: Any, n: int) -> Any:
    """Below 0 by reflection."""
    if n == 0:
        # By reflection to the right, by steps to between 1 and 2, or by the series at infinity.
        is_left = x < 0.5
        at = np.where(is_left, 1 - x, x)
        is_far, is_below = at >= 10, at < 1
        share = 1 / at
        total = np.where(is_below, -share, 0)
        moved = np.where(is_far, 1.5, np.where(is_below, at + 1, at))
        for _ in range(8):
            is_above = moved >= 2
            moved = np.where(is_above, moved - 1, moved)
            total += np.where(is_above, 1 / moved, 0)
        near = moved - ROOT[0] - ROOT[1]
        near = near * polynomial(near, DIGAMMA_NEAR) + total
        square = share * share
        far = np.log(at) - (square * polynomial(square, DIGAMMA) + 0.5 * share)
        right = np.where(is_far, far, near)
        reflected = right - np.pi / np.tan(np.pi * _rest(x))
        reflected = np.where((x < 0) & (x == np.floor(x)), np.nan, reflected)
        return np.where(is_left, reflected, right)
    is_left, sign = x < 0, -1 if n % 2 == 0 else 1
    right = sign * math.factorial(n) * _hurwitz(n + 1, np.where(is_left, 1 - x, x))
    if not is_left.any():
        return right
    *terms, slope = cotangent_slope(n)
    cotangent = 1 / np.tan(np.pi * _rest(x))
    while terms:
        slope = slope * cotangent + terms.pop()
    return np.where(is_left, -sign * right - np.pi ** (n + 1) * slope, right)


define(
    "polygamma",
    doc="The derivative of order n of digamma.",
    inputs="x",
    attributes={"n": between(0, _HIGHEST).or_else(0)},
    infer=lambda x, n: require_floats("polygamma", x),
    kernel=_polygamma,
    gradient=lambda g, y, x, n: g * apply("polygamma", x, n=n + 1),
    kind=Kind.ELEMENTWISE,
    samples=(
        Sample(((2, 3),), {"n": 1}, low=0.5, high=3.0),
        Sample(((2,),), {"n": 0}, low=0.5, high=3.0),
    ),
)
define_special(
    "lgamma",
    "The logarithm of |gamma(x)|.",
    _log_gamma,
    lambda g, y, x: g * apply("polygamma", x, n=0),
    0.5,
    3.0,
)


@method
def lgamma(x: Any, name: str | None = None) -> Any:
    """The logarithm of |gamma(x)|, elementwise; inf at 0, -1, -2, ...

    >>> print(dy2st.lgamma(dy2st.to_tensor([1.0, 5.0])).exp().round(3))
    [ 1. 24.]
    """
    return apply("lgamma", with_floats(x))


@method
def digamma(x: Any, name: str | None = None) -> Any:
    """The derivative of `lgamma`, elementwise.

    >>> print(dy2st.digamma(dy2st.to_tensor([1.0, 2.0])).round(3))
    [-0.577  0.423]
    """
    return apply("polygamma", with_floats(x), n=0)


@method
def polygamma(x: Any, n: int, name: str | None = None) -> Any:
    """The derivative of order n of `digamma`, elementwise.

    >>> print((dy2st.polygamma(dy2st.to_tensor([1.0]), 1) * 6 / np.pi**2).round(3))
    [1.]
    """
    order = as_int(n, "n")
    if not 0 <= order <= _HIGHEST:
        raise ArgumentError(f"polygamma: the order is from 0 to {_HIGHEST}, which {order} is not")
    return apply("polygamma", with_floats(x), n=order)


@method
def multigammaln(x: Any, p: int, name: str | None = None) -> Any:
    """The logarithm of the multivariate gamma function of dimension p, elementwise.

    >>> print(dy2st.multigammaln(dy2st.to_tensor([5.0]), 1).exp().round(3))
    [24.]
    """
    total: Any = p * (p - 1) / 4 * math.log(math.pi)
    for index in range(as_int(p, "p")):
        total = F.add(lgamma(F.subtract(x, index / 2)), total)
    return total


# -- incomplete gamma -------------------------------------------------------------------------

_STEPS = 2000


def _below(a: Any, y: Any) -> Any:
    """The lower part by its power series, for y below a + 1."""
    term = total = 1 / a
    for index in range(1, _STEPS):
        term = term * y / (a + index)
        total = total + term
        if not np.any(np.abs(term) > 1e-17 * np.abs(total)):
            break
    return total * np.exp(a * np.log(y) - y - _log_gamma(a))


def _above(a: Any, y: Any) -> Any:
    """The upper part by Lentz's continued fraction, for y from a + 1 on."""
    step = y + 1 - a
    c, d = np.full_like(y, 1e300), 1 / step
    total = d
    for index in range(1, _STEPS):
        factor = index * (a - index)
        step = step + 2
        d = factor * d + step
        d = 1 / np.where(np.abs(d) < 1e-300, 1e-300, d)
        c = step + factor / c
        c = np.where(np.abs(c) < 1e-300, 1e-300, c)
        total = total * d * c
        if not np.any(np.abs(d * c - 1) > 1e-15):
            break
    return total * np.exp(a * np.log(y) - y - _log_gamma(a))


def _incomplete_gradient(name: str, sign: int) -> Callable[..., Any]:
    def of_first() -> Any:
        raise ArgumentError(f"{name} has no gradient of its first argument: detach() it")

    def rule(g: Any, z: Any, x: Any, y: Any) -> Any:
        slope = F.exp((x - 1) * F.log(y) - y - lgamma(x))
        return of_first, lambda: F.sum_to(g * slope * sign, y.shape)

    return rule


for _name, _doc, _upper in (
    (
        "gammainc",
        "The lower part of the gamma function of x, up to y, divided by all.",
        False,
    ),
    ("gammaincc", "The upper part of the gamma function of x, from y on, divided by all.", True),
):

    @in_float64
    def _kernel(x: Any, y: Any, upper: bool = _upper) -> Any:
        a = x
        a, y = np.broadcast_arrays(a, y)
        is_low = y < a + 1
        lower = _below(np.where(is_low, a, 2.0), np.where(is_low, y, 1.0))
        is_other = is_low | (a < 0)
        higher = _above(np.where(is_other, 1.0, a), np.where(is_other, 3.0, y))
        found = (
            np.where(is_low, 1 - lower, higher) if upper else np.where(is_low, lower, 1 - higher)
        )
        found = np.where(y == 0, float(upper), np.where(np.isinf(y), float(not upper), found))
        found = np.where(a == 0, float(not upper), found)
        return np.where((a < 0) | (y < 0) | np.isnan(a) | np.isnan(y), np.nan, found)

    define_binary(
        _name,
        _doc,
        _kernel,
        _incomplete_gradient(_name, -1 if _upper else 1),
        samples=tuple(
            Sample(pair.shapes, dtypes=("float32", "float32"), low=0.5, high=3.0) for pair in PAIRS
        ),
    )


@method
def gammainc(x: Any, y: Any, name: str | None = None) -> Any:
    """The integral of t**(x-1) * exp(-t) from 0 to y, divided by gamma(x); elementwise.

    >>> print(dy2st.gammainc(dy2st.to_tensor([1.0]), dy2st.to_tensor([1.0])).round(3))
    [0.632]
    """
    return apply("gammainc", with_floats(x), with_floats(y))


@method
def gammaincc(x: Any, y: Any, name: str | None = None) -> Any:
    """The integral of t**(x-1) * exp(-t) from y to inf, divided by gamma(x); elementwise.

    >>> print(dy2st.gammaincc(dy2st.to_tensor([1.0]), dy2st.to_tensor([1.0])).round(3))
    [0.368]
    """
    return apply("gammaincc", with_floats(x), with_floats(y))


# -- the inverse of erf -----------------------------------------------------------------------

_erf, _erfc = _each(math.erf), _each(math.erfc)


def _inverse_erf(x: Any) -> Any:
    """Winitzki's estimate, and Halley's steps on erf, or on erfc where that keeps its digits."""
    size = np.abs(x)
    left = np.log((1 - size) * (1 + size))
    middle = 2 / (np.pi * 0.147) + left / 2
    at = np.sqrt(np.sqrt(middle * middle - left / 0.147) - middle)
    for _ in range(4):
        missing = np.where(size < 0.5, size - _erf(at), _erfc(at) - (1 - size))
        step = missing / (2 / math.sqrt(math.pi) * np.exp(-at * at))
        at = at + np.where(np.isfinite(step), step / (1 - step * at), 0)
    at = np.where(size == 1, np.inf, np.where(size > 1, np.nan, at))
    return np.copysign(at, x)


define_special(
    "erfinv",
    "y with erf(y) = x.",
    _inverse_erf,
    lambda g, y, x: g * (math.sqrt(math.pi) / 2) * F.exp(y * y),
    -0.9,
    0.9,
)


@method
def erfinv(x: Any, name: str | None = None) -> Any:
    """y with erf(y) = x, elementwise: inf at 1, NaN beyond.

    >>> print(dy2st.erfinv(dy2st.erf(dy2st.to_tensor([0.5, -1.0]))).round(3))
    [ 0.5 -1. ]
    """
    return apply("erfinv", with_floats(x))
