"""Iteration: what a loop runs over, unpacking, star arguments; Python's where lengths are known."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count
from types import FunctionType
from typing import Any

from dy2st.convert.kinds import traced_keys
from dy2st.convert.kinds.attributes import class_of
from dy2st.convert.kinds.code_texts import as_codes, characters, is_of_codes
from dy2st.convert.kinds.entries import check_sure, is_sure
from dy2st.convert.kinds.entries import gathered as gather_entries
from dy2st.convert.kinds.iterators import (
    counting,
    each_until,
    held_now,
    is_counting,
    left_of,
    of_dynamic,
    of_list,
    refuse_advance,
    resolved,
    rest_of,
    taken,
)
from dy2st.convert.kinds.layers import held_in_order
from dy2st.convert.kinds.lists import held, is_surely_empty, length_of
from dy2st.convert.kinds.sets import refuse_order
from dy2st.convert.kinds.views import shown_by
from dy2st.convert.protocol.calls import call
from dy2st.convert.protocol.generators import consumed, source_of
from dy2st.convert.protocol.ifelse import test_of
from dy2st.convert.stage.branch import stage_if
from dy2st.convert.stage.cases import known, truth_of
from dy2st.convert.stage.checks import map_cases
from dy2st.convert.stage.loop import stage_while
from dy2st.convert.stage.outcome import staging
from dy2st.convert.trace import DictView, Source, Trace, of_class, own_method, special
from dy2st.convert.types import info
from dy2st.convert.values.flatten import element_at
from dy2st.convert.values.special import MISSING, Generated, Indexed, SymbolicSequence, Union
from dy2st_runtime.dims import Dim
from dy2st_runtime.errors import ConversionError, UnsupportedSyntax
from dy2st_runtime.ir import F, Tensor, user_location


def items_of(trace: Trace, iterable: Any) -> Any:
    """What a loop runs over: an Indexed, or an iterable of Python."""
    kind = type(iterable)
    if kind is Generated:
        iterable = resolved(trace, iterable)
        kind = type(iterable)
    if kind is Indexed:
        return rest_of(trace, iterable)
    if kind is SymbolicSequence or kind in (list, deque, tuple):
        content = held(trace, iterable)
        if type(content) is not SymbolicSequence:
            return content if kind is tuple else _live(trace, iterable)
        return (
            of_dynamic(trace, content)
            if kind in (SymbolicSequence, tuple)
            else of_list(trace, iterable)
        )
    if isinstance(iterable, Tensor):
        if not iterable.ndim:
            raise TypeError("iteration over a 0-d tensor")
        length = iterable.shape[0]
        if isinstance(length, int):
            return (iterable[place] for place in range(length))  # as it is at each iteration
        return Indexed(length, lambda index: _row(trace, iterable, index), iterable)
    iterable = as_codes(trace, iterable)
    if is_of_codes(iterable):
        return characters(trace, iterable)
    if info(kind).is_container:
        content = trace.content(iterable)
        trace.read_content(iterable)
        if type(content) is SymbolicSequence:
            if kind is set:
                raise refuse_order()
            return traced_keys.ROWS["keys"](trace, iterable)
        if isinstance(content, dict) and not is_sure(trace, content):
            return items_of(trace, gather_entries(trace, content, lambda key, _: key))
        return content
    if trace.origin(iterable, DictView):
        shown = shown_by(trace, iterable)
        return shown if info(type(shown)).is_view else items_of(trace, shown)
    own = special(trace, iterable, "__iter__")
    if type(own) is FunctionType:
        in_order = held_in_order(trace, iterable, "__iter__")
        if in_order is not None:
            return in_order
        iterator = call(trace, own, iterable)
        is_users = own_method(trace, iterator, "__next__") is not None
        return next_of(trace, iterator) if is_users else items_of(trace, iterator)
    if own is None and own_method(trace, iterable, "__getitem__") is not None:
        is_by_index = of_class(trace, kind, "__iter__") is MISSING
        if not is_by_index:
            return iter(iterable)  # which raises
        places = count()
        ask = lambda: call(trace, kind.__getitem__, iterable, next(places))  # noqa: E731
        return each_until(trace, ask, IndexError, StopIteration)
    if is_counting(trace, iterable):
        return counting(trace, iterable)
    refuse_advance(trace, iterable)
    return trace.native(iterable)


def _live(trace: Trace, owner: Any) -> Iterator[Any]:
    """The items of a list as it is at each iteration, as Python has it."""
    # By index, as Python's own iterator: the body may change the list.
    place = 0
    while True:
        content = held_now(trace, owner)
        if place >= len(content):
            return
        yield content[place]
        place += 1


def _row(trace: Trace, tensor: Any, index: Any) -> Any:
    """`tensor[index]` where there is such a row."""
    with trace.tracer.unguarded():
        return tensor[index]


def items_or_source(trace: Trace, iterable: Any) -> tuple[Any, Source | None]:
    """What a loop runs over, or a generator that gives its items away."""
    source = source_of(trace, iterable)
    if source is not None:
        return iterable, source
    items = items_of(trace, iterable)
    return items, source_of(trace, items)


def next_of(trace: Trace, items: Iterable[Any]) -> Iterable[Any]:
    """An iterable of Python; an iterator of the user's class is asked in traced form."""
    own = own_method(trace, items, "__next__")
    if own is None:
        return items
    return each_until(trace, lambda: call(trace, own, items), StopIteration)


