"""What the benchmarks share: medians, and two functions timed in turns."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

Subject = Callable[[], Any]


def seconds(function: Subject) -> float:
    """How long one call takes."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def median_seconds(function: Subject, rounds: int = 15) -> float:
    """The median of several calls, after one that warms up."""
    function()
    return statistics.median(seconds(function) for _ in range(rounds))


def in_turns(first: Subject, second: Subject, rounds: int = 15) -> list[tuple[float, float]]:
    """Seconds of both, one after the other: what disturbs the machine disturbs both."""
    first(), second()
    return [(seconds(first), seconds(second)) for _ in range(rounds)]


def times(subject: Subject, floor: Subject, rounds: int = 15) -> float:
    """How many times as long as `floor` the subject takes: the median of the rounds' ratios."""
    return statistics.median(a / b for a, b in in_turns(subject, floor, rounds))


def seconds_above(subject: Subject, floor: Subject, rounds: int = 15) -> float:
    """How much longer than `floor` the subject takes: the median of the rounds' differences."""
    return statistics.median(a - b for a, b in in_turns(subject, floor, rounds))
