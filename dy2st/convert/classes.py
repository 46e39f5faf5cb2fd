"""Looks names up in classes as Python does, and notes them as read."""

from __future__ import annotations

from types import FunctionType
from typing import Any

from dy2st.convert.trace import MISSING, Trace
from dy2st_runtime.dims import Condition, Dim
from dy2st_runtime.ir import Tensor
from dy2st_runtime.ir.choice import Text

_OURS = (Tensor, Dim, Condition, Text)
HEAP_TYPE = 1 << 9  # the flag of classes that a `class` statement makes: others nobody changes


def of_class(trace: Trace, kind: type, name: str, behind: type | None = None) -> Any:
    """What a class or one of its bases, those `behind` one alone, hold; MISSING if nothing."""
    key = id(kind), name, id(behind)
    is_new = key not in trace.looked_up
    found = MISSING
    mro = kind.__mro__
    for one in mro if behind is None else mro[mro.index(behind) + 1 :]:
        if trace.over:
            place = trace.over.get((id(one), name))
            if place is not None and place.value is not MISSING:
                return place.value
        found = one.__dict__.get(name, MISSING)
        if is_new and one.__flags__ & HEAP_TYPE and id(one) not in trace.own:
            trace.read("class", one, name, found)
        if found is not MISSING:
            break
    if is_new:
        trace.looked_up[key] = kind, behind
    return found


def special(trace: Trace, value: Any, name: str) -> Any:
    """The special method of the class of a value; None if there is none."""
    if isinstance(value, _OURS):
        return getattr(type(value), name, None)
    found = of_class(trace, type(value), name)
    return None if found is MISSING else found


def own_method(trace: Trace, value: Any, *names: str) -> FunctionType | None:
    """The first of some special methods that the user's class has written in Python."""
    if isinstance(value, _OURS):
        return None
    for name in names:
        method = special(trace, value, name)
        if method is not None:
            return method if type(method) is FunctionType else None
    return None
