"""Code that may raise what a handler catches, and what goes on where it has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from dy2st.convert.stage.branch import proceed, run, settled, stage_if
from dy2st.convert.stage.cases import is_case, known
from dy2st.convert.stage.outcome import Handler, under
from dy2st.convert.trace import Trace
from dy2st.convert.values.special import Union

State: TypeAlias = "Sequence[Any]"


def attempt(
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

    def fitting(error: BaseException) -> State:
        if handler.catches(type(error)):
            return handled(error)
        # `raise` would put the exception that is being handled here into its context.
        context = error.__context__
        try:
            raise error
        finally:
            error.__context__ = context

    def caught(outcome: Any) -> State:
        return each(trace, outcome, fitting, names)

    try:
        with under(trace, handler):
            end = run(trace, lambda: body(*state), before, handler)
        inside = len(trace.opened)
        if end.results is not None:
            results = end.results
            end = run(trace, lambda: after(*results), before)
        elif end.outcome is not None:
            outcome = end.outcome
            end = run(trace, lambda: caught(outcome), before)
        # Paths that `after` has opened first: what it raises is not for this handler.
        end = settled(trace, inside, end, None, names)
        return proceed(trace, settled(trace, before, end, caught, names), names)
    except BaseException:  # Ctrl-C too: no path of an attempt that failed may stay open
        trace.abandon(before)
        raise


def each(
    trace: Trace, outcome: Any, function: Callable[[BaseException], State], names: Sequence[str]
) -> State:
    """What a function gives for an exception, or for each that it can be."""
    outcome = known(trace, outcome)
    if type(outcome) is not Union:
        return function(outcome)
    pred = is_case(trace, outcome, trace.cases_of(outcome)[0])
    again = lambda: each(trace, outcome, function, names)  # noqa: E731
    return stage_if(trace, pred, again, again, (), names, of_cases=True)


def caught(
    trace: Trace, run: Callable[[], Any], kind: type[Exception], otherwise: Callable[[], Any]
) -> Any:
    """`run()`, or `otherwise()` where that raises an exception of a class, be it in a branch."""
    names = ("what is asked for",)
    handled = lambda error: (otherwise(),)  # noqa: E731
    after = lambda *found: found  # noqa: E731
    return attempt(trace, Handler(lambda: kind), lambda: (run(),), after, handled, (), names)[0]
