"""Built-in functions."""

from __future__ import annotations

from collections import deque
from typing import Any

from dy2st.heart.kinds.lists import length_of
from dy2st.heart.kinds.table import function_row
from dy2st.heart.trace import CONTAINERS, Trace
from dy2st.heart.values.layout import is_traced_number, number_kind
from dy2st.heart.values.sequences import Indexed, zipped
from dy2st.heart.values.special import Dynamic, Union
from dy2st_runtime.dims import Dim, bounds, current, minimum
from dy2st_runtime.ir import F, Tensor, Variable


@function_row(len)
def len_(trace: Trace, value: Any) -> Any:
    """`len(value)`."""
    kind = type(value)
    if kind in (list, deque, tuple, Dynamic):
        content = trace.content(value) if kind in (list, deque) else value
        if type(content) is Dynamic:
            return length_of(trace, content)
        if type(content) is not Union:
            if content is value and trace.is_outside(value) and kind is not tuple:
                trace.read("length", value, None, len(value))
            return len(content)
    if kind in CONTAINERS:
        content = trace.content(value)
        if content is value and trace.is_outside(value):
            trace.read("length", value, None, len(value))
        return len(content)
    if isinstance(value, Tensor):
        return value.shape[0] if value.ndim else len(value)
    return len(trace.native(value))


@function_row(range)
def range_(trace: Trace, *bounds: Any) -> Any:
    """`range(...)`."""
    if not any(is_traced_number(one) or isinstance(one, Tensor) for one in bounds):
        return range(*bounds)
    start, stop = (0, bounds[0]) if len(bounds) == 1 else bounds[:2]
    step = bounds[2] if len(bounds) == 3 else 1
    start, stop, step = (_whole(trace, one) for one in (start, stop, step))
    length = -((start - stop) // step)
    least = F.maximum(trace.tracer.variable(length), 0) if not _is_size(length) else length
    return Indexed(_number(least), lambda index: _number(start + index * step))


def _whole(trace: Trace, value: Any) -> Any:
    if isinstance(value, Tensor) and number_kind(value) is None:
        value = F.cast(F.reshape(value, []), "int64")
        value.number = int
    return value


def _is_size(value: Any) -> bool:
    return isinstance(value, Dim) and (bounds(value, current())[0] or -1) >= 0


def _number(value: Any) -> Any:
    if isinstance(value, Variable):
        value.number = int
    return value


@function_row(enumerate)
def enumerate_(trace: Trace, iterable: Any, start: Any = 0) -> Any:
    """`enumerate(iterable, start)`."""
    items = trace.items_of(iterable)
    if type(items) is not Indexed:
        return enumerate(items, start)
    return Indexed(items.length, lambda index: (start + index, items.item(index)))


@function_row(zip)
def zip_(trace: Trace, *iterables: Any, strict: bool = False) -> Any:
    """`zip(...)`."""
    parts = [trace.items_of(one) for one in iterables]
    if not any(type(part) is Indexed for part in parts):
        return zip(*parts, strict=strict)
    staged = [part if type(part) is Indexed else _indexed(trace, list(part)) for part in parts]
    return zipped(staged, lambda a, b: _shorter(trace, a, b))


def _indexed(trace: Trace, items: list[Any]) -> Indexed:
    return Indexed(len(items), lambda index: trace.item(items, index))


def _shorter(trace: Trace, left: Any, right: Any) -> Any:
    if all(isinstance(one, (int, Dim)) for one in (left, right)):
        return minimum(left, right)
    return _number(F.minimum(trace.tracer.variable(left), trace.tracer.variable(right)))


@function_row(reversed)
def reversed_(trace: Trace, iterable: Any) -> Any:
    """`reversed(iterable)`."""
    items = trace.items_of(iterable)
    if type(items) is not Indexed:
        return iter(list(items)[::-1])
    return Indexed(items.length, lambda index: items.item(items.length - 1 - index))


@function_row(list)
def list_(trace: Trace, iterable: Any = ()) -> Any:
    """`list(iterable)`."""
    content = trace.listed(iterable)
    made = trace.made([])
    if type(content) is Dynamic:
        trace.hold(made, Dynamic(list, content.element, content.arrays))
    else:
        made.extend(content)
    return made


@function_row(tuple)
def tuple_(trace: Trace, iterable: Any = ()) -> Any:
    """`tuple(iterable)`."""
    content = trace.listed(iterable)
    if type(content) is Dynamic:
        return Dynamic(tuple, content.element, content.arrays)
    return tuple(content)


@function_row(isinstance)
def isinstance_(trace: Trace, value: Any, kinds: Any) -> Any:
    """`isinstance(value, kinds)`."""
    if type(value) is Union:
        return trace.spread(lambda one: isinstance_(trace, one, kinds), value)
    kind = number_kind(value)
    if kind is not None and not isinstance(value, kind):
        return issubclass(kind, kinds)
    if type(value) is Dynamic:
        return issubclass(value.kind, kinds)
    return isinstance(value, kinds)


__all__ = ["enumerate_", "isinstance_", "len_", "range_", "zip_"]
