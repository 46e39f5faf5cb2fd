"""Builtins that go through all items: sum, min, max, any, all, sorted."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import reduce
from typing import Any

from dy2st.convert.kinds.lists import length_of, new_list
from dy2st.convert.kinds.ordering import ordered
from dy2st.convert.kinds.scalars import as_number, check
from dy2st.convert.kinds.sets import elements, in_any_order, refuse_order
from dy2st.convert.kinds.table import function_row
from dy2st.convert.trace import Trace
from dy2st.convert.types import info
from dy2st.convert.values.flatten import element_at
from dy2st.convert.values.layout import Leaf, number_kind
from dy2st.convert.values.special import Indexed, SymbolicSequence
from dy2st_runtime.dims import Dim, maximum, minimum
from dy2st_runtime.ir import F, Tensor

_MISSING = object()


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
    content = trace.content(found) if type(found) is list else None
    element = content.element if type(content) is SymbolicSequence else None
    if isinstance(element, Leaf) and element.rank:
        # The start is no vector: only where there is no item it is the sum.

        def added() -> Any:
            begun, rest = trace.add(start, trace.item(found, 0)), trace.item(found, slice(1, None))
            return trace.for_(rest, None, iteration, (begun,), ("the sum",))[0]

        return trace.if_exp(found, added, lambda: start)
    total = trace.for_(found, None, iteration, (start,), ("the sum",))[0]
    if found is not iterable and number_kind(total) not in (bool, int):
        raise refuse_order()  # which decides how floats are rounded
    return total


@function_row(sorted)
def _sorted(trace: Trace, iterable: Any, /, *, key: Any = None, reverse: Any = False) -> Any:
    # Where elements are equal, the order tells.
    items = elements(trace, iterable) if key is None else trace.listed(iterable)
    return new_list(trace, ordered(trace, items, key, reverse))


# -- the least and the greatest ---------------------------------------------------------------


@function_row(max)
def _max(trace: Trace, *values: Any, key: Any = None, default: Any = _MISSING) -> Any:
    return _extreme(trace, "max", values, key, default)


@function_row(min)
def _min(trace: Trace, *values: Any, key: Any = None, default: Any = _MISSING) -> Any:
    return _extreme(trace, "min", values, key, default)


_BETTER = {"max": "gt", "min": "lt"}
_OF_SIZES: dict[str, Callable[[Any, Any], Any]] = {"max": maximum, "min": minimum}
_EMPTY = "{}() iterable argument is empty"
if sys.version_info < (3, 12):
    _EMPTY = "{}() arg is an empty sequence"


def _extreme(trace: Trace, name: str, values: tuple[Any, ...], key: Any, default: Any) -> Any:
    if len(values) != 1:
        return _of_items(trace, name, values, key)
    only = values[0]
    is_vector = isinstance(only, Tensor) and only.ndim == 1
    if is_vector and key is None and default is _MISSING and not isinstance(only.shape[0], int):
        return getattr(F, name)(only)
    items = elements(trace, only) if key is None else trace.listed(only)
    items = items if type(items) is SymbolicSequence else list(items)
    if type(items) is SymbolicSequence:
        error = ValueError(_EMPTY.format(name))
        if items.element is None:
            if default is _MISSING:
                raise error
            return default
        length = length_of(trace, items)

        def key_of(item: Any) -> Any:
            return item if key is None else trace.call(key, item)

        def iteration(item: Any, best: Any, best_key: Any) -> Any:
            return _better(trace, name, (item, key_of(item)), (best, best_key))

        def found() -> Any:
            first = element_at(trace, items, 0)
            rest = Indexed(length - 1, lambda place: element_at(trace, items, place + 1))
            names = ("the best item", "its key")
            return trace.for_(rest, None, iteration, (first, key_of(first)), names)[0]

        if default is not _MISSING:
            return trace.if_exp(trace.gt(length, 0), found, lambda: default)
        check(trace, F.greater_than(length, 0), error)
        return found()
    if not items and default is not _MISSING:
        return default
    return _of_items(trace, name, items, key)


def _of_items(trace: Trace, name: str, items: Any, key: Any) -> Any:
    if not items:
        raise ValueError(_EMPTY.format(name))
    if key is None and all(info(type(item)).is_plain for item in items):
        return (max if name == "max" else min)(items)
    if key is None and all(type(item) is int or isinstance(item, Dim) for item in items):
        return reduce(_OF_SIZES[name], items)
    best, best_key = items[0], items[0] if key is None else trace.call(key, items[0])
    for item in items[1:]:
        its_key = item if key is None else trace.call(key, item)
        best, best_key = _better(trace, name, (item, its_key), (best, best_key))
    return best


# max() of a list of unknown length has 31 operators, a loop with an `if` in Python 37.
def _better(trace: Trace, name: str, new: tuple[Any, Any], old: tuple[Any, Any]) -> Any:
    """The pair of an item and its key that is better; the old one if they are equal."""
    answer = trace.test_of(getattr(trace, _BETTER[name])(new[1], old[1]))
    if isinstance(answer, bool):
        return new if answer else old
    if new[0] is new[1] and old[0] is old[1] and _are_alike(new[0], old[0]):
        left = new[0]
        right = old[0]
        kind = number_kind(left)
        if kind is None:
            chosen = F.where(answer, left, right)
        else:
            sides = [
                one if isinstance(one, Tensor) else trace.tracer.number(one)
                for one in (left, right)
            ]
            chosen = as_number(trace, F.where(answer, *sides), kind)
        return chosen, chosen
    words = f"the value of {name}()"
    names = (words, f"the key of {words}")
    return trace.if_(answer, lambda: new, lambda: old, (), names)


def _are_alike(left: Any, right: Any) -> bool:
    """Whether both are numbers of one kind, or 0-d tensors of one dtype."""
    kinds = number_kind(left), number_kind(right)
    if kinds[0] is not None or kinds[1] is not None:
        return kinds[0] is kinds[1]
    are_tensors = isinstance(left, Tensor) and isinstance(right, Tensor)
    return are_tensors and left.ndim == right.ndim == 0 and left.dtype == right.dtype


# -- truths -----------------------------------------------------------------------------------


@function_row(any)
def _any(trace: Trace, iterable: Any) -> Any:
    return _decided(trace, iterable, True)


@function_row(all)
def _all(trace: Trace, iterable: Any) -> Any:
    return _decided(trace, iterable, False)


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
