"""itertools: Python's own where the items are known, else by loops of the Program."""

from __future__ import annotations

import itertools
from typing import Any

from dy2st.convert.kinds.container_writes import is_lazy
from dy2st.convert.kinds.iterators import POSITION, STEP, iter_, iterator
from dy2st.convert.kinds.lists import joined
from dy2st.convert.kinds.scalars import check, is_traced
from dy2st.convert.kinds.table import function_row, method_row
from dy2st.convert.polyfills.itertools_ import chained
from dy2st.convert.polyfills.registry import lazily
from dy2st.convert.trace import Trace
from dy2st.convert.values.special import Indexed, SymbolicSequence
from dy2st_runtime.errors import UnsupportedSyntax
from dy2st_runtime.ir import user_location


@function_row(itertools.repeat)
def _repeat(trace: Trace, value: Any, times: Any = None) -> Any:
    if times is None or not is_traced(times):
        return trace.made(itertools.repeat(value, *(() if times is None else (times,))))
    return iterator(trace, trace.call(max, times, 0), lambda _: value)


@function_row(itertools.count)
def count(trace: Trace, start: Any = 0, step: Any = 1) -> Any:
    """`itertools.count(start, step)`: how far it has come is kept as a value of the trace."""
    made = trace.made(itertools.count())
    trace.write(made, POSITION, start)
    trace.write(made, STEP, step)
    return made


@function_row(itertools.chain)
def _chain(trace: Trace, *iterables: Any) -> Any:
    parts = [trace.items_of(one) for one in iterables]
    if not any(type(part) is Indexed for part in parts):
        return trace.made(itertools.chain(*parts))
    found: Any = []
    for part in parts:
        new = trace.listed(part)
        if type(found) is SymbolicSequence or type(new) is SymbolicSequence:
            found = joined(trace, found, new, list)
        else:
            found = [*found, *new]
    return iter_(trace, found)


@method_row(type, name="from_iterable")
def _from_iterable(trace: Trace, owner: Any, iterables: Any) -> Any:
    items = None if is_lazy(trace, iterables) else trace.items_of(iterables)
    if items is not None and type(items) is not Indexed:
        return _chain(trace, *items)
    return lazily(trace, lambda one: trace.call(chained, one), iterables)


@function_row(itertools.islice)
def _islice(trace: Trace, iterable: Any, *ends: Any) -> Any:
    items = trace.items_of(iterable)
    if type(items) is not Indexed and not any(map(is_traced, ends)):
        return trace.made(itertools.islice(items, *ends))
    if type(items) is not Indexed and is_lazy(trace, iterable):
        raise UnsupportedSyntax(
            f"islice() of a {type(iterable).__name__}, up to a number that only the run knows",
            at=user_location(),
            why="what it leaves of the iterator is known only when the Program runs",
            hint="take islice() of a list, or count by zip(range(n), items)",
        )
    what = "Indices" if len(ends) > 1 else "Stop argument"
    error = ValueError(f"{what} for islice() must be None or an integer: 0 <= x <= sys.maxsize.")
    for end in ends:
        if end is not None:
            check(trace, trace.test_of(trace.ge(end, 0)), error)
    whole = trace.call(list, items)
    return iter_(trace, trace.item(whole, slice(*ends)))


@function_row(itertools.pairwise)
def _pairwise(trace: Trace, iterable: Any) -> Any:
    items = trace.items_of(iterable)
    if type(items) is not Indexed:
        return trace.made(itertools.pairwise(items))
    length = trace.call(max, trace.sub(items.length, 1), 0)
    return iterator(trace, length, lambda place: (items.item(place), items.item(place + 1)))
