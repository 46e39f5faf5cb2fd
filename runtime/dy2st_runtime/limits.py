"""Limits on what a model that is loaded may take: for servers that run models of others.

    with metered(Limits(seconds=2)):        # around a call, or around loading
        ...                                 # `spend` and `look` raise LimitExceeded

`spend` counts operators and bytes, as Programs ask that were made for it (`ir/metering.py`); `look`
is asked by what takes long: loading, and loops of machine code.
"""

from __future__ import annotations

import itertools
import math
import time
from _thread import get_ident
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from dy2st_runtime.errors import ArgumentError, LimitExceeded
from dy2st_runtime.thread_state import ThreadState


@dataclass(frozen=True)
class Limits:
    """What one call of a loaded model may take; None is without limit.

    operators   how many operators run, those of loops at each iteration.
    bytes       how large the tensors are that exist at once, with what one kernel makes beside
                them. A tensor counts until the function, branch or iteration ends that makes it;
                inputs and parameters do not count.
    seconds     how long the call takes, without compiling at the first one, and loading too.

    >>> Limits(operators=10_000, seconds=0.5)
    Limits(operators=10000, bytes=None, seconds=0.5)
    """

    operators: int | None = None
    bytes: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        """Refuse what is no limit."""
        for field in fields(self):
            value = getattr(self, field.name)
            kinds = (int, float) if field.name == "seconds" else (int,)
            if value is not None and (type(value) not in kinds or not value > 0):
                what = "a number" if field.name == "seconds" else "an integer"
                raise ArgumentError(f"Limits: {field.name} is {what} above 0, not {value!r}")


class _Meter:
    """What is left in a call."""

    def __init__(self, limits: Limits) -> None:
        self.limits, self.operators = limits, 0
        self.held: list[int] = []  # bytes, of each Block that runs
        self.end = math.inf if limits.seconds is None else time.monotonic() + limits.seconds

    def look(self) -> None:
        if time.monotonic() > self.end:
            raise LimitExceeded(f"more than the {self.limits.seconds} seconds that limits allow")

    def count(self, operators: int) -> None:
        self.operators += operators
        most = self.limits.operators
        if most is not None and self.operators > most:
            raise LimitExceeded(f"more than the {most} operators that limits allow")

    def hold(self, bytes: int, beside: int, depth: int, begins: bool) -> None:
        """Count what stays until the Block ends; `beside` is what one kernel needs meanwhile."""
        most = self.limits.bytes
        if most is None:
            return
        del self.held[depth + (not begins) :]
        self.held += [0] * (depth + 1 - len(self.held))
        self.held[depth] += bytes
        if sum(self.held) + beside > most:
            raise self.too_large()

    def too_large(self) -> LimitExceeded:
        return LimitExceeded(
            f"tensors of more than the {self.limits.bytes} bytes that limits allow"
        )


class _Now(ThreadState):
    meter: _Meter | None = None


_now = _Now()
_threads: set[int] = set()
WATCHED = np.zeros(1, np.int64)
"""How many threads have limits: what machine code reads."""


@contextmanager
def metered(limits: Limits | None) -> Iterator[None]:
    """Hold what this thread does inside the `with` against limits; None has none."""
    if limits is None:
        yield
        return
    outer, thread = _now.meter, get_ident()
    _now.meter = _Meter(limits)
    _threads.add(thread)
    WATCHED[0] = len(_threads)
    try:
        yield
        _now.meter.look()
    except MemoryError:  # machine code reserves its memory before it counts
        if limits.bytes is not None:
            raise _Meter(limits).too_large() from None
        raise
    finally:
        _now.meter = outer
        if outer is None:
            _threads.discard(thread)
            WATCHED[0] = len(_threads)


def look() -> None:
    """Raise LimitExceeded if the time of this thread is over."""
    if _now.meter is not None:
        _now.meter.look()


def spend(
    operators: int, sizes: Sequence[Any], scratch: Sequence[Any], depth: int, begins: bool
) -> None:
    """Count operators before they run, and what they make; the rest as in `ir/metering`."""
    meter = _now.meter
    if meter is None:
        return
    meter.look()
    meter.count(operators)
    entries = iter(scratch)
    beside = [sum(_bytes(entries) for _ in range(int(count))) for count in entries]
    entries = iter(sizes)
    total = 0
    for width in entries:
        total += _bytes(itertools.chain([width], entries))
    meter.hold(total, max(beside, default=0), depth, begins)


def _bytes(entries: Iterator[Any]) -> int:
    """How large the next array is: the bytes of an element, how many axes, and their sizes."""
    width = int(next(entries))
    return width * math.prod(max(0, int(next(entries))) for _ in range(int(next(entries))))


__all__ = ["WATCHED", "LimitExceeded", "Limits", "look", "metered", "spend"]
