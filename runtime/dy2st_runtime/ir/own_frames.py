"""Takes our frames out of tracebacks: they show the user's lines alone."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from types import CodeType, FunctionType, ModuleType, TracebackType
from typing import ParamSpec, TypeVar

from dy2st_runtime.ir.location import is_own_file

P = ParamSpec("P")
R = TypeVar("R")
C = TypeVar("C")


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

    @functools.wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except BaseException as error:  # goes on, without our frames
            hide_own_frames(error)
            raise

    return run


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
