"""Warnings and messages to loggers in branches and loops: the Program gives them when it runs."""

from __future__ import annotations

import builtins
import os
import sys
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from dy2st.convert.effect_table import KINDS, row_of
from dy2st.convert.kinds.callers import called_by_the_user, user_frames
from dy2st.convert.kinds.side_effects import check_side_effects
from dy2st.convert.kinds.table import function_row
from dy2st.convert.kinds.text import formatted, holds_traced, kept
from dy2st.convert.trace import Trace
from dy2st.convert.types.constants import with_lists
from dy2st_runtime.errors import UnsupportedSyntax
from dy2st_runtime.ir import F, user_location
from dy2st_runtime.ir.choice import Text
from dy2st_runtime.ir.location import user_frame

_LEVELS = {
    **{"debug": 10, "info": 20, "warning": 30, "warn": 30},
    **{"error": 40, "critical": 50, "fatal": 50},
}


def is_silent(trace: Trace, function: Any, given: Sequence[Any]) -> bool:
    """Whether this gives a message to a logger that does not take its level now."""
    number = {**_LEVELS, "exception": 40}.get(function.__name__)
    if number is None or len(given) < 2 or row_of(function, given) is not KINDS["LOGS"]:
        return False
    asked: Any = getattr(given[0], "isEnabledFor", None)
    if asked is None or asked(number):
        return False
    trace.read("cached", asked, ((number,), ()), False)
    return True


def logs_message(
    trace: Trace, function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> bool:
    """Whether a call is recorded as a warning or a message; all others are made now, or refused."""
    is_traced = any(holds_traced(trace, one) for one in (*args, *kwargs.values()))
    if row_of(function, args) is KINDS["LOGS"]:
        is_noted = _logs(trace, function, args, kwargs)
    elif function is warnings.warn and (is_traced or trace.is_nested):
        is_noted = _warns(trace, *args, **kwargs)
    else:
        return False
    if is_traced and not is_noted and not trace.is_nested:
        what = "a warning" if function is warnings.warn else "a message to a logger"
        raise UnsupportedSyntax(
            f"{what} with a tensor in it, of a kind that no Program gives",
            at=user_location(),
            why="a Program gives texts: with a level, to a logger of logging.getLogger, or with a "
            "class of Python's own to warnings.warn",
            hint='write ("%s", x) without extra=, exc_info= and stacklevel=, or print(...)',
        )
    return is_noted


@function_row(warnings.warn)
def warn_(
    trace: Trace,
    message: Any,
    category: type[Warning] | None = None,
    stacklevel: int = 1,
    source: Any = None,
    **options: Any,
) -> None:
    """`warnings.warn(message, category, stacklevel)`: our own frames do not count."""
    given = {"category": category, "stacklevel": stacklevel, **options}
    if logs_message(trace, warnings.warn, (message,), given):
        return
    check_side_effects(trace, warnings.warn, (message,))
    if options:
        called_by_the_user(warnings.warn, (message, category, stacklevel, source), options)
        return
    frames = list(user_frames())
    if isinstance(message, Warning):
        category = type(message)
    place = frames[max(stacklevel, 1) - 1] if stacklevel <= len(frames) else None
    names = sys.__dict__ if place is None else place.f_globals
    file, line = ("sys", 1) if place is None else (place.f_code.co_filename, place.f_lineno)
    known = names.setdefault("__warningregistry__", {})
    module = names.get("__name__") or "<string>"
    warnings.warn_explicit(
        message, category or UserWarning, file, line, module, known, source=source
    )


def _warns(trace: Trace, message: Any, category: Any, stacklevel: Any, **options: Any) -> bool:
    kind = UserWarning if category is None else category
    is_known = isinstance(kind, type) and getattr(builtins, kind.__name__, None) is kind
    if options or id(warnings.filters) != trace.filters:
        return False
    if not (is_known and type(message) in (str, Text) and type(stacklevel) is int):
        return False
    file, line = _place() if stacklevel <= 1 else ("", 0)
    F.emit_warning(with_lists(kept(trace, message)), kind.__name__, file, line)
    return True


def _logs(trace: Trace, function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool:
    name, logger, rest = function.__name__, "", args
    if function.__qualname__ != name:  # a method, of a Logger or of an adapter
        logger, rest = getattr(args[0], "name", ""), args[1:]
        manager = getattr(args[0], "manager", None)  # of those that getLogger gives
        if manager is None or args[0] not in (manager.root, manager.loggerDict.get(logger)):
            return False
    level: Any = _LEVELS.get(name)
    if name == "log" and rest:
        level, rest = rest[0], rest[1:]
    if type(level) is not int or not rest or any(kwargs.values()):
        return False
    text, values = rest[0], rest[1:]
    if type(text) not in (str, Text):
        text = formatted(trace, text, "s", "")
    if values and type(text) is Text:
        return False
    if values:
        is_mapping = len(values) == 1 and isinstance(values[0], Mapping) and values[0]
        text = trace.mod(text, values[0] if is_mapping else values)
    frame = user_frame()
    function = "" if frame is None else frame.f_code.co_name
    F.emit_log(with_lists(kept(trace, text)), logger, level, *_place(), function)
    return True


def _place() -> tuple[str, int]:
    """The line of the user's, and its file without folders: files tell of none."""
    place = user_location()
    return ("", 0) if place is None else (os.path.basename(place.file), place.line)
