"""Statements left as Python: exact for Python values, refused with the reason for traced ones."""

from __future__ import annotations

import sys
from typing import Any, TypeVar

from dy2st.convert.asked import asked
from dy2st.convert.staging import is_staged_iterable
from dy2st.convert.traced import is_a, is_traced
from dy2st.transpiler import REASONS
from dy2st_runtime.errors import ConversionError, UnsupportedSyntax
from dy2st_runtime.ir import Tensor, user_location

T = TypeVar("T")


def convert_python_bool(value: Any, code: str, name: str = "") -> Any:
    """The condition of an `if` or `while` that was left as Python for the reason `code`.

    Raises UnsupportedSyntax if the condition is traced.
    """
    truth = asked(value)
    if is_traced(truth):
        raise _refusal(f"this {_kind(code)} cannot depend on a tensor", code, name)
    return truth


def convert_python_iter(value: Any, code: str, name: str = "") -> Any:
    """The iterable of a `for` that was left as Python for the reason `code`.

    A tensor with a known number of rows is iterated row by row, all else that is traced refused.
    """
    if is_a(value, Tensor) and value.ndim and isinstance(value.shape[0], int):
        return value
    if is_traced(value) or is_staged_iterable(value):
        raise _refusal("this loop cannot run over a tensor of unknown size", code, name)
    return value


def convert_swallowed(jumped: object, failed: bool) -> bool:
    """Whether a jump in `finally` swallows the exception in flight, if there is one.

    >>> convert_swallowed(True, failed=True), convert_swallowed(True, failed=False)
    (True, False)
    """
    if failed and is_traced(jumped):
        raise UnsupportedSyntax(
            "a jump in `finally` swallows an exception, and a tensor decides whether it does",
            at=user_location(),
            why="the exception is raised while the Program is made, before the tensor is known",
            hint="catch the exception with `except`, and jump after the `try`",
        )
    return failed and not isinstance(sys.exc_info()[1], ConversionError) and bool(jumped)


def convert_caught() -> None:
    """First in an `except` that would also catch a refusal of dy2st: Python would not raise it."""
    error: Any = sys.exc_info()[1]
    for one in (error, *getattr(error, "exceptions", ())):
        if isinstance(one, ConversionError):
            raise one


def _kind(code: str) -> str:
    return "comprehension" if code.startswith("comprehension") else "statement"


def _refusal(what: str, code: str, name: str) -> UnsupportedSyntax:
    reason = REASONS[code]
    return UnsupportedSyntax(
        what,
        at=user_location(),
        why=reason.why.format(name=name),
        hint=reason.hint.format(name=name),
    )
