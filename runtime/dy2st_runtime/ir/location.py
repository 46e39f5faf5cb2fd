"""Finds the user's frames: the place where an operator was called, and tracebacks without ours."""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from collections.abc import Callable
from functools import lru_cache, partial, wraps
from operator import itemgetter
from types import CodeType, FrameType, FunctionType, ModuleType, TracebackType
from typing import Any, ParamSpec, TypeVar

from dy2st_runtime.errors import ConversionError, Location, listener
from dy2st_runtime.thread_state import ByIdentity

P = ParamSpec("P")
R = TypeVar("R")
C = TypeVar("C")

# What is generated has a name in place of a file.
_OWN_FOLDERS: list[str] = [os.path.dirname(os.path.dirname(__file__)), "<dy2st "]
_explanations: list[Callable[[FrameType], str]] = []
# By identity: equal code objects of two files are equal to Python.
_places: ByIdentity[CodeType, list[tuple[int | None, int | None]]] = ByIdentity()
_LINE_AND_COLUMN: Callable[[tuple[Any, ...]], tuple[int | None, int | None]] = itemgetter(0, 2)


def hide_frames_of(folder: str) -> None:
    """Count the files of a folder as ours: no location ever points into them."""
    _OWN_FOLDERS.append(folder)
    is_own_file.cache_clear()
    _is_no_users.cache_clear()


def user_frame() -> FrameType | None:
    """The innermost frame that runs the user's code."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and _is_no_users(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


@lru_cache(maxsize=1024)
def _is_no_users(filename: str) -> bool:
    # Managers of ours run below a frame of contextlib; below one of the user's stands his `with`.
    return is_own_file(filename) or filename == contextlib.__file__


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
    line, column = _place(code, frame.f_lasti)
    return Location(code.co_filename, line or frame.f_lineno, column, False, layer)


def user_place() -> tuple[Location | None, int]:
    """The user's place, and what tells two in one line apart where Python has no columns."""
    frame = user_frame()
    return user_location(), frame.f_lasti if frame and sys.version_info < (3, 11) else 0


ConversionError._here = staticmethod(user_location)


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
    """Where a function begins; under a decorator of ours, where the user's does."""
    while isinstance(function, partial):
        function = function.func
    code = getattr(function, "__code__", None)
    if code is not None and is_own_file(code.co_filename) and hasattr(function, "__wrapped__"):
        return place_of(function.__wrapped__)
    return None if code is None else Location(code.co_filename, code.co_firstlineno)


def location_of(trace: TracebackType) -> Location:
    """The place of an entry of a traceback."""
    code = trace.tb_frame.f_code
    return Location(code.co_filename, trace.tb_lineno, _place(code, trace.tb_lasti)[1])


@lru_cache(maxsize=1024)
def is_own_file(filename: str) -> bool:
    """Whether a file belongs to us, and not to the user."""
    return filename.startswith(tuple(_OWN_FOLDERS))


def is_asked_by_library(frame: FrameType) -> bool:
    """Whether code of a library asks, while a function is traced; ours may, for messages."""
    return listener.hear is not None and not is_own_file(frame.f_code.co_filename)


