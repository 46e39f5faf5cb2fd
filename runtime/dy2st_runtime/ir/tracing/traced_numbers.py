"""Records numbers of Python in a trace: arithmetic of sizes, and numbers as keys.

Arithmetic whose result is no size, `n / 2` or `n * 0.5`, is recorded as of numbers. A traced number
is refused as a key, where Python would find it by its value.
"""

from __future__ import annotations

import operator
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from dy2st_runtime.dims.expression import OPERATIONS
from dy2st_runtime.ir.location import is_own_file, user_location
from dy2st_runtime.ir.program import Variable
from dy2st_runtime.ir.tracing.tracer import current_tracer
from dy2st_runtime.lazy import public_dir
from dy2st_runtime.thread_state import Shared

_PYTHON: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "truediv": operator.truediv,
    "floordiv": operator.floordiv,
    "modulo": operator.mod,
    "pow": operator.pow,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def _number_of_sizes(operation: str, operands: tuple[Any, Any]) -> Any:
    """n / 2 or n * 0.5, recorded as numbers of Python; None outside of a trace."""
    tracer = current_tracer()
    if tracer is None:
        return None
    left, right = (tracer.number(value) for value in operands)
    return _PYTHON[operation](left, right)


OPERATIONS["number"] = _number_of_sizes
OPERATIONS["place"] = lambda: None if current_tracer() is None else user_location()


# The hash of a Variable is its identity, which passes ask for all the time: the check is in force
# only as long as user code is traced.
def _checked_hash(variable: Variable) -> int:
    if variable.number is not None and _user_asks(sys._getframe(1)):
        raise variable.unhashable()
    return object.__hash__(variable)


def _user_asks(frame: FrameType | None) -> bool:
    """Whether the user's code asks, itself or by Python's library: ours does so in any thread."""
    while frame is not None and frame.f_code.co_filename.startswith(_LIBRARY):
        if _PACKAGES in frame.f_code.co_filename:
            break
        frame = frame.f_back
    return frame is None or not is_own_file(frame.f_code.co_filename)


_LIBRARY, _PACKAGES = os.path.dirname(os.__file__) + os.sep, os.sep + "site-packages" + os.sep


def _hash_by(method: Callable[[Variable], int]) -> Callable[[], None]:
    return lambda: setattr(Variable, "__hash__", method)


_checking = Shared(_hash_by(_checked_hash), _hash_by(object.__hash__))


@contextmanager
def numbers_are_no_keys() -> Iterator[None]:
    """Refuse traced numbers as keys in user code inside the `with`, in whatever thread.

    >>> with numbers_are_no_keys():
    ...     {2: "numbers of Python are keys"}[2]
    'numbers of Python are keys'
    """
    with _checking.held():
        yield


__dir__ = public_dir(__name__)
