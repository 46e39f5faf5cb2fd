"""itertools: Python's own where the items are known, else by loops of the Program."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from dy2st.convert.kinds.container_writes import is_lazy
from dy2st.convert.kinds.iterators import POSITION, STEP, indexed, iter_, iterator
from dy2st.convert.kinds.lists import joined
from dy2st.convert.kinds.scalars import check, is_traced
from dy2st.convert.kinds.table import function_row, method_row
from dy2st.convert.polyfills.itertools_ import chained
from dy2st.convert.polyfills.registry import lazily
from dy2st.convert.trace import Trace
from dy2st.convert.values.special import Indexed, SymbolicSequence
from dy2st_runtime.errors import UnsupportedSyntax
from dy2st_runtime.ir import user_location

_NOTHING = object()


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
    # Lists are joined at once: a generator has 24 operators, and a loop, where this has 21.
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
    if type(items) is Indexed and type(items.whole) is SymbolicSequence:
        # One operator for each array: a generator has 32 in all where this has 22.
        return iter_(trace, trace.item(trace.call(list, items), slice(*ends)))
    ends = (0, *ends) if len(ends) == 1 else ends
    start, stop, step = (*ends, 1)[:3]
    start, step = 0 if start is None else start, 1 if step is None else step
    if type(items) is not Indexed:
        items = indexed(trace, list(items))
    stop = items.length if stop is None else trace.call(min, stop, items.length)
    length = trace.call(len, trace.call(range, start, stop, step))
    return iterator(trace, length, lambda at: items.item(start + at * step))


@function_row(itertools.pairwise)
def _pairwise(trace: Trace, iterable: Any) -> Any:
    # By index: a generator would begin with an item that is none, or needs a flag.
    items = trace.items_of(iterable)
    if type(items) is not Indexed:
        return trace.made(itertools.pairwise(items))
    length = trace.call(max, trace.sub(items.length, 1), 0)
    return iterator(trace, length, lambda place: (items.item(place), items.item(place + 1)))


@function_row(itertools.accumulate)
def _accumulate(trace: Trace, iterable: Any, func: Any = None, *, initial: Any = None) -> Any:
    # 21 operators; a generator with the first item apart has 43, and one with a flag for the first
    # 24, but that flag tells nothing where the iterable is itself a generator.
    def join(total: Any, item: Any) -> Any:
        return trace.add(total, item) if func is None else trace.call(func, total, item)

    items = trace.items_of(iterable)
    if type(items) is not Indexed:
        return trace.made(_accumulated(items, join, initial))
    out: list[Any] = trace.made([])
    if initial is not None:
        trace.call(out.append, initial)
        return _accumulated_in_program(trace, items, join, initial, out)

    def begin() -> tuple[()]:
        trace.call(out.append, items.item(0))
        rest = Indexed(trace.sub(items.length, 1), lambda place: items.item(place + 1))
        _accumulated_in_program(trace, rest, join, items.item(0), out)
        return ()

    trace.if_(trace.gt(items.length, 0), begin, lambda: (), (), ())
    return iter_(trace, out)


def _accumulated(
    items: Iterable[Any], join: Callable[[Any, Any], Any], initial: Any
) -> Iterator[Any]:
    total = _NOTHING if initial is None else initial
    if total is not _NOTHING:
        yield total
    for item in items:
        total = item if total is _NOTHING else join(total, item)
        yield total


def _accumulated_in_program(
    trace: Trace, items: Indexed, join: Callable[[Any, Any], Any], start: Any, out: list[Any]
) -> Any:
    def iteration(item: Any, total: Any) -> tuple[Any]:
        new = join(total, item)
        trace.call(out.append, new)
        return (new,)

    trace.for_(items, None, iteration, (start,), ("the value of accumulate()",))
    return iter_(trace, out)
