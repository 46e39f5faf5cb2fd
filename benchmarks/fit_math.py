"""Fits the polynomials of machine code's mathematical functions; prints their coefficients.

Remez' algorithm in 50 digits: the largest weighted error of P on an interval is as small as it can
be. Run it by `python benchmarks/fit_math.py`; it needs mpmath. The tables are in
`dy2st_runtime/engine/native/math`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import mpmath as mp

mp.mp.dps = 50
POINTS, ROUNDS = 1500, 25
Rule = Callable[[Any], Any]


class Fit(NamedTuple):
    """P(x) ~ function(x) for low <= x <= high; errors count times `weight`."""

    name: str
    function: Rule
    weight: Rule
    low: float
    high: float
    degree: int


def remez(fit: Fit) -> tuple[Any, list[Any]]:
    """The largest weighted error, and the coefficients from the lowest power on."""
    low, high, count = mp.mpf(fit.low), mp.mpf(fit.high), fit.degree + 2
    middle, half = (low + high) / 2, (high - low) / 2
    grid = [middle - half * mp.cos(mp.pi * (k + mp.mpf(1) / 2) / POINTS) for k in range(POINTS)]
    values, weights = [fit.function(x) for x in grid], [abs(fit.weight(x)) for x in grid]
    scaled = [(x - middle) / half for x in grid]
    places = [round((1 - mp.cos(mp.pi * k / (count - 1))) / 2 * (POINTS - 1)) for k in range(count)]
    for _ in range(ROUNDS):
        table = mp.matrix(count, count)
        right = mp.matrix(count, 1)
        for row, place in enumerate(places):
            for power in range(count - 1):
                table[row, power] = scaled[place] ** power
            table[row, count - 1] = (-1) ** row / weights[place]
            right[row] = values[place]
        found = mp.lu_solve(table, right)
        terms = [found[power] for power in range(count - 1)]
        errors = [w * (mp.polyval(terms[::-1], x) - v) for x, v, w in zip(scaled, values, weights)]
        following = extremes(errors, count)
        if following == places:
            break
        places = following
    return max(map(abs, errors)), unscaled(terms, middle, half)


def extremes(errors: list[Any], count: int) -> list[int]:
    """Where the error is largest between two changes of its sign."""
    found: list[int] = []
    for place, error in enumerate(errors):
        if found and (error > 0) == (errors[found[-1]] > 0):
            if abs(error) > abs(errors[found[-1]]):
                found[-1] = place
        else:
            found.append(place)
    while len(found) > count:
        found.pop(0 if abs(errors[found[0]]) < abs(errors[found[-1]]) else -1)
    assert len(found) == count, f"{len(found)} extremes, not {count}"
    return found


def unscaled(terms: list[Any], middle: Any, half: Any) -> list[Any]:
    """The coefficients in powers of x of those in powers of (x - middle) / half."""
    result = [mp.mpf(0)] * len(terms)
    for term in terms[::-1]:
        shifted = [mp.mpf(0), *result[:-1]]
        result = [s / half - r * middle / half for s, r in zip(shifted, result)]
        result[0] += term
    return result


def near_zero(function: Rule) -> Rule:
    """The function, and at 0, where it is a quotient, what it tends to."""
    return lambda x: function(x if abs(x) > mp.mpf(10) ** -12 else mp.mpf(10) ** -12)


def root(rule: Rule) -> Rule:
    """The rule of sqrt(z), for what is a polynomial in squares."""
    return near_zero(lambda z: rule(mp.sqrt(z)))


HALF_LN2, EIGHTH = 0.3467, (3 - 2 * 2**0.5) ** 2 * 1.001
RISE = near_zero(lambda r: (mp.expm1(r) - r) / r**2)
LOG = near_zero(lambda f: (mp.log1p(f) - f) / f**2)
LOG_SERIES = root(lambda s: (2 * mp.atanh(s) - 2 * s) / s**3)
LOG_TAIL = root(lambda s: (2 * mp.atanh(s) - 2 * s - 2 * s**3 / 3) / s**5)
SINE, COSINE = (
    root(lambda r: (mp.sin(r) - r) / r**3),
    root(lambda r: (mp.cos(r) - 1 + r**2 / 2) / r**4),
)
ARC, ARC_SINE = root(lambda t: (mp.atan(t) - t) / t**3), root(lambda x: (mp.asin(x) - x) / x**3)
SINH = root(lambda x: (mp.sinh(x) - x) / x**3)
TANH = root(lambda x: (mp.tanh(x) - x) / x**3)
ERF = root(lambda x: mp.erf(x) / x - 1)
QUARTER = 0.6169  # (pi / 4) ** 2


def one(x: Any) -> Any:
    """The weight of an absolute error."""
    return mp.mpf(1)


GAMMA = near_zero(lambda t: mp.loggamma(2 + t) / t)
I0 = near_zero(lambda z: mp.besseli(0, 2 * mp.sqrt(z)))
I1 = near_zero(lambda z: mp.besseli(1, 2 * mp.sqrt(z)) / mp.sqrt(z))


def tail(v: Any) -> Any:
    """exp(a * a / 2) * (1 - Phi(a)) / u, with Phi the normal distribution and u = 4 / (4 + a),
    as a function of u - 1/2."""
    u = v + mp.mpf(1) / 2
    a = 4 / u - 4
    return mp.erfc(a / mp.sqrt(2)) / 2 * mp.exp(a * a / 2) / u


ROOT = mp.findroot(mp.digamma, mp.mpf("1.46"))
DIGAMMA = near_zero(lambda t: mp.digamma(ROOT + t) / t)


def far_bessel(order: int) -> Rule:
    """exp(-x) * I(x) * sqrt(x) as a function of 1 / x."""
    return lambda u: mp.besseli(order, 1 / u) * mp.exp(-1 / u) / mp.sqrt(u)


def inverse_of(logarithm: Rule) -> Rule:
    """erfinv(x) / x as a function of what tells w = -log(1 - x**2)."""

    def rule(t: Any) -> Any:
        w = max(logarithm(t), mp.mpf(10) ** -12)
        rest = -mp.expm1(-w)
        x = mp.sqrt(rest)
        lost = mp.exp(-w) / (1 + x)  # 1 - x
        y = mp.sqrt(w) * 0.9 if w > 1 else x
        for _ in range(60):
            step = (mp.erfc(y) - lost) * mp.sqrt(mp.pi) / 2 * mp.exp(y * y)
            y += step / (1 - y * step)
            if abs(step) < mp.mpf(10) ** -40:
                break
        return y / x

    return rule


FITS = (
    Fit("RISE 32", RISE, near_zero(lambda r: r**2 / mp.exp(r)), -HALF_LN2, HALF_LN2, 4),
    Fit("RISE 64", RISE, near_zero(lambda r: r**2 / mp.exp(r)), -HALF_LN2, HALF_LN2, 9),
    Fit("LOG 32", LOG, near_zero(lambda f: f**2 / mp.log1p(f)), 0.5**0.5 - 1, 2**0.5 - 1, 8),
    Fit("LOG 64", LOG_SERIES, root(lambda s: s**3 / mp.atanh(s)), 0, EIGHTH, 6),
    Fit("LOG2 48", root(lambda s: 2 * mp.atanh(s) / s / mp.log(2)), one, 0, EIGHTH, 5),
    Fit("TAIL 64", LOG_TAIL, root(lambda s: s**5 / mp.atanh(s)), 0, EIGHTH, 6),
    Fit("POWER 48", lambda r: 2**r, lambda r: 2**-r, -0.501, 0.501, 6),
    Fit("SINE 32", SINE, root(lambda r: r**3 / mp.sin(r)), 0, QUARTER, 2),
    Fit("SINE 64", SINE, root(lambda r: r**3 / mp.sin(r)), 0, QUARTER, 5),
    Fit("COSINE 32", COSINE, root(lambda r: r**4 / mp.cos(r)), 0, QUARTER, 2),
    Fit("COSINE 64", COSINE, root(lambda r: r**4 / mp.cos(r)), 0, QUARTER, 5),
    Fit("ARC 32", ARC, root(lambda t: t**3 / mp.atan(t)), 0, 1, 8),
    Fit("ARC 64", ARC, root(lambda t: t**3 / mp.atan(t)), 0, 0.1716, 10),
    Fit("ARC SINE 32", ARC_SINE, root(lambda x: x**3 / mp.asin(x)), 0, 0.25, 4),
    Fit("ARC SINE 64", ARC_SINE, root(lambda x: x**3 / mp.asin(x)), 0, 0.25, 12),
    Fit("SINH 32", SINH, root(lambda x: x**3 / mp.sinh(x)), 0, 1, 2),
    Fit("SINH 64", SINH, root(lambda x: x**3 / mp.sinh(x)), 0, 1, 6),
    Fit("TANH 32", TANH, root(lambda x: x**3 / mp.tanh(x)), 0, 0.3907, 4),
    Fit("TANH 64", TANH, root(lambda x: x**3 / mp.tanh(x)), 0, 0.3907, 10),
    Fit("ERF 32", ERF, root(lambda x: x / mp.erf(x)), 0, 0.93**2, 6),
    Fit("ERF 64", ERF, root(lambda x: x / mp.erf(x)), 0, 1, 11),
    Fit("ERFC 32", lambda t: mp.log(mp.erfc(t)), lambda t: mp.erfc(t) / mp.erf(t), 0.92, 4, 6),
    Fit(
        "ERFC 64",
        lambda u: mp.erfc(2 / u - 2) * mp.exp((2 / u - 2) ** 2),
        lambda u: mp.exp(-((2 / u - 2) ** 2)),
        0.25,
        2 / 3,
        13,
    ),
    Fit("PHI 32", tail, lambda v: 1 / tail(v), 4 / 18.5 - 0.5, 0.5, 9),
    Fit("PHI 64", tail, lambda v: 1 / tail(v), 4 / 43 - 0.5, 0.5, 21),
    Fit("DIGAMMA 64", DIGAMMA, lambda t: 1 / DIGAMMA(t), -0.4617, 0.5384, 22),
    Fit("GAMMA 64", GAMMA, near_zero(lambda t: t / mp.loggamma(2 + t)), -0.5, 0.5, 17),
    Fit("I0 NEAR 64", I0, lambda z: 1 / I0(z), 0, 36, 17),
    Fit("I1 NEAR 64", I1, lambda z: 1 / I1(z), 0, 36, 17),
    Fit("I0 FAR 64", far_bessel(0), one, 1e-9, 1 / 12, 16),
    Fit("I1 FAR 64", far_bessel(1), one, 1e-9, 1 / 12, 16),
    Fit("INVERSE 64 FROM 0", inverse_of(lambda t: t + 3.125), one, -3.125, 3.125, 23),
    Fit("INVERSE 64 FROM 6.25", inverse_of(lambda t: (t + 3.25) ** 2), one, -0.75, 0.95, 20),
    Fit("INVERSE 64 FROM 17.64", inverse_of(lambda t: (t + 5) ** 2), one, -0.8, 1.1, 16),
)


def fitted(name: str) -> Fit:
    """The fit of this name."""
    return next(fit for fit in FITS if fit.name == name)


if __name__ == "__main__":
    import sys

    for fit in FITS:
        if sys.argv[1:] and fit.name not in sys.argv[1:]:
            continue
        largest, coefficients = remez(fit)
        print(f"{fit.name}: error {mp.nstr(largest, 3)} = 2**{mp.nstr(mp.log(largest, 2), 4)}")
        print(
            "   ",
            ", ".join(mp.nstr(entry, 10 if "32" in fit.name else 18) for entry in coefficients),
        )
