"""A value that is one of several, where it is known which."""

from __future__ import annotations

from functools import reduce
from typing import Any

from dy2st.convert.trace import Trace
from dy2st.convert.values.flatten import case_value
from dy2st.convert.values.layout import Layout, Same
from dy2st.convert.values.special import Union
from dy2st_runtime.ir import F, Variable


def known(trace: Trace, value: Any) -> Any:
    """The one case that a value can be here; itself where it can be several."""
    while type(value) is Union:
        cases = trace.cases_of(value)
        if len(cases) != 1:
            return value
        value = value_of_case(trace, value, cases[0])
    return value


def value_of_case(trace: Trace, value: Union, place: int) -> Any:
    """What a value is in one of its cases."""
    node = value.layouts[place]
    return node.value if isinstance(node, Same) else case_value(trace, value, place)


def is_constant(node: Layout, value: object) -> bool:
    """Whether a layout is that of one object."""
    return isinstance(node, Same) and node.value is value


def is_case(trace: Trace, value: Union, *places: int) -> Variable:
    """Whether a value is one of some cases; on both sides of a branch on it that is known."""
    tag = trace.tracer.local(value.tag)
    found: Variable = reduce(F.logical_or, [F.equal(tag, place) for place in places])
    found.number = bool
    trace.narrowing[found] = value, frozenset(places)
    return found
