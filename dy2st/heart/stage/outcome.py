"""Exceptions of regions: what the user's code raises in a branch becomes an operator of it."""

from __future__ import annotations

import builtins
from pathlib import Path
from typing import Any

from dy2st.heart.trace import Trace
from dy2st_runtime.dims import Condition, Dim
from dy2st_runtime.errors import ConversionError, Dy2stError
from dy2st_runtime.ir import F, Tensor, user_location
from dy2st_runtime.ir.location import is_own_file, location_of
from dy2st_runtime.ir.raised import ErrorKind
from dy2st_runtime.ir.structure import flatten, is_container


class AlwaysRaises(BaseException):
    """What follows is never run: the Program has raised on every path."""


def note_raise(trace: Trace, error: Exception, is_case: bool = False) -> None:
    """Let the Block raise what the user's code raised; an error of the code itself goes on.

    A wrong name or type is a fault of the code whether or not the branch is taken, but not where
    it is one of several values that has no such operation (`is_case`).
    """
    is_wrong = isinstance(error, (AttributeError, NameError, TypeError)) and not is_case
    if isinstance(error, Dy2stError) or (is_wrong and type(error) is not UnboundLocalError):
        raise error
    if not is_case and not _is_of_the_user(error):
        raise error
    if trace.handlers:
        _refuse_if_caught(trace, error)
    record(error)
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    if place is not None:
        trace.tracer.block.operators[-1].location = location_of(place)


def _is_of_the_user(error: Exception) -> bool:
    """Whether user code raised it, or what stands for a function of Python: no fault of ours."""
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    if place is None:
        return False
    name = place.tb_frame.f_code.co_filename
    return not is_own_file(name) or name.startswith(_STAND_INS)


# Their functions raise what Python would.
_STAND_INS = tuple(str(Path(__file__).parents[1] / name) for name in ("kinds", "protocol"))


def _refuse_if_caught(trace: Trace, error: Exception) -> None:
    for handler in trace.handlers:
        if handler.catches(error):
            raise ConversionError(
                f"{type(error).__name__} is raised in a branch or loop that depends on a tensor, "
                "in a `try` that may catch it",
                at=user_location(),
                why="whether it is raised is known only when the Program runs",
                hint="decide with an `if` instead, or let the function return a flag",
            )


def record(error: Exception) -> None:
    """Let the Program raise an exception, with the values of its tensors, where this stands."""
    kind, state = type(error), vars(error)
    if getattr(builtins, kind.__name__, None) is kind and error.__cause__ is None:
        name: Any = kind.__name__
    else:
        name = ErrorKind.of(error)
    wrong = flatten((error.args, state), _is_foreign)[0]
    if wrong:
        raise ConversionError(
            f"{kind.__name__} is raised with a {type(wrong[0]).__name__} in a branch or loop that "
            "depends on a tensor",
            at=user_location(),
            why="a Program can keep tensors, Python constants, and lists, tuples and dicts of them",
            hint="raise it with the text or numbers that it needs",
        )
    plain = len(error.args) < 2 and all(isinstance(entry, str) for entry in error.args)
    message = (error.args or (None,))[0] if plain else error.args
    F.raise_(name, message, state)


def _is_foreign(value: Any) -> bool:
    constants = (bool, int, float, str, bytes, type(None), Tensor, Dim, Condition)
    return not is_container(value) and not isinstance(value, constants)


__all__ = ["AlwaysRaises", "note_raise", "record"]