def loop_by_index(
    trace: Trace,
    items: Indexed,
    test: Callable[..., Any] | None,
    body: Callable[..., Sequence[Any]],
    state: Sequence[Any],
    names: Sequence[str],
    start: int = 0,
) -> Sequence[Any]:
    """How many items a loop of the Program has come to, and what the variables hold after it."""
    if type(items.whole) is SymbolicSequence and is_surely_empty(items.whole):
        return start, *state

    def more(index: Any, *values: Any) -> Any:
        left = truth_of(trace, index < items.length)
        if test is None:
            return left
        rest = lambda: (test_of(trace, test(*values)),)  # noqa: E731
        return stage_if(trace, left, rest, lambda: (False,), (), ("a test",))[0]

    def iteration(index: Any, *values: Any) -> Sequence[Any]:
        return index + 1, *body(items.item(index), *values)

    with staging(trace, "for"):
        return stage_while(trace, more, iteration, (start, *state), ("the iteration", *names))


def iterate(trace: Trace, iterable: Any) -> Iterable[Any]:
    """The items of a loop that stays Python's own."""
    items = items_of(trace, known(trace, iterable))
    if type(items) is Indexed:
        raise UnsupportedSyntax(
            "a loop with a `yield` in it runs over a length that depends on a tensor",
            at=user_location(),
            why="Python runs it, item by item, before the length is known",
            hint="gather the items in a list, and return that",
        )
    return next_of(trace, items)


def listed(trace: Trace, iterable: Any) -> Any:
    """All items: a list of Python that nobody else holds, or a SymbolicSequence."""
    iterable = known(trace, iterable)
    if type(iterable) is Union:
        return held(trace, map_cases(trace, lambda one: _as_list(trace, one), iterable))
    if type(iterable) is SymbolicSequence:
        return iterable
    items, source = items_or_source(trace, iterable)
    if source is not None:
        out: list[Any] = trace.made([])
        consumed(trace, source, lambda item: call(trace, out.append, item))
        return held(trace, out)
    if type(items) is Indexed:
        found = items.whole if type(items.whole) is SymbolicSequence else gathered(trace, items)
        taken(trace, iterable, items.length)
        return held(trace, found)
    return list(next_of(trace, items))


def _as_list(trace: Trace, iterable: Any) -> Any:
    from_content = listed(trace, iterable)
    made = trace.made([])
    if type(from_content) is SymbolicSequence:
        trace.hold(made, from_content)
    else:
        made.extend(from_content)
    return made


def gathered(trace: Trace, items: Indexed) -> list[Any]:
    """A new list of the items, by a loop of the Program."""
    out: list[Any] = trace.made([])

    def body(item: Any) -> tuple[()]:
        call(trace, out.append, item)
        return ()

    loop_by_index(trace, items, None, body, (), ())
    return out


