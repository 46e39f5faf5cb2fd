"""What one trace meets: the functions called, and the `if`s and loops staged.

A refusal or exception that leaves a staged statement gets a note of where that is.
"""

from __future__ import annotations

import functools
import linecache
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ParamSpec, TypeVar

import numpy as np

from dy2st.convert.traced import is_traced
from dy2st.transpiler import statement_info
from dy2st_runtime.ir import user_location
from dy2st_runtime.thread_state import ThreadState

_SIMPLE = (str, bytes, int, float, complex, type(None), type, np.generic, np.dtype, np.ndarray)

P = ParamSpec("P")
R = TypeVar("R")


@dataclass
class Record:
    """What was met, in the order in which it was.

    called    functions, classes and builtins by identity.
    staged    every statement that became an operator: kind, file, line and column.
    streams   standard output and error when the trace began.
    names     the attributes that were asked for by names that were computed.
    is_open   whether an object was read as a whole, such as to print it.
    """

    called: dict[int, Any] = field(default_factory=dict)
    staged: dict[tuple[str, str, int, int], None] = field(default_factory=dict)
    streams: tuple[Any, Any] = field(default_factory=lambda: (sys.stdout, sys.stderr))
    names: set[str] = field(default_factory=set)
    is_open: bool = False


class _Active(ThreadState):
    record: Record | None = None


_active = _Active()


@contextmanager
def recording() -> Iterator[Record]:
    """Record what is met inside the `with`."""
    outer, _active.record = _active.record, Record()
    try:
        yield _active.record
    finally:
        _active.record = outer


def note_call(function: Any) -> None:
    """Record that converted code calls this."""
    record = _active.record
    if record is not None:
        record.called[id(function)] = function


def note_name(name: object) -> None:
    """Record that an attribute of this name is asked for."""
    record = _active.record
    if record is not None and isinstance(name, str):
        record.names.add(name)


def note_whole(*values: object) -> None:
    """Record that code reads these values as a whole: any attribute of theirs may be told."""
    record = _active.record
    if record is not None and not all(map(_is_simple, values)):
        record.is_open = True


def _is_simple(value: object) -> bool:
    """Whether a value has no attributes that somebody could change."""
    if type(value) in (list, tuple, set, frozenset):
        return all(map(_is_simple, value))  # type: ignore[call-overload]
    if type(value) is dict:
        return all(map(_is_simple, (*value.keys(), *value.values())))
    return isinstance(value, _SIMPLE) or is_traced(value)


def is_redirected(file: Any) -> bool:
    """Whether the function that is traced has put another stream in the place of a standard one."""
    record = _active.record
    if record is None:
        return False
    now = sys.stdout if file is None else file
    return (now is sys.stdout or now is sys.stderr) and now not in record.streams


def staged(kind: str = "", body: int = 1) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Mark a function that stages a statement, whose body is the argument of that number.

    `kind` says what it is where the body is no statement's.
    """

    def mark(stage: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(stage)
        def run(*args: P.args, **kwargs: P.kwargs) -> R:
            place = _place(args[body], kind)
            if place is not None and _active.record is not None:
                _active.record.staged[place] = None
            try:
                return stage(*args, **kwargs)
            except BaseException as error:  # goes on, with a note
                if place is not None:
                    _add_note(error, *place)
                raise

        return run

    return mark


def _place(body: Any, kind: str) -> tuple[str, str, int, int] | None:
    """Kind, file, line and column of a statement or expression; None if it is none of the user."""
    if kind:
        place = user_location()
        return None if place is None else (kind, place.file, place.line, place.column)
    info = statement_info(body.__code__)
    if info is None:
        return None
    return info.kind, body.__code__.co_filename, info.line, info.column


def _add_note(error: BaseException, kind: str, file: str, line: int, column: int) -> None:
    """Say in which staged statement the error arose; 3.10 has no notes."""
    if sys.version_info < (3, 11):
        return
    text = linecache.getline(file, line).strip()
    place = f"{file}:{line}:{column}" if column else f"{file}:{line}"
    note = f"in the staged `{kind}` of {place}" + (f": {text}" if text else "")
    if note not in getattr(error, "__notes__", ()):
        error.add_note(note)
