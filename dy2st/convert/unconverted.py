"""User functions that ran as they are where a tensor needed converted code.

Rewritten code sees the calls that are written in it. What C code or a library calls is met only
when a traced tensor is refused in it: then the function is swapped and the trace begun anew.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from types import CodeType, FrameType, FunctionType, TracebackType

from dy2st.transpiler import is_converted
from dy2st_runtime.errors import ConversionError, Location, SourceUnavailable, listener
from dy2st_runtime.ir.location import is_own_file

_DEBUGGERS = ("bdb", "pdb")


class Refusals:
    """All refusals inside a `with`, and the code that ran at each; user code may catch them."""

    def __init__(self) -> None:
        """Nothing is refused yet."""
        self.errors: list[ConversionError] = []
        self._codes: list[list[CodeType]] = []
        self._start: FrameType | None = None
        self._outer: Callable[[ConversionError], None] | None = None

    def __enter__(self) -> Refusals:
        """Hear of refusals in what the caller of this calls."""
        self._start, self._outer = sys._getframe(1), listener.hear
        listener.hear = self._hear
        return self

    def __exit__(self, *_: object) -> None:
        """Leave refusals to the `with` around this one."""
        listener.hear, self._start = self._outer, None

    def _hear(self, error: ConversionError) -> None:
        """Note a refusal, but not one that a person makes in a debugger."""
        if isinstance(error, SourceUnavailable):  # convert_call then calls the function as it is
            return
        frames = list(_frames_up_to(self._start))
        if not any(frame.f_globals.get("__name__") in _DEBUGGERS for frame in frames):
            self.errors.append(error)
            self._codes.append([frame.f_code for frame in frames])

    def codes(self, error: Exception) -> list[CodeType]:
        """The user's code that ran, innermost first, where the error or its cause arose."""
        codes = _codes_of(error.__traceback__)
        for known, noted in zip(self.errors, self._codes, strict=True):
            if known is error or not isinstance(error, ConversionError):
                codes = noted
                break
        return [code for code in codes if not is_own_file(code.co_filename)]


def _frames_up_to(start: FrameType | None) -> Iterator[FrameType]:
    frame: FrameType | None = sys._getframe().f_back
    while frame is not None and frame is not start:
        yield frame
        frame = frame.f_back


def _codes_of(trace: TracebackType | None) -> list[CodeType]:
    codes = []
    while trace is not None:
        codes.append(trace.tb_frame.f_code)
        trace = trace.tb_next
    return codes[::-1]


def location_of(error: BaseException) -> Location | None:
    """The user's innermost line on the way of an error."""
    found, trace = None, error.__traceback__
    while trace is not None:
        if not is_own_file(trace.tb_frame.f_code.co_filename):
            found = Location(trace.tb_frame.f_code.co_filename, trace.tb_lineno)
        trace = trace.tb_next
    return found


def functions_with(code: CodeType) -> list[FunctionType]:
    """All living functions that have this code, and the function in whose body they are made."""
    found = [f for f in gc.get_referrers(code) if type(f) is FunctionType and f.__code__ is code]
    return [*found, *(outer for f in found[:1] for outer in _around(f))]


def _around(function: FunctionType) -> Iterator[FunctionType]:
    """The outermost function that the qualified name and the module lead to."""
    path, _, inside = function.__qualname__.partition(".<locals>.")
    found: object = None
    if inside:
        first, *rest = path.split(".")
        found = function.__globals__.get(first)
        for name in rest:
            found = getattr(found, name, None)
    found = getattr(found, "__func__", found)
    if isinstance(found, FunctionType) and not is_converted(found.__code__):
        yield found
