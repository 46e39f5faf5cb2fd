"""heapq and bisect, which compare by `<` alone, as Python's do.

A heap is laid out as heapq lays it out: whoever looks into one sees the same.
"""

from __future__ import annotations

import bisect
import heapq
from typing import Any

from dy2st.convert.polyfills.registry import polyfill


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


@polyfill(heapq.heappush, is_changing=True)
def _heappush(heap: Any, item: Any, /) -> None:
    heap.append(item)
    _raised(heap, 0, len(heap) - 1)


@polyfill(heapq.heappop, is_changing=True)
def _heappop(heap: Any, /) -> Any:
    last = heap.pop()
    if not heap:
        return last
    first = heap[0]
    heap[0] = last
    _sunk(heap, 0)
    return first


@polyfill(heapq.heapreplace, is_changing=True)
def _heapreplace(heap: Any, item: Any, /) -> Any:
    first = heap[0]
    heap[0] = item
    _sunk(heap, 0)
    return first


@polyfill(heapq.heappushpop, is_changing=True)
def _heappushpop(heap: Any, item: Any, /) -> Any:
    if heap and heap[0] < item:
        return _heapreplace(heap, item)
    return item


@polyfill(heapq.heapify, is_changing=True)
def _heapify(heap: Any, /) -> None:
    for start in range(len(heap) // 2 - 1, -1, -1):
        _sunk(heap, start)


@polyfill(bisect.bisect_left)
def _bisect_left(values: Any, item: Any, lo: Any = 0, hi: Any = None, *, key: Any = None) -> Any:
    hi = len(values) if hi is None else hi
    while lo < hi:
        middle = (lo + hi) // 2
        if (values[middle] if key is None else key(values[middle])) < item:
            lo = middle + 1
        else:
            hi = middle
    return lo


@polyfill(bisect.bisect_right)
def _bisect_right(values: Any, item: Any, lo: Any = 0, hi: Any = None, *, key: Any = None) -> Any:
    hi = len(values) if hi is None else hi
    while lo < hi:
        middle = (lo + hi) // 2
        if item < (values[middle] if key is None else key(values[middle])):
            hi = middle
        else:
            lo = middle + 1
    return lo


@polyfill(bisect.insort_left, is_changing=True)
def _insort_left(values: Any, item: Any, lo: Any = 0, hi: Any = None, *, key: Any = None) -> None:
    own = item if key is None else key(item)
    values.insert(_bisect_left(values, own, lo, hi, key=key), item)


@polyfill(bisect.insort_right, is_changing=True)
def _insort_right(values: Any, item: Any, lo: Any = 0, hi: Any = None, *, key: Any = None) -> None:
    own = item if key is None else key(item)
    values.insert(_bisect_right(values, own, lo, hi, key=key), item)
