"""`while` and `for`: Python's where what decides is known, else operators of the Program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

from dy2st.convert.kinds.iterators import of_list, taken
from dy2st.convert.protocol.generators import push_loop
from dy2st.convert.protocol.ifelse import test_of
from dy2st.convert.protocol.iteration import items_or_source, loop_by_index, next_of
from dy2st.convert.stage.branch import stage_if
from dy2st.convert.stage.cases import is_case, known
from dy2st.convert.stage.loop import stage_while
from dy2st.convert.stage.outcome import staging
from dy2st.convert.trace import Remaker, Source, Trace, own_method
from dy2st.convert.values.special import Generated, Indexed, SymbolicSequence, Union
from dy2st_runtime.errors import UnsupportedSyntax
from dy2st_runtime.ir import user_location

_MOST_RAISES = 3
_MOST_ITERATIONS = 4096  # of a loop over things of Python that a tensor leaves


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
    for iteration in count():
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
        return spread_loop(trace, iterable, test, body, state, names)
    items, source = items_or_source(trace, iterable)
    if source is not None:
        return push_loop(trace, source, test, body, state)
    if type(items) is Indexed:
        iterations, *found = loop_by_index(trace, items, test, body, state, names)
        taken(trace, iterable, iterations)
        return found
    # Of what a loop has left, somebody may see that one more item was taken.
    is_seen = type(iterable) is Generated or hasattr(type(iterable), "__next__")
    asks_first = test is None or is_seen
    asks_first = asks_first or own_method(trace, iterable, "__iter__", "__getitem__") is not None
    rest = iter(next_of(trace, items))
    end = trace.tracer.growth.unrolling(trace.tracer.block)
    for iteration in count():
        if type(iterable) is list and type(trace.content(iterable)) is SymbolicSequence:
            # The body has put something into the list, or not, as a tensor decides.
            longer = of_list(trace, iterable)
            return loop_by_index(trace, longer, test, body, state, names, iteration)[1:]
        truth = test is None or not asks_first or test_of(trace, test(*state))
        item = _END if truth is False else next(rest, _END)
        if item is not _END and test is not None and not asks_first:
            truth = test_of(trace, test(*state))
        if item is _END or truth is False:
            end(trace.tracer.block, iteration)
            return state
        if truth is True:
            state = body(item, *state)
            continue
        if iteration > _MOST_ITERATIONS:
            raise UnsupportedSyntax(
                "a tensor leaves a loop over something of Python that has more than "
                f"{_MOST_ITERATIONS} items",
                at=user_location(),
                why="each iteration becomes a part of the Program",
                hint="loop over a tensor or over range() of a traced number, or use `while`",
            )
        # A tensor may have left a loop over an iterator: nobody knows what is left of it.
        if hasattr(type(iterable), "__next__") and trace.origin(iterable, Source) is None:
            left = Source(iterable, lambda _: None, is_left=True)
            trace.origins[id(iterable)] = iterable, left
        iterate = lambda *values, item=item: body(item, *values)  # noqa: E731
        with staging(trace, "for"):
            state = stage_if(trace, truth, iterate, lambda *values: values, state, names)
    raise AssertionError("count() does not end")


_END = object()


def spread_loop(
    trace: Trace,
    iterable: Union,
    test: Callable[..., Any] | None,
    body: Callable[..., Sequence[Any]],
    state: Sequence[Any],
    names: Sequence[str],
) -> Sequence[Any]:
    """A loop over one of several things, or an iterator over them: made in the branch of each."""
    value = known(trace, iterable)
    if type(value) is not Union:
        return for_(trace, value, test, body, state, names)
    make, parts = trace.origin(value, Remaker) or (lambda one: one, (value,))
    trace.origins.pop(id(value), None)

    def again(*values: Any) -> Sequence[Any]:
        now = [known(trace, part) for part in parts]
        union = next((part for part in now if type(part) is Union), None)
        if union is None:
            return for_(trace, make(*now), test, body, values, names)
        pred = is_case(trace, union, trace.cases_of(union)[0])
        return stage_if(trace, pred, again, again, values, names)

    return again(*state)
