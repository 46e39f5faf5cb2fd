"""Generators: Python's own where they are asked for items, else run by giving items away.

Who takes all items, or items until it leaves, is called for each `yield` of the generator: so a
tensor may decide whether there is an item, and how many there are. To leave the generator is an
exception in it, as `close` is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from inspect import GEN_CREATED, getgeneratorstate
from types import GeneratorType
from typing import Any, NoReturn

from dy2st.convert.kinds.iterators import left_of, refuse_advance, refuse_left
from dy2st.convert.protocol.ifelse import test_of
from dy2st.convert.protocol.names import CELL, new_cell, set_cell
from dy2st.convert.stage.branch import end_region, splice, stage_if
from dy2st.convert.stage.checks import attempt, each
from dy2st.convert.stage.outcome import AlwaysRaises, Handler, Refused, is_refusal, is_thrown
from dy2st.convert.trace import Region, Source, Trace, own_method
from dy2st.convert.values.special import UNBOUND, Generated
from dy2st_runtime.errors import ConversionError

Push = Callable[[Any], Any]
_VALUE = ("the value of a generator",)


def source_of(trace: Trace, iterable: Any) -> Source | None:
    """A generator that can give its items away; None of all else, and where it has begun."""
    if type(iterable) not in (GeneratorType, Generated):
        return None
    source = trace.origin(iterable, Source)
    if source is None:
        return None
    if source.is_left:
        refuse_left()
    if type(iterable) is Generated:
        return source if left_of(trace, iterable) is None else None
    return source if getgeneratorstate(iterable) == GEN_CREATED else None


def begin(trace: Trace, source: Source) -> None:
    """Nobody else can ask a generator for items once it has been run."""
    refuse_advance(trace, source.made)
    if type(source.made) is Generated:
        trace.set_field(source.made, "items", iter(()))
    else:
        source.made.close()


def consumed(
    trace: Trace, source: Source, take: Push, goes_on: Callable[[], Any] | None = None
) -> Any:
    """Give each item to `take`, while `goes_on()` holds; returns the value of the generator."""
    # Classes of this consumer alone, so that no other handler takes its way out.
    left = type("GeneratorExit", (GeneratorExit,), {})
    failed = type("GeneratorExit", (GeneratorExit,), {})
    begin(trace, source)
    known = len(trace.giving)

    def leave() -> NoReturn:
        for one in trace.giving[known:]:  # those that it asks, too
            one.is_left = True
        raise left

    def fail(error: BaseException) -> NoReturn:
        raise failed(error)

    def run() -> tuple[Any]:
        outer = list(trace.handlers)

        def push(item: Any) -> None:
            # What the consumer raises is nothing for the handlers of the generator.
            inner, trace.handlers = trace.handlers, list(outer)
            try:
                every = Handler(lambda: BaseException, lets_pass=True)
                attempt(trace, every, lambda: (take(item), ())[1], tuple, fail, (), ())
            finally:
                trace.handlers = inner
            going = True if goes_on is None else goes_on()
            if going is False:
                leave()
            elif going is not True:
                stage_if(trace, going, tuple, leave, (), ())

        return (_ended(trace, source, push),)

    def handled(error: BaseException) -> Sequence[Any]:
        if isinstance(error, left):
            return (None,)
        return each(trace, error.args[0], throw, _VALUE)

    handler = Handler(lambda: (left, failed))
    trace.giving.append(source)
    try:
        return attempt(trace, handler, run, lambda *value: value, handled, (), _VALUE)[0]
    finally:
        del trace.giving[known:]


def throw(error: BaseException) -> NoReturn:
    """Raise an exception."""
    raise error


def _ended(trace: Trace, source: Source, push: Push) -> Any:
    """Run a generator; as in Python it must not raise StopIteration."""

    def handled(error: BaseException) -> NoReturn:
        raise RuntimeError("generator raised StopIteration") from error

    handler = Handler(lambda: StopIteration)
    run = lambda: (source.run(push),)  # noqa: E731
    return attempt(trace, handler, run, lambda *value: value, handled, (), _VALUE)[0]


def push_loop(
    trace: Trace,
    source: Source,
    test: Callable[..., Any] | None,
    body: Callable[..., Sequence[Any]],
    state: Sequence[Any],
) -> Sequence[Any]:
    """What the variables hold after `body(item, *state)` for each item, as long as `test` holds."""
    variables = Variables(trace, state)
    if test is not None and test_of(trace, test(*state)) is False:
        return state

    def goes_on() -> Any:
        assert test is not None
        return test_of(trace, test(*variables.values()))

    take = lambda item: variables.hold(body(item, *variables.values()))  # noqa: E731
    consumed(trace, source, take, None if test is None else goes_on)
    return variables.values()


class Variables:
    """Variables of a consumer while a generator runs, as cells: branches and loops carry them."""

    def __init__(self, trace: Trace, values: Sequence[Any]):
        """Begin with values."""
        self._trace = trace
        self._cells = [new_cell(trace, value) for value in values]

    def hold(self, values: Sequence[Any]) -> None:
        """Take new values."""
        for cell, value in zip(self._cells, values, strict=True):
            set_cell(self._trace, cell, value)

    def values(self) -> tuple[Any, ...]:
        """What they hold now."""
        return tuple(self._trace.held(cell, CELL) for cell in self._cells)


def push_all(trace: Trace, push: Push, iterable: Any) -> Any:
    """`yield from iterable` of a generator that gives its items away."""
    source = source_of(trace, iterable)
    if source is not None:
        begin(trace, source)
        trace.giving.append(source)
        try:
            return _ended(trace, source, push)
        finally:
            trace.giving.remove(source)
    if own_method(trace, iterable, "__next__") is not None:
        iterator = trace.call(iter, iterable)
        while True:
            try:
                item = trace.call(next, iterator)
            except StopIteration as error:
                return error.value
            push(item)

    def body(item: Any) -> tuple[()]:
        push(item)
        return ()

    trace.for_(iterable, None, body, (), ())
    return None


def generate(
    trace: Trace,
    generator: Callable[..., Any],
    iterable: Any,
    pushing: Callable[..., Any],
    is_map: bool = False,
) -> Generated:
    """A generator expression over an iterable; `is_map`: with one item for each of its items."""
    made: Generated = trace.made(Generated(generator, pushing, iterable, is_map))
    trace.note_generator(made, lambda push: pushing(iterable, push))
    return made


def is_decided(trace: Trace, source: Source, decisive: bool) -> Any:
    """`any` of a generator; of `all`, with `decisive` False, the same for what is false."""
    found = Variables(trace, (not decisive,))

    def goes_on() -> Any:
        answer = trace.truth_value(*found.values())
        return trace.test_of(trace.not_(answer) if decisive else answer)

    take = lambda item: found.hold((trace.truth_value(item),))  # noqa: E731
    consumed(trace, source, take, goes_on)
    return found.values()[0]


def first_of(trace: Trace, source: Source, *default: Any) -> Any:
    """`next` of a generator that has not begun; if a tensor decides on it, it cannot go on."""
    found = _asked(trace, source.made)
    if found is None:
        first = Variables(trace, (False, default[0] if default else UNBOUND))
        source.is_left = True
        source = replace(source, made=(None for _ in ()), is_left=False)
        trace.origins[id(source.made)] = source.made, source
        consumed(trace, source, lambda item: first.hold((True, item)), lambda: False)
        is_found, item = first.values()

        def ends() -> NoReturn:
            raise StopIteration

        if not default:
            trace.if_(is_found, tuple, ends, (), ())
        return trace.bound(item, "the next item")
    if type(found[0]) is not _Raised:
        return found[0]
    error = found[0].error
    if default and isinstance(error, StopIteration):
        return default[0]
    raise error


@dataclass(frozen=True)
class _Raised:
    """What Python has raised instead of an item."""

    error: BaseException


def _asked(trace: Trace, iterator: Any) -> Sequence[Any] | None:
    """The first item as Python has it; None if a tensor decides on it."""

    def first(region: Region) -> tuple[Any]:
        try:
            return (next(iterator),)
        except BaseException as error:  # any that Python's iterator raises, as a case of its items
            if (
                not is_thrown(trace, error)
                or is_refusal(error)
                or region.block.operators
                or trace.state.paths[-1] is not region
            ):
                raise
            return (_Raised(error),)

    try:
        with trace.region() as region:
            end_region(trace, region, lambda: first(region))
    except (ConversionError, Refused):
        region.raised = AlwaysRaises()
    if region.raised is not None or region.outcome is not None:
        return None
    splice(trace, region)
    return region.results
