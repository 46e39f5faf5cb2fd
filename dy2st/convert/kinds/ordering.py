"""What goes through all items: sorted, sort, sum, min, max, any, all.

Equal ones stay in their order. Keys that are numbers, 0-d tensors, texts that are known, and tuples
of them are columns of numbers. All others are compared two by two, as Python would: the place of an
element is how many are before. By columns sorted() of a list of unknown length has 20 operators, an
insertion sort in Python 48.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import cmp_to_key, reduce
from itertools import takewhile
from typing import Any

import numpy as np

from dy2st.convert.kinds.iterators import mark_left
from dy2st.convert.kinds.lists import as_dynamic, held, length_of, new_list, replaced
from dy2st.convert.kinds.scalars import as_number, check
from dy2st.convert.kinds.sets import elements, in_any_order, without_order
from dy2st.convert.kinds.table import for_each, function_row, method_row
from dy2st.convert.kinds.tensors import leaves_in, opened_parts
from dy2st.convert.polyfills import methods
from dy2st.convert.stage.branch import end_region
from dy2st.convert.trace import Region, Trace
from dy2st.convert.types import info
from dy2st.convert.values.flatten import element_at
from dy2st.convert.values.layout import (
    Cases,
    Layout,
    Leaf,
    Number,
    Parts,
    Same,
    all_of,
    number_kind,
    opened,
)
from dy2st.convert.values.special import MISSING, Indexed, SymbolicSequence, Union
from dy2st_runtime.dims import Dim, maximum, minimum
from dy2st_runtime.errors import ConversionError
from dy2st_runtime.ir import F, Tensor, Variable
from dy2st_runtime.ops.control_flow import cond

_Compare = Callable[[], tuple[Any]]
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
        compare: _Compare = lambda: (trace.test_of(trace.lt(keys[1], keys[0])),)  # noqa: E731
        region = _trial(trace, compare)  # Python has not asked this yet
        are_known = isinstance((region.results or compare())[0], bool)
        if not are_known:
            _refuse_changes(region)
    if are_known:
        # Python asks nothing but `<`.
        less = lambda left, right: -trace.truth(trace.lt(keys[left], keys[right]))  # noqa: E731
        order = sorted(range(len(items)), key=cmp_to_key(less), reverse=is_reversed)
        return [items[place] for place in order]
    columns = _columns(trace, keys)
    if columns is None:
        if len(keys) * (len(keys) - 1) // 2 > _MOST_PAIRS:
            raise ConversionError(
                f"{len(keys)} elements are put in an order that depends on a tensor",
                why="their keys are no numbers, texts or 0-d tensors, so all pairs are compared",
                hint="sort by a key that is a number, a 0-d tensor, or a tuple of such: key=...",
            )
        ranks = trace.content(trace.call(methods.ranks, keys, is_reversed))
        columns, is_reversed = [F.stack([_number(trace, one, "int64") for one in ranks])], False
    order = _order(trace, columns, is_reversed, len(items))
    whole = as_dynamic(trace, items, list)
    new = SymbolicSequence(list, whole.element, [F.array_gather(a, order) for a in whole.arrays])
    return [element_at(trace, new, place) for place in range(len(items))]


def _trial(trace: Trace, compare: _Compare) -> Region:
    """What comparisons give and change, as if nobody had asked them."""
    with trace.region() as region:
        end_region(trace, region, compare)
    return region


def _refuse_changes(region: Region) -> None:
    if region.tensors or not all(region.is_new(one.owner) for one in region.changes.values()):
        raise ConversionError(
            "elements are put in order, and to compare them changes something else",
            why="which ones Python compares is known only when the Program runs",
            hint="sort by a key that is a number or a 0-d tensor: key=...",
        )


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
    is_number = number_kind(key) is not None and type(key) not in (bool, int, float)
    return is_number or isinstance(key, Tensor) or type(key) in (Union, SymbolicSequence)


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
            return None
        rows = zip(keys, nodes, strict=True)
        column = F.stack([_place_of_text(trace, *row, texts) for row in rows])
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
    tracer = trace.tracer
    number = tracer.variable(value) if isinstance(value, Tensor) else tracer.number(value)
    return tracer.cast_number(number, np.dtype(dtype))


def _order(trace: Trace, columns: list[Any], is_reversed: bool, length: Any) -> Any:
    """The places of the elements in order; the last column decides last."""
    order: Any = None
    for column in reversed(columns):
        column = F.flip(column, [0]) if is_reversed else column
        with trace.tracer.unguarded():
            places = F.argsort(column if order is None else F.gather(column, order))
            order = places if order is None else F.gather(order, places)
    if is_reversed:
        order = length - 1 - F.flip(order, [0])
    return F.cast(order, "int64")


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
            rank: _Compare = lambda: (trace.call(methods.ranks, keys, is_reversed),)  # noqa: E731
            _refuse_changes(_trial(trace, rank))
            ranks = trace.content(*rank())
            columns = [F.array_stack(trace.tracer.local(ranks.arrays[0]))]
            order = _order(trace, columns, False, length)
        elif not columns:  # all keys are the same
            return [trace.tracer.local(array) for array in arrays]
        else:
            order = _order(trace, columns, is_reversed, length)
        return [F.array_gather(trace.tracer.local(array), order) for array in arrays]

    has_any = F.greater_than(length, 0)
    trace.alias_tracker.return_all()  # not in that branch alone, of which no change remains
    found = cond(has_any, in_order, lambda: [trace.tracer.local(a) for a in arrays])
    return SymbolicSequence(content.kind, content.element, found, content.like)


def _columns_of(trace: Trace, node: Layout, arrays: Sequence[Variable]) -> list[Any] | None:
    """The keys of a layout as 1-d tensors; None if they are something else."""
    node, found = opened_parts(node), list[Any]()
    kinds: list[Any] = [one.kind for one in all_of([node]) if isinstance(one, Parts)]
    if not all(kind.__lt__ in (tuple.__lt__, list.__lt__) for kind in kinds):
        return None  # which compare themselves
    column = map(F.array_stack, map(trace.tracer.local, arrays))
    for leaf in leaves_in(node):
        texts = _places_of_texts([leaf]) if isinstance(leaf, Cases) else None
        if isinstance(leaf, Number) or (isinstance(leaf, Leaf) and not leaf.rank):
            found.append(next(column))
        elif isinstance(leaf, Cases) and texts is not None:
            found.append(_table(trace, leaf, texts, next(column)))
        elif not isinstance(leaf, Same) or not info(type(leaf.value)).is_plain:
            return None
    return found


@method_row(list)
def _sort(trace: Trace, owner: Any, *, key: Any = None, reverse: Any = False) -> None:
    """As in Python, the list is empty for whoever looks at it meanwhile."""
    items = held(trace, owner)
    content = trace.writable(owner)
    if type(content) is SymbolicSequence:
        trace.hold(owner, [])
        replaced(trace, owner, ordered(trace, items, key, reverse))
        return
    items = list(items)
    content.clear()
    try:
        new = ordered(trace, items, key, reverse)
    except BaseException:  # any, Ctrl-C too: a list that could not be sorted is as it was
        content[:] = items
        raise
    was_changed = bool(content)
    content[:] = new
    if was_changed:
        raise ValueError("list modified during sort")


@function_row(sum)
def _sum(trace: Trace, iterable: Any, start: Any = 0) -> Any:
    # A tensor of floats of unknown length is added up at once.
    if (
        isinstance(iterable, Tensor)
        and iterable.ndim
        and not isinstance(iterable.shape[0], int)
        and str(iterable.dtype).removeprefix("paddle.") in ("float32", "float64", "int64")
    ):
        total = F.sum(iterable, axis=0)
        return total if type(start) is int and start == 0 else trace.add(start, total)

    def iteration(item: Any, total: Any) -> tuple[Any]:
        return (trace.add(total, item),)

    found = in_any_order(trace, iterable)
    total = trace.for_(found, None, iteration, (start,), ("the sum",))[0]
    if found is not iterable and number_kind(total) not in (bool, int):
        # The order decides how floats are rounded.
        total = trace.for_(iterable, None, iteration, (start,), ("the sum",))[0]
    return total


@function_row(sorted)
def _sorted(trace: Trace, iterable: Any, /, *, key: Any = None, reverse: Any = False) -> Any:
    # Where elements are equal, the order tells.
    unordered = None if key is None else without_order(trace, iterable)
    items = elements(trace, iterable) if key is None else unordered or trace.listed(iterable)
    found = new_list(trace, ordered(trace, items, key, reverse))
    if unordered is not None:
        _check_unique(trace, methods.increases, found, key, trace.truth(reverse))
    return found


def _check_unique(trace: Trace, holds: Callable[..., bool], *args: Any) -> None:
    """Refuse equal keys of elements of a set in the run: their order in the set would decide."""
    ask: _Compare = lambda: (trace.call(holds, *args),)  # noqa: E731
    _refuse_changes(_trial(trace, ask))  # the keys are asked for twice, and in another order
    check(trace, trace.test_of(*ask()), ValueError(_EQUAL))


_EQUAL = (
    "keys of elements of a set are equal, and in which order Python's set gives these is not known "
    "to a Program: let the key tell them apart, key=lambda one: (..., one)"
)


# -- the least and the greatest ---------------------------------------------------------------


_EMPTY = "{}() iterable argument is empty"
if sys.version_info < (3, 12):
    _EMPTY = "{}() arg is an empty sequence"


@for_each((max, maximum), (min, minimum))
def _extreme(function: Any, of_sizes: Callable[[Any, Any], Any]) -> None:
    name = function.__name__

    @function_row(function)
    def row(trace: Trace, *values: Any, key: Any = None, default: Any = MISSING) -> Any:
        items: Any = values
        unordered = None
        if len(values) == 1:
            only = values[0]
            is_vector = isinstance(only, Tensor) and only.ndim == 1
            is_alone = key is None and default is MISSING
            if is_vector and is_alone and not isinstance(only.shape[0], int):
                return getattr(F, name)(only)
            unordered = None if key is None else without_order(trace, only)
            items = elements(trace, only) if key is None else unordered or trace.listed(only)
            if key is not None and trace.handlers:  # it may raise before the next item is taken
                mark_left(trace, only)
        if type(items) is not SymbolicSequence or items.element is None:
            items = () if type(items) is SymbolicSequence else tuple(items)
            if items and key is None and all(info(type(item)).is_plain for item in items):
                return function(items)
            is_size = lambda one: type(one) is int or isinstance(one, Dim)  # noqa: E731
            if items and key is None and all(map(is_size, items)):
                return reduce(of_sizes, items)
        empty = "" if default is not MISSING else _EMPTY.format(name)
        found = trace.call(methods.best, items, key, default, empty, function is max)
        if unordered is not None:
            _check_unique(trace, methods.is_alone, unordered, found, key, function is max)
        return found


# -- truths -----------------------------------------------------------------------------------


function_row(any)(lambda trace, iterable: _decided(trace, iterable, True))
function_row(all)(lambda trace, iterable: _decided(trace, iterable, False))


# any() has 31 operators, a loop with a `return` in Python 59; all() of three bools 12, and 48.
def _decided(trace: Trace, iterable: Any, decisive: bool) -> Any:
    """Whether one item is true (`any`); `decisive` is False: not whether one is false (`all`)."""
    iterable = in_any_order(trace, iterable, ends_early=True)
    source = trace.source_of(iterable)
    if source is not None:
        return trace.is_decided(source, decisive)
    if hasattr(type(iterable), "__next__"):
        # An iterator is left at the item that decides.
        goes_on = lambda found: trace.not_(found) if decisive else found  # noqa: E731
        iteration = lambda item, _: (trace.truth_value(item),)  # noqa: E731
        names = ("whether it is found",)
        return trace.for_(iterable, goes_on, iteration, (not decisive,), names)[0]
    items = trace.items_of(iterable)
    if type(items) is Indexed:

        def holds(place: Any) -> Any:
            answer = trace.test_of(items.item(place))
            if isinstance(answer, bool):
                answer = trace.tracer.number(answer)
            return answer if decisive else F.logical_not(answer)

        is_one = trace.any_in(holds, items.length)
        return is_one if decisive else trace.not_(is_one)
    found: Any = not decisive
    for item in items:
        answer = trace.test_of(item)
        if isinstance(answer, bool):
            if answer is decisive:
                return decisive
        elif isinstance(found, bool):
            found = answer
        else:
            found = (F.logical_or if decisive else F.logical_and)(found, answer)
    return found if isinstance(found, bool) else as_number(trace, found, bool)
