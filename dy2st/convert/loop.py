"""`while` and `for`: turns run in Python until a traced value decides on them."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dy2st.convert.asked import asked
from dy2st.convert.by_turns import is_by_turns, turns_of
from dy2st.convert.iterators import Generated, Held
from dy2st.convert.logical import convert_not
from dy2st.convert.staging import (
    is_staged_iterable,
    recorded,
    refuse_reread,
    stage_for,
    stage_for_case,
    stage_range,
    stage_take,
    stage_turn,
    stage_turn_of_range,
    stage_while,
)
from dy2st.convert.traced import any_traced, is_traced
from dy2st_runtime.errors import UnsupportedSyntax
from dy2st_runtime.ir import current_tracer, user_location
from dy2st_runtime.ir.choice import Choice

# A loop over a Python iterable is unrolled, also after a traced `break`: then it has no end of
# its own, so an endless iterable is refused.
UNROLL_LIMIT = 4096


def convert_while_loop(
    condition: Callable[..., Any], body: Callable[..., tuple[Any, ...]], variables: list[Any]
) -> Any:
    """Run `body` while `condition` holds; from the first traced condition on, stage the rest.

    >>> convert_while_loop(lambda a, x: a < 3, lambda a, x: (a + 1, x * 2), [0, 1])
    (3, 8)
    """
    mark = recorded()
    return convert_rest_of_while(condition, body, variables, mark, condition(*variables))


def convert_rest_of_while(
    condition: Callable[..., Any],
    body: Callable[..., tuple[Any, ...]],
    variables: list[Any],
    mark: int,
    pred: Any,
) -> Any:
    """The turns of a `while` from a condition `pred` on, recorded after `mark` operators.

    From the first traced condition on, the rest is staged.
    """
    values: Any = variables
    del variables
    while True:
        if pred is not True:
            pred = asked(pred)
            if is_traced(pred):
                return stage_while(condition, body, values, mark)
            if not pred:
                return values
        values = body(*values)
        mark = recorded()
        pred = condition(*values)


def convert_rest_of_for(
    items: Iterable[Any],
    condition: Callable[..., Any],
    body: Callable[..., tuple[Any, ...]],
    variables: list[Any],
) -> Any:
    """The turns of a `for` whose `break` became traced; the iterator gives the other items."""
    loop = _Turns(condition, body, variables)
    return _unroll(items, condition(*variables), loop, body)


def recorded_operators() -> Sequence[object] | None:
    """The operators recorded so far, a list that grows: its length is a mark; None outside."""
    tracer = current_tracer()
    return None if tracer is None else tracer.block.operators


def convert_for_loop(
    iterable: Any,
    condition: Callable[..., Any] | None,
    body: Callable[..., tuple[Any, ...]],
    variables: list[Any],
    run: Callable[..., Any] | None = None,
) -> Any:
    """Run `body(item, *variables)` for each item while `condition(*variables)` holds.

    `run` is what runs the body for some items of a generator expression.

    >>> convert_for_loop([1, 2], None, lambda item, x: (x + item,), [0])
    (3,)
    """
    run = body if run is None else run
    if is_staged_iterable(iterable):
        return _staged(iterable, _Turns(condition, body, variables), run)
    values: Any = variables
    items = held_iter(iterable)
    del iterable
    for item in items:
        values = run(item, *values)
        if condition is not None:
            go_on = condition(*values)
            if is_traced(go_on):
                return _unroll(items, go_on, _Turns(condition, body, values), run)
            if not go_on:
                break
    return values


@dataclass(frozen=True)
class _Turns:
    """A `for`: its condition, its body, and the values of its variables so far.

    It takes the items of a generator expression as a comprehension does (see `Gathered`).
    """

    condition: Callable[..., Any] | None
    body: Callable[..., Any]
    values: Any

    def also(self, item: Any) -> _Turns:
        """After a turn for one more item."""
        return replace(self, values=self.body(item, *self.values))

    def filtered(self, test: Any, then: Callable[[_Turns], _Turns]) -> _Turns:
        """What follows `if test`, or what there is."""
        if not is_traced(test):
            return then(self) if test else self

        def run(*values: Any) -> Any:
            return then(replace(self, values=values)).values

        return replace(self, values=stage_turn(test, self.body, self.values, run))

    def turns(self, iterable: Any, turn: Callable[[_Turns, Any], _Turns]) -> _Turns:
        """After what all items do, or those before a `break`."""

        def run(item: Any, *values: Any) -> Any:
            return turn(replace(self, values=values), item).values

        values = convert_for_loop(iterable, self.condition, self.body, self.values, run)
        return replace(self, values=values)


def _stops(condition: Callable[..., Any] | None) -> Callable[[Any], Any]:
    """Whether a `for` that goes on while `condition(*variables)` holds has ended."""
    if condition is None:
        return lambda taken: False
    return lambda taken: convert_not(condition(*taken))


def _staged(iterable: Any, loop: _Turns, run: Callable[..., Any]) -> Any:
    if type(iterable) is Generated:
        return loop.turns(iterable.iterable, iterable.turn).values
    if is_by_turns(iterable):
        take = stage_take(loop.body, loop.values, run)
        takes_all = loop.condition is None
        return turns_of(iterable, takes_all)(take, _stops(loop.condition), tuple(loop.values))
    if type(iterable) is not Choice:
        return stage_for(iterable, loop.condition, loop.body, loop.values, run)

    def of_case(case: Any, *values: Any) -> tuple[Any, ...]:
        return tuple(convert_for_loop(case, loop.condition, loop.body, [*values], run))

    return stage_for_case(iterable, of_case, loop.body, loop.values)


def held_iter(iterable: Any) -> Any:
    """`iter(iterable)`, or a `Held` if others may read on what it gives.

    >>> next(held_iter(iter([1, 2])))
    1
    """
    items = iter(iterable)
    return Held(items) if items is iterable else items


def _unroll(items: Iterable[Any], go_on: Any, loop: _Turns, run: Callable[..., Any]) -> Any:
    """The turns after a traced `break`: each runs under its condition."""
    if isinstance(items, Held):
        refuse_reread(loop.body, surely=isinstance(items.iterator, Held))
    assert loop.condition is not None
    values = loop.values
    for count, item in enumerate(items):
        if count == UNROLL_LIMIT:
            raise UnsupportedSyntax(
                f"a loop with a tensor-dependent `break` has more than {UNROLL_LIMIT} turns",
                at=user_location(),
                why="each turn over a Python iterable is written into the Program",
                hint="use `while`, or iterate over a tensor or over range() of a tensor",
            )
        if is_traced(go_on):
            values = stage_turn(go_on, loop.body, values, _turn(run, item))
        elif go_on:
            values = run(item, *values)
        else:
            break
        go_on = loop.condition(*values)
    return values


def _turn(run: Callable[..., Any], item: Any) -> Callable[..., Any]:
    # No partial(): what a branch may change is found through the closures of functions.
    return lambda *values: run(item, *values)


def convert_range(function: Any, *arguments: Any) -> tuple[Any, Any]:
    """The range over which a `for` runs, and the number of its turns.

    >>> convert_range(range, 2, 9, 3)
    (range(2, 9, 3), 3)
    """
    if function is not builtins.range:
        raise UnsupportedSyntax(
            "`range` was given another meaning after the function was converted",
            at=user_location(),
            hint="call it by another name",
        )
    if any_traced(*arguments):
        return stage_range(arguments)
    numbers = range(*arguments)
    step = numbers.step
    # Not len(): it fails beyond sys.maxsize, iteration does not.
    span = numbers.stop - numbers.start + (step - 1 if step > 0 else step + 1)
    return numbers, max(0, span // step)


def convert_turn(numbers: Any, turn: Any) -> Any:
    """The number of a turn of `convert_range`.

    >>> convert_turn(range(2, 9, 3), 1)
    5
    """
    if is_traced(turn) or not isinstance(numbers, range):
        return stage_turn_of_range(numbers, turn)
    return numbers.start + turn * numbers.step
