"""Reads of variables that may be unbound: Python's error here, or a check of the Program."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from dy2st.convert.choices import is_case
from dy2st.convert.guards import is_guarded
from dy2st.convert.traced import is_a
from dy2st.convert.undefined import Undefined
from dy2st_runtime.ir import Variable, current_tracer
from dy2st_runtime.ir.choice import Choice

T = TypeVar("T")

# What a variable may hold where it is perhaps unbound.
PERHAPS_UNBOUND = frozenset({Undefined, Variable, Choice})


def defined(value: T, in_comprehension: bool = False) -> T:
    """The value of a variable, or the error of an unbound one.

    >>> defined(3)
    3
    """
    if is_a(value, Undefined):
        raise value.error(in_comprehension)
    if type(value) in PERHAPS_UNBOUND:
        _check(value)
    return value


def convert_cell(read: Callable[[], T], name: str, in_comprehension: bool = False) -> T:
    """`read()` mentions a variable that closures use: its value, or the error of an unbound one.

    >>> convert_cell(lambda: 3, "x")
    3
    """
    try:
        value = read()
    except NameError:
        pass  # the error is raised outside, so that it has no other as its context
    else:
        return defined(value, in_comprehension)
    raise Undefined(name).error(in_comprehension)


def _check(value: object) -> None:
    """Record the check of a value that only some paths have bound."""
    tracer = current_tracer()
    if tracer is None:
        return
    if isinstance(value, Variable):
        if is_guarded(value):
            tracer.check_bound(value)
    elif isinstance(value, Choice):
        bound = [k for k, case in enumerate(value.cases) if not isinstance(case, Undefined)]
        missing = [case for case in value.cases if isinstance(case, Undefined)]
        if missing:
            tracer.check_once(value.tag, lambda: is_case(value, bound), missing[0].error())