def unpack(trace: Trace, value: Any, count: int) -> Sequence[Any]:
    """`a, b = value`."""
    kind = type(value)
    if kind is tuple and len(value) == count:
        return value  # type: ignore[no-any-return]
    if kind is Union:
        value = known(trace, value)
        if type(value) is Union:
            return map_cases(trace, lambda one: tuple(unpack(trace, one, count)), value)  # type: ignore[no-any-return]
    if kind is Generated and type(value.iterable) is Union and left_of(trace, value) is None:
        # The items of a generator over one of several things
        def of_each(one: Any) -> tuple[Any, ...]:
            return tuple(unpack(trace, trace.made(value.generator(one)), count))

        return map_cases(trace, of_each, value.iterable)  # type: ignore[no-any-return]
    if isinstance(value, Tensor) and isinstance(value.shape[0] if value.ndim else 0, Dim):
        size = trace.tracer.number(value.shape[0])
        wrong = ValueError(f"a wrong number of values to unpack (expected {count})")
        trace.tracer.check(F.equal(size, count), wrong)
        return [_row(trace, value, place) for place in range(count)]
    items = listed(trace, _unpacked(trace, value))
    if type(items) is SymbolicSequence:
        length = length_of(trace, items)
        few = ValueError(f"not enough values to unpack (expected {count})")
        trace.tracer.check(F.greater_equal(length, count), few)
        many = ValueError(f"too many values to unpack (expected {count})")
        trace.tracer.check(F.less_equal(length, count), many)
        return [element_at(trace, items, place) for place in range(count)]
    if len(items) < count:
        raise ValueError(f"not enough values to unpack (expected {count}, got {len(items)})")
    if len(items) > count:
        raise ValueError(f"too many values to unpack (expected {count})")
    return items  # type: ignore[no-any-return]


def _unpacked(trace: Trace, value: Any) -> Any:
    """A value that can be unpacked; the words of what cannot are others than those of a loop."""
    kind = type(value)
    is_ours = kind in (SymbolicSequence, Generated, Indexed, Union)
    if is_ours or hasattr(kind, "__iter__") or hasattr(kind, "__getitem__"):
        return value
    raise TypeError(f"cannot unpack non-iterable {class_of(value).__name__} object")


def unpack_star(trace: Trace, value: Any, before: int, after: int) -> Sequence[Any]:
    """`a, *b, c = value`: what comes before, a list, what comes after."""
    items = listed(trace, _unpacked(trace, value))
    if type(items) is SymbolicSequence:
        whole = trace.made([])
        trace.hold(whole, items)
        enough = F.greater_equal(length_of(trace, items), before + after)
        text = f"not enough values to unpack (expected at least {before + after})"
        trace.tracer.check(enough, ValueError(text))
        middle = trace.item(whole, slice(before, -after if after else None))
        first = [element_at(trace, items, place) for place in range(before)]
        last = [element_at(trace, items, place - after) for place in range(after)]
        return [*first, middle, *last]
    if len(items) < before + after:
        raise ValueError(
            f"not enough values to unpack (expected at least {before + after}, got {len(items)})"
        )
    end = len(items) - after
    return [*items[:before], trace.made(items[before:end]), *items[end:]]


def star(trace: Trace, value: Any) -> Sequence[Any]:
    """`*value` among the arguments of a call."""
    items = listed(trace, value)
    if type(items) is SymbolicSequence:
        raise unknown_arguments("a list whose length depends on a tensor")
    return items  # type: ignore[no-any-return]


def unknown_arguments(what: str) -> ConversionError:
    """The refusal of a call whose arguments must be known in number."""
    return ConversionError(
        f"{what} is unpacked into arguments",
        at=user_location(),
        why="how many arguments the function gets is part of the Program",
        hint="give the function the whole, as one argument",
    )


def double_star(trace: Trace, value: Any) -> Any:
    """`**value` where all entries must be there."""
    found = spread_double_star(trace, value)
    if info(type(found)).is_container:
        check_sure(trace, found)
    return found


def spread_double_star(trace: Trace, value: Any) -> Any:
    """`**value` among the arguments of a call; entries may be missing."""
    value = known(trace, value)
    if info(type(value)).is_container:
        content = trace.content(value)
        trace.read_content(value)
        if type(content) is SymbolicSequence:
            raise unknown_arguments(f"a {type(value).__name__} whose keys the data decides")
        return content
    keys = own_method(trace, value, "keys")
    if keys is None:
        return trace.native(value)
    found = listed(trace, call(trace, keys, value))
    if type(found) is SymbolicSequence:
        raise unknown_arguments(f"a {type(value).__name__} whose keys the data decides")
    return {key: trace.item(value, key) for key in found}
