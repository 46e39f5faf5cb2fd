"""Operations on a value that is one of several: done for each case, in a branch of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dy2st.convert.stage.branch import stage_if
from dy2st.convert.stage.cases import is_case, known, value_of_case
from dy2st.convert.trace import Trace
from dy2st.convert.values.special import UNBOUND, UNBOUND_LOCAL, Union


def has_union(values: Sequence[Any]) -> bool:
    """Whether one of some values is one of several."""
    for value in values:  # noqa: SIM110  twice as fast as any()
        if type(value) is Union:
            return True
    return False


def map_cases(trace: Trace, function: Callable[..., Any], *values: Any) -> Any:
    """`function(*values)` for each case of those that are one of several."""
    values = tuple(_read(trace, value) for value in values)
    place = next((i for i, value in enumerate(values) if type(value) is Union), None)
    if place is None:
        return function(*values)
    union: Union = values[place]
    pred = is_case(trace, union, trace.cases_of(union)[0])

    def again() -> tuple[Any]:
        return (map_cases(trace, function, *values),)

    return stage_if(trace, pred, again, again, (), ("a value",), of_cases=True)[0]


def _read(trace: Trace, value: Any) -> Any:
    """A value for an operation: UnboundLocalError where its variable is unbound."""
    found = known(trace, value)
    if found is UNBOUND:
        name = value.name if type(value) is Union else ""
        raise UnboundLocalError(UNBOUND_LOCAL.format(repr(name) if name else "of this function"))
    return found


__all__ = ["has_union", "known", "map_cases", "value_of_case"]