def _place(code: CodeType, offset: int) -> tuple[int, int]:
    """Line and column of the instruction at `offset`, 0 if unknown.

    `f_lineno` looks for each line from the first on, in a long function for longer than all else.
    """
    if sys.version_info < (3, 11) or offset < 0:
        return 0, 0
    known = _places.get(code)
    if known is None:
        known = _places[code] = [*map(_LINE_AND_COLUMN, code.co_positions())]
    line, column = known[offset // 2]
    return line or 0, 0 if column is None else column + 1


def hide_own_frames(error: BaseException) -> None:
    """Take our frames out of the traceback of an error, of its causes and of errors grouped in it.

    Call it in an `except` whose last statement is a bare `raise`: that adds no frame from Python
    3.11 on; on 3.10 the frame of the `except` itself stays. With DY2ST_DEBUG in the environment,
    and for failed assertions of dy2st itself, all frames stay.
    """
    if os.environ.get("DY2ST_DEBUG", "0") not in ("", "0"):
        return
    if type(error) is AssertionError:
        entries = entries_of(error.__traceback__)
        if entries and is_own_file(entries[-1].tb_frame.f_code.co_filename):
            return
    _hide(error, set())


def without_own_frames(function: Callable[P, R]) -> Callable[P, R]:
    """Mark a public function that runs the user's code: its errors show the user's frames alone."""

    @wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except BaseException as error:  # goes on, without our frames
            hide_own_frames(error)
            raise

    return run


def is_reraise(entry: TracebackType) -> bool:
    """Whether an error has only passed what hides our frames, which Python 3.10 shows."""
    return entry.tb_frame.f_code.co_filename == __file__


def with_methods_without_own_frames(cls: type[C]) -> type[C]:
    """Mark a class that the user derives from: errors of its methods show his frames alone.

    Its `forward` is the user's to write, and is called by what hides frames itself.
    """
    for name, member in list(vars(cls).items()):
        if isinstance(member, FunctionType) and name[0] != "_" and name != "forward":
            setattr(cls, name, without_own_frames(member))
    return cls


def without_own_frames_in(package: str) -> None:
    """Mark what a module names in its `__all__` and has already; it calls this as its last act."""
    module = sys.modules[package]
    for name in getattr(module, "__all__", ()):
        value = vars(module).get(name)
        home = sys.modules.get(getattr(value, "__module__", None) or "")
        if home is not None and getattr(home, name, None) is value:
            setattr(module, name, hidden_in_place(home, name))


def hidden_in_place(module: ModuleType, name: str) -> object:
    """What a module of ours has under the name, marked there too, so that it stays one object.

    A function that it defines by that name, or the constructor of a class; all else stays.
    """
    value: object = getattr(module, name)
    if isinstance(value, FunctionType) and not hasattr(value, "__wrapped__"):
        is_defined_here = (value.__module__, value.__name__) == (module.__name__, name)
        if not is_defined_here or not value.__code__.co_varnames:
            return value  # others may have it already; without arguments nothing can be wrong
        value = without_own_frames(value)
        setattr(module, name, value)
    elif isinstance(value, type):
        home = next((one for one in value.__mro__ if "__init__" in vars(one)), value)
        made = vars(home).get("__init__")
        if (
            isinstance(made, FunctionType)
            and is_own_file(made.__code__.co_filename)
            and not hasattr(made, "__wrapped__")
        ):
            home.__init__ = without_own_frames(made)  # type: ignore[misc]
    return value


# Ask whether code is the body of a statement of the function that calls it.
_are_parts: list[Callable[[CodeType], bool]] = []


def join_parts(is_part: Callable[[CodeType], bool]) -> None:
    """Show one entry for a function and the bodies of its statements, which are code of their own.

    `is_part` says whether code is such a body.
    """
    _are_parts.append(is_part)


def _hide(error: BaseException | None, seen: set[int]) -> None:
    if error is None or id(error) in seen:
        return
    seen.add(id(error))
    # The entries of the user; the first one leads to them even if it is ours.
    entries = entries_of(error.__traceback__)
    kept = [entry for entry in entries if not is_own_file(entry.tb_frame.f_code.co_filename)]
    following_codes = [entry.tb_frame.f_code for entry in kept[1:]]
    # Whether code is the body of a statement in the other one, which was perhaps hidden before.
    kept = [
        entry
        for entry, code in zip(kept, [*following_codes, None], strict=False)
        if code is None
        or not (any(is_part(code) for is_part in _are_parts) and holds(entry.tb_frame.f_code, code))
    ]
    for entry, following in zip(kept, [*kept, None][1:], strict=True):
        entry.tb_next = following
    first = kept[0] if kept else None
    if entries and entries[0] is not first:
        entries[0].tb_next = first
    error.__traceback__ = first
    related = (error.__cause__, error.__context__, *getattr(error, "exceptions", ()))
    for other in related:
        if isinstance(other, BaseException):
            _hide(other, seen)


def holds(whole: CodeType, code: CodeType) -> bool:
    """Whether code is written inside of other code."""
    inner = [constant for constant in whole.co_consts if isinstance(constant, CodeType)]
    return any(one is code or holds(one, code) for one in inner)


def entries_of(trace: TracebackType | None) -> list[TracebackType]:
    """The entries of a traceback, the outermost first."""
    entries = []
    while trace is not None:
        entries.append(trace)
        trace = trace.tb_next
    return entries
