"""The order of elements: what `sorted` and `list.sort` do. Equal ones stay in their order."""

from __future__ import annotations

from functools import cmp_to_key
from typing import Any

import numpy as np

from dy2st.convert.kinds.lists import as_dynamic, length_of
from dy2st.convert.trace import Trace
from dy2st.convert.values.carry import element_at
from dy2st.convert.values.layout import Items, Layout, Leaf, Number, Same, number_kind, opened
from dy2st.convert.values.sequences import Indexed
from dy2st.convert.values.special import Dynamic, Union
from dy2st_runtime.errors import ConversionError
from dy2st_runtime.ir import F, Tensor, user_location

_PLAIN = frozenset({bool, int, float, str, bytes, type(None)})


def ordered(trace: Trace, content: Any, key: Any, reverse: Any) -> Any:
    """The elements in order: a list of Python of a list of Python, a Dynamic of a Dynamic."""
    is_reversed = trace.truth(reverse)
    if type(content) is Dynamic:
        return _of_dynamic(trace, content, key, is_reversed)
    items = list(content)
    keys = items if key is None else [trace.call(key, item) for item in items]
    if not any(_is_traced(one) for one in keys):
        return _by_python(trace, items, keys, is_reversed)
    columns = _columns(trace, keys)
    order = _order(trace, columns, is_reversed, len(items))
    whole = as_dynamic(trace, items, list)
    arrays = [F.array_gather(array, order) for array in whole.arrays]
    new = Dynamic(list, whole.element, arrays)
    return [element_at(trace, new, place) for place in range(len(items))]


def _is_traced(key: Any) -> bool:
    if isinstance(key, tuple):
        return any(map(_is_traced, key))
    is_known = type(key) in (bool, int, float)
    return (
        isinstance(key, Tensor)
        or type(key) in (Union, Dynamic)
        or (number_kind(key) is not None and not is_known)
    )


def _by_python(trace: Trace, items: list[Any], keys: list[Any], is_reversed: bool) -> list[Any]:
    places = range(len(items))
    if all(type(one) in _PLAIN for one in keys):
        order = sorted(places, key=keys.__getitem__, reverse=is_reversed)
        return [items[place] for place in order]

    def compared(left: int, right: int) -> int:
        if trace.truth(trace.lt(keys[left], keys[right])):
            return -1
        return 1 if trace.truth(trace.lt(keys[right], keys[left])) else 0

    order = sorted(places, key=cmp_to_key(compared), reverse=is_reversed)
    return [items[place] for place in order]


def _columns(trace: Trace, keys: list[Any]) -> list[Any]:
    """The keys as 1-d tensors; of tuples one for each place."""
    if all(type(one) is tuple for one in keys) and len({len(one) for one in keys}) == 1:
        return [_column(trace, list(column)) for column in zip(*keys, strict=True)]
    return [_column(trace, keys)]


def _column(trace: Trace, keys: list[Any]) -> Any:
    kinds = {number_kind(one) for one in keys}
    if None not in kinds:
        dtype = "float64" if float in kinds else "int64"
        return F.stack([_number(trace, one, dtype) for one in keys])
    if kinds != {None} or not all(isinstance(one, Tensor) and _is_one(one) for one in keys):
        raise _no_order("their keys are no numbers or 0-d tensors")
    scalars = [F.reshape(one, []) if one.ndim else one for one in keys]
    if len({str(one.dtype) for one in scalars}) > 1:
        raise _no_order("their keys are tensors of several dtypes")
    return F.stack(scalars)


def _is_one(tensor: Tensor) -> bool:
    return all(size == 1 for size in tensor.shape)


def _number(trace: Trace, value: Any, dtype: str) -> Any:
    number = (
        trace.tracer.variable(value) if isinstance(value, Tensor) else trace.tracer.number(value)
    )
    return trace.tracer.cast_number(number, np.dtype(dtype))


def _no_order(why: str) -> ConversionError:
    return ConversionError(
        "elements are put in an order that depends on a tensor",
        at=user_location(),
        why=why,
        hint="sort by a key that is a number, a 0-d tensor, or a tuple of such: key=lambda x: ...",
    )


def _order(trace: Trace, columns: list[Any], is_reversed: bool, length: Any) -> Any:
    """The places of the elements in order; the last column decides last."""
    order: Any = None
    for column in reversed(columns):
        column = F.flip(column, [0]) if is_reversed else column
        here = column if order is None else F.gather(column, order)
        places = F.argsort(here)
        order = places if order is None else F.gather(order, places)
    if is_reversed:
        order = length - 1 - F.flip(order, [0])
    return F.cast(order, "int64")


def _of_dynamic(trace: Trace, content: Dynamic, key: Any, is_reversed: bool) -> Dynamic:
    if content.element is None:
        return content
    keys = content if key is None else _mapped(trace, content, key)
    depth = _width_of_key(keys.element)
    length = length_of(trace, content)
    arrays = [trace.tracer.local(array) for array in content.arrays]

    def in_order() -> list[Any]:
        columns = [F.array_stack(trace.tracer.local(array)) for array in keys.arrays[:depth]]
        order = _order(trace, columns, is_reversed, length)
        return [F.array_gather(trace.tracer.local(array), order) for array in arrays]

    has_any = F.greater_than(length, 0)
    found = trace.choose(has_any, in_order, lambda: [trace.tracer.local(a) for a in arrays])
    return Dynamic(content.kind, content.element, found, content.like)


def _mapped(trace: Trace, content: Dynamic, key: Any) -> Dynamic:
    """What a function makes of each element, in a list of its own."""

    def item(place: Any) -> Any:
        return trace.call(key, element_at(trace, content, place))

    found = trace.content(trace.gathered(Indexed(length_of(trace, content), item)))
    assert type(found) is Dynamic
    return found


def _width_of_key(element: Layout | None) -> int:
    """How many arrays of numbers the keys are."""
    parts = element.items if isinstance(element, Items) and element.kind is tuple else [element]
    for part in parts:
        node = opened(part) if isinstance(part, Same) else part
        if not isinstance(node, Number) and not (isinstance(node, Leaf) and not node.rank):
            raise _no_order("their keys are no numbers or 0-d tensors")
    return len(parts)


__all__ = ["ordered"]
