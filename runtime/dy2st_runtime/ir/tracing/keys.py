"""While a function is traced, its numbers are no keys: Python's would be found by their values.

The hash of a Variable is its identity, which passes ask for all the time: it is looked at only as
long as user code is traced.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from dy2st_runtime.ir.location import is_own_file
from dy2st_runtime.ir.program import Variable
from dy2st_runtime.thread_state import Shared


def _checked_hash(variable: Variable) -> int:
    if variable.number is not None and not is_own_file(sys._getframe(1).f_code.co_filename):
        raise variable.unhashable()
    return object.__hash__(variable)


def _hash_by(method: Callable[[Variable], int]) -> Callable[[], None]:
    return lambda: setattr(Variable, "__hash__", method)


_checking = Shared(_hash_by(_checked_hash), _hash_by(object.__hash__))


@contextmanager
def numbers_are_no_keys() -> Iterator[None]:
    """Refuse traced numbers as keys in user code inside the `with`, in whatever thread."""
    with _checking.held():
        yield
