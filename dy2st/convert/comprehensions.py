"""Comprehensions while a function is traced: what is gathered goes from step to step.

It is a Python list as long as Python decides on every item. From the first decision of the Program
on it is a list of the Program; a sum or the answer of `any` and `all` is a value by then.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from dy2st.convert.builtins_ import BUILTINS
from dy2st.convert.by_turns import Run, is_by_turns, turns_of
from dy2st.convert.choices import spread
from dy2st.convert.iterators import Generated, Held, is_iterator
from dy2st.convert.logical import convert_and, convert_not, convert_or
from dy2st.convert.loop import UNROLL_LIMIT
from dy2st.convert.staging import (
    is_staged_iterable,
    only_tensors,
    stage_append,
    stage_cast,
    stage_gathering,
    stage_gathering_loop,
    stage_list,
)
from dy2st.convert.traced import is_traced
from dy2st_runtime.errors import UnsupportedSyntax
from dy2st_runtime.ir import current_tracer, user_location
from dy2st_runtime.ir.choice import Choice


@dataclass(frozen=True)
class Gathered:
    """What a comprehension has gathered so far.

    kind: list, sum, any or all.
    value: a Python list for list and sum while Python decides, else the list, sum or answer.
    """

    kind: Callable[..., Any]
    value: Any
    start: Any = 0

    def staged(self) -> Gathered:
        """The same, as what the branches of a Program can join."""
        if not isinstance(self.value, list):
            return self
        if self.kind is builtins.list:
            return replace(self, value=stage_list(self.value))
        return replace(self, value=self.total())

    def total(self) -> Any:
        """The sum so far."""
        whole = isinstance(self.value, list)
        return BUILTINS[id(builtins.sum)](self.value, self.start) if whole else self.value

    def decided(self) -> Any:
        """Whether no later item can change the answer."""
        if self.kind is builtins.any:
            return self.value
        return convert_not(self.value) if self.kind is builtins.all else False

    def also(self, value: Any) -> Gathered:
        """With one more item."""
        if self.kind in (builtins.any, builtins.all):
            combine = convert_or if self.kind is builtins.any else convert_and
            truth = stage_cast(bool, value) if is_traced(value) else bool(value)
            return replace(self, value=combine(self.value, lambda: truth))
        if isinstance(self.value, list):
            self.value.append(value)
            return self
        if isinstance(self.value, Choice) and self.kind is builtins.list:
            return replace(self, value=operator.add(self.value, [value]))
        if self.kind is builtins.sum:
            return replace(self, value=self.value + value)
        return replace(self, value=stage_append(self.value, only_tensors([value])[0]))

    def filtered(self, test: Any, then: Step) -> Gathered:
        """What follows `if test`, or what there is."""
        if not is_traced(test):
            return then(self) if test else self
        first = self.staged()

        def taken(value: Any) -> Any:
            return then(replace(first, value=value)).staged().value

        return replace(first, value=stage_gathering(test, taken, first.value))

    def turns(self, iterable: Any, turn: Turn) -> Gathered:
        """After all items, or after the one that decides."""
        if type(iterable) is Choice:
            return replace(self, value=spread(lambda case: _of_case(self, case, turn), iterable))
        inner = iterable.iterator if type(iterable) is Held else iterable
        if is_by_turns(inner):
            takes_all = self.kind not in (builtins.any, builtins.all)
            return self._by_turns(turns_of(inner, takes_all), turn)
        if is_staged_iterable(iterable):
            return self._staged_turns(iterable, turn)
        return self if self.decided() is True else _unrolled(self, iterable, turn)

    def _by_turns(self, run: Run, turn: Turn) -> Gathered:
        first = self.staged()

        def take(value: Any, item: Any) -> Any:
            return turn(replace(first, value=value), item).staged().value

        def stops(value: Any) -> Any:
            return replace(first, value=value).decided()

        return replace(first, value=run(take, stops, first.value))

    def _staged_turns(self, iterable: Any, turn: Turn) -> Gathered:
        first = self.staged()

        def staged_turn(item: Any, value: Any) -> Any:
            return turn(replace(first, value=value), item).staged().value

        def go_on(value: Any) -> Any:
            return convert_not(replace(first, value=value).decided())

        stops = go_on if self.kind in (builtins.any, builtins.all) else None
        value = stage_gathering_loop(iterable, stops, staged_turn, first.value)
        return replace(first, value=value)


Step = Callable[[Gathered], Gathered]
Turn = Callable[[Gathered, Any], Gathered]

_STARTS: dict[Any, Callable[[], Any]] = {
    list: list,
    sum: list,
    any: lambda: False,
    all: lambda: True,
}


def convert_untraced() -> bool:
    """Whether nothing is traced, so that Python decides everything.

    >>> convert_untraced()
    True
    """
    return current_tracer() is None


def convert_held(iterable: Any) -> Any:
    """What a comprehension iterates over, where it is a variable and not made for it.

    >>> convert_held([1, 2])
    [1, 2]
    """
    return Held(iterable) if is_iterator(iterable) else iterable


def convert_comprehension(function: Any, iterable: Any, turn: Turn, *start: Any) -> Any:
    """`[... for ...]`, or the list, sum, any or all of a generator expression.

    >>> convert_comprehension(list, [1, 2], lambda gathered, item: gathered.also(item * 2))
    [2, 4]
    """
    if function not in _STARTS:
        raise UnsupportedSyntax(
            "a builtin was given another meaning after the function was converted",
            at=user_location(),
            hint="call it by another name",
        )
    gathered = Gathered(function, _STARTS[function](), *start).turns(iterable, turn)
    return gathered.total() if function is builtins.sum else gathered.value


def convert_list(*arguments: Any) -> Any:
    """`list(...)`: of an iterable of the Program a list of the Program.

    >>> convert_list("ab")
    ['a', 'b']
    """
    if len(arguments) == 1 and is_staged_iterable(arguments[0]):
        return convert_comprehension(list, arguments[0], convert_gathered)
    return list(*arguments)


def _consuming(function: Callable[..., Any]) -> Callable[..., Any]:
    """A builtin that takes all items, or those up to the one that decides."""
    plainly = BUILTINS[id(function)]

    def convert(*arguments: Any, **options: Any) -> Any:
        if not arguments or not is_by_turns(arguments[0]):
            return plainly(*arguments, **options)
        items, *others = arguments
        if function in _STARTS and not options:
            return convert_comprehension(function, items, convert_gathered, *others)
        gathered = convert_comprehension(list, items, convert_gathered)
        return plainly(gathered, *others, **options)

    return convert


CONSUMING: dict[int, Callable[..., Any]] = {
    id(function): _consuming(function)
    for function in (sum, any, all, max, min, sorted, tuple, set, frozenset)
}
"""Builtins, by identity, that consume what a generator function gives."""


def _of_case(gathered: Gathered, case: Any, turn: Turn) -> Any:
    """What is gathered if the iterable is this one."""
    value = [*gathered.value] if isinstance(gathered.value, list) else gathered.value
    gathered = replace(gathered, value=value).turns(case, turn)
    return gathered.total() if gathered.kind is builtins.sum else gathered.value


def _unrolled(gathered: Gathered, iterable: Any, turn: Turn) -> Gathered:
    count = 0
    for item in iterable:
        decided = gathered.decided()
        if is_traced(decided):
            if isinstance(iterable, Held):
                raise _read_on()
            count += 1
            gathered = gathered.filtered(
                convert_not(decided),
                lambda now: turn(now, item),  # noqa: B023
            )
        else:
            gathered = turn(gathered, item)
        if gathered.decided() is True:
            break
        if count > UNROLL_LIMIT:
            raise _endless()
    return gathered


def convert_filter(gathered: Any, test: Any, then: Step) -> Any:
    """`if test` of a comprehension: what follows it, or what there is."""
    return gathered.filtered(test, then)


def convert_gathered(gathered: Any, value: Any) -> Any:
    """What is gathered, and one more item."""
    return gathered.also(value)


def convert_turns(gathered: Any, iterable: Any, turn: Turn) -> Any:
    """What is gathered after all items, or after the one that decides."""
    return gathered.turns(iterable, turn)


def convert_generated(iterable: Any, turn: Turn) -> Generated:
    """The generator expression over which a `for` runs."""
    return Generated(iterable, turn)


def _read_on() -> UnsupportedSyntax:
    return UnsupportedSyntax(
        "any() or all() that a tensor decides takes items of an iterator that others may read on",
        at=user_location(),
        why="how far it has come would be known only when the Program runs",
        hint="take the items before: items = list(...)",
    )


def _endless() -> UnsupportedSyntax:
    return UnsupportedSyntax(
        f"any() or all() looks at more than {UNROLL_LIMIT} items",
        at=user_location(),
        why="a tensor decides where it ends, and each item is written into the Program",
        hint="use `while`, or iterate over a tensor or over range() of a tensor",
    )
