"""Fits the rational function by which erf is computed in float32; prints its coefficients.

erf(x) = x * P(x**2) / Q(x**2) for |x| <= 3.92, where erf is 1 in float32. The least relative error
is looked for by least squares of P - erf(x) / x * Q, each point weighted by 1 / Q of the round
before and, after Lawson, by the errors of all rounds: that makes the largest ones equal.
"""

from __future__ import annotations

import math

import numpy as np

LIMIT, DEGREE, POINTS, ROUNDS = 3.92, 5, 4000, 200


def fitted() -> tuple[float, list[float], list[float]]:
    """The largest relative error, and the coefficients of P and Q from the lowest power on."""
    x = (1 - np.cos(np.pi * (np.arange(POINTS) + 0.5) / POINTS)) / 2 * LIMIT
    value = np.array([math.erf(entry) for entry in x])
    ratio, z = value / x, (x / LIMIT) ** 2
    powers = np.vander(z, DEGREE + 1, increasing=True)
    table = np.hstack([powers, -ratio[:, None] * powers[:, 1:]])
    share, below = np.ones(POINTS), np.ones(POINTS)
    best: tuple[float, list[float], list[float]] = (math.inf, [], [])
    scale = LIMIT ** (2.0 * np.arange(DEGREE + 1))
    for _ in range(ROUNDS):
        weight = np.sqrt(share) / (ratio * below)
        found, *_ = np.linalg.lstsq(table * weight[:, None], ratio * weight, rcond=None)
        above, below = powers @ found[: DEGREE + 1], 1 + powers[:, 1:] @ found[DEGREE + 1 :]
        error = np.abs(above / below / ratio - 1)
        if error.max() < best[0]:
            p, q = found[: DEGREE + 1] / scale, np.array([1, *found[DEGREE + 1 :]]) / scale
            best = float(error.max()), (p / q[-1]).tolist(), (q / q[-1]).tolist()
        share *= error / error.max() + 1e-12
        share /= share.mean()
    return best


if __name__ == "__main__":
    largest, numerator, denominator = fitted()
    print(f"largest relative error before rounding: {largest:.2e}")
    for name, coefficients in (("P", numerator), ("Q", denominator)):
        print(name, ", ".join(f"{entry:.9e}" for entry in coefficients))
