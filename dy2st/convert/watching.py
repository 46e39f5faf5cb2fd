"""Who wants to know which functions converted code calls: every trace of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FunctionType


class _Watched(threading.local):
    functions: dict[int, FunctionType] | None = None
    meet: Callable[[type, bool], None] | None = None


watched = _Watched()


class Era:
    """The time between two changes in who watches, and how many do."""

    __slots__ = ("watches",)

    def __init__(self, watches: int):
        """So many traces watch in it."""
        self.watches = watches


class _Now:
    __slots__ = ("era",)

    def __init__(self, era: Era):
        self.era = era


now = _Now(Era(0))
_era_lock = threading.Lock()


def _change_era(watches: int) -> None:
    with _era_lock:
        now.era = Era(now.era.watches + watches)


@contextmanager
def watch(meet: Callable[[type, bool], None]) -> Iterator[dict[int, FunctionType]]:
    """Gather the functions that are called in converted form inside the `with`.

    `meet` is told the classes of objects whose methods are called, and (with True) those called.
    """
    outer, outer_meet = watched.functions, watched.meet
    watched.functions, watched.meet = {}, meet
    _change_era(1)
    try:
        yield watched.functions
    finally:
        _change_era(-1)
        watched.functions, watched.meet = outer, outer_meet


def is_noted(function: FunctionType, era: Era) -> bool:
    """Note a function for the one who watches; whether that holds for all of this era."""
    functions = watched.functions
    if functions is None:
        return era.watches == 0
    functions[id(function)] = function
    return era.watches == 1
