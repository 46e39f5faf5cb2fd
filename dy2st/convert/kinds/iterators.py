"""Iterators: range, enumerate, zip, reversed, map, filter, iter, next, and those of itertools.

Where the length is known they are Python's own, by the protocol item by item; else an Indexed.
"""

from __future__ import annotations

import itertools
import operator
from collections import deque
from collections.abc import Callable, Generator, Iterable
from dis import get_instructions
from functools import partial, reduce
from gc import get_referents
from types import CellType, FrameType, FunctionType, GeneratorType
from typing import Any, NoReturn, cast

from dy2st.convert.kinds.lists import as_dynamic, is_lazy, length_of
from dy2st.convert.kinds.objects import class_of
from dy2st.convert.kinds.scalars import as_number, check, int_of, is_traced
from dy2st.convert.kinds.side_effects import refuse_advance_outside
from dy2st.convert.kinds.table import for_each, function_row, method_row, whole_row
from dy2st.convert.polyfills.itertools_ import chained, made_of
from dy2st.convert.polyfills.methods import Until, accumulated, enumerated, mapped
from dy2st.convert.polyfills.registry import lazily
from dy2st.convert.stage.branch import end_region, splice
from dy2st.convert.stage.checks import caught
from dy2st.convert.stage.outcome import Handler, ending, under
from dy2st.convert.trace import Source, Trace, own_method
from dy2st.convert.types import info, same_items
from dy2st.convert.values.flatten import element_at
from dy2st.convert.values.special import (
    ORDERED,
    Asked,
    Generated,
    Indexed,
    Special,
    SymbolicSequence,
    Union,
)
from dy2st_runtime.dims import Condition, Dim, ceil_divide, maximum
from dy2st_runtime.errors import ConversionError, UnsupportedSyntax
from dy2st_runtime.ir import F, Tensor
from dy2st_runtime.ops.control_flow import is_at_any_time

POSITION, STEP = Special("the next number"), Special("the step")  # of an `itertools.count`
LEFT = Special("a number that only the run knows")
_NOTHING = object()
MOST_ITEMS = 4096  # of something of Python, where a tensor decides how many are taken
NO_END = 1 << 60


