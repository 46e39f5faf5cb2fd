"""Numbers: what goes through many of them, computes with ints, or writes one in a base."""

from __future__ import annotations

import math
import operator
from typing import Any

from dy2st.convert.kinds.table import for_each
from dy2st.convert.polyfills.registry import polyfill


@polyfill(math.fsum)
def _exact_sum(values: Any) -> float:
    """The sum as if by exact numbers: parts that do not overlap, the smallest first."""
    parts: list[float] = []
    special, infinite = 0.0, 0.0
    # The sums so far cannot be kept for a generator that a tensor decides on.
    for value in values if hasattr(values, "__len__") else list(values):
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


@polyfill(math.prod)
def _prod(iterable: Any, /, *, start: Any = 1) -> Any:
    for item in iterable:
        start = start * item
    return start


@polyfill(math.dist)
def _dist(p: Any, q: Any, /) -> float:
    if len(p) != len(q):
        raise ValueError("both points must have the same number of dimensions")
    return math.hypot(*[a - b for a, b in zip(p, q)])


_MOST = 2**63 - 1  # of an int of a Program


@polyfill(math.perm)
def _perm(n: Any, k: Any = None) -> Any:
    if k is None:
        return math.factorial(n)
    _check_ints(n, k)
    found = 1 if k <= n else 0
    for place in range(min(k, n)):
        found = _product(found, n - place)
    return found


@polyfill(math.comb)
def _comb(n: Any, k: Any) -> Any:
    _check_ints(n, k)
    found = 1 if k <= n else 0
    for place in range(min(k, n - k)):
        found = _product(found, n - place) // (place + 1)
    return found


def _check_ints(n: Any, k: Any) -> None:
    operator.index(n), operator.index(k)
    if n < 0:
        raise ValueError("n must be a non-negative integer")
    if k < 0:
        raise ValueError("k must be a non-negative integer")


def _product(left: Any, right: Any) -> Any:
    if right > 0 and left > _MOST // right:
        raise OverflowError("an int of a Program has 64 bits, and a product on the way is larger")
    return left * right


@for_each((bin, "b"), (oct, "o"), (hex, "x"))
def _in_base(function: Any, base: str) -> None:
    @polyfill(function)
    def written(number: Any, /) -> Any:
        number = operator.index(number)
        return ("-0" if number < 0 else "0") + base + f"{abs(number):{base}}"


def bit_length(number: Any) -> int:
    """`number.bit_length()`."""
    rest = abs(number)
    # As floats both halves are exact.
    if rest >= 4294967296:
        return math.frexp(rest // 4294967296)[1] + 32
    return math.frexp(rest)[1]


def bit_count(number: Any) -> int:
    """`number.bit_count()`."""
    rest, count = abs(number), 0
    while rest:
        rest &= rest - 1
        count += 1
    return count
