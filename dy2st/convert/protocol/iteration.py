"""Loops, unpacking, star arguments: Python's where lengths are known, else of the Program.

In calls with `*` and `**` which arguments there are may be known only when the Program runs. A list
of a length goes as it is to `*rest`, and is split where the function tells how many it takes. An
entry that may be missing is the default of its parameter; else both calls are branches.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from gc import get_referents
from inspect import CO_VARARGS
from types import FunctionType, GeneratorType, MethodType
from typing import Any

from dy2st.convert.kinds import traced_keys
from dy2st.convert.kinds.dicts import TAKEN, shown_by
from dy2st.convert.kinds.iterators import (
    MOST_ITEMS,
    NO_END,
    by_place,
    changed_length,
    counted,
    indexed,
    is_counting,
    is_endless,
    iterator,
    mark_left,
    next_of,
    of_list,
    position_of,
    refuse_advance,
    resolved,
    rest_of,
    taken,
)
from dy2st.convert.kinds.lists import each, held, is_surely_empty, joined, length_of, of_each
from dy2st.convert.kinds.objects import class_of
from dy2st.convert.kinds.scalars import check, like_number
from dy2st.convert.kinds.sets import in_any_order, in_table_order
from dy2st.convert.kinds.tensors import held_in_order
from dy2st.convert.kinds.text import as_codes, characters
from dy2st.convert.kinds.traced_keys import check_sure, is_sure, may_be_missing, presence, there_or
from dy2st.convert.kinds.traced_keys import gathered as gather_entries
from dy2st.convert.polyfills.methods import asked
from dy2st.convert.protocol.calls import call, why_left_alone
from dy2st.convert.protocol.ifelse import test_of
from dy2st.convert.protocol.try_with import consumed, push_loop, source_of
from dy2st.convert.stage.branch import for_cases, known, stage_if, truth_of
from dy2st.convert.stage.checks import carry_check, map_cases
from dy2st.convert.stage.loop import stage_while
from dy2st.convert.stage.outcome import staging
from dy2st.convert.trace import Source, Trace, of_class, own_method, special
from dy2st.convert.types import info, same_items
from dy2st.convert.types.values import is_of_codes
from dy2st.convert.values.flatten import element_at
from dy2st.convert.values.layout import Layout, Leaf, Parts, count, has_objects, opened
from dy2st.convert.values.special import MISSING, Asked, Generated, Indexed, SymbolicSequence, Union
from dy2st_runtime.dims import Dim
from dy2st_runtime.errors import ConversionError, UnsupportedSyntax
from dy2st_runtime.ir import F, Tensor
from dy2st_runtime.ir.choice import Hole, Text
from dy2st_runtime.ir.location import user_place
from dy2st_runtime.nn.layer import Layer


def items_of(trace: Trace, iterable: Any, is_left: bool = False, may_change: bool = False) -> Any:
    """What a loop runs over: an Indexed, or an iterable of Python.

    is_left: nobody goes on with it behind an exception, or behind its end.
    may_change: the loop may end where a set or dict has become longer or shorter.
    """
    kind = type(iterable)
    if kind is Generated:
        iterable = resolved(trace, iterable)
        kind = type(iterable)
    if kind is Indexed:
        return rest_of(trace, iterable)
    if kind is SymbolicSequence or kind in (list, deque, tuple):
        content = held(trace, iterable)
        is_known = type(content) is not SymbolicSequence
        carried = trace.locations.carried  # nearly always empty: a place takes longer to find
        if is_known and (kind is tuple or not carried or user_place() not in carried):
            return content if kind is tuple else iter(by_place(trace, iterable))
        if kind not in (SymbolicSequence, tuple):
            return of_list(trace, iterable)
        item = lambda index: element_at(trace, content, index)  # noqa: E731
        return Indexed(length_of(trace, content), item, content)
    if isinstance(iterable, Tensor):
        if not iterable.ndim:
            return iter(like_number(iterable))  # raises
        length = iterable.shape[0]
        if isinstance(length, int):
            return (iterable[place] for place in range(length))  # as it is at each iteration
        return Indexed(length, lambda index: _row(trace, iterable, index), iterable)
    iterable = as_codes(trace, iterable)
    if is_of_codes(iterable):
        return characters(trace, iterable)
    if info(kind).is_container:
        content = held(trace, iterable)
        if type(content) is SymbolicSequence:
            if kind is set:
                return in_table_order(trace, iterable)
            return traced_keys.gone_through(trace, iterable, lambda pair: pair[0])
        if isinstance(content, dict) and not is_sure(trace, content):
            return items_of(trace, gather_entries(trace, content, lambda key, _: key))
        is_bytes = info(kind).family == "bytes"
        return content if is_bytes else _entries(trace, iterable, content, may_change)
    view = trace.view_of(iterable)
    if view is not None:
        shown, content = shown_by(trace, iterable), trace.content(view.owner)
        if not info(type(shown)).is_view:
            return items_of(trace, shown)
        return _entries(trace, view.owner, content, may_change, TAKEN[view.name])
    own = special(trace, iterable, "__iter__")
    if type(own) is FunctionType:
        in_order = held_in_order(trace, iterable, "__iter__")
        if in_order is not None:
            return in_order
        iterator = call(trace, own, iterable)
        is_users = own_method(trace, iterator, "__next__") is not None
        if is_users:
            return trace.call(asked, iterator) if is_left else next_of(trace, iterator)
        return items_of(trace, iterator)
    if own is None and own_method(trace, iterable, "__getitem__") is not None:
        is_by_index = of_class(trace, kind, "__iter__") is MISSING
        if not is_by_index:
            return iter(iterable)  # which raises
        return iter(by_place(trace, iterable))
    if is_counting(trace, iterable):
        return map(lambda _: counted(trace, iterable), itertools.repeat(None))
    refuse_advance(trace, iterable)
    return trace.native(iterable)


def _entries(
    trace: Trace, owner: Any, content: Any, may_change: bool, take: Any = None
) -> Iterator[Any]:
    """The elements of a set, or what is taken of each entry of a dict, as it is then."""
    rest, now = iter(content), content
    while True:
        if id(owner) in trace.watched:
            held = trace.content(owner)
            if type(held) is type(content) and same_items([*held], [*content]):
                now = held
            if (now is not held or not is_sure(trace, held)) and not may_change:
                raise changed_length(owner)
        key = next(rest, _END)
        if key is _END:
            return
        yield key if take is None else take(key, dict.__getitem__(now, key))


def _row(trace: Trace, tensor: Any, index: Any) -> Any:
    """`tensor[index]` where there is such a row."""
    with trace.tracer.unguarded():
        return tensor[index]


def items_or_source(trace: Trace, iterable: Any, **how: bool) -> tuple[Any, Source | None]:
    """What a loop runs over, or a generator that gives its items away."""
    source = source_of(trace, iterable)
    if source is not None:
        return iterable, source
    items = items_of(trace, iterable, is_left=True, **how)
    return items, source_of(trace, items)


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
        rest = lambda: test_of(trace, test(*values))  # noqa: E731
        return stage_if(trace, left, rest, lambda: False, (), "a test")[0]

    def iteration(index: Any, *values: Any) -> Sequence[Any]:
        return index + 1, *body(items.item(index), *values)

    with staging(trace, "for", ends=items.size is not NO_END):
        return stage_while(trace, more, iteration, (start, *state), ("the iteration", *names))


def iterate(trace: Trace, iterable: Any) -> Any:
    """The items of a loop that stays Python's own."""
    items = items_of(trace, known(trace, iterable))
    if type(items) is Indexed:
        raise UnsupportedSyntax(
            "a loop with a `yield` in it runs over a length that depends on a tensor",
            why="Python runs it, item by item, before the length is known",
            hint="gather the items in a list, and return that",
        )
    return items


