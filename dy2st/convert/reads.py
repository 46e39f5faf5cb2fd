"""Reads of variables that may be unbound: Python's error here, or a check of the Program."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from dy2st.convert.choices import is_case
from dy2st.convert.guards import is_guarded
from dy2st.convert.traced import is_a
from dy2st.convert.undefined import Undefined
from dy2st_runtime.ir import F, Tracer, Variable, current_tracer
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
        _check_choice(tracer, value)


def _check_choice(tracer: Tracer, choice: Choice) -> None:
    """Record the check that a Choice is none of its unbound cases."""
    bound = [k for k, case in enumerate(choice.cases) if not isinstance(case, Undefined)]
    missing = [case for case in choice.cases if isinstance(case, Undefined)]
    if missing and not bound:
        raise missing[0].error()
    if missing:
        tracer.check_once(choice.tag, lambda: is_case(choice, bound), missing[0].error())
    for k in bound:
        case = choice.cases[k]
        if is_guarded(case):
            others = [other for other in range(len(choice.cases)) if other != k]
            flag, name = case.guard
            is_bound = F.logical_or(is_case(choice, others), flag)
            tracer.check(is_bound, Undefined(name).error())
