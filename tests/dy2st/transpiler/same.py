"""Whether the traced form of a function, with the plain protocol, does what the function does."""

from __future__ import annotations

import copy
from collections.abc import Callable
from types import FunctionType
from typing import Any

from dy2st.transpiler.lower import traced_form
from tests.dy2st.catalogue.comparing import Seen, called, difference, seen
from tests.dy2st.transpiler.plain_protocol import PLAIN


def traced(function: FunctionType) -> Callable[..., Any]:
    """The traced form of a function."""
    form = traced_form(function)
    assert form.untouched == ""
    made = form.bind(PLAIN, function)
    assert made is not function
    return made


def outcome(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Seen:
    """What a call gives or raises, what it prints, and what its arguments are afterwards."""
    given = copy.deepcopy(arguments)
    return seen((*called(function, given), given), is_chain=True)


def same(function: Any, *calls: tuple[Any, ...]) -> None:
    """Both do the same, for each tuple of arguments."""
    form = traced(function)
    for arguments in calls or [()]:
        expected = outcome(function, arguments)
        found = outcome(form, arguments)
        assert not difference(expected, found, {}, close=0.0)
