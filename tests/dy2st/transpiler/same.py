"""Whether the traced form of a function, with the plain protocol, does what the function does."""

from __future__ import annotations

import contextlib
import copy
import io
from collections.abc import Callable
from types import FunctionType, GeneratorType
from typing import Any

from dy2st.transpiler.lower import traced_form
from tests.dy2st.transpiler.plain_protocol import PLAIN


def traced(function: FunctionType) -> Callable[..., Any]:
    """The traced form of a function."""
    form = traced_form(function)
    assert form.untouched == ""
    made = form.bind(PLAIN, function)
    assert made is not function
    return made


def outcome(function: Callable[..., Any], arguments: tuple[Any, ...]) -> object:
    """What a call gives or raises, what it prints, and what its arguments are afterwards."""
    given = copy.deepcopy(arguments)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            result = function(*given)
            result = list(result) if isinstance(result, GeneratorType) else result
        except BaseException as error:
            result = _described(error)
    return result, printed.getvalue(), given


def _described(error: BaseException | None) -> object:
    if error is None:
        return None
    causes = [_described(error.__cause__), _described(error.__context__)]
    return type(error), str(error), getattr(error, "name", None), causes


def same(function: Any, *calls: tuple[Any, ...]) -> None:
    """Both do the same, for each tuple of arguments."""
    form = traced(function)
    for arguments in calls or [()]:
        expected = outcome(function, arguments)
        found = outcome(form, arguments)
        assert found == expected, f"{found} is not {expected}"
