"""What builtins and `in` make of a list whose length is known only when the Program runs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from dy2st.convert.catchers import refuse_if_caught
from dy2st.convert.stage_if import stage_branches, truth
from dy2st.convert.stage_values import as_number, tracer
from dy2st.convert.stage_while import stage_loop
from dy2st_runtime.ir import F


def _fold(array: Any, first: int, start: Any, step: Callable[[Any, Any], Any], name: str) -> Any:
    """`step(step(start, array[first]), array[first + 1])` and so on."""
    length = as_number(F.array_length(array), int)
    return stage_loop(
        lambda turn, value: turn < length,
        lambda turn, value: (turn + 1, step(value, F.array_read(array, turn))),
        (first, start),
        ("the number of the turn", name),
        frozenset(),
        tracer(),
    )[1]


def _sum(array: Any, start: Any = 0) -> Any:
    return _fold(array, 0, start, lambda total, item: total + item, "the sum so far")


def _any(array: Any) -> Any:
    return as_number(_fold(array, 0, False, _or, "whether any item holds"), bool)


def _all(array: Any) -> Any:
    return as_number(_fold(array, 0, True, _and, "whether all items hold"), bool)


def _or(left: Any, item: Any) -> Any:
    return as_number(F.logical_or(truth(tracer(), left), truth(tracer(), item)), bool)


def _and(left: Any, item: Any) -> Any:
    return as_number(F.logical_and(truth(tracer(), left), truth(tracer(), item)), bool)


def _extreme(name: str, takes_next: Callable[[Any, Any], Any]) -> Callable[[Any], Any]:
    def extreme(array: Any) -> Any:
        _raise_if_empty(array, name)
        return _fold(array, 1, F.array_read(array, 0), step, f"the {name} so far")

    def step(best: Any, item: Any) -> Any:
        return F.where(truth(tracer(), takes_next(item, best)), item, best)

    return extreme


def _raise_if_empty(array: Any, name: str) -> None:
    refuse_if_caught(ValueError)
    new = sys.version_info >= (3, 12)
    text = f"{name}() iterable argument is empty" if new else f"{name}() arg is an empty sequence"

    def fail() -> tuple[()]:
        F.raise_("ValueError", text)
        return ()

    stage_branches(F.equal(F.array_length(array), 0), fail, tuple, (), (), ())


def contains(value: Any, array: Any) -> Any:
    """`value in array`."""

    def step(found: Any, item: Any) -> Any:
        return _or(found, item == value)

    return as_number(_fold(array, 0, False, step, "whether the item is found"), bool)


LIST_BUILTINS: dict[Any, Callable[..., Any]] = {
    all: _all,
    any: _any,
    max: _extreme("max", lambda item, best: item > best),
    min: _extreme("min", lambda item, best: item < best),
    sum: _sum,
}
"""The builtins that take such a list alone, or with a start."""
