"""The order of elements: what `sorted` and `list.sort` do. Equal ones stay in their order.

Keys that are numbers, 0-d tensors, texts that are known, and tuples of them are columns of numbers.
All others are compared two by two, as Python would: the place of an element is how many are before.
By columns sorted() of a list of unknown length has 20 operators, an insertion sort in Python 48.
"""

from __future__ import annotations

import heapq
from functools import cmp_to_key
from itertools import takewhile
from typing import Any

import numpy as np

from dy2st.convert.kinds.lists import as_dynamic, length_of
from dy2st.convert.kinds.table import function_row
from dy2st.convert.trace import Trace
from dy2st.convert.types import info
from dy2st.convert.values.flatten import element_at
from dy2st.convert.values.layout import (
    Cases,
    Layout,
    Leaf,
    Number,
    Parts,
    Same,
    count,
    number_kind,
    opened,
)
from dy2st.convert.values.special import Indexed, SymbolicSequence, Union
from dy2st_runtime.errors import ConversionError
from dy2st_runtime.ir import F, Tensor, Variable, user_location

_MOST_PAIRS = 120  # of a list of Python whose elements are compared two by two


def ordered(trace: Trace, content: Any, key: Any, reverse: Any) -> Any:
    """The elements in order: a list of Python, or a SymbolicSequence, as the content is."""
    is_reversed = trace.truth(reverse)
    if type(content) is SymbolicSequence:
        return _of_dynamic(trace, content, key, is_reversed)
    items = list(content)
    keys = _decisive(items if key is None else [trace.call(key, item) for item in items])
    # Whether the order is known; of objects that compare themselves the first two tell
    if any(map(_is_traced, keys)):
        are_known = False
    elif len(keys) < 2 or all(info(type(one)).is_plain for one in keys[:2]):
        are_known = True
    else:
        are_known = isinstance(trace.test_of(trace.lt(keys[1], keys[0])), bool)
    if are_known:
        places = range(len(items))
        if all(info(type(one)).is_plain for one in keys):
            order = sorted(places, key=keys.__getitem__, reverse=is_reversed)
            return [items[place] for place in order]

        def compared(left: int, right: int) -> int:
            if trace.truth(trace.lt(keys[left], keys[right])):
                return -1
            return 1 if trace.truth(trace.lt(keys[right], keys[left])) else 0

        order = sorted(places, key=cmp_to_key(compared), reverse=is_reversed)
        return [items[place] for place in order]
    columns = _columns(trace, keys)
    if columns is None:
        # The places of the elements of a list of Python in order
        size = len(keys)
        if size * (size - 1) // 2 > _MOST_PAIRS:
            raise ConversionError(
                f"{size} elements are put in an order that depends on a tensor",
                at=user_location(),
                why="their keys are no numbers, texts or 0-d tensors, so all pairs are compared",
                hint="sort by a key that is a number, a 0-d tensor, or a tuple of such: key=...",
            )
        ranks: list[Any] = [0] * size
        for later in range(size):
            for earlier in range(later):
                is_first = _comes_first(trace, keys[earlier], keys[later], is_reversed)
                step = trace.if_exp(is_first, lambda: 1, lambda: 0)
                ranks[earlier] = trace.add(ranks[earlier], step)
                ranks[later] = trace.add(ranks[later], trace.sub(1, step))
        order = _order(
            trace, [F.stack([_number(trace, one, "int64") for one in ranks])], False, size
        )
    else:
        order = _order(trace, columns, is_reversed, len(items))
    whole = as_dynamic(trace, items, list)
    arrays = [F.array_gather(array, order) for array in whole.arrays]
    new = SymbolicSequence(list, whole.element, arrays)
    return [element_at(trace, new, place) for place in range(len(items))]


def _decisive(keys: list[Any]) -> list[Any]:
    """Of tuples what they begin with, if that is known and differs: `sorted(d.items())`."""
    if not all(type(one) is tuple for one in keys):
        return keys
    known = [tuple(takewhile(lambda part: info(type(part)).is_plain, one)) for one in keys]
    length = min(map(len, known), default=0)
    first = [one[:length] for one in known]
    return first if len(set(first)) == len(keys) else keys


def _is_traced(key: Any) -> bool:
    if isinstance(key, tuple):
        return any(map(_is_traced, key))
    is_known = type(key) in (bool, int, float)
    return (
        isinstance(key, Tensor)
        or type(key) in (Union, SymbolicSequence)
        or (number_kind(key) is not None and not is_known)
    )


# -- columns of numbers -------------------------------------------------------------------------


def _columns(trace: Trace, keys: list[Any]) -> list[Any] | None:
    """The keys as 1-d tensors, of tuples one for each place; None if they are something else."""
    if all(type(one) is tuple for one in keys) and len({len(one) for one in keys}) == 1:
        found = [_columns(trace, list(column)) for column in zip(*keys, strict=True)]
        return None if None in found else [one for columns in found for one in columns or ()]
    kinds = {number_kind(one) for one in keys}
    if None not in kinds:
        dtype = "float64" if float in kinds else "int64"
        column = F.stack([_number(trace, one, dtype) for one in keys])
    elif kinds == {None} and all(
        isinstance(one, Tensor) and all(size == 1 for size in one.shape) for one in keys
    ):
        scalars = [F.reshape(one, []) if one.ndim else one for one in keys]
        are_alike = len({str(one.dtype) for one in scalars}) == 1
        column = F.stack(scalars) if are_alike else None
    else:
        nodes = [opened(Same(one, trace)) for one in keys]
        texts = _places_of_texts(nodes)
        if texts is None:
            column = None
        else:
            column = F.stack(
                [_place_of_text(trace, *row, texts) for row in zip(keys, nodes, strict=True)]
            )
    return None if column is None else [column]


