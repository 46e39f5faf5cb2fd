"""Methods of lists whose length the run decides, by what every list can do."""

from __future__ import annotations

from typing import Any


def place_of(values: Any, item: Any, start: Any, stop: Any) -> Any:
    """Where the first element stands that is equal."""
    length = len(values)
    if stop is None or stop > length:
        stop = length
    elif stop < 0:
        stop = stop + length
    place = start if start >= 0 else max(start + length, 0)
    while place < stop and values[place] != item:
        place = place + 1
    if place >= stop:
        raise ValueError("x is not in list")
    return place


def are_equal(left: Any, right: Any) -> Any:
    """Whether two lists are equal."""
    length = len(left)
    return length == len(right) and _first_difference(left, right, length) == length


def in_order(compare: Any, left: Any, right: Any) -> Any:
    """The comparison of the first two elements that differ; if none do, of the lengths."""
    shorter = min(len(left), len(right))
    place = _first_difference(left, right, shorter)
    if place < shorter:
        return compare(left[place], right[place])
    return compare(len(left), len(right))


def _first_difference(left: Any, right: Any, length: Any) -> Any:
    place = 0
    while place < length and left[place] == right[place]:
        place = place + 1
    return place
