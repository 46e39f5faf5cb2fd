"""Functions that Python calls by itself run converted while a trace runs: `__code__` is swapped.

Converted code does for Python values what the user's own does. So other threads, which see the
swap too, see no difference.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from types import CodeType, FunctionType


@dataclass(eq=False, repr=False)
class _Swapped:
    function: FunctionType
    own: CodeType
    converted: CodeType
    traces: int = 0


# While a function is in here, at least one trace needs its code.
_swapped: dict[int, _Swapped] = {}
_lock = threading.RLock()


class Swaps:
    """The functions that one trace has swapped."""

    def __init__(self, convert: Callable[[FunctionType], CodeType | None]) -> None:
        """`convert` gives a function's converted code, None if it stays as it is."""
        self._convert = convert
        self.functions: dict[int, FunctionType] = {}

    def swap(self, function: FunctionType) -> bool:
        """Let a function run converted until the trace ends; False if it cannot be converted."""
        key = id(function)
        if key in self.functions:
            return True
        with _lock:
            entry = _swapped.get(key)
            if entry is None:
                converted = self._convert(function)
                if converted is None:
                    return False
                entry = _Swapped(function, function.__code__, converted)
                function.__code__ = converted
                _swapped[key] = entry
            entry.traces += 1
            self.functions[key] = function
        return True

    def restore(self) -> None:
        """Give back their own code to all functions that no other trace needs."""
        with _lock:
            for key in self.functions:
                entry = _swapped[key]
                entry.traces -= 1
                if entry.traces:
                    continue
                del _swapped[key]
                if entry.function.__code__ is entry.converted:  # else the user has replaced it
                    entry.function.__code__ = entry.own
            self.functions.clear()


def own_code(function: FunctionType) -> CodeType:
    """The code that the user wrote, swapped or not."""
    with _lock:
        entry = _swapped.get(id(function))
        return function.__code__ if entry is None else entry.own


def as_written(function: FunctionType) -> FunctionType:
    """The function itself, or one with the code that the user wrote while that is swapped."""
    code = own_code(function)
    if function.__code__ is code:
        return function
    made = FunctionType(code, function.__globals__, function.__name__, closure=function.__closure__)
    made.__qualname__, made.__module__ = function.__qualname__, function.__module__
    return made
