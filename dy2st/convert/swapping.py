"""Functions that Python calls by itself run converted while a trace runs: `__code__` is swapped.

Converted code does for Python values what the user's own does. So other threads, which see the
swap too, see no difference.
"""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType, FunctionType

from dy2st.transpiler import is_converted
from dy2st_runtime.by_identity import ByIdentity


class _Swapped:
    """The user's code of a function that is, or was, swapped, and the traces that need it so."""

    __slots__ = ("own", "traces")

    def __init__(self, own: CodeType) -> None:
        self.own = own
        self.traces: set[Swaps] = set()


_swapped: ByIdentity[FunctionType, _Swapped] = ByIdentity()


class Swaps:
    """The functions that one trace has swapped."""

    def __init__(self, convert: Callable[[FunctionType], CodeType | None]) -> None:
        """`convert` gives a function's converted code, None if it stays as it is."""
        self._convert = convert
        self.functions: dict[int, FunctionType] = {}

    def swap(self, function: FunctionType) -> bool:
        """Let a function run converted until the trace ends; False if it cannot be converted."""
        if id(function) in self.functions:
            return True
        converted = self._convert(function)
        if converted is None:
            return False
        code = function.__code__
        known = _swapped.setdefault(function, _Swapped(code))
        if not is_converted(code):
            known.own = code
        # What is to be undone is written first: Ctrl-C may come after any step.
        self.functions[id(function)] = function
        known.traces.add(self)
        function.__code__ = converted
        return True

    def restore(self) -> None:
        """Give back their own code to all functions that no other trace needs.

        A second call goes on where the first was interrupted.
        """
        for function in self.functions.values():
            known = _swapped.get(function)
            if known is not None:
                known.traces.discard(self)
                _restore(function, known)
        self.functions.clear()


def _restore(function: FunctionType, known: _Swapped) -> None:
    converted = function.__code__
    if is_converted(converted) and not known.traces:  # else the user has replaced it
        function.__code__ = known.own
        if known.traces:  # another thread has come meanwhile
            function.__code__ = converted


def own_code(function: FunctionType) -> CodeType:
    """The code that the user wrote, swapped or not."""
    code = function.__code__
    if not is_converted(code):
        return code
    known = _swapped.get(function)
    return code if known is None else known.own


def as_written(function: FunctionType) -> FunctionType:
    """The function itself, or one with the code that the user wrote while that is swapped."""
    code = own_code(function)
    if function.__code__ is code:
        return function
    made = FunctionType(code, function.__globals__, function.__name__, closure=function.__closure__)
    made.__qualname__, made.__module__ = function.__qualname__, function.__module__
    return made
