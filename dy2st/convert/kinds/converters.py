"""The functions of `dy2static`, called by code that is converted itself.

What `.code` prints runs in a module of the user's, too: there its branches are functions as others.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from types import FunctionType
from typing import Any

from dy2st.convert import dy2static
from dy2st.convert.kinds.table import code_row, method_row
from dy2st.convert.trace import Trace

# What prepares a value for Python's own syntax, by which the converted code takes it.
_FOR_SYNTAX = frozenset(
    ("double_star", "iterate", "manager", "raised", "spread_double_star", "spread_star", "star")
)


@dataclass(frozen=True, eq=False)
class _Method:
    """The method that an object, or each of several, has by a name."""

    owner: Any
    name: str


@method_row(_Method, name="__call__")
def _call_method(trace: Trace, method: _Method, *args: Any, **kwargs: Any) -> Any:
    return trace.method(method.owner, method.name, *args, **kwargs)


def _statement(trace: Trace, function: FunctionType, *args: Any, **kwargs: Any) -> Any:
    """A statement with functions that are traced when they are called."""
    named = {name: _traced(trace, value) for name, value in kwargs.items()}
    return function(*(_traced(trace, value) for value in args), **named)


def _traced(trace: Trace, value: Any) -> Any:
    if type(value) is FunctionType:
        return partial(trace.call, value)
    if type(value) is tuple:
        return tuple(_traced(trace, one) for one in value)
    return value


for _name in dy2static.STATEMENTS:
    code_row(getattr(dy2static, _name).__code__)(_statement)


# A call is no statement, though it has the name of one.
@code_row(dy2static.convert_call.__code__)
def _call(trace: Trace, _: FunctionType, function: Any, method: str | None = None, *__: Any) -> Any:
    """What is called, to be called by the converted code."""
    return function if method is None else _Method(function, method)


@code_row(dy2static.operation("add").__code__)
def _operation(trace: Trace, function: FunctionType, *args: Any) -> Any:
    """An operation of the trace; what it takes are values."""
    return args[0] if function.__name__ in _FOR_SYNTAX else function(*args)
