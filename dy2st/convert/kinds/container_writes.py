"""Writes into a container note what they depend on, and items are put in one by one.

A write may leave a container from outside as it was: where an element is put that is there already,
this call changes nothing, and another one may. So what such a write depends on is read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dy2st.convert.trace import MISSING, DictView, Trace
from dy2st.convert.types import info
from dy2st.convert.values.special import SymbolicSequence, Union


def to_move(trace: Trace, owner: Any) -> Any:
    """The content of a list or deque, to be changed: elements get other places."""
    trace.read_content(owner)
    return trace.writable(owner)


def to_cut(trace: Trace, owner: Any) -> Any:
    """The same where the last element goes: one that the call has put there, or one of before."""
    content = trace.content(owner)
    if type(content) is not type(owner) or len(content) <= len(owner):
        trace.read_content(owner)
    return trace.writable(owner)


def note_put(trace: Trace, owner: Any, key: Any, value: Any) -> None:
    """Note that a value gets a place or key; one that was taken away gets another place."""
    if not trace.is_as_found(owner):
        return
    if isinstance(owner, dict):
        before = owner.get(key, MISSING)
        if before is not MISSING and key not in trace.content(owner):
            trace.read_content(owner)
    else:
        before = owner[key] if -len(owner) <= key < len(owner) else MISSING
    if before is value:
        trace.read_item(owner, key, value)


def note_slice(trace: Trace, owner: Any, content: Any, part: slice, values: Sequence[Any]) -> None:
    """The same of values that get the places of a slice; what is behind moves if it grows."""
    places = range(len(content))[part]
    if len(places) != len(values):
        trace.read_content(owner)
    trace.read_length(owner)
    for place, value in zip(places, values, strict=False):
        note_put(trace, owner, place, value)


def is_lazy(trace: Trace, iterable: Any) -> bool:
    """Whether code of the user's may run between two items: a generator, a map, an iterator."""
    kind = type(iterable)
    row = info(kind)
    # What holds its items: nothing of the user's runs while they are taken.
    is_own = kind in (tuple, SymbolicSequence, Union) or row.is_traced or row.state == "array"
    is_whole = row.is_container or row.is_atom or is_own or row.family == "set"
    return not is_whole and trace.origin(iterable, DictView) is None


def each(trace: Trace, iterable: Any, take: Callable[[Any], Any]) -> None:
    """Call `take` with each item, before the next one is asked for."""
    trace.for_(iterable, None, lambda item: (take(item), ())[1], (), ())