def listed(trace: Trace, iterable: Any, most: int | None = None) -> Any:
    """All items, or so many of an iterator: a list of nobody else, or a SymbolicSequence."""
    iterable = known(trace, iterable)
    if type(iterable) is Union:
        return held(trace, map_cases(trace, lambda one: call(trace, list, one), iterable))
    if type(iterable) is SymbolicSequence:
        return iterable
    items, source = items_or_source(trace, iterable)
    if source is not None:
        out: list[Any] = trace.made([])

        def goes_on() -> bool:
            content = held(trace, out)
            return type(content) is SymbolicSequence or len(content) != most

        consumed(trace, source, lambda item: call(trace, out.append, item), goes_on)
        return held(trace, out)
    if type(items) is Indexed:
        found = items.whole if type(items.whole) is SymbolicSequence else gathered(trace, items)
        if not trace.handlers:  # else what an item raises may leave the others
            taken(trace, iterable, items.length)
        return held(trace, found)
    return list(itertools.islice(items, most))


def gathered(trace: Trace, items: Indexed) -> list[Any]:
    """A new list of the items, by a loop of the Program."""
    out: list[Any] = trace.made([])
    each(trace, items, lambda item: call(trace, out.append, item))
    return out


def unpack(trace: Trace, value: Any, count: int) -> Sequence[Any]:
    """`a, b = value`."""
    kind = type(value)
    if kind is tuple and len(value) == count:
        return value  # type: ignore[no-any-return]
    value = known(trace, value)
    if type(value) is Union:
        return map_cases(trace, lambda one: tuple(unpack(trace, one, count)), value)  # type: ignore[no-any-return]
    if isinstance(value, Tensor) and isinstance(value.shape[0] if value.ndim else 0, Dim):
        size = trace.tracer.number(value.shape[0])
        wrong = ValueError(f"a wrong number of values to unpack (expected {count})")
        trace.tracer.check(F.equal(size, count), wrong)
        return [_row(trace, value, place) for place in range(count)]
    # Of one element alone it says nothing in which order a set gives them.
    items = _unpacked(trace, in_any_order(trace, value) if count == 1 else value, count)
    many = ValueError(f"too many values to unpack (expected {count})")
    if type(items) is SymbolicSequence:
        trace.tracer.check(F.less_equal(length_of(trace, items), count), many)
        return [element_at(trace, items, place) for place in range(count)]
    if len(items) > count:
        raise many
    return items  # type: ignore[no-any-return]


