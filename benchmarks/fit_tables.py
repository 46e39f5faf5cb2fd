"""Fits the tables of tanh and erf in float32, and prints them.

An interval's middle is moved by some float32 until the function there is almost a float32, so that
c0 is as good as exact. Run it by `python benchmarks/fit_tables.py`; it needs mpmath. The tables are
in `dy2st_runtime/engine/native/math/tables.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from textwrap import fill
from typing import Any

import fit_math
import mpmath as mp
import numpy as np
from fit_math import Fit, remez

COUNT, TRIES = 32, 400
OVERLAP = mp.mpf("0.501")
FITS = (("TANH", mp.tanh, 9.1, 6), ("ERF", mp.erf, 4.0, 5))

Function = Callable[[Any], Any]


def exact(number: Any) -> Any:
    """A float32 in many digits."""
    return mp.mpf(float(number))


def middle(function: Function, near: np.float32) -> tuple[np.float32, np.float32]:
    """A float32 not far away of which the function is nearest to a float32, and that one."""

    def error(m: np.float32) -> Any:
        value = function(exact(m))
        rounded = np.float32(float(value))
        return abs(exact(rounded) - value) / exact(np.spacing(rounded))

    tried = [near]
    for _ in range(TRIES):
        tried.append(np.nextafter(tried[-1], np.float32(np.inf)))
    best = min(tried, key=error)
    return best, np.float32(float(function(exact(best))))


def interval(function: Function, limit: float, number: int, degree: int) -> list[np.float32]:
    """The middle of an interval, and the coefficients there from c0 on."""
    width = exact(np.float32(limit)) / (COUNT - 1)
    zero = np.float32(0)
    m, c0 = middle(function, np.float32(float(number * width))) if number else (zero, zero)
    low = (number - OVERLAP) * width if number else mp.mpf(0)
    high = (number + OVERLAP) * width
    slope = mp.diff(function, exact(m))

    def rest(t: Any) -> Any:
        is_near = abs(t) < mp.mpf(10) ** -12
        return slope if is_near else (function(exact(m) + t) - exact(c0)) / t

    def weight(t: Any) -> Any:
        return (abs(t) + mp.mpf(10) ** -6) / function(exact(m) + t) if number else 1 / slope

    fit = Fit("", rest, weight, low - exact(m), high - exact(m), degree - 1)
    return [m, c0, *(np.float32(float(c)) for c in remez(fit)[1])]


def main() -> None:
    """Print a table a function, row by row."""
    fit_math.POINTS = 200
    for name, function, limit, degree in FITS:
        columns = [interval(function, limit, number, degree) for number in range(COUNT)]
        print(name)
        for row in zip(*columns, strict=True):
            print(fill(" ".join(map(str, row)), 96))


if __name__ == "__main__":
    main()
