"""Which trace runs in this thread: what the functions that a traced form calls belong to."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dy2st.convert.trace import Trace


class _Running(threading.local):
    trace: Trace | None = None


running = _Running()


@contextmanager
def run_in(trace: Trace) -> Iterator[None]:
    """Let the code inside the `with` be that of a trace."""
    outer, running.trace = running.trace, trace
    try:
        yield
    finally:
        running.trace = outer


__all__ = ["run_in", "running"]
