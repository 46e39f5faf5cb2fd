"""Functions of Python that are written in C, written in Python, to be traced as code of the user's.

A heap is laid out as heapq lays it out: whoever looks into one sees the same.
"""

from __future__ import annotations

import bisect
import heapq
import itertools
import math
from collections.abc import Callable
from types import FunctionType
from typing import Any, TypeVar

from dy2st.convert.kinds.table import function_row
from dy2st.convert.objects import ATOMS
from dy2st.convert.trace import Trace
from dy2st.convert.values.special import Indexed
from dy2st.transpiler.lower import traced_form

F = TypeVar("F", bound=Callable[..., Any])


def _row(function: Any, is_changing: bool = True) -> Callable[[F], F]:
    """Let a function in Python stand for one in C, which runs where it meets plain values alone."""

    def register(written: F) -> F:
        @function_row(function)
        def row(trace: Trace, values: Any, *args: Any, **options: Any) -> Any:
            content = values
            if type(values) is list:
                content = trace.writable(values) if is_changing else trace.content(values)
                trace.read_content(values)
            is_plain = type(content) in (list, tuple) and not options
            if is_plain and all(map(_is_plain, (*content, *args))):
                return function(content, *args)
            return call_polyfill(trace, written, values, *args, **options)

        return written

    return register


def _raised(heap: Any, start: int, place: int) -> None:
    """Let an element move towards the start, past all that are not less."""
    item = heap[place]
    while place > start and item < heap[(place - 1) // 2]:
        heap[place] = heap[(place - 1) // 2]
        place = (place - 1) // 2
    heap[place] = item


def _sunk(heap: Any, start: int) -> None:
    """Let an element move to the end by way of the lesser child, and back to its place."""
    # Down to the end before it is compared with others, as heapq does: by another way elements that
    # are equal would lie in other places.
    item, place = heap[start], start
    child = 2 * place + 1
    while child < len(heap):
        # heapq asks for `<` alone: the user's objects may have no other comparison.
        if child + 1 < len(heap) and not heap[child] < heap[child + 1]:
            child = child + 1
        heap[place] = heap[child]
        place = child
        child = 2 * place + 1
    heap[place] = item
    _raised(heap, start, place)


@_row(heapq.heappush)
def _heappush(heap: Any, item: Any) -> None:
    heap.append(item)
    _raised(heap, 0, len(heap) - 1)


@_row(heapq.heappop)
def _heappop(heap: Any) -> Any:
    last = heap.pop()
    if not heap:
        return last
    first = heap[0]
    heap[0] = last
    _sunk(heap, 0)
    return first


@_row(heapq.heapreplace)
def _heapreplace(heap: Any, item: Any) -> Any:
    first = heap[0]
    heap[0] = item
    _sunk(heap, 0)
    return first


@_row(heapq.heappushpop)
def _heappushpop(heap: Any, item: Any) -> Any:
    if heap and heap[0] < item:
        return _heapreplace(heap, item)
    return item


@_row(heapq.heapify)
def _heapify(heap: Any) -> None:
    for start in range(len(heap) // 2 - 1, -1, -1):
        _sunk(heap, start)


@_row(bisect.bisect_left, is_changing=False)
def _bisect_left(values: Any, item: Any, lo: Any = 0, hi: Any = None, *, key: Any = None) -> Any:
    hi = len(values) if hi is None else hi
    while lo < hi:
        middle = (lo + hi) // 2
        if (values[middle] if key is None else key(values[middle])) < item:
            lo = middle + 1
        else:
            hi = middle
    return lo


@_row(bisect.bisect_right, is_changing=False)
def _bisect_right(values: Any, item: Any, lo: Any = 0, hi: Any = None, *, key: Any = None) -> Any:
    hi = len(values) if hi is None else hi
    while lo < hi:
        middle = (lo + hi) // 2
        if item < (values[middle] if key is None else key(values[middle])):
            hi = middle
        else:
            lo = middle + 1
    return lo


@_row(bisect.insort_left)
def _insort_left(values: Any, item: Any, lo: Any = 0, hi: Any = None, *, key: Any = None) -> None:
    own = item if key is None else key(item)
    values.insert(_bisect_left(values, own, lo, hi, key=key), item)


@_row(bisect.insort_right)
def _insort_right(values: Any, item: Any, lo: Any = 0, hi: Any = None, *, key: Any = None) -> None:
    own = item if key is None else key(item)
    values.insert(_bisect_right(values, own, lo, hi, key=key), item)


def _groups(iterable: Any, key: Any) -> Any:
    found: Any = []
    for item in iterable:
        its_key = item if key is None else key(item)
        if found and found[-1][0] == its_key:
            found[-1][1].append(item)
        else:
            found.append((its_key, [item]))
    return found


@_row(math.fsum, is_changing=False)
def _exact_sum(values: Any) -> float:
    """The sum as if by exact numbers: parts that do not overlap, the smallest first."""
    parts: list[float] = []
    special, infinite = 0.0, 0.0
    for value in values:
        number = float(value)
        if math.isfinite(number):
            place = 0
            for part in list(parts):
                large, small = (part, number) if abs(number) < abs(part) else (number, part)
                number = large + small
                rest = small - (number - large)
                if rest != 0.0:
                    parts[place] = rest
                    place += 1
            if math.isinf(number):
                raise OverflowError("intermediate overflow in fsum")
            parts = parts[:place] + [number]
        else:
            special += number
            infinite += number if math.isinf(number) else 0.0
    if math.isnan(infinite):
        raise ValueError("-inf + inf in fsum")
    return special if special != 0.0 else _rounded_sum(parts)


def _rounded_sum(parts: list[float]) -> float:
    """The sum of parts that do not overlap, rounded once: half to even."""
    total, rest, place = 0.0, 0.0, len(parts)
    while place > 0 and rest == 0.0:
        place -= 1
        before, part = total, parts[place]
        total = before + part
        rest = part - (total - before)
    if place > 0 and rest * parts[place - 1] > 0.0:
        twice = rest * 2.0
        other = total + twice
        if twice == other - total:
            total = other
    return total


_HELPERS = (_rounded_sum, _raised, _sunk, _heapreplace, _bisect_left, _bisect_right)


def call_polyfill(trace: Trace, function: Any, *args: Any, **options: Any) -> Any:
    """Call one of these functions in its traced form."""
    for one in (*_HELPERS, function):
        assert isinstance(one, FunctionType)
        if id(one) not in trace.forms:
            trace.forms[id(one)] = one, traced_form(one).bind(trace.protocol, one)
    return trace.call(function, *args, **options)


def _is_plain(item: Any) -> bool:
    return all(map(_is_plain, item)) if type(item) is tuple else type(item) in ATOMS


@function_row(itertools.groupby)
def groupby(trace: Trace, iterable: Any, key: Any = None) -> Any:
    """`itertools.groupby(iterable, key)`; each group is gathered before it is given."""
    found = call_polyfill(trace, _groups, iterable, key)
    items = trace.items_of(found)
    if type(items) is Indexed:
        return Indexed(items.size, lambda place: _with_iterator(trace, items.item(place)))
    return trace.made(_with_iterator(trace, one) for one in items)


def _with_iterator(trace: Trace, pair: Any) -> Any:
    key, group = pair
    return key, trace.call(iter, group)
