"""`collections.Counter`: a dict whose missing entries are 0."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable
from typing import Any

from dy2st.convert.kinds import dicts  # noqa: F401  its rows come first: some are replaced here
from dy2st.convert.kinds.table import METHODS, function_row, operator_row
from dy2st.convert.trace import Trace
from dy2st.convert.values.forms import DICTS
from dy2st_runtime.errors import ConversionError
from dy2st_runtime.ir import user_location


def _method(row: Callable[..., Any]) -> Callable[..., Any]:
    """Counter has these methods in Python; some of them stand in place of those of dict."""
    name = row.__name__.strip("_")
    METHODS[Counter, name] = row
    return function_row(getattr(Counter, name))(row)


@function_row(Counter)
def _counter(trace: Trace, *others: Any, **named: Any) -> Any:
    made: Any = trace.made(Counter())
    _update(trace, made, *others, **named)
    return made


@_method
def _update(trace: Trace, owner: Any, *others: Any, **named: Any) -> None:
    _count(trace, owner, trace.add, others, named)


@_method
def _subtract(trace: Trace, owner: Any, *others: Any, **named: Any) -> None:
    _count(trace, owner, trace.sub, others, named)


def _count(trace: Trace, owner: Any, change: Any, others: Any, named: dict[str, Any]) -> None:
    def one(key: Any, number: Any = 1) -> tuple[()]:
        trace.set_item(owner, key, change(trace.item(owner, key), number))
        return ()

    for other in others:
        if other is None:  # the default of Counter's own methods
            continue
        if type(other) in DICTS:
            _for_each(trace, other, one)
        else:
            trace.for_(other, None, one, (), ())
    for key, number in named.items():
        one(key, number)


def _for_each(trace: Trace, owner: Any, function: Callable[[Any, Any], Any]) -> None:
    pairs = trace.method(owner, "items")
    trace.for_(pairs, None, lambda pair: (function(*trace.unpack(pair, 2)), ())[1], (), ())


@_method
def _most_common(trace: Trace, owner: Any, n: Any = None) -> Any:
    found = trace.call(
        sorted, trace.method(owner, "items"), key=operator.itemgetter(1), reverse=True
    )
    return found if n is None else trace.item(found, slice(None, n))


@_method
def _total(trace: Trace, owner: Any) -> Any:
    return trace.call(sum, trace.method(owner, "values"))


@_method
def _copy(trace: Trace, owner: Any) -> Any:
    return _counter(trace, owner)


@operator_row("add", Counter)
def added(trace: Trace, left: Any, right: Any) -> Any:
    """`left + right`: what is above 0."""
    return _positive(trace, left, right, trace.add) if type(right) is Counter else NotImplemented


@operator_row("sub", Counter)
def subtracted(trace: Trace, left: Any, right: Any) -> Any:
    """`left - right`: what is above 0."""
    return _positive(trace, left, right, trace.sub) if type(right) is Counter else NotImplemented


def _positive(trace: Trace, left: Any, right: Any, change: Any) -> Any:
    both: Any = trace.made(Counter())
    _update(trace, both, left)

    def put_in(key: Any, number: Any) -> None:
        trace.set_item(both, key, change(trace.item(both, key), number))

    _for_each(trace, right, put_in)
    # Only now: what is below 0 on one side may be made up for by the other.
    made: Any = trace.made(Counter())

    def keep(key: Any, number: Any) -> None:
        def put() -> tuple[()]:
            trace.set_item(made, key, number)
            return ()

        trace.if_(trace.gt(number, 0), put, lambda: (), (), ())

    _for_each(trace, both, keep)
    return made


def _by_python(name: str, plain: Callable[[Any, Any], Any]) -> None:
    @operator_row(name, Counter)
    def row(trace: Trace, left: Any, right: Any) -> Any:
        """Python's own, which is code of Counter in Python, on numbers of Python alone."""
        found = [trace.native(one) for one in (left, right)]
        numbers = [number for one in found if isinstance(one, dict) for number in one.values()]
        are_dicts = all(isinstance(one, dict) for one in found)
        if are_dicts and all(type(one) in (bool, int, float) for one in numbers):
            return trace.made(plain(*found))
        raise ConversionError(
            "two Counters are compared or put together by another operator than + and -",
            at=user_location(),
            why="entries that are missing count as 0",
            hint="go through their items() in a `for` loop",
        )


for _name in ("or_", "and_", "eq", "ne", "lt", "le", "gt", "ge"):
    _by_python(f"{_name}bits" if _name.endswith("_") else _name, getattr(operator, _name))