def _places_of_texts(nodes: list[Layout]) -> dict[str, int] | None:
    """The places of texts in their order; None if a value may be something else."""
    cases = [one for node in nodes for one in (node.cases if isinstance(node, Cases) else [node])]
    if not all(isinstance(case, Same) and type(case.value) is str for case in cases):
        return None
    texts = sorted({case.value for case in cases if isinstance(case, Same)})
    return {text: place for place, text in enumerate(texts)}


def _place_of_text(trace: Trace, key: Any, node: Layout, places: dict[str, int]) -> Any:
    if not isinstance(node, Cases):
        return trace.tracer.number(places[key])
    return _table(trace, node, places, F.reshape(trace.tracer.local(key.tag), []))


def _table(trace: Trace, node: Cases, places: dict[str, int], tags: Variable) -> Any:
    """The places of the texts that tags tell."""
    table = [places[case.value] for case in node.cases if isinstance(case, Same)]
    with trace.tracer.unguarded():
        return F.gather(trace.tracer.constant(np.asarray(table, "int64")), tags)


def _number(trace: Trace, value: Any, dtype: str) -> Any:
    number = (
        trace.tracer.variable(value) if isinstance(value, Tensor) else trace.tracer.number(value)
    )
    return trace.tracer.cast_number(number, np.dtype(dtype))


def _order(trace: Trace, columns: list[Any], is_reversed: bool, length: Any) -> Any:
    """The places of the elements in order; the last column decides last."""
    order: Any = None
    for column in reversed(columns):
        column = F.flip(column, [0]) if is_reversed else column
        with trace.tracer.unguarded():
            here = column if order is None else F.gather(column, order)
            places = F.argsort(here)
            order = places if order is None else F.gather(order, places)
    if is_reversed:
        order = length - 1 - F.flip(order, [0])
    return F.cast(order, "int64")


# -- two by two -----------------------------------------------------------------------------------


def _comes_first(trace: Trace, earlier: Any, later: Any, is_reversed: bool) -> Any:
    """Whether the later one of two keys comes before the earlier one."""
    return trace.lt(earlier, later) if is_reversed else trace.lt(later, earlier)


# -- a list of a length -------------------------------------------------------------------------


def _of_dynamic(
    trace: Trace, content: SymbolicSequence, key: Any, is_reversed: bool
) -> SymbolicSequence:
    if content.element is None:
        return content
    keys = content
    if key is not None:
        of = lambda place: trace.call(key, element_at(trace, content, place))  # noqa: E731
        keys = trace.content(trace.gathered(Indexed(length_of(trace, content), of)))
        assert type(keys) is SymbolicSequence
    length = length_of(trace, content)
    arrays = [trace.tracer.local(array) for array in content.arrays]

    def in_order() -> list[Any]:
        assert keys.element is not None
        columns = _columns_of(trace, keys.element, keys.arrays)
        if columns is None:
            # How many elements come before each one, as a tensor
            size = length_of(trace, keys)

            def is_before(other: Any, place: Any) -> Any:
                one, two = element_at(trace, keys, place), element_at(trace, keys, other)
                return trace.if_exp(
                    trace.lt(other, place),
                    lambda: trace.not_(_comes_first(trace, two, one, is_reversed)),
                    lambda: trace.truth_value(_comes_first(trace, one, two, is_reversed)),
                )

            def place_of(place: Any) -> Any:
                def iteration(other: Any, found: Any) -> tuple[Any]:
                    is_one = trace.and_(trace.ne(other, place), lambda: is_before(other, place))
                    return (trace.add(found, trace.if_exp(is_one, lambda: 1, lambda: 0)),)

                return trace.for_(trace.call(range, size), None, iteration, (0,), ("a place",))[0]

            places = trace.content(trace.gathered(Indexed(size, place_of)))
            order = _order(
                trace, [F.array_stack(trace.tracer.local(places.arrays[0]))], False, length
            )
        elif not columns:  # all keys are the same
            return [trace.tracer.local(array) for array in arrays]
        else:
            order = _order(trace, columns, is_reversed, length)
        return [F.array_gather(trace.tracer.local(array), order) for array in arrays]

    has_any = F.greater_than(length, 0)
    found = trace.choose(has_any, in_order, lambda: [trace.tracer.local(a) for a in arrays])
    return SymbolicSequence(content.kind, content.element, found, content.like)


def _columns_of(trace: Trace, node: Layout, arrays: list[Variable]) -> list[Any] | None:
    """The keys of a layout as 1-d tensors; None if they are something else."""
    if isinstance(node, Same):
        return [] if info(type(node.value)).is_plain else None
    if isinstance(node, Number) or (isinstance(node, Leaf) and not node.rank):
        return [F.array_stack(trace.tracer.local(arrays[0]))]
    if isinstance(node, Cases):
        texts = _places_of_texts([node])
        if texts is None:
            return None
        return [_table(trace, node, texts, F.array_stack(trace.tracer.local(arrays[0])))]
    if not isinstance(node, Parts) or node.kind is not tuple:
        return None
    found: list[Any] = []
    for item in node.items:
        columns = _columns_of(trace, item, arrays)
        if columns is None:
            return None
        found += columns
        arrays = arrays[count(item) :]
    return found


def _sorted_part(function: Any, is_largest: bool) -> None:
    @function_row(function)
    def row(trace: Trace, n: Any, iterable: Any, key: Any = None) -> Any:
        found = trace.call(sorted, iterable, key=key, reverse=is_largest)
        return trace.item(found, slice(None, n))


_sorted_part(heapq.nlargest, True)
_sorted_part(heapq.nsmallest, False)
