"""While a function is traced, its numbers are no keys: Python's would be found by their values.

The hash of a Variable is its identity, which passes ask for all the time: it is looked at only as
long as user code is traced.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from dy2st_runtime.ir.location import is_own_file
from dy2st_runtime.ir.program import Variable

_lock = threading.Lock()
_traces = 0


def _checked_hash(variable: Variable) -> int:
    if variable.number is not None and not is_own_file(sys._getframe(1).f_code.co_filename):
        raise variable.unhashable()
    return object.__hash__(variable)


@contextmanager
def numbers_are_no_keys() -> Iterator[None]:
    """Refuse traced numbers as keys in user code inside the `with`, in whatever thread."""
    _count(1)
    try:
        yield
    finally:
        _count(-1)


def _count(change: int) -> None:
    global _traces
    with _lock:
        _traces += change
        setattr(Variable, "__hash__", _checked_hash if _traces else object.__hash__)  # noqa: B010