def _unpacked(trace: Trace, value: Any, count: int, words: str = "") -> Any:
    """At least so many items; the words of what has none are others than those of a loop."""
    kind = type(value)
    is_ours = kind in (SymbolicSequence, Generated, Indexed, Union)
    if not (is_ours or hasattr(kind, "__iter__") or hasattr(kind, "__getitem__")):
        raise TypeError(f"cannot unpack non-iterable {class_of(value).__name__} object")
    text = f"not enough values to unpack (expected {words}{count}"
    items = listed(trace, value, None if words else count + 1)
    if type(items) is SymbolicSequence:
        size = length_of(trace, items)
        fits = F.greater_equal(size, count)
        if not carry_check(trace, fits, ValueError(Text((f"{text}, got ", Hole(size), ")")))):
            trace.tracer.check(fits, ValueError(f"{text})"))
    elif len(items) < count:
        raise ValueError(f"{text}, got {len(items)})")
    return items


def unpack_star(trace: Trace, value: Any, before: int, after: int) -> Sequence[Any]:
    """`a, *b, c = value`: what comes before, a list, what comes after."""
    items = _unpacked(trace, value, before + after, "at least ")
    if type(items) is SymbolicSequence:
        whole = trace.made([])
        trace.hold(whole, SymbolicSequence(list, items.element, items.arrays))
        middle = trace.item(whole, slice(before, -after if after else None))
        first = [element_at(trace, items, place) for place in range(before)]
        last = [element_at(trace, items, place - after) for place in range(after)]
        return [*first, middle, *last]
    end = len(items) - after
    return [*items[:before], trace.made(items[before:end]), *items[end:]]


def unknown_arguments(what: str) -> ConversionError:
    """The refusal of a call whose arguments must be known in number."""
    return ConversionError(
        f"{what} is unpacked into arguments",
        why="how many arguments the function gets is part of the Program",
        hint="give the function the whole, as one argument",
    )


