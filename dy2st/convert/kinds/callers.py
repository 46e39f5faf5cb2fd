"""Functions that look at the frame that calls them: they see one of the user's function."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from types import CodeType, FrameType, FunctionType
from typing import Any

from dy2st.convert.kinds.table import function_row
from dy2st.convert.trace import Trace
from dy2st.transpiler.compile import is_part
from dy2st_runtime.ir.location import holds, is_own_file, user_frame


def user_frames() -> Iterator[FrameType]:
    """The frames of the user's functions, innermost first: the body of a statement is no other."""
    frame, inside = user_frame(), None
    while frame is not None:
        code = frame.f_code
        if not is_own_file(code.co_filename):
            if inside is None or not holds(code, inside):
                yield frame
                inside = code
            if not is_part(code):
                inside = None
        frame = frame.f_back


def called_by_the_user(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """`function(*args, **kwargs)` by a frame that has the globals, name and line of the user's."""
    frame = user_frame()
    if frame is None:
        return function(*args, **kwargs)
    if (function.__module__, getattr(function, "__name__", "")) == ("pdb", "set_trace"):
        return _stop()
    code = _CALL.replace(
        co_filename=frame.f_code.co_filename,
        co_name=frame.f_code.co_name,
        co_firstlineno=frame.f_lineno - 1,
    )
    try:
        return FunctionType(code, frame.f_globals)(function, args, kwargs)
    except BaseException as error:  # goes on, without the frame
        here = error.__traceback__
        if here is not None and here.tb_next is not None:
            here.tb_next = here.tb_next.tb_next
        raise


def _call(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return function(*args, **kwargs)


_OWN = ("dy2st", "numpy")
_CALL: CodeType = _call.__code__


def looks_at_caller(function: Any) -> bool:
    """Whether a function may look at the frame that calls it: one of Python's own, a metaclass."""
    if isinstance(function, type):
        return issubclass(function, type)
    module = str(getattr(function, "__module__", ""))
    return type(function) is FunctionType and not module.startswith(_OWN)


@function_row(sys._getframe)
def _getframe(trace: Trace, depth: int = 0) -> FrameType:
    found = [*user_frames()][depth:]
    if not found:
        raise ValueError("call stack is not deep enough")
    return found[0]


@function_row(inspect.currentframe)
def _currentframe(trace: Trace) -> FrameType | None:
    return next(user_frames(), None)


@function_row(sys.exit)
def exit_(trace: Trace, status: Any = None) -> None:
    """`sys.exit(status)`: an exception like others."""
    args = status if isinstance(status, tuple) else () if status is None else (status,)
    raise trace.raised(SystemExit(*args))


@function_row(breakpoint)
def _breakpoint(trace: Trace, *args: Any, **options: Any) -> None:
    if trace.call_context.is_tentative:
        trace.refuse_effect("breakpoint() is called")
    is_default = sys.breakpointhook is sys.__breakpointhook__
    if is_default and "PYTHONBREAKPOINT" not in os.environ:  # it names another debugger
        _stop()
    else:
        called_by_the_user(sys.breakpointhook, args, options)


def _stop() -> None:
    """Let the debugger of Python stop on the user's next line."""
    frame = user_frame()
    debugger = import_module("pdb").Pdb()  # who debugs waits for it
    debugger.set_trace(frame)
    sys.settrace(None)  # it would stop in the next line of ours
    debugger.set_next(frame)
    sys.settrace(debugger.trace_dispatch)
