"""Branches that no statement asks for: for cases of a value, for checks, and for handlers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn, TypeAlias

from dy2st.convert.stage.branch import for_cases, known, proceed, running, settled, stage_if
from dy2st.convert.stage.outcome import Handler, is_caught, may_be_caught, under
from dy2st.convert.trace import Trace
from dy2st.convert.values.special import UNBOUND, UNBOUND_LOCAL, SymbolicSequence, Union
from dy2st_runtime.dims import Condition
from dy2st_runtime.errors import PlaceError
from dy2st_runtime.ir import ArrayType, F, Variable, apply, interpreting
from dy2st_runtime.ir.choice import Hole, Text
from dy2st_runtime.ir.definition import OperatorDefinition
from dy2st_runtime.ir.failures import raised_by
from dy2st_runtime.ir.kernel_errors import empty_words, ours_of


def has_union(values: Sequence[Any]) -> bool:
    """Whether one of some values is one of several."""
    for value in values:  # noqa: SIM110  twice as fast as any()
        if type(value) is Union:
            return True
    return False


def map_cases(trace: Trace, function: Callable[..., Any], *values: Any) -> Any:
    """`function(*values)` for each case of those that are one of several."""
    return for_cases(trace, function, values, "a value", read=_read)


def _read(trace: Trace, value: Any) -> Any:
    """A value for an operation: UnboundLocalError where its variable is unbound."""
    found = known(trace, value)
    if found is UNBOUND:
        name = value.name if type(value) is Union else ""
        raise UnboundLocalError(UNBOUND_LOCAL.format(repr(name) if name else "of this function"))
    return found


def must(trace: Trace, flag: Any, error: BaseException, of_cases: bool = False) -> None:
    """Raise an error, in a branch of its own, unless a bool holds; see `stage_if`."""

    def fails() -> NoReturn:
        raise error

    truth = trace.test_of(flag)
    if truth is False:
        fails()
    if truth is not True:
        stage_if(trace, truth, tuple, fails, (), (), of_cases)


def carry_check(trace: Trace, flag: Variable, error: BaseException) -> bool:
    """Whether an error is caught: then it is raised in a branch, unless a bool holds."""
    if not is_caught(trace, type(error)):
        return False
    must(trace, flag, error)
    return True


def check_place(trace: Trace, content: SymbolicSequence, index: Any, words: str = "index") -> None:
    """Raise what Python raises where a list of a length has no such place, if that is caught."""
    if not trace.handlers or not is_caught(trace, IndexError):
        return
    length = F.array_length(trace.tracer.local(content.arrays[0]))
    text = f"{content.kind.__name__} {words} out of range"
    if words == "pop":
        is_empty = type(index) is int and index in (0, -1)
        text = empty_words(content.kind) if is_empty else "pop index out of range"
    fits = F.logical_and(F.less_than(index, length), F.greater_equal(index, F.negative(length)))
    carry_check(trace, fits, IndexError(text))


def check_sizes(trace: Trace, condition: Condition, error: Exception) -> bool:
    """Whether an error is caught that sizes raise: then it is, where a condition does not hold."""
    if not trace.handlers or not may_be_caught(trace, type(error)):
        return False
    with interpreting(trace.tracer):  # a rule may be tried by another one
        return _carry_failure(trace, trace.tracer.number(condition), error)


def check_operator(
    trace: Trace,
    definition: OperatorDefinition,
    operands: Sequence[Variable],
    attributes: Mapping[str, Any],
) -> None:
    """Raise what an operator raises for the data that it is given, if that is caught."""
    if not trace.handlers or definition.raises is None:
        return
    if any(isinstance(one.type, ArrayType) for one in operands):  # `check_place` has asked
        return
    if raised_by(definition.name, operands, attributes) is None:
        return
    kinds = [kind for kind in map(ours_of, definition.raises) if may_be_caught(trace, kind)]
    if not kinds:
        return
    places = operands[_PLACES.get(definition.name, len(operands)) :]
    if places and not any(one.ndim for one in places):
        # Raise what Python raises where a tensor has no such element.
        for axis, place in zip(attributes["axes"], places, strict=True):
            size = operands[0].shape[axis]
            index = trace.tracer.local(place)
            fits = F.logical_and(F.less_than(index, size), F.greater_equal(index, -size))
            parts = "index ", Hole(index), " is out of bounds: the axis has the size ", Hole(size)
            _carry_failure(trace, fits, PlaceError(Text(parts)))
        return
    names = tuple(kind.__name__ for kind in kinds)
    given = tuple(attributes.items())
    found = apply("failure", *operands, operator=definition.name, attributes=given, kinds=names)
    for number, kind in enumerate(kinds, 1):
        words = f"{definition.name}: the values that it is given do not fit"
        _carry_failure(trace, F.not_equal(trace.tracer.local(found), number), kind(words))


_PLACES = {"index": 1, "index_put": 2}  # the first of the operands that are places


def _carry_failure(trace: Trace, flag: Variable, error: Exception) -> bool:
    trace.record.of_operators.append(error)
    return carry_check(trace, flag, error)


State: TypeAlias = "Sequence[Any]"


def throw(error: BaseException) -> NoReturn:
    """Raise an exception; `raise` would put the one that is handled here into its context."""
    context = error.__context__
    try:
        raise error
    finally:
        error.__context__ = context


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
    before = len(trace.state.paths)

    def fitting(error: BaseException) -> State:
        return handled(error) if handler.catches(type(error)) else throw(error)

    def caught(outcome: Any) -> State:
        return for_cases(trace, fitting, [outcome], names)  # type: ignore[no-any-return]

    try:
        with under(trace, handler), running(trace, before, handler) as end:
            end.results = tuple(body(*state))
        inside = len(trace.state.paths)
        if end.dead is None:
            left = end
            with running(trace, before) as end:
                found = caught(left.outcome) if left.results is None else after(*left.results)
                end.results = tuple(found)
        # Paths that `after` has opened first: what it raises is not for this handler.
        end = settled(trace, inside, end, None, names)
        return proceed(trace, settled(trace, before, end, caught, names), names)
    except BaseException:  # Ctrl-C too: no path of an attempt that failed may stay open
        trace.state.abandon(before)
        raise


def caught(
    trace: Trace, run: Callable[[], Any], kind: type[Exception], otherwise: Callable[[], Any]
) -> Any:
    """`run()`, or `otherwise()` where that raises an exception of a class, be it in a branch."""
    names = ("what is asked for",)
    handled = lambda error: (otherwise(),)  # noqa: E731
    after = lambda *found: found  # noqa: E731
    return attempt(trace, Handler(lambda: kind), lambda: (run(),), after, handled, (), names)[0]
