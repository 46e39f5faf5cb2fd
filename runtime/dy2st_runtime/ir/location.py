"""Finds the place in the user's source where an operator was called."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable
from functools import lru_cache, partial
from types import CodeType, FrameType, TracebackType
from typing import Any

from dy2st_runtime.errors import Location, listener
from dy2st_runtime.identity_tables import ByIdentity

# What is generated has a name in place of a file.
_OWN_FOLDERS: list[str] = [os.path.dirname(os.path.dirname(__file__)), "<dy2st "]
_explanations: list[Callable[[FrameType], str]] = []
# By identity: equal code objects of two files are equal to Python.
_columns: ByIdentity[CodeType, list[int]] = ByIdentity()


def hide_frames_of(folder: str) -> None:
    """Count the files of a folder as ours: no location ever points into them."""
    _OWN_FOLDERS.append(folder)
    is_own_file.cache_clear()


def user_frame() -> FrameType | None:
    """The innermost frame that runs the user's code."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and is_own_file(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


def explain_frames(explain: Callable[[FrameType], str]) -> None:
    """Install what knows why the code of a frame was not converted; it says "" if it does not."""
    _explanations.append(explain)


def why_not_converted() -> str:
    """Why the innermost user code was not converted, "" if nobody knows."""
    frame = user_frame()
    if frame is None:
        return ""
    return next(filter(None, (explain(frame) for explain in _explanations)), "")


def user_location(layer: str = "") -> Location | None:
    """The user's file, line and column (columns from Python 3.11 on), in a Layer of this path.

    >>> from dy2st_runtime.ir import user_location
    >>> user_location().line
    1
    """
    frame = user_frame()
    if frame is None:
        return None
    code = frame.f_code
    return Location(code.co_filename, frame.f_lineno, _column(code, frame.f_lasti), False, layer)


def warn_user(message: str, at: Location | None = None) -> None:
    """Warn of what the user's code does, on its own line: where it runs now, or `at` a place.

    As of all warnings, Python shows one of a text and line, unless a filter says otherwise.
    """
    place = at or user_location()
    if place is None:
        warnings.warn(message, stacklevel=2)
    else:
        text, known = f"{place}: {message}", _warned.setdefault(place.file, {})
        warnings.warn_explicit(text, UserWarning, place.traced_file, place.line, registry=known)


# What Python keeps in the module of each file, for the warnings that it has shown.
_warned: dict[str, dict[str | tuple[str, type[Warning], int], int]] = {}


def place_of(function: Any) -> Location | None:
    """Where a function begins."""
    while isinstance(function, partial):
        function = function.func
    code = getattr(function, "__code__", None)
    return None if code is None else Location(code.co_filename, code.co_firstlineno)


def location_of(trace: TracebackType) -> Location:
    """The place of an entry of a traceback."""
    code = trace.tb_frame.f_code
    return Location(code.co_filename, trace.tb_lineno, _column(code, trace.tb_lasti))


@lru_cache(maxsize=1024)
def is_own_file(filename: str) -> bool:
    """Whether a file belongs to us, and not to the user."""
    return filename.startswith(tuple(_OWN_FOLDERS))


def is_asked_by_library(frame: FrameType) -> bool:
    """Whether code of a library asks, while a function is traced; ours may, for messages."""
    return listener.hear is not None and not is_own_file(frame.f_code.co_filename)


def _column(code: CodeType, offset: int) -> int:
    """Column of the instruction at `offset`, 0 if unknown."""
    if sys.version_info < (3, 11) or offset < 0:
        return 0
    known = _columns.get(code)
    if known is None:
        starts = (column for _, _, column, _ in code.co_positions())
        known = _columns[code] = [0 if column is None else column + 1 for column in starts]
    return known[offset // 2]