@function_row(range)
def _range(trace: Trace, *bounds: Any) -> Any:
    if not any(map(is_traced, bounds)):
        known = (one if type(one) is int else trace.call(operator.index, one) for one in bounds)
        return range(*known)
    values = [_whole(trace, one) for one in bounds]
    start, stop, step = (0, *values, 1) if len(values) == 1 else (*values, 1)[:3]
    check(trace, trace.test_of(trace.ne(step, 0)), ValueError("range() arg 3 must not be zero"))
    if all(isinstance(one, (int, Dim)) for one in (start, stop, step)):
        length: Any = maximum(ceil_divide(stop - start, step), 0)
    else:
        length = F.maximum(-((start - stop) // step), 0)
        length.number = int
    found = Indexed(length, lambda index: start + index * step)
    if type(start) is type(step) is int and (start, step) == (0, 1):
        trace.origins[id(found)] = found, ORDERED
    return found


def _whole(trace: Trace, value: Any) -> Any:
    value = trace.tracer.number(value) if isinstance(value, Condition) else value
    return as_number(trace, int_of(trace, value), int) if isinstance(value, Tensor) else value


@function_row(enumerate)
def _enumerate(trace: Trace, iterable: Any, start: Any = 0) -> Any:
    if trace.source_of(iterable) is not None:
        return trace.call(enumerated, iterable, start)
    items = trace.items_of(iterable)
    if type(items) is Indexed:
        item = lambda at: (start + at, items.item(at))  # noqa: E731
        return iterator(trace, lambda: items.length, item, asked=iterable)
    if type(start) is int:
        return trace.made_iterator(enumerate(items, start))
    return trace.made((trace.add(start, place), item) for place, item in enumerate(items))


@function_row(zip)
def _zip(trace: Trace, *iterables: Any, strict: bool = False) -> Any:
    parts = [trace.items_of(one) for one in iterables]
    if not any(type(part) is Indexed for part in parts):
        return trace.made_iterator(zip(*parts, strict=strict))
    staged = [indexed(trace, *pair) for pair in zip(parts, iterables, strict=True)]
    for place, one in enumerate(staged[1:] if strict else (), start=2):
        error = ValueError(f"zip() argument {place} is shorter or longer than argument 1")
        check(trace, trace.test_of(trace.eq(one.length, staged[0].length)), error)
    length = lambda: reduce(partial(trace.call, min), [one.length for one in staged])  # noqa: E731
    return iterator(trace, length, lambda at: tuple(one.item(at) for one in staged))


def indexed(trace: Trace, items: Any, source: Any = None) -> Indexed:
    """Items by index; `source`: the `itertools.count` that they are of."""
    if type(items) is Indexed:
        return items
    if is_counting(trace, source):
        start, step = trace.held(source, POSITION), trace.held(source, STEP)
        trace.write(source, POSITION, LEFT)
        return Indexed(NO_END, lambda index: trace.add(start, trace.mul(step, index)))
    if type(items) is range:
        return Indexed(len(items), lambda at: trace.add(items.start, trace.mul(items.step, at)))
    if type(items) is itertools.repeat:
        item, times = get_referents(items)[-1], operator.length_hint(items, -1)
        return Indexed(NO_END if times < 0 else times, lambda index: item)
    mark_left(trace, (source, items))
    if type(items) is itertools.cycle:
        found = _round_of(items)
        length = NO_END if found else 0
        return Indexed(length, lambda index: trace.item(found, trace.mod(index, len(found))))
    if type(items) is enumerate and is_endless(items):
        inner, start = cast(Any, items.__reduce__()[1])
        asked = indexed(trace, inner)
        return Indexed(NO_END, lambda index: (trace.add(start, index), asked.item(index)))
    found = list(itertools.islice(items, MOST_ITEMS))
    if len(found) == MOST_ITEMS:
        raise UnsupportedSyntax(
            f"a tensor decides how many are taken of {MOST_ITEMS} items of Python or more",
            why="each of these items becomes a part of the Program",
            hint="take them of a tensor, or of range(), or by their place: items[i % len(items)]",
        )
    return Indexed(len(found), lambda index: trace.item(found, index))


def is_endless(items: Any) -> bool:
    """Whether an iterator of Python's never ends."""
    inner: Any = items.__reduce__()[1] if type(items) is enumerate else (items,)
    is_unbounded = type(inner[0]) in (itertools.cycle, itertools.repeat)
    return is_unbounded and operator.length_hint(inner[0], -1) < 0


def _round_of(items: itertools.cycle[Any]) -> list[Any]:
    """What a cycle gives from here until it begins anew: what it has given so far, it holds."""
    found: list[Any] = []
    while any(hasattr(type(one), "__next__") for one in get_referents(items)):
        found.append(next(items, None))
    (given,) = (one for one in get_referents(items) if type(one) is list)
    return [*found, *itertools.islice(items, len(given))][: len(given)]


@function_row(reversed)
def _reversed(trace: Trace, iterable: Any) -> Any:
    own = own_method(trace, iterable, "__reversed__")
    if own is not None:
        return trace.call(own, iterable)
    if own_method(trace, iterable, "__getitem__") is not None:
        length = trace.call(len, iterable)
        if is_traced(length):
            return iterator(trace, length, lambda at: trace.item(iterable, length - 1 - at))
        return trace.made(reversed(by_place(trace, iterable)))
    is_ours = type(iterable) in (Indexed, Generated, SymbolicSequence, Union)
    is_pythons = any(hasattr(type(iterable), name) for name in ("__reversed__", "__getitem__"))
    if not is_ours and not is_pythons:
        return reversed(iterable)  # raises what Python raises
    items = trace.items_of(iterable)
    if type(items) is Indexed:
        length = items.length
        return iterator(trace, length, lambda index: items.item(length - 1 - index))
    if type(iterable) in (list, deque):
        return trace.made_iterator(reversed(by_place(trace, iterable)))
    if isinstance(iterable, dict) and isinstance(items, Generator):  # all entries are there
        items = trace.content(iterable)
    is_of_python = isinstance(items, (tuple, str, bytes, range, dict))
    return trace.made_iterator(reversed(items if is_of_python else [*items]))


def by_place(trace: Trace, owner: Any) -> Asked:
    """A list, or an object of the user's with places, whose iterators see it as it is then."""
    kind: Any = type(owner)
    length = len(trace.content(owner)) if isinstance(owner, deque) else 0

    def item(place: int) -> Any:
        if info(kind).is_container:
            content = trace.content(owner)
            if type(content) is SymbolicSequence:
                raise changed_length(owner)
            if isinstance(owner, deque) and len(content) != length:
                raise RuntimeError("deque mutated during iteration")
            return content[place]
        with ending(trace, IndexError, StopIteration):
            return trace.call(kind.__getitem__, owner, place)

    return Asked(trace, owner, item)


def changed_length(owner: Any) -> ConversionError:
    """The refusal to go on through what has become longer or shorter on some paths."""
    return ConversionError(
        f"a loop over a {class_of(owner).__name__} changes its length, as a tensor decides",
        why="the loop is unrolled, and how often it would run is known only later",
        hint="loop over a copy: `for item in list(items)`",
    )


@whole_row
@function_row(map)
def _map(trace: Trace, function: Any, *iterables: Any) -> Any:
    if len(iterables) == 1 and (type(iterables[0]) is Union or trace.source_of(iterables[0])):
        # Each of several things is gone through where somebody asks for the items.
        return lazily(trace, lambda one: trace.call(mapped, function, one), iterables[0])
    if any(type(one) is Union for one in (function, *iterables)):
        return trace.map_cases(lambda *given: _map(trace, *given), function, *iterables)

    def ask(*given: Any) -> Any:
        before = len(trace.state.paths)
        found = trace.call(function, *given)
        if len(trace.state.paths) > before:
            mark_left(trace, iterables)
        return found

    is_one = len(iterables) == 1
    items = trace.items_of(iterables[0]) if is_one else _zip(trace, *iterables)
    if type(items) is Indexed:
        given: Any = lambda at: [items.item(at)] if is_one else items.item(at)  # noqa: E731
        return iterator(trace, lambda: items.length, lambda at: trace.call(function, *given(at)))
    sources = [items] if is_one else items.__reduce__()[1]
    return trace.made(map(Asked(trace, function, ask), *sources))


# -- one item after the other -----------------------------------------------------------------


@function_row(iter)
def iter_(trace: Trace, value: Any, sentinel: Any = _NOTHING) -> Any:
    """`iter(value)`."""
    if sentinel is not _NOTHING:
        return trace.call(Until, value, sentinel)
    own = own_method(trace, value, "__iter__")
    if own is not None:
        return trace.call(own, value)
    is_once = type(value) is Indexed and value.is_once  # a range is not
    if is_once or type(value) is Generated or hasattr(type(value), "__next__"):
        return value
    items = trace.items_of(value)
    if type(items) is Indexed:
        whole = None if info(type(value)).is_container else items.whole  # which may change
        return iterator(trace, lambda: items.length, items.item, whole)
    return trace.made_iterator(iter(items))


def next_of(trace: Trace, iterator: Any) -> Iterable[Any]:
    """An iterator of the user's class, asked in traced form."""

    def ask(_: None) -> Any:
        with ending(trace, StopIteration):
            return trace.call(next, iterator)

    return map(ask, itertools.repeat(None))


@whole_row
@function_row(next)
def _next(trace: Trace, iterator: Any, default: Any = _NOTHING) -> Any:
    if type(iterator) is Union:
        return trace.map_cases(lambda one: _next(trace, one, default), iterator)
    is_here = not trace.is_nested or trace.is_made_here(iterator)
    goes_on = type(iterator) is not Generated or _is_one_loop(trace, iterator)
    source = trace.source_of(iterator)
    if source is not None and is_here:
        found = trace.first_of(source, *(() if default is _NOTHING else (default,)))
        source.is_left = source.is_left or not goes_on
        return found
    if not goes_on:
        iterator = resolved(trace, iterator)
    if type(iterator) is Indexed:
        position = position_of(trace, iterator)

        def take() -> Any:
            trace.set_field(iterator, "position", trace.add(position, 1))
            return iterator.item(position)

        is_left = trace.lt(position, iterator.length)
        if default is not _NOTHING:
            return trace.if_exp(is_left, take, lambda: default)
        check(trace, trace.test_of(is_left), StopIteration())
        return take()
    if is_counting(trace, iterator):
        return counted(trace, iterator)
    own = own_method(trace, iterator, "__next__")
    refuse_advance(trace, iterator)
    found = partial(next, iterator) if own is None else partial(trace.call, own, iterator)
    if default is _NOTHING:
        return found()
    return caught(trace, found, StopIteration, lambda: default)


@for_each("send", "throw")
def _sent(name: str) -> None:
    @method_row(GeneratorType, name=name)
    def send(trace: Trace, generator: Any, *given: Any) -> Any:
        refuse_advance(trace, generator)
        return getattr(generator, name)(*given)


def is_counting(trace: Trace, iterator: Any) -> bool:
    """Whether this is an `itertools.count` that the trace has made."""
    return type(iterator) is itertools.count and (id(iterator), POSITION) in trace.over


def counted(trace: Trace, iterator: Any) -> Any:
    """The next number of an `itertools.count`."""
    found = trace.held(iterator, POSITION)
    if found is LEFT:
        refuse_left()
    trace.write(iterator, POSITION, trace.add(found, trace.held(iterator, STEP)))
    return found


def resolved(trace: Trace, generated: Generated) -> Any:
    """What is left of a generator expression: an Indexed, or an iterator."""
    if cast(Any, trace.origin(generated, Source)).restarts and _is_one_loop(trace, generated):
        return next_of(trace, generated)
    if left_of(trace, generated) is None:
        source = generated.iterable
        innermost = source
        while type(innermost) is Generated:
            innermost = innermost.iterable
        if type(innermost) is not Indexed and is_lazy(trace, innermost):
            items = trace.made(generated.generator(source))
        elif generated.is_map:
            items = _mapped_now(trace, generated)
        else:
            items = _made_of(trace, all_at_once(trace, generated), generated)
        trace.set_field(generated, "items", items)
    return left_of(trace, generated)


def _is_one_loop(trace: Trace, generated: Generated) -> bool:
    """Whether a generator expression has no state but that of an iterator of Python's."""
    iterable, code = generated.iterable, getattr(generated.generator, "__code__", None)
    is_begun = left_of(trace, generated) is not None
    is_older = trace.is_nested and not trace.is_made_here(generated)
    is_plain = type(iterable) not in (Generated, Indexed) and is_lazy(trace, iterable)
    if code is None or generated.is_map or is_begun or is_older:
        return False
    loops = sum(one.opname == "FOR_ITER" for one in get_instructions(code))
    its: Any = trace.origin(generated, Source)
    return (is_plain and loops == 1) or its.restarts is True


def all_at_once(
    trace: Trace, generated: Generated, refuse: Any = None, *errors: type[Exception]
) -> list[Any]:
    """All items, as the Program takes them; refused where somebody sees when they are made."""
    out: list[Any] = trace.made([])
    around, pushes = len(trace.record.ends), itertools.count()
    refuse = refuse or partial(refuse_left, "gives items one by one, as many as a tensor decides")

    def push(item: Any) -> None:
        if not all(trace.record.ends[around:]) or next(pushes) > MOST_ITEMS:
            refuse("all are made with the first, and its loop may never end")
        trace.call(out.append, item)

    def gather() -> tuple[()]:
        if generated.pushing(generated.iterable, push) is not None:
            refuse("all are made with the first, and what it returns would be lost")
        return ()

    with trace.region() as region, under(trace, *([Handler(lambda: errors)] if errors else [])):
        end_region(trace, region, gather)
    changed = [one.owner for one in region.changes.values() if not region.is_new(one.owner)]
    is_silent = all(one is out or isinstance(one, (Generated, Indexed)) for one in changed)
    raises = region.raised is not None or region.outcome is not None
    if region.tensors or not is_silent or raises or not is_at_any_time(region.block):
        refuse("all are made with the first, which changes, shows, draws or raises something")
    splice(trace, region)
    return out


def _mapped_now(trace: Trace, generated: Generated) -> Any:
    """The items of a generator expression, each made when somebody asks for it."""
    items = trace.items_of(generated.iterable)
    if type(items) is not Indexed:
        return trace.made(generated.generator(generated.iterable))

    def item(index: Any) -> Any:
        found: list[Any] = []
        # A function of ours, which also runs as it is where a converted function calls it.
        generated.pushing((items.item(index),), lambda one: found.append(one))
        return found[0]

    return iterator(trace, lambda: items.length, item)


def unchanged(trace: Trace, source: Any) -> Callable[[], None]:
    """What refuses to go on once code has changed anything that lies behind a generator."""

    def state() -> list[Any]:
        trace.alias_tracker.return_all()
        outside = [variable for _, variable in trace.tracer.assigned()]
        return [trace.repeats.version, *outside, *reachable(trace, source)]

    def check_same() -> None:
        if not same_items(before, state()):
            refuse_left(
                "is read on later, after a change of what it reads", "items were made before it"
            )

    before = state()
    return check_same


@function_row(made_of)
def _made_of(trace: Trace, made: Any, source: Any) -> Any:
    """An iterator over a list of items, as long as nothing has changed behind what they are of."""
    check_same = unchanged(trace, source)
    item = made.item if type(made) is Indexed else partial(trace.item, made)
    at = lambda place: (check_same(), item(place))[1]  # noqa: E731
    items = iter(Asked(trace, made, at))
    is_dynamic = type(made) is Indexed or type(trace.content(made)) is SymbolicSequence
    if is_dynamic or trace.locations.is_carried(items):
        return iterator(trace, lambda: (check_same(), trace.call(len, made))[1], at)
    return trace.made(items)


def reachable(trace: Trace, source: Any) -> list[Any]:
    """All that can be reached from a value now, and that code may change."""
    # What holds itself ends where it was met, and so does what is the trace's own.
    found, waiting, met = list[Any](), [source], {id(its) for its in vars(trace).values()}
    while waiting:
        one = waiting.pop()
        row = info(type(one))
        if isinstance(one, Tensor):
            found.append(trace.tracer.held_by(one))
            continue
        if row.is_atom or trace.is_outside(one) or id(one) in met:
            continue
        met.add(id(one))
        if type(one) is CellType:
            held: Any = (trace.held(one, "cell_contents"),)
        elif isinstance(one, FunctionType):
            held = (*(one.__closure__ or ()), *(one.__defaults__ or ()))
        elif type(one) in (Generated, Indexed, Asked):
            held = [getattr(one, name, None) for name in ("generator", "iterable", "size", "item")]
        elif row.family in ("tuple", "bundle"):
            held = row.parts(one, ())
        else:
            held = trace.raw(one) if row.is_container else trace.fields(one) or ()
        held = held if info(type(held)).is_container or type(held) is tuple else (held,)
        held = [*held, *held.values()] if isinstance(held, dict) else [*held]
        found += held
        waiting += held
    return found


def left_of(trace: Trace, generated: Generated) -> Any:
    """What is left of a generator expression; None where nobody has asked for an item."""
    items = trace.held(generated, "items")
    if type(items) is Union:
        refuse_left()
    return items


def refuse_advance(trace: Trace, iterator: Any) -> None:
    """Refuse to take an item, in a branch or body, of an iterator that is older."""
    source = trace.origin(iterator, Source)
    if source is not None and source.is_left:
        trace.locations.carry(iterator, source.at)
        refuse_left()
    if not hasattr(type(iterator), "__next__"):
        return
    own = own_method(trace, iterator, "__next__")
    if trace.is_outside(iterator) and own is None:
        refuse_advance_outside(iterator)
    if not trace.is_nested or trace.is_made_here(iterator) or own is not None:
        return
    trace.locations.carry(iterator)
    name = class_of(iterator).__name__
    raise UnsupportedSyntax(
        f"a {name} is advanced in a branch or loop that depends on a tensor",
        why="how far it has come would be known only when the Program runs",
        hint="take the items before the statement: items = list(...)",
    )


def mark_left(trace: Trace, iterable: Any) -> None:
    """Note that a tensor may have left a loop over an iterator: nobody knows what is left of it."""
    waiting = [iterable]
    while waiting:
        one = waiting.pop()
        source = trace.origin(one, Source)
        if source is not None:
            source.is_left = True
        elif hasattr(type(one), "__next__"):
            trace.origins[id(one)] = one, Source(lambda: None, lambda _: None, is_left=True)
            waiting += get_referents(one)  # the iterators that an `enumerate` or `zip` asks
        elif type(one) in (tuple, CellType, FrameType):
            waiting += get_referents(one)


def refuse_left(
    what: str = "is read on later, after a branch or loop on a tensor, a `break`, or an exception",
    why: str = "how far it has come is known only when the Program runs",
) -> NoReturn:
    """Refuse to read on in a generator or iterator."""
    hint = "go through it in one `for` loop, or gather all items in a list first"
    raise UnsupportedSyntax(f"a generator or iterator {what}", why=why, hint=hint)


def iterator(
    trace: Trace, size: Any, item: Callable[[Any], Any], whole: Any = None, asked: Any = None
) -> Indexed:
    """Items that are gone once they are taken; asked: what gives one for each of them."""
    # Made here, so that its position is its own: a loop that makes one at every iteration would
    # else leave one more place in the overlay each time, and so never have the same form again.
    made: Indexed = trace.made(Indexed(size, item, whole, is_once=True))
    made.is_carried = trace.locations.is_carried(made)
    if type(asked) is Indexed and asked.is_once:
        made.source = ((asked, asked.begun),)
    return made


def position_of(trace: Trace, items: Indexed) -> Any:
    """How many items of an iterator are taken; refused where a loop has not told."""
    position = trace.held(items, "position")
    if position is LEFT or type(position) is Union:
        trace.locations.carry(items)
        refuse_left()
    return position


def rest_of(trace: Trace, items: Indexed) -> Indexed:
    """What is left of items; of an iterator, until `taken` tells, nobody else may take any.

    So whose iteration it is, is never asked, as by zip(it, it), and what an exception has left
    is not read on.
    """
    if not items.is_once:
        return items
    position = items.begun = position_of(trace, items)
    trace.set_field(items, "position", LEFT)
    if type(position) is int and position == 0:
        return Indexed(items.size, items.item, items.whole)
    left = trace.sub(items.length, position)
    if type(left) is int and left == 0:  # its form is that of any item; there is none behind them
        return Indexed(0, items.item)
    return Indexed(left, lambda index: items.item(index + position))


def taken(trace: Trace, iterable: Any, iterations: Any) -> None:
    """Tell that a loop has taken so many items of what `rest_of` gave it."""
    items = left_of(trace, iterable) if type(iterable) is Generated else iterable
    if type(items) is Indexed and items.is_once:
        position = trace.add(items.begun, iterations)
        trace.set_field(items, "position", position)
        for asked, begun in items.source:
            if trace.held(asked, "position") is not LEFT or asked.begun is not begun:
                refuse_left()  # its items were taken before
            trace.set_field(asked, "position", trace.add(begun, position))


def of_list(trace: Trace, owner: Any) -> Indexed:
    """The elements of a list of a length, as it is at each iteration."""

    def now() -> SymbolicSequence:
        return as_dynamic(trace, trace.content(owner), type(owner))

    def item(index: Any) -> Any:
        return trace.alias_tracker.borrow_element(owner, index, element_at(trace, now(), index))

    # The length is asked at each iteration: Python goes on over what the body appends.
    return Indexed(lambda: length_of(trace, now()), item, now())


# -- itertools ------------------------------------------------------------------------------------


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
    if not any(type(one) in (Generated, Indexed) for one in iterables):
        parts = [trace.items_of(one) for one in iterables]
        if not any(type(part) is Indexed for part in parts):
            return trace.made_iterator(itertools.chain(*parts))
    return lazily(trace, lambda one: trace.call(chained, one), iterables, restarts=False)


@method_row(type, name="from_iterable")
def _from_iterable(trace: Trace, owner: Any, iterables: Any) -> Any:
    items = None if is_lazy(trace, iterables) else trace.items_of(iterables)
    if items is not None and type(items) is not Indexed:
        return _chain(trace, *items)
    return lazily(trace, lambda one: trace.call(chained, one), iterables, restarts=False)


@function_row(itertools.islice)
def _islice(trace: Trace, iterable: Any, *ends: Any) -> Any:
    items = trace.items_of(iterable)
    if type(items) is not Indexed and not any(map(is_traced, ends)):
        return trace.made_iterator(itertools.islice(items, *ends))
    what = "Indices" if len(ends) > 1 else "Stop argument"
    error = ValueError(f"{what} for islice() must be None or an integer: 0 <= x <= sys.maxsize.")
    for end in (one for one in ends if one is not None):
        check(trace, trace.test_of(trace.ge(end, 0)), error)
    ends = (0, *ends) if len(ends) == 1 else ends
    start, stop, step = (*ends, 1)[:3]
    start, step = 0 if start is None else start, 1 if step is None else step
    items = indexed(trace, items, iterable)

    def length() -> Any:
        end = items.length if stop is None else trace.call(min, stop, items.length)
        return trace.call(len, trace.call(range, start, end, step))

    is_each = type(start) is type(step) is int and (start, step) == (0, 1)
    return iterator(
        trace, length, lambda at: items.item(start + at * step), asked=iterable if is_each else None
    )


@function_row(itertools.pairwise)
def _pairwise(trace: Trace, iterable: Any) -> Any:
    # By index: a generator would begin with an item that is none, or needs a flag.
    items = trace.items_of(iterable)
    if type(items) is not Indexed:
        return trace.made_iterator(itertools.pairwise(items))
    length = lambda: trace.call(max, trace.sub(items.length, 1), 0)  # noqa: E731
    return iterator(trace, length, lambda place: (items.item(place), items.item(place + 1)))


@function_row(itertools.accumulate)
def _accumulate(trace: Trace, iterable: Any, func: Any = None, *, initial: Any = None) -> Any:
    items: Any = iterable if type(iterable) is Generated else trace.items_of(iterable)
    if type(items) in (Indexed, Generated):
        made = lambda one: trace.call(accumulated, one, func, initial)  # noqa: E731
        return lazily(trace, made, items, restarts=False)
    join = trace.add if func is None else partial(trace.call, func)
    return trace.made(itertools.accumulate(items, join, initial=initial))
