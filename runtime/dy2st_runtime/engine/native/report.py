"""What of a Program is machine code, and what NumPy computes: for readers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from dy2st_runtime.engine.native.lifetimes import is_alias
from dy2st_runtime.engine.native.planned import Planned, Step
from dy2st_runtime.engine.native.writers import is_code
from dy2st_runtime.ir.program import Operator

_SILENT = {"constant"}


def explain(planned: Planned) -> str:
    """A line a step, in the order in which they run, and how many steps NumPy computes."""
    lines = list(_lines(planned, 0))
    asked = Counter(name for name in _asked(planned))
    told = ", ".join(f"{name} ({count})" for name, count in sorted(asked.items()))
    return "\n".join([*lines, f"computed by NumPy: {told or 'nothing'}"])


def _lines(planned: Planned, depth: int) -> Iterator[str]:
    for step in planned.steps:
        if step.operator is not None and step.operator.name in _SILENT:
            continue
        yield "  " * depth + _words(step)
        for inner in step.inner:
            yield from _lines(inner, depth + 1)


def _words(step: Step) -> str:
    if step.operator is None:
        names = " ".join(operator.name for operator in step.operators)
        return f"nest   {names}{_place(step.operators[-1])}"
    word = "name" if is_alias(step.operator) else "code" if is_code(step) else "NumPy"
    return f"{word:<7}{step.operator.name}{_place(step.operator)}"


def _place(operator: Operator) -> str:
    place = operator.location
    return f"  (line {place.line})" if place is not None else ""


def _asked(planned: Planned) -> Iterator[str]:
    """The operators that NumPy computes."""
    for step in planned.steps:
        operator = step.operator
        if operator is not None and not is_code(step) and not is_alias(operator):
            yield operator.name
        for inner in step.inner:
            yield from _asked(inner)


__all__ = ["explain"]
