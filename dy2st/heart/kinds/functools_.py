"""functools: reduce, partial, functions with a cache."""

from __future__ import annotations

import functools
from typing import Any

from dy2st.heart.kinds.attributes import class_of
from dy2st.heart.kinds.scalars import is_traced
from dy2st.heart.kinds.table import code_row, function_row, method_row
from dy2st.heart.trace import Trace
from dy2st.heart.values.layout import is_traced_number
from dy2st.heart.values.sequences import Indexed
from dy2st.heart.values.special import Dynamic, Union
from dy2st_runtime.errors import UnsupportedSyntax
from dy2st_runtime.ir import user_location
from dy2st_runtime.ir.dispatch import eagerly

_NOTHING = object()
_CACHED: Any = type(functools.lru_cache(lambda: None))


@function_row(functools.reduce)
def reduce(trace: Trace, function: Any, iterable: Any, initial: Any = _NOTHING) -> Any:
    """`functools.reduce(function, iterable, initial)`."""

    def turn(item: Any, found: Any) -> tuple[Any]:
        return (trace.call(function, found, item),)

    names = ("the value of reduce()",)
    if initial is not _NOTHING:
        return trace.for_(iterable, None, turn, (initial,), names)[0]
    items = trace.items_of(iterable)
    if type(items) is not Indexed:
        found = list(items)
        if not found:
            raise TypeError("reduce() of empty iterable with no initial value")
        return trace.for_(found[1:], None, turn, (found[0],), names)[0]
    has_any = trace.test_of(trace.gt(items.length, 0))
    if not isinstance(has_any, bool):
        error = TypeError("reduce() of empty iterable with no initial value")
        trace.tracer.check(has_any, error)
    elif not has_any:
        raise TypeError("reduce() of empty iterable with no initial value")
    rest = Indexed(trace.sub(items.length, 1), lambda place: items.item(place + 1))
    return trace.for_(rest, None, turn, (items.item(0),), names)[0]


@function_row(functools.partial)
def partial(trace: Trace, *args: Any, **options: Any) -> Any:
    """`functools.partial(function, ...)`."""
    make: Any = functools.partial
    return trace.made(make(*args, **options))


@method_row(_CACHED, name="__call__")
def cached(trace: Trace, function: Any, *args: Any, **options: Any) -> Any:
    """A function under lru_cache or cache: the user's own cache answers.

    Tensors of a Program must not get into it: what has to do with one is computed anew.
    """
    if any(map(_is_of_program, (*args, *options.values()))):
        return trace.call(function.__wrapped__, *args, **options)
    before = function.cache_info().misses
    with eagerly():
        found = function(*args, **options)
    if trace.is_nested and function.cache_info().misses != before:
        raise UnsupportedSyntax(
            f"{function.__name__}() has a cache and is called for the first time in a branch or "
            "loop that depends on a tensor",
            at=user_location(),
            why="it would be computed while the function is traced, on every path",
            hint="call it once before the `if` or loop",
        )
    trace.read("cached", function, (args, tuple(options.items())), found)
    return found


def _is_of_program(value: Any) -> bool:
    if isinstance(value, tuple):
        return any(map(_is_of_program, value))
    return is_traced(value) or is_traced_number(value) or type(value) in (Union, Dynamic)


_dispatching: Any = functools.singledispatch(lambda value: value)


@code_row(_dispatching.__code__)
def dispatched(trace: Trace, function: Any, /, *args: Any, **options: Any) -> Any:
    """A function under singledispatch: by the class that Python sees of the first argument."""
    if not args:
        return function()  # raises, in Python's words
    if type(args[0]) is Union:
        return trace.spread(lambda one: dispatched(trace, function, one, *args[1:]), args[0])
    trace.read("all", function.registry, "dir", None)
    return trace.call(function.dispatch(class_of(args[0])), *args, **options)


__all__ = ["cached", "partial", "reduce"]
