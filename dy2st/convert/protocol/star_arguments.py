"""Calls with `*` and `**`: which arguments there are may be known only when the Program runs.

A list of a length goes as it is to `*rest`, and is split where the function tells how many it
takes. An entry that may be missing is the default of its parameter; else both calls are branches.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from inspect import CO_VARARGS
from types import FunctionType, MethodType
from typing import Any

from dy2st.convert.kinds.entries import may_be_missing, presence, there_or
from dy2st.convert.kinds.lists import joined, length_of, of_each
from dy2st.convert.kinds.scalars import check
from dy2st.convert.protocol.calls import call
from dy2st.convert.protocol.iteration import listed, unknown_arguments
from dy2st.convert.protocol.untraced_functions import why_left_alone
from dy2st.convert.stage.cases import known
from dy2st.convert.trace import MISSING, Trace
from dy2st.convert.values.flatten import element_at
from dy2st.convert.values.layout import Layout, Leaf, Parts, count, has_objects, opened
from dy2st.convert.values.special import Indexed, SymbolicSequence
from dy2st_runtime.ir import F
from dy2st_runtime.nn.layer import Layer

_MOST_BRANCHES = 4  # entries that may be missing: each doubles the number of calls


@dataclass(eq=False)
class Spread:
    """What `*` spreads in a call where the data decides how many there are."""

    items: SymbolicSequence


def spread_star(trace: Trace, value: Any) -> Sequence[Any]:
    """`*value` among the arguments of a call."""
    items = listed(trace, value)
    return [Spread(items)] if type(items) is SymbolicSequence else items


def call_spread(trace: Trace, function: Any, /, *args: Any, **kwargs: Any) -> Any:
    """`function(*args, **kwargs)` of a call with `*` or `**` in it."""
    function = known(trace, function)
    unsure = [name for name, value in kwargs.items() if may_be_missing(trace, value)]
    if unsure:
        name = unsure[0]
        value, others = kwargs[name], {key: one for key, one in kwargs.items() if key != name}
        default = _default_of(function, name)
        if default is not MISSING:
            value = there_or(trace, value, lambda: default)
            return call_spread(trace, function, *args, **{**kwargs, name: value})
        if len(unsure) > _MOST_BRANCHES:
            raise unknown_arguments(f"a dict with {len(unsure)} entries that may be missing")

        def there() -> dict[str, Any]:
            return {**kwargs, name: known(trace, value)}

        return trace.if_exp(
            presence(trace, value),
            lambda: call_spread(trace, function, *args, **there()),
            lambda: call_spread(trace, function, *args, **others),
        )
    place = next((i for i, one in enumerate(args) if type(one) is Spread), None)
    if place is None:
        return call(trace, function, *args, **kwargs)
    return _spread(trace, function, args[:place], _rest(trace, args[place:], list), kwargs)


def rest(trace: Trace, values: tuple[Any, ...]) -> Any:
    """What `*values` of a function gets."""
    if not any(type(one) is Spread for one in values):
        return values
    return _rest(trace, values, tuple)


def _rest(trace: Trace, values: Sequence[Any], kind: type) -> SymbolicSequence:
    """Arguments one after the other, of which some are a list of a length."""
    found: Any = ()
    for one in values:
        if type(one) is Spread:
            found = joined(trace, found, one.items, kind)
        elif type(found) is tuple:
            found = (*found, one)
        else:
            found = joined(trace, found, (one,), kind)
    return SymbolicSequence(kind, found.element, found.arrays)


# -- entries that may be missing ------------------------------------------------------------------


def _default_of(function: Any, name: str) -> Any:
    """The default of a parameter of a function of Python; MISSING of all else."""
    own: Any = function.__func__ if isinstance(function, MethodType) else function
    if type(own) is not FunctionType:
        return MISSING
    code, defaults = own.__code__, own.__defaults__ or ()
    names = code.co_varnames[code.co_posonlyargcount : code.co_argcount]
    found: dict[str, Any] = dict(zip(reversed(names), reversed(defaults), strict=False))
    found.update(own.__kwdefaults__ or {})
    return found.get(name, MISSING)


# -- as many as the data decides ------------------------------------------------------------------


def _spread(
    trace: Trace,
    function: Any,
    args: tuple[Any, ...],
    items: SymbolicSequence,
    kwargs: dict[str, Any],
) -> Any:
    if function in (max, min):
        # Of two at least: one alone would be an iterable.
        every = _rest(trace, (*args, Spread(items)), list)
        error = TypeError(f"{function.__name__} expected at least 2 arguments to compare")
        check(trace, F.greater_equal(length_of(trace, every), 2), error)
        return call(trace, function, every, **kwargs)
    if function is zip and not args:
        return _zip(trace, items, **kwargs)
    if function is itertools.chain and not args:
        return trace.call(itertools.chain.from_iterable, items)
    own, given = _parameters(function)
    if own is None or why_left_alone(own):
        raise unknown_arguments("a list whose length depends on a tensor")
    code, before = own.__code__, len(args) + given
    taken = max(code.co_argcount - before, 0)
    optional = {*code.co_varnames[code.co_argcount - len(own.__defaults__ or ()) :], *kwargs}
    if not optional.isdisjoint(code.co_varnames[before : code.co_argcount]):
        raise unknown_arguments("a list whose length depends on a tensor")
    length = length_of(trace, items)
    is_open = bool(code.co_flags & CO_VARARGS)
    fits = (F.greater_equal if is_open else F.equal)(length, taken)
    error = TypeError(f"{own.__name__}() gets a wrong number of positional arguments")
    check(trace, fits, error)
    first = [element_at(trace, items, place) for place in range(taken)] if items.element else []
    if is_open:
        left = of_each(trace, items, lambda array: F.array_slice(array, taken), list)
        first.append(Spread(left))
    return call(trace, function, *args, *first, **kwargs)


def _parameters(function: Any) -> tuple[FunctionType | None, int]:
    """The function of the user's that gets the arguments, and how many it has already."""
    if isinstance(function, Layer):
        return _parameters(function.forward)
    if type(function) is MethodType:
        return _parameters(function.__func__)[0], 1
    if isinstance(function, type):
        return _parameters(function.__init__)[0], 1  # type: ignore[misc]
    return (function if type(function) is FunctionType else None), 0


