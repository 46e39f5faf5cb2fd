"""itertools: Python's own where the items are known, else by loops of the Program."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from dy2st.convert.kinds.iterators import ENDS, POSITION, STEP, iter_, iterator, kept
from dy2st.convert.kinds.lists import joined
from dy2st.convert.kinds.scalars import check, is_traced
from dy2st.convert.kinds.table import function_row, method_row
from dy2st.convert.trace import Trace
from dy2st.convert.values.special import Generated, Indexed, SymbolicSequence
from dy2st_runtime.errors import ConversionError, UnsupportedSyntax
from dy2st_runtime.ir import user_location

_NOTHING = object()


def _known(trace: Trace, function: Any, iterable: Any) -> Iterable[Any]:
    """The items of something of Python; refused where the length is unknown."""
    items = trace.items_of(iterable)
    if type(items) is Indexed:
        raise ConversionError(
            f"{function.__name__}() over a length that is known only when the Program runs",
            at=user_location(),
            why="the Program would need a list of lists of unknown lengths",
            hint="write it as a `for` statement that appends to a list",
        )
    return items  # type: ignore[no-any-return]


def _as_python(function: Any, count: int | None = None) -> None:
    """A function of iterables (the first `count` arguments) that calls nothing."""

    @function_row(function)
    def row(trace: Trace, *args: Any, **options: Any) -> Any:
        most = len(args) if count is None else count
        items = [_known(trace, function, one) for one in args[:most]]
        return trace.made(function(*items, *args[most:], **options))


for _function, _count in (
    (itertools.product, None),
    (itertools.zip_longest, None),
    (itertools.combinations, 1),
    (itertools.permutations, 1),
    (itertools.combinations_with_replacement, 1),
    (itertools.cycle, 1),
    (itertools.repeat, 0),
):
    _as_python(_function, _count)


@function_row(itertools.count)
def count(trace: Trace, start: Any = 0, step: Any = 1) -> Any:
    """`itertools.count(start, step)`: how far it has come is kept as a value of the trace."""
    made = trace.made(itertools.count())
    trace.write(made, POSITION, start)
    trace.write(made, STEP, step)
    return made


@function_row(itertools.tee)
def _tee(trace: Trace, iterable: Any, n: Any = 2) -> Any:
    found = itertools.tee(_known(trace, itertools.tee, iterable), n)
    return tuple(map(trace.made, found))


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
    items = trace.items_of(iterables)
    if type(items) is not Indexed:
        return _chain(trace, *items)
    out: list[Any] = trace.made([])

    def iteration(one: Any) -> tuple[()]:
        trace.call(out.extend, one)
        return ()

    trace.for_(items, None, iteration, (), ())
    return iter_(trace, out)


@function_row(itertools.islice)
def _islice(trace: Trace, iterable: Any, *ends: Any) -> Any:
    items = trace.items_of(iterable)
    if type(items) is not Indexed and not any(map(is_traced, ends)):
        return trace.made(itertools.islice(items, *ends))
    if type(items) is not Indexed and not isinstance(iterable, ENDS):
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


@function_row(itertools.accumulate)
def _accumulate(trace: Trace, iterable: Any, func: Any = None, *, initial: Any = None) -> Any:
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


# -- with a function that decides -------------------------------------------------------------


@function_row(itertools.filterfalse)
def _filterfalse(trace: Trace, function: Any, iterable: Any) -> Any:
    return kept(trace, function, iterable, True)


@function_row(itertools.starmap)
def _starmap(trace: Trace, function: Any, iterable: Any) -> Any:
    items = trace.items_of(iterable)
    if type(items) is Indexed:
        return iterator(
            trace, items.length, lambda index: trace.call(function, *trace.star(items.item(index)))
        )
    return trace.made(trace.call(function, *trace.star(item)) for item in items)


@function_row(itertools.takewhile)
def _takewhile(trace: Trace, function: Any, iterable: Any) -> Any:
    return _while(trace, function, iterable, True)


@function_row(itertools.dropwhile)
def _dropwhile(trace: Trace, function: Any, iterable: Any) -> Any:
    return _while(trace, function, iterable, False)


def _while(trace: Trace, function: Any, iterable: Any, is_taking: bool) -> Any:
    """The items at the beginning for which a function holds, or those behind them."""
    if hasattr(type(iterable), "__next__"):
        items = trace.iterate(iterable)
        test = lambda item: trace.truth(trace.call(function, item))  # noqa: E731
        own = itertools.takewhile if is_taking else itertools.dropwhile
        return trace.made(own(test, items))
    out: list[Any] = trace.made([])

    def iteration(item: Any, holds: Any) -> tuple[Any]:
        still = trace.and_(holds, lambda: trace.truth_value(trace.call(function, item)))

        def take() -> tuple[()]:
            trace.call(out.append, item)
            return ()

        trace.if_(still if is_taking else trace.not_(still), take, lambda: (), (), ())
        return (still,)

    # A generator makes no item behind the first for which the function does not hold.
    is_ending = is_taking and type(iterable) is Generated
    goes_on = (lambda holds: holds) if is_ending else None
    trace.for_(iterable, goes_on, iteration, (True,), ("whether the function holds",))
    return iter_(trace, out)


@function_row(itertools.compress)
def _compress(trace: Trace, data: Any, selectors: Any) -> Any:
    pairs = trace.call(list, trace.call(zip, data, selectors))
    out: list[Any] = trace.made([])

    def iteration(pair: Any) -> tuple[()]:
        def take() -> tuple[()]:
            trace.call(out.append, pair[0])
            return ()

        trace.if_(pair[1], take, lambda: (), (), ())
        return ()

    trace.for_(pairs, None, iteration, (), ())
    return iter_(trace, out)


@function_row(itertools.pairwise)
def _pairwise(trace: Trace, iterable: Any) -> Any:
    items = trace.items_of(iterable)
    if type(items) is not Indexed:
        return trace.made(itertools.pairwise(items))
    length = trace.call(max, trace.sub(items.length, 1), 0)
    return iterator(trace, length, lambda place: (items.item(place), items.item(place + 1)))
