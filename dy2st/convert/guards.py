"""Variables that only some paths of the Program bind: to pass them on is not to read them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from dy2st.convert.undefined import Undefined
from dy2st_runtime.ir import F, Tracer, Variable


def is_guarded(value: Any) -> bool:
    """Whether the Program itself must tell if the user's variable is bound."""
    return isinstance(value, Variable) and value.guard is not None


def bound_flag(value: Any) -> Any:
    """Whether the user's variable is bound: a Variable of the Program, True or False."""
    if isinstance(value, Variable) and value.guard is not None:
        return value.guard[0]
    return not isinstance(value, Undefined)


def without_guard(tracer: Tracer, value: Variable) -> Variable:
    """A guarded value in the current Block, where it is bound; the same tensor if it is from
    outside of the Block."""
    with passed_on(value):
        own = tracer.local(value)
        return F.assign(value) if own is value else own


@contextmanager
def passed_on(*values: Any) -> Iterator[None]:
    """Inside, guarded values are handed on without the check that a read of them records."""
    variables = {id(v): v for v in values if isinstance(v, Variable)}
    guards = [(variable, variable.guard) for variable in variables.values()]
    for variable, _ in guards:
        variable.guard = None
    try:
        yield
    finally:
        for variable, guard in guards:
            variable.guard = guard
