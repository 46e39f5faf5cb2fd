"""The one place that decides what a traced value is: one whose value is known only at run time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeAlias, TypeGuard, TypeVar

from dy2st_runtime.dims import Condition, Dim
from dy2st_runtime.ir import Variable, current_tracer
from dy2st_runtime.ir.choice import Choice, Text
from dy2st_runtime.tensor import EagerTensor
from dy2st_runtime.thread_state import Shared, ThreadState

Traced: TypeAlias = "Variable | Condition | Dim | Choice | Text | EagerTensor"

_TRACED = (Variable, Condition, Dim, Choice, Text)

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


class Types(set[type]):
    """A set of types, equal to itself alone: it stands among the constants of code."""

    __hash__ = object.__hash__  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return self is other

    def __ne__(self, other: object) -> bool:
        return self is not other


# Objects of exactly these types are never traced, and Python alone treats them.
PLAIN_CONTAINERS = frozenset({dict, list, set})
PLAIN_VALUES = frozenset({bytes, frozenset, range, str})
PLAIN_SCALARS = PLAIN_VALUES | {bool, bytearray, complex, float, int, slice, tuple, type(None)}
PLAIN_TYPES = PLAIN_SCALARS | PLAIN_CONTAINERS
# Types of what stands for None, True, False and other objects that Python has one of.
SAME_AS_TYPES = frozenset({Choice, Condition, Variable})

# Those of which Python may be asked anything; none while a trace looks at containers itself.
FRESH_CONTAINERS = Types({dict, list, set})
FRESH_LOOKUPS = Types({dict, set})


def _look() -> None:
    FRESH_CONTAINERS.clear()
    FRESH_LOOKUPS.clear()


def _look_no_more() -> None:
    FRESH_CONTAINERS.update({dict, list, set})
    FRESH_LOOKUPS.update({dict, set})


class _Looked(ThreadState):
    user: object = None  # of this thread's trace, if it looks at containers


_looked = _Looked()
_looks = Shared(_look, _look_no_more)


def look_at_containers() -> None:
    """From now on, until the trace ends, each list, dict and set is looked at before its use."""
    if _looked.user is None:
        _looked.user = _looks.hold()


@contextmanager
def containers_not_looked_at() -> Iterator[None]:
    """Around a trace, which may come to look at containers."""
    outer, _looked.user = _looked.user, None
    try:
        yield
    finally:
        if _looked.user is not None:
            _looks.release(_looked.user)
        _looked.user = outer


def any_traced(*values: object) -> bool:
    """Whether one of the values is traced; containers are not looked into."""
    return not PLAIN_TYPES.issuperset(map(type, values)) and any(map(is_traced, values))