def double_star(trace: Trace, value: Any) -> Any:
    """`**value` where all entries must be there."""
    found = spread_double_star(trace, value)
    if info(type(found)).family == "dict":
        check_sure(trace, found)
    return found


def spread_double_star(trace: Trace, value: Any) -> Any:
    """`**value` among the arguments of a call; entries may be missing."""
    value = known(trace, value)
    is_ours, keys = info(type(value)).family == "dict", own_method(trace, value, "keys")
    if not is_ours and keys is None:
        return trace.native(value)
    found = held(trace, value) if is_ours else listed(trace, call(trace, keys, value))
    if type(found) is SymbolicSequence:
        raise unknown_arguments(f"a {type(value).__name__} whose keys the data decides")
    return found if is_ours else {key: trace.item(value, key) for key in found}


_MOST_RAISES = 3


def while_(
    trace: Trace,
    test: Callable[..., Any],
    body: Callable[..., Sequence[Any]],
    state: Sequence[Any],
    names: Sequence[str],
) -> Sequence[Any]:
    """What the variables hold after a loop; from the first test that is traced on, it is staged.

    So is a loop that may have raised in several iterations: it may end by that alone.
    """
    before, tracer = len(trace.state.paths), trace.tracer
    end = tracer.growth.unrolling(tracer.block)
    with staging(trace, "", ends=False):
        for iteration in itertools.count():
            # What is written back now stays; inside of the test it would be discarded with it.
            trace.alias_tracker.return_all()
            mark, given = len(tracer.block.operators), trace.locations.given
            truth = test_of(trace, test(*state))
            if truth is False:
                end(tracer.block, iteration)
                return state
            has_raised = len(trace.state.paths) - before > _MOST_RAISES
            if truth is not True or has_raised:
                is_probe = len(trace.state.paths) == before and given == trace.locations.given
                end_of_test = len(tracer.block.operators)

                def tested(truth: Any = truth) -> Any:
                    nonlocal is_probe
                    is_probe = False
                    return truth

                again = lambda *values: test_of(trace, test(*values))  # noqa: E731
                with staging(trace, "while"):
                    left = stage_while(trace, again, body, state, names, tested=tested)
                if is_probe and truth is not True:
                    tracer.discard(mark, end_of_test)
                    for place in [*trace.state.reads]:
                        del trace.state.reads[place]
                return left
            state = body(*state)
    raise AssertionError("count() does not end")


