"""The numbers in the series of the gamma function and its derivatives, for whatever needs them."""

from __future__ import annotations

import math

FAR = 8
"""From which number on lgamma is Stirling's series."""

NEAR = (
    *(0.42278433509846713, 0.3224670334241133, -0.06735230105319576, 0.02058080842776596),
    *(-0.007385551028925204, 0.0028905103318417388, -0.0011927539013290806, 0.0005096694951109703),
    *(-0.00022315497226695516, 9.945794421522522e-05, -4.4923771889373555e-05),
    *(2.050354371491141e-05, -9.456079035162149e-06, 4.393522019906401e-06),
    *(-1.9748262091901413e-06, 8.998990455244631e-07, -5.806123637995953e-07),
    2.9770837293936383e-07,
)
"""lgamma(2 + t) = t * (c0 + c1 * t + ...) for |t| <= 1/2; `benchmarks/fit_math.py` fits it."""

STIRLING = (
    *(1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156, -3617 / 122400),
    43867 / 244188,
)
"""lgamma(x) = (x - 1/2) * (log(x) - 1) + (log(2 * pi) - 1) / 2 + c0 / x + c1 / x**3 + ..."""

ROOT = (1.4616321449683622, 9.549995429965697e-17)
"""Where digamma is 0: a float, and what it lacks."""

DIGAMMA_NEAR = (
    *(0.9676722454476212, -0.4427631689835921, 0.2584997609556485, -0.1639427054424081),
    *(0.10782405069170403, -0.0721995612564731, 0.04880428813381551, -0.033161126462008396),
    *(0.022597649299096446, -0.015424766658972772, 0.010538769789443726, -0.007204513747613016),
    *(0.004927057899409111, -0.003370123507418071, 0.002302907916665315, -0.0015738727633296374),
    *(0.0010899308620708433, -0.000756126970519825, 0.0004727435557447805, -0.00028184225816972765),
    *(0.0002781578589592561, -0.0002806870107612752, 0.0001212269926907041),
)
"""digamma(r + t) = t * (c0 + c1 * t + ...) with the root r, from 1 to 2; fitted there, too."""

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


__all__ = [
    "DIGAMMA",
    "DIGAMMA_NEAR",
    "FAR",
    "NEAR",
    "ROOT",
    "STIRLING",
    "cotangent_slope",
    "euler_maclaurin",
]
