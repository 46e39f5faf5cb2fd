"""Operations on a value that is one of several: done for each case, in a branch of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dy2st.heart.stage.branch import stage_if
from dy2st.heart.trace import Trace
from dy2st.heart.values.carry import case_value
from dy2st.heart.values.layout import Same
from dy2st.heart.values.special import Union
from dy2st_runtime.ir import F


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


def has_union(values: Sequence[Any]) -> bool:
    """Whether one of some values is one of several."""
    return any(type(value) is Union for value in values)


def spread(trace: Trace, function: Callable[..., Any], *values: Any) -> Any:
    """`function(*values)` for each case of those that are one of several."""
    values = tuple(known(trace, value) for value in values)
    place = next((i for i, value in enumerate(values) if type(value) is Union), None)
    if place is None:
        return function(*values)
    union: Union = values[place]
    case = trace.cases_of(union)[0]
    pred = F.equal(trace.tracer.local(union.tag), case)
    trace.narrowing[pred] = union, frozenset([case])

    def again() -> tuple[Any]:
        return (spread(trace, function, *values),)

    return stage_if(trace, pred, again, again, (), ("a value",), is_case=True)[0]


__all__ = ["has_union", "known", "spread", "value_of_case"]
