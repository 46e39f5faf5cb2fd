"""The one place that decides what a traced value is: one whose value is known only at run time."""

from __future__ import annotations

from typing import TypeAlias, TypeGuard

from dy2st_runtime.dims import Condition, Dim
from dy2st_runtime.ir import Variable

Traced: TypeAlias = "Variable | Condition | Dim"

_TRACED = (Variable, Condition, Dim)


def is_traced(value: object) -> TypeGuard[Traced]:
    """Whether a value is a Variable of a Program, a symbolic size, or a condition on such."""
    return isinstance(value, _TRACED)


def any_traced(*values: object) -> bool:
    """Whether one of the values is traced; containers are not looked into."""
    return any(isinstance(value, _TRACED) for value in values)
