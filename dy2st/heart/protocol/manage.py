"""`with`, `try` and `raise`.

What raises in a branch that a tensor decides on opens a path: all that follows runs in the other
branch, until the path is closed where a handler may catch the exception. There the handler runs in
the branch that has raised, and both are joined.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FunctionType
from typing import Any, NoReturn

from dy2st.convert.call import is_ignored_module
from dy2st.heart.protocol.calls import call
from dy2st.heart.protocol.control import test_of
from dy2st.heart.stage.branch import proceed, run, settled, stage_if
from dy2st.heart.stage.cases import is_case, known
from dy2st.heart.stage.outcome import Handler, Refused, is_refusal
from dy2st.heart.trace import Trace
from dy2st.heart.values.special import Union

State = Sequence[Any]
Caught = Callable[[Any], State]


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
        for classes, handler in handlers:
            try:
                raise error
            except classes():
                return handler(error, *state)
            except type(error):
                continue
        raise error

    def finished(error: BaseException) -> NoReturn:
        try:
            raise error
        finally:
            assert final is not None
            final(*state)

    def inner(*values: Any) -> State:
        if not handlers:
            return body(*values)
        handler = Handler(lambda: tuple(classes() for classes, _ in handlers))
        return _attempt(trace, handler, body, orelse, handled, values, names)

    if final is None:
        return inner(*state)
    every = Handler(lambda: BaseException)
    return _attempt(trace, every, inner, final, finished, state, names)


def _attempt(
    trace: Trace,
    handler: Handler,
    body: Callable[..., State],
    after: Callable[..., State],
    handled: Callable[[BaseException], State],
    state: State,
    names: Sequence[str],
) -> State:
    """Run `after(*body(*state))`; where the body raises what the handler catches, `handled`."""
    before = len(trace.opened)
    try:
        return _attempted(trace, handler, body, after, handled, state, names)
    except BaseException:
        trace.abandon(before)
        raise


def _attempted(
    trace: Trace,
    handler: Handler,
    body: Callable[..., State],
    after: Callable[..., State],
    handled: Callable[[BaseException], State],
    state: State,
    names: Sequence[str],
) -> State:
    before = len(trace.opened)
    trace.handlers.append(handler)
    try:
        end = run(trace, lambda: body(*state), before, handler)
    finally:
        trace.handlers.pop()
    inside = len(trace.opened)

    def caught(outcome: Any) -> State:
        return _each(trace, outcome, handled, names)

    if end.results is not None:
        results = end.results
        end = run(trace, lambda: after(*results), before)
    elif end.outcome is not None:
        outcome = end.outcome
        end = run(trace, lambda: caught(outcome), before)
    end = settled(trace, inside, end, None, names)
    return proceed(trace, settled(trace, before, end, caught, names), names)


def _each(
    trace: Trace, outcome: Any, function: Callable[[BaseException], State], names: Sequence[str]
) -> State:
    """What a function gives for an exception, or for each that it can be."""
    outcome = known(trace, outcome)
    if type(outcome) is not Union:
        return function(outcome)
    pred = is_case(trace, outcome, trace.cases_of(outcome)[0])
    again = lambda: _each(trace, outcome, function, names)  # noqa: E731
    return stage_if(trace, pred, again, again, (), names)


def with_(
    trace: Trace, value: Any, body: Callable[..., State], state: State, names: Sequence[str]
) -> State:
    """What the variables hold after `with value as entered: body(entered, *state)`."""
    value = known(trace, value)
    if not _is_traced(value):
        with manager(trace, value) as entered:
            return body(entered, *state)
    exit = type(value).__exit__
    entered = call(trace, type(value).__enter__, value)

    def after(*results: Any) -> State:
        call(trace, exit, value, None, None, None)
        return results

    def failed(error: BaseException) -> State:
        try:
            raise error
        except BaseException:
            found = call(trace, exit, value, type(error), error, error.__traceback__)
            swallows = test_of(trace, found)
            if swallows is False:
                raise
            if swallows is True:
                return state
            return stage_if(trace, swallows, lambda: state, lambda: _raise(error), (), names)

    every = Handler(lambda: BaseException)
    return _attempt(trace, every, lambda *s: body(entered, *s), after, failed, state, names)


def _raise(error: BaseException) -> NoReturn:
    raise error


def _is_traced(value: Any) -> bool:
    """Whether a manager can be left on several paths: its methods are the user's."""
    kind = type(value)
    return type(kind.__exit__) is FunctionType and not is_ignored_module(kind.__module__)


@contextmanager
def handling(
    trace: Trace, classes: Callable[[], tuple[Any, ...]], has_finally: bool
) -> Iterator[None]:
    """The body of a `try` that stays Python's own: no exception can be carried to it."""
    caught = (lambda: BaseException) if has_finally else classes
    trace.handlers.append(Handler(caught, is_staged=False))
    try:
        yield
    except Exception as error:
        if is_refusal(error):
            raise Refused(error) from None
        raise
    finally:
        trace.handlers.pop()


class manager:
    """A context manager whose `with` stays Python's own."""

    def __init__(self, trace: Trace, value: Any):
        """Take the manager of the user's."""
        self._trace, self._value = trace, known(trace, value)
        kind = type(self._value)
        self._is_harmless = is_ignored_module(kind.__module__) or not isinstance(
            getattr(kind, "__exit__", None), FunctionType
        )

    def __enter__(self) -> Any:
        """Enter it."""
        entered = self._call("__enter__")
        if not self._is_harmless:
            self._trace.handlers.append(Handler(lambda: BaseException, is_staged=False))
        return entered

    def __exit__(self, kind: Any, error: Any, place: Any) -> Any:
        """Leave it; what the trace itself raises passes."""
        if not self._is_harmless:
            self._trace.handlers.pop()
        is_ours = error is not None and (not isinstance(error, Exception) or is_refusal(error))
        if is_ours and not self._is_harmless:
            return False
        found = self._call("__exit__", kind, error, place)
        return False if is_ours else found

    def _call(self, name: str, *args: Any) -> Any:
        own = getattr(type(self._value), name)
        if type(own) is FunctionType:
            return call(self._trace, own, self._value, *args)
        return own(self._value, *args)


def raised(trace: Trace, error: Any) -> Any:
    """What `raise error` raises."""
    return call(trace, error) if isinstance(error, type) else error


__all__ = ["handling", "manager", "raised", "try_", "with_"]
