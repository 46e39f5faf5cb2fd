"""Symbols for sizes that only the data decides, numbered from 0 in every trace."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from dy2st_runtime.dims import Condition, Dim, Size, symbol
from dy2st_runtime.thread_state import ThreadState


class _Counter(ThreadState):
    count = 0

    def __init__(self) -> None:
        self.limits: list[Condition] = []
        self.made: list[Dim] = []


_counter = _Counter()


def fresh_symbol(prefix: str, minimum: Size = 0, maximum: Size | None = None) -> Dim:
    """A symbol that no other size of this trace has: `nonzero_0`, `nonzero_1`, ..."""
    name = f"{prefix}_{_counter.count}"
    _counter.count += 1
    least = minimum if isinstance(minimum, int) else 0
    result = symbol(name, least, maximum if isinstance(maximum, int) else None)
    _counter.made.append(result)
    if isinstance(minimum, Dim):
        _counter.limits.append(Condition(">=", result, minimum))
    if isinstance(maximum, Dim):
        _counter.limits.append(Condition("<=", result, maximum))
    return result


def take_limits() -> list[Condition]:
    """What is known of new symbols whose least or largest value is a size; once."""
    limits, _counter.limits = _counter.limits, []
    return limits


def fresh_mark() -> int:
    """A moment of a trace, for `made_since`."""
    return len(_counter.made)


def made_since(mark: int) -> frozenset[Dim]:
    """The symbols that a trace has made since a moment: of a branch, those that it alone knows."""
    return frozenset(_counter.made[mark:])


def restart_fresh_symbols() -> None:
    """Number from 0 once more: a new trace begins."""
    _counter.count, _counter.limits, _counter.made = 0, [], []


@contextmanager
def fresh_symbols_from(number: int | None = None) -> Iterator[None]:
    """For types that are computed beside a trace: nothing is left of what the `with` makes.

    It numbers from here, or goes on.
    """
    before = _counter.count, _counter.limits, _counter.made
    _counter.count = before[0] if number is None else number
    _counter.limits, _counter.made = [], []
    try:
        yield
    finally:
        _counter.count, _counter.limits, _counter.made = before
