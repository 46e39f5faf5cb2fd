"""Functions of math that go through many numbers."""

from __future__ import annotations

import math
from typing import Any

from dy2st.convert.polyfills.registry import polyfill


@polyfill(math.fsum)
def _exact_sum(values: Any) -> float:
    """The sum as if by exact numbers: parts that do not overlap, the smallest first."""
    parts: list[float] = []
    special, infinite = 0.0, 0.0
    for value in values:
        number = float(value)
        if math.isfinite(number):
            place = 0
            for part in list(parts):
                large, small = (part, number) if abs(number) < abs(part) else (number, part)
                number = large + small
                rest = small - (number - large)
                if rest != 0.0:
                    parts[place] = rest
                    place += 1
            if math.isinf(number):
                raise OverflowError("intermediate overflow in fsum")
            parts = parts[:place] + [number]
        else:
            special += number
            infinite += number if math.isinf(number) else 0.0
    if math.isnan(infinite):
        raise ValueError("-inf + inf in fsum")
    return special if special != 0.0 else _rounded_sum(parts)


def _rounded_sum(parts: list[float]) -> float:
    """The sum of parts that do not overlap, rounded once: half to even."""
    total, rest, place = 0.0, 0.0, len(parts)
    while place > 0 and rest == 0.0:
        place -= 1
        before, part = total, parts[place]
        total = before + part
        rest = part - (total - before)
    if place > 0 and rest * parts[place - 1] > 0.0:
        twice = rest * 2.0
        other = total + twice
        if twice == other - total:
            total = other
    return total
