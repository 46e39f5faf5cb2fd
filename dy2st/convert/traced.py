"""The one place that decides what a traced value is: one whose value is known only at run time."""

from __future__ import annotations

from typing import TypeAlias, TypeGuard, TypeVar

from dy2st_runtime.dims import Condition, Dim
from dy2st_runtime.ir import Variable, current_tracer
from dy2st_runtime.tensor import EagerTensor

Traced: TypeAlias = "Variable | Condition | Dim | EagerTensor"

_TRACED = (Variable, Condition, Dim)

T = TypeVar("T")


def is_a(value: object, kind: type[T]) -> TypeGuard[T]:
    """`isinstance`, but the user's object is not asked for its `__class__`.

    >>> is_a(True, int)
    True
    """
    return issubclass(type(value), kind)


def is_traced(value: object) -> TypeGuard[Traced]:
    """Whether a value is a Variable of a Program, a symbolic size, or a condition on such."""
    if issubclass(type(value), _TRACED):
        return True
    # A buffer or parameter is read when the Program runs: its value now decides nothing.
    return is_a(value, EagerTensor) and current_tracer() is not None


# Objects of exactly these types are never traced, and Python alone treats them.
PLAIN_CONTAINERS = frozenset({dict, list, set})
PLAIN_LOOKUPS = frozenset({bytes, dict, frozenset, range, set, str})
PLAIN_TYPES = PLAIN_CONTAINERS | {
    *(bool, bytearray, bytes, complex, float, frozenset, int, range, slice, str, tuple),
    type(None),
}


def any_traced(*values: object) -> bool:
    """Whether one of the values is traced; containers are not looked into."""
    return not PLAIN_TYPES.issuperset(map(type, values)) and any(map(is_traced, values))
