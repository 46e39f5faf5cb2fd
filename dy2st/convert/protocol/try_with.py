"""`with`, `try` and `raise`, and generators, which are left by an exception.

What raises in a branch that a tensor decides on opens a path: all that follows runs in the other
branch, until the path is closed where a handler may catch the exception. There the handler runs in
the branch that has raised, and both are joined.

Generators are Python's own where they are asked for items, else run by giving items away. Who takes
all items, or items until it leaves, is called for each `yield` of the generator: so a tensor may
decide whether there is an item, and how many there are. To leave the generator is an exception in
it, as `close` is.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dis import get_instructions
from functools import partial
from inspect import GEN_CREATED, getgeneratorstate
from itertools import pairwise
from types import FunctionType, GeneratorType
from typing import Any, NoReturn

from dy2st.convert.aliases import MoreIsKnown
from dy2st.convert.dy2static import is_named
from dy2st.convert.kinds.iterators import left_of, refuse_advance, refuse_left
from dy2st.convert.polyfills.methods import asked
from dy2st.convert.protocol.calls import call, is_library
from dy2st.convert.protocol.ifelse import test_of
from dy2st.convert.protocol.names import new_cell, set_cell
from dy2st.convert.protocol.natives import CELL
from dy2st.convert.stage.branch import end_region, for_cases, known, raise_outcome, splice, stage_if
from dy2st.convert.stage.checks import State, attempt, map_cases, must, throw
from dy2st.convert.stage.outcome import (
    CODE_FAULTS,
    Handler,
    Refused,
    is_refusal,
    is_thrown,
    under,
)
from dy2st.convert.trace import Source, Trace, own_method, special
from dy2st.convert.values.special import UNBOUND, Generated, Union
from dy2st_runtime.errors import ConversionError, UnsupportedSyntax
from dy2st_runtime.ir.location import hide_own_frames

Push = Callable[[Any], Any]
_VALUE = ("the value of a generator",)


def source_of(trace: Trace, iterable: Any) -> Source | None:
    """A generator that can give its items away; None of all else, and where it has begun."""
    source = trace.origin(iterable, Source)
    if source is None or type(iterable) not in (GeneratorType, Generated):
        return None
    if source.is_left:
        trace.locations.carry(iterable, source.at)
        refuse_left()
    if type(iterable) is Generated:
        is_whole = (
            source.at and source.at[0] in trace.locations.carried
        )  # all items are made with the first
        return None if is_whole or left_of(trace, iterable) is not None else source
    return source if getgeneratorstate(iterable) == GEN_CREATED else None


def begin(trace: Trace, source: Source) -> None:
    """Nobody else can ask a generator for items once it has been run."""
    made = source.found()
    refuse_advance(trace, made)
    if type(made) is not Generated:
        made.close()
    elif not source.restarts:
        _end(trace, source)


def _end(trace: Trace, source: Source) -> None:
    """Nothing is left of a generator expression, or of a `filter`."""
    made = source.found()
    if type(made) is Generated:
        trace.set_field(made, "items", iter(()))


def consumed(
    trace: Trace, source: Source, take: Push, goes_on: Callable[[], Any] | None = None
) -> Any:
    """Give each item to `take`, while `goes_on()` holds; returns the value of the generator."""
    # Classes of this consumer alone, so that no other handler takes its way out.
    left = type("GeneratorExit", (GeneratorExit,), {})
    failed = type("GeneratorExit", (GeneratorExit,), {})
    begin(trace, source)
    known = len(trace.giving)

    def leave(kind: type[BaseException], *given: BaseException) -> NoReturn:
        for one in trace.giving[known:]:  # those that it asks, too
            one.is_left = not one.restarts
        raise kind(*given)

    def run() -> tuple[Any]:
        outer = list(trace.handlers)

        def push(item: Any) -> None:
            # What the consumer raises is nothing for the handlers of the generator.
            inner, trace.handlers = trace.handlers, list(outer)
            try:
                every = Handler(lambda: BaseException, lets_pass=True)
                fail = partial(leave, failed)
                attempt(trace, every, lambda: (take(item), ())[1], tuple, fail, (), ())
            finally:
                trace.handlers = inner
            going = True if goes_on is None else goes_on()
            if going is False:
                leave(left)
            elif going is not True:
                stage_if(trace, going, tuple, lambda: leave(left), (), ())

        return (_ended(trace, source, push),)

    def handled(error: BaseException) -> Sequence[Any]:
        if isinstance(error, left):
            return (None,)
        return for_cases(trace, throw, error.args, _VALUE)  # type: ignore[no-any-return]

    handler = Handler(lambda: (left, failed))
    trace.giving.append(source)
    try:
        return attempt(trace, handler, run, lambda *value: value, handled, (), _VALUE)[0]
    finally:
        del trace.giving[known:]


def _ended(trace: Trace, source: Source, push: Push) -> Any:
    """Run a generator; as in Python it must not raise StopIteration."""

    def handled(error: BaseException) -> NoReturn:
        ended = RuntimeError("generator raised StopIteration")
        ended.__context__ = ended.__cause__ = error
        raise ended

    handler, run = Handler(lambda: StopIteration), lambda: (source.run(push),)
    try:
        value = attempt(trace, handler, run, lambda *value: value, handled, (), _VALUE)[0]
    except BaseException:  # any: no generator in C ends with it, as one of Python's does
        source.is_left = source.is_left or source.restarts is False
        raise
    _end(trace, source)
    return value


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
    if own_method(trace, iterable, "__next__") is not None:
        iterable = trace.call(asked, trace.call(iter, iterable))
    source = source_of(trace, iterable)
    if source is not None:
        begin(trace, source)
        trace.giving.append(source)
        try:
            return _ended(trace, source, push)
        finally:
            trace.giving.remove(source)

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
    made: Any = source.found()
    if type(made) is not Generated:  # which goes on with what is left of its iterator
        carried = set(trace.locations.carried)
        with suppress(ConversionError, Refused):
            with trace.region() as region:
                end_region(trace, region, lambda: (next(made),))
            if region.raised is None and region.outcome is None:
                splice(trace, region)
                return (region.results or ())[0]
        trace.locations.carried = carried
    first = Variables(trace, (False, default[0] if default else UNBOUND))
    source.is_left = type(made) is not Generated
    nobodys = trace.note_generator((None for _ in ()), source.run)
    again: Any = source_of(trace, nobodys)
    try:
        value = consumed(trace, again, lambda item: first.hold((True, item)), lambda: False)
    except BaseException as error:  # any: it ends a generator, whatever is left of its iterator
        if is_refusal(error) and not isinstance(error, MoreIsKnown):
            trace.locations.carry(made, source.at)
        if not source.restarts:
            _end(trace, source)
        raise
    is_found, item = first.values()
    if is_found is False:
        _end(trace, source)
    if not default:
        ended = () if value is None or is_found is not False else (value,)
        must(trace, is_found, StopIteration(*ended))
    return trace.bound(item, "the next item")


_OF_A_FUNCTION = type(contextmanager(lambda: iter(()))())


def try_(
    trace: Trace,
    body: Callable[..., State],
    handlers: Sequence[tuple[Callable[[], Any], Callable[..., State]]],
    orelse: Callable[..., State],
    final: Callable[..., State] | None,
    state: State,
    names: Sequence[str],
) -> State:
    """What the variables hold after a `try`; each handler takes the exception and the variables."""

    def handled(error: BaseException) -> State:
        context = error.__context__
        try:
            raise error
        except BaseException:  # any: the handlers say which they take, and it goes on else
            _show(error, context)
            for classes, handler in handlers:
                if is_named(type(error), classes()):
                    return handler(error, *state)
            raise

    def finished(error: BaseException) -> NoReturn:
        context = error.__context__
        try:
            raise error
        except BaseException:  # any: `finally` runs for each, and it goes on
            _show(error, context)
            assert final is not None
            final(*state)
            raise

    def inner(*values: Any) -> State:
        if not handlers:
            return body(*values)
        handler = Handler(lambda: (one() for one, _ in handlers))
        return attempt(trace, handler, body, orelse, handled, values, names)

    if final is None:
        return inner(*state)
    every = Handler(lambda: BaseException, lets_pass=True)
    return attempt(trace, every, inner, final, finished, state, names)


def with_(
    trace: Trace, value: Any, body: Callable[..., State], state: State, names: Sequence[str]
) -> State:
    """What the variables hold after `with value as entered: body(entered, *state)`."""
    value = _required(known(trace, value))
    if type(value) is Union:
        again = lambda one: with_(trace, one, body, state, names)  # noqa: E731
        return for_cases(trace, again, [value], names, of_cases=False)  # type: ignore[no-any-return]
    # One of contextlib.contextmanager: its generator can run around the body, in traced form.
    source = (
        source_of(trace, getattr(value, "gen", None)) if type(value) is _OF_A_FUNCTION else None
    )
    if source is not None:
        return _in_generator(trace, source, body, state)
    # It can be left on several paths only where its methods are the user's.
    kind = type(value)
    if type(kind.__exit__) is not FunctionType or is_library(kind.__module__):
        with manager(trace, value) as entered:
            return body(entered, *state)
        return state  # it has swallowed an exception
    exit = special(trace, value, "__exit__")
    entered = call(trace, special(trace, value, "__enter__"), value)

    def after(*results: Any) -> State:
        call(trace, exit, value, None, None, None)
        return results

    def failed(error: BaseException) -> State:
        context = error.__context__
        try:
            raise error
        except BaseException:  # any: Python tells `__exit__` of each exception, Ctrl-C too
            _show(error, context)
            found = call(trace, exit, value, type(error), error, error.__traceback__)
            swallows = test_of(trace, found)
            if swallows is False:
                raise
            if swallows is True:
                return state
            return stage_if(trace, swallows, lambda: state, lambda: throw(error), (), names)

    # Where no exception is swallowed the paths behind the `with` need no joining.
    every = Handler(lambda: BaseException, lets_pass=_never_swallows(exit))
    return attempt(trace, every, lambda *s: body(entered, *s), after, failed, state, names)


def _required(value: Any) -> Any:
    """The manager; what is none raises what Python says of it."""
    kind = type(value)
    if kind is not Union and not (hasattr(kind, "__enter__") and hasattr(kind, "__exit__")):
        with value:  # Python's own words, which differ from version to version
            pass
    return value


def _in_generator(trace: Trace, source: Source, body: Callable[..., State], state: State) -> State:
    """A manager made by `contextlib.contextmanager`: the body runs where its function yields."""
    variables, count = Variables(trace, state), Variables(trace, (0,))
    thrown: list[tuple[BaseException, Any]] = []

    def push(entered: Any) -> None:
        if count.values() != (0,):  # yielded twice, as contextlib says it
            raise RuntimeError("generator didn't stop")
        count.hold((1,))
        try:
            results = body(entered, *variables.values())
        except BaseException as error:  # any, Ctrl-C too: what the body raises is known by this
            thrown.append((error, error.__traceback__))
            raise
        variables.hold(results)

    begin(trace, source)
    try:
        source.run(push)
    except BaseException as error:  # any: it goes on as the body raised it
        # What a manager made of a generator lets out of the body's exception: no frame of its own
        for one, place in thrown:
            is_wrapped = type(error) is RuntimeError and error.__cause__ is one
            if one is error or (is_wrapped and isinstance(one, StopIteration)):
                throw(one.with_traceback(place))
        if isinstance(error, StopIteration):
            raise RuntimeError("generator raised StopIteration") from error
        raise
    if count.values() != (1,):
        raise RuntimeError("generator didn't yield")
    return variables.values()


def _show(error: BaseException, context: BaseException | None) -> None:
    """Let the user's handlers see what was raised: its context, and a traceback of their frames."""
    error.__context__ = context  # to raise it once more has set another one
    # The exception, the one that was handled when it was raised, and so on.
    chain: list[BaseException] = []
    following: BaseException | None = error
    while following is not None and all(following is not one for one in chain):
        chain.append(following)
        following = following.__context__
    places = [(one, one.__traceback__) for one in chain]
    hide_own_frames(error)
    for one, place in places:  # never empty: a context may be in flight, and is known by its frames
        one.__traceback__ = one.__traceback__ or place


