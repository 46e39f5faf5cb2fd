"""Knows which trace runs in this thread, and lets its code go deep: a call takes several calls."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dy2st.convert.trace import Trace


class _Running(threading.local):
    trace: Trace | None = None
    limit = 0  # of calls in each other, as the user's code knows it


running = _Running()


@contextmanager
def run_in(trace: Trace) -> Iterator[None]:
    """Let the code inside the `with` be that of a trace."""
    outer, running.trace = running.trace, trace
    try:
        yield
    finally:
        running.trace = outer


# The least limit of a trace. What Python takes for so many calls fits a stack of 2 MB.
_LEAST = 5000


@contextmanager
def deeper() -> Iterator[None]:
    """Let code go about as deep as without a trace, unless the user's own limit is higher."""
    outer, running.limit = running.limit, sys.getrecursionlimit()
    limit = running.limit
    try:
        sys.setrecursionlimit(max(limit, _LEAST))
        yield
    finally:
        if sys.getrecursionlimit() == max(limit, _LEAST):  # the code has set no other
            sys.setrecursionlimit(limit)
        running.limit = outer


def users_limit() -> int:
    """The limit of Python that the user's code knows of."""
    now = sys.getrecursionlimit()
    return running.limit if now == max(running.limit, _LEAST) else now
