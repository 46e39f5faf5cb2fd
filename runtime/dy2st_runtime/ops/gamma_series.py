"""The numbers in the series of the gamma function's derivatives, for all that computes them."""

from __future__ import annotations

import math

DIGAMMA = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12)
"""digamma(x) = log(x) - 1 / (2 * x) - c1 / x**2 - c2 / x**4 - ..."""

_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)


def euler_maclaurin(s: int) -> list[float]:
    """c with: x**-s + (x + 1)**-s + ... = x**-s * (x / (s - 1) + 1 / 2 + c1 / x + c2 / x**3 ...).

    >>> [round(12 * c) for c in euler_maclaurin(2)[:1]]
    [2]
    """
    terms, factor = [], float(s)
    for index, number in enumerate(_BERNOULLI, 1):
        terms.append(number / math.factorial(2 * index) * factor)
        factor *= (s + 2 * index - 1) * (s + 2 * index)
    return terms


def cotangent_slope(n: int) -> list[int]:
    """The derivative of order n of cot(x) is a polynomial of c = cot(x): its coefficients.

    >>> cotangent_slope(1), cotangent_slope(2)
    ([-1, 0, -1], [0, 2, 0, 2])
    """
    terms = [0, 1]
    for _ in range(n):
        slope = [power * term for power, term in enumerate(terms)][1:]
        terms = [-(a + b) for a, b in zip([*slope, 0, 0], [0, 0, *slope], strict=True)]
    return terms


__all__ = ["DIGAMMA", "cotangent_slope", "euler_maclaurin"]
