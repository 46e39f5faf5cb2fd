"""len, list and tuple of whatever holds items."""

from __future__ import annotations

from collections import deque
from typing import Any

from dy2st.convert.kinds import entries
from dy2st.convert.kinds.lists import length_of
from dy2st.convert.kinds.table import function_row
from dy2st.convert.kinds.views import VIEWS, length
from dy2st.convert.trace import CONTAINERS, Trace, own_method
from dy2st.convert.values.special import Indexed, SymbolicSequence
from dy2st_runtime.ir import Tensor


@function_row(len)
def _len(trace: Trace, value: Any) -> Any:
    kind = type(value)
    if kind in CONTAINERS:
        content = trace.content(value)
        if type(content) is SymbolicSequence:
            return length_of(trace, content)
        trace.read_length(value)
        is_known = not isinstance(content, dict) or entries.is_sure(trace, content)
        return len(content) if is_known else entries.length(trace, content)
    if kind is SymbolicSequence:
        return length_of(trace, value)
    if isinstance(value, Tensor):
        return value.shape[0] if value.ndim else len(value)
    if kind in VIEWS:
        return length(trace, value)
    own = own_method(trace, value, "__len__")
    if own is not None:
        size = trace.call(own, value)
        if type(size) is int and size < 0:
            raise ValueError("__len__() should return >= 0")
        return size
    if kind is Indexed:
        return value.length
    return len(trace.native(value))


@function_row(list)
def _list(trace: Trace, iterable: Any = ()) -> Any:
    return _filled(trace, [], trace.listed(iterable))


def _filled(trace: Trace, owner: Any, content: Any) -> Any:
    made = trace.made(owner)
    if type(content) is SymbolicSequence:
        trace.call(made.extend, content)
    else:
        made.extend(content)
    return made


@function_row(tuple)
def _tuple(trace: Trace, iterable: Any = ()) -> Any:
    if type(iterable) is tuple:
        return iterable
    content = trace.listed(iterable)
    if type(content) is SymbolicSequence:
        return SymbolicSequence(tuple, content.element, content.arrays)
    return tuple(content)


@function_row(deque)
def _deque(trace: Trace, iterable: Any = (), maxlen: Any = None) -> Any:
    return _filled(trace, deque(maxlen=maxlen), trace.listed(iterable))