def _never_swallows(exit: Any) -> bool:
    """Whether an `__exit__` gives nothing but None and False: each exception goes on."""
    code = getattr(exit, "__code__", None)
    steps = [] if code is None else list(get_instructions(code))
    given = [
        step if step.opname == "RETURN_CONST" else before
        for before, step in pairwise(steps)
        if step.opname in ("RETURN_CONST", "RETURN_VALUE")
    ]
    constants = ("RETURN_CONST", "LOAD_CONST")
    return bool(given) and all(
        one.opname in constants and (one.argval is None or one.argval is False) for one in given
    )


@contextmanager
def handling(
    trace: Trace, classes: Callable[[], tuple[Any, ...]], has_finally: bool
) -> Iterator[None]:
    """The body of a `try` that stays Python's own: no exception can be carried to it."""
    own = [Handler(classes, is_staged=False)]
    if has_finally:
        own.insert(0, Handler(lambda: BaseException, is_staged=False, lets_pass=True))
    try:
        with under(trace, *own):
            yield
    except Exception as error:  # to tell refusals, which no handler of the user's may swallow
        if is_refusal(error):
            raise Refused(error) from None
        _show(error, error.__context__)
        raise


@contextmanager
def manager(trace: Trace, value: Any) -> Iterator[Any]:
    """A context manager whose `with` stays Python's own."""
    value = _required(known(trace, value))
    kind: Any = type(value)

    def ask(name: str, *args: Any) -> Any:
        own = own_method(trace, value, name)
        return getattr(kind, name)(value, *args) if own is None else call(trace, own, value, *args)

    exit = getattr(kind, "__exit__", None)
    is_harmless = is_library(kind.__module__) or not isinstance(exit, FunctionType)
    entered = ask("__enter__")
    every = Handler(lambda: BaseException, is_staged=False, lets_pass=_never_swallows(exit))
    try:
        with under(trace, *(() if is_harmless else (every,))):
            yield entered
    except BaseException as error:  # any: Python tells `__exit__` of each exception, Ctrl-C too
        # What the trace itself raises passes.
        is_ours = not is_thrown(trace, error) or is_refusal(error)
        if is_ours and not is_harmless:
            raise
        if not trace.truth(ask("__exit__", type(error), error, error.__traceback__)) or is_ours:
            raise
    else:
        ask("__exit__", None, None, None)


def swallowed(trace: Trace, jumped: Any, failed: bool) -> bool:
    """Whether a jump in `finally` swallows the exception in flight, if there is one."""
    error = sys.exc_info()[1]
    if not failed or error is None or not is_thrown(trace, error) or is_refusal(error):
        return False
    found = test_of(trace, jumped)
    if isinstance(found, bool):
        return found
    raise UnsupportedSyntax(
        "a jump in `finally` swallows an exception, and a tensor decides whether it does",
        why="the exception is raised while the Program is made, before the tensor is known",
        hint="catch the exception with `except`, and jump after the `try`",
    )


def raised(trace: Trace, error: Any) -> Any:
    """What `raise error` raises."""
    make = lambda one: call(trace, one) if isinstance(one, type) else one  # noqa: E731
    made = map_cases(trace, make, error)
    if type(made) is Union:
        raise_outcome(trace, made)
    # No others: an exception that is kept keeps what the frames hold which it has left.
    if isinstance(made, CODE_FAULTS) or not isinstance(made, Exception):
        trace.record.thrown.append(made)
    return made