def _zip(trace: Trace, items: SymbolicSequence, strict: bool = False) -> Any:
    """`zip(*rows)`: as many tuples as a row has items; none if there is no row."""
    element = items.element
    if element is None:
        return ()
    columns = _columns(trace, items, element)
    if columns is None:
        raise unknown_arguments("a list whose length depends on a tensor")
    has_any = trace.gt(length_of(trace, items), 0)
    return trace.if_exp(has_any, lambda: columns, lambda: ())


def _columns(trace: Trace, items: SymbolicSequence, element: Layout) -> tuple[Any, ...] | None:
    """The items of the rows, place by place; None if rows differ in how many they have."""
    node = opened(element)
    if isinstance(node, Leaf):
        size = node.type.shape[0] if node.rank else None
        places = range(size) if isinstance(size, int) else None
        return None if places is None else tuple(_column(trace, items, place) for place in places)
    if not isinstance(node, Parts):
        return None
    # To go through a tuple or list is to go through its parts; so it is of named tuples.
    is_named = hasattr(node.kind, "_fields")
    own = getattr(node.kind, "__iter__", None)
    if node.kind not in (tuple, list) and not (is_named and own is tuple.__iter__):
        return None
    if node is not element or any(map(has_objects, node.items)):
        return None
    ends = list(itertools.accumulate(map(count, node.items), initial=0))
    # Without a leaf of its own, any array tells how many there are.
    own = [items.arrays[start:end] or items.arrays[:1] for start, end in itertools.pairwise(ends)]
    pairs = zip(node.items, own, strict=True)
    return tuple(SymbolicSequence(tuple, item, arrays) for item, arrays in pairs)


def _column(trace: Trace, items: SymbolicSequence, place: int) -> Any:
    rows = Indexed(length_of(trace, items), lambda index: element_at(trace, items, index)[place])
    return trace.call(tuple, trace.gathered(rows))