def for_(
    trace: Trace,
    iterable: Any,
    test: Callable[..., Any] | None,
    body: Callable[..., Sequence[Any]],
    state: Sequence[Any],
    names: Sequence[str],
) -> Sequence[Any]:
    """What the variables hold after `body(item, *state)` for each item, as long as `test` holds."""
    if type(iterable) is Union:
        again = lambda one: for_(trace, one, test, body, state, names)  # noqa: E731
        return for_cases(trace, again, [iterable], names, of_cases=False)  # type: ignore[no-any-return]
    is_carried = type(iterable) is Indexed and iterable.is_carried
    if is_carried or is_counting(trace, iterable):  # of which the body may take items, too

        def more(*values: Any) -> Any:
            is_left = not is_carried or trace.lt(position_of(trace, iterable), iterable.length)
            return trace.and_(is_left, lambda: test is None or test(*values))

        following = lambda *values: body(trace.call(next, iterable), *values)  # noqa: E731
        return while_(trace, more, following, state, names)
    items, source = items_or_source(trace, iterable, may_change=test is not None)
    if source is not None:
        return push_loop(trace, source, test, body, state)
    if type(items) is Indexed:
        iterations, *found = loop_by_index(trace, items, test, body, state, names)
        taken(trace, iterable, iterations)
        return found
    # Of what a loop has left, somebody may see that one more item was taken.
    is_seen = type(iterable) is Generated or hasattr(type(iterable), "__next__")
    asks_first = test is None or is_seen or own_method(trace, iterable, "__iter__", "__getitem__")
    rest, before = iter(items), len(trace.state.paths)
    is_code, leave = test is not None and _runs_code(items), lambda *values: values
    item: Any = None

    def advance(*values: Any) -> Sequence[Any]:
        """An iteration in which code makes the item."""
        nonlocal item
        item = next(rest, _END)
        return values if item is _END else body(item, *values)

    end = trace.tracer.growth.unrolling(trace.tracer.block)
    for iteration in itertools.count():
        if type(iterable) is list and type(trace.content(iterable)) is SymbolicSequence:
            # The body has put something into the list, or not, as a tensor decides.
            longer = of_list(trace, iterable)
            return loop_by_index(trace, longer, test, body, state, names, iteration)[1:]
        truth = test is None or not asks_first or test_of(trace, test(*state))
        if type(truth) is not bool and is_endless(rest):
            return loop_by_index(trace, indexed(trace, rest), test, body, state, names)[1:]
        if is_code and type(truth) is not bool:
            mark_left(trace, iterable)
            item = None
            state = stage_if(trace, truth, advance, leave, state, names, word="for")
            if item is not _END:
                continue
            truth = False
        item = _END if truth is False else next(rest, _END)
        if item is not _END and test is not None and not asks_first:
            truth = test_of(trace, test(*state))
        if item is _END or truth is False:
            end(trace.tracer.block, iteration)
            return state
        if truth is True:
            state = body(item, *state)
            if len(trace.state.paths) > before:  # a handler goes on with what an item has raised
                mark_left(trace, iterable)
            continue
        is_long_range = type(items) is range and len(items) > MOST_ITEMS
        if is_long_range or iteration > MOST_ITEMS:
            left = items[iteration:] if is_long_range else itertools.chain([item], rest)
            return loop_by_index(trace, indexed(trace, left), test, body, state, names)[1:]
        mark_left(trace, iterable)
        iterate = lambda *values, item=item: body(item, *values)  # noqa: E731
        state = stage_if(trace, truth, iterate, leave, state, names, word="for")
    raise AssertionError("count() does not end")


_END = object()


def made_iterator(trace: Trace, items: Any) -> Any:
    """A new iterator of Python's; by index, where the Program is to carry how far it is.

    All items are taken at once then: neither code of the user's makes them, nor do they change.
    """
    is_carried = hasattr(type(items), "__next__") and trace.locations.is_carried(items)
    if not is_carried or _runs_code(items):
        return trace.made(items)
    found = indexed(trace, items)
    return iterator(trace, found.size, found.item)


def _runs_code(items: Any) -> bool:
    """Whether code makes the items, and no generator of ours, of the rows of a tensor."""
    asked = [items]
    for one in asked:
        asked += get_referents(one) if type(one) is tuple or hasattr(type(one), "__next__") else ()
    codes = (one.gi_code.co_filename for one in asked if isinstance(one, GeneratorType))
    is_code = any(isinstance(one, (map, filter, Asked)) for one in asked)
    return is_code or any(name != __file__ for name in codes)


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


def rest(trace: Trace, values: Any) -> Any:
    """What `*values` and `**values` of a function get."""
    if type(values) is dict:
        return trace.made(values)
    return _rest(trace, values, tuple) if any(type(one) is Spread for one in values) else values


def _rest(trace: Trace, values: Sequence[Any], kind: type) -> SymbolicSequence:
    """Arguments one after the other, of which some are a list of a length."""
    found: Any = []
    for one in values:
        found = joined(trace, found, one.items if type(one) is Spread else [one], kind)
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
    name, owner = getattr(function, "__name__", ""), getattr(function, "__self__", None)
    if type(owner) is set or (owner is None and function is getattr(set, name, None)):
        every = _rest(trace, (*args, Spread(items)), list)
        if name == "update":
            return each(trace, every, lambda one: trace.call(function, one))
        if name in ("union", "intersection", "difference"):
            start = () if owner is None else (owner,)
            return trace.method(trace.call(reduce, getattr(set, name), every, *start), "copy")
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
