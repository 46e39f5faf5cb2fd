"""Numbers of a Program in code that is not traced: Python's would have a value there."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from typing import Any

from dy2st.convert.values.layout import is_traced_number
from dy2st_runtime.errors import ConversionError, TensorAsPython
from dy2st_runtime.ir import Variable, user_location
from dy2st_runtime.ir.choice import Text

# What code raises that looks at a value more closely than it expects to.
FAULTS = (TypeError, AttributeError, ValueError, struct.error)


def check_numpy(function: Any, given: Sequence[Any]) -> None:
    """Refuse numbers in what NumPy makes an array of: it would be one of objects."""
    is_numpy = str(getattr(function, "__module__", "")).partition(".")[0] == "numpy"
    if is_numpy and _holds_number(given):
        raise _refusal(f"np.{function.__name__}()", "of NumPy")


def check_fault(function: Any, error: Exception, given: Sequence[Any]) -> None:
    """Refuse a call that fails since it gets no number of Python: with one it may not fail."""
    is_own = str(getattr(function, "__module__", "")).startswith("dy2st")
    if is_own or isinstance(error, ConversionError):
        return
    if not _holds_number(given) and Variable.__name__ not in str(error):
        return
    name = getattr(function, "__name__", type(function).__name__)
    raise _refusal(f"{name}()", "that is not converted") from error


def _refusal(called: str, of: str) -> TensorAsPython:
    return TensorAsPython(
        f"{called}, a function {of}, gets what only the run knows",
        at=user_location(),
        why="while a function is traced numbers and texts of the Program have no value yet",
        hint="call it on what the function returns, or compute it with functions of dy2st",
    )


def _holds_number(values: Iterable[Any], depth: int = 0) -> bool:
    for value in values:
        if is_traced_number(value) or type(value) is Text:
            return True
        inner = value.values() if isinstance(value, dict) else value
        is_holder = isinstance(value, (tuple, list, dict, set))
        if is_holder and depth < _DEPTH and _holds_number(inner, depth + 1):
            return True
    return False


_DEPTH = 8
