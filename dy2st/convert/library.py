"""`enumerate`, `map` and `filter` where a tensor decides on the items: as generators by turns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from dy2st.convert.by_turns import is_by_turns, is_decided_at, note_decided
from dy2st.convert.traced import is_traced
from dy2st.transpiler import REASONS
from dy2st_runtime.errors import Location, UnsupportedSyntax
from dy2st_runtime.ir import current_tracer, user_location

Function = Callable[..., Any]
Turned = Callable[[Any], Any]


def _enumerate(items: Iterable[Any], start: Any = 0) -> Iterator[Any]:
    number = start
    for item in items:
        yield number, item
        number = number + 1


def _map(function: Function, items: Iterable[Any]) -> Iterator[Any]:
    for item in items:
        yield function(item)


def _filter(function: Function | None, items: Iterable[Any]) -> Iterator[Any]:
    for item in items:
        if item if function is None else function(item):
            yield item


def table(convert: Turned, turned: Turned, known: dict[int, Function]) -> dict[int, Function]:
    """By identity: what is called instead, on top of what is known; `turned` gives a generator
    function the form that runs its consumer."""
    return {
        id(enumerate): _of_generator(known.get(id(enumerate), enumerate), turned, _enumerate, 0),
        id(map): _of_generator(known[id(map)], turned, _map, 1),
        id(filter): _filtering(known[id(filter)], convert, turned),
    }


def _of_generator(plainly: Function, turned: Turned, form: Function, place: int) -> Function:
    def call(*arguments: Any, **options: Any) -> Any:
        if len(arguments) > place and is_by_turns(arguments[place]) and len(arguments) <= 2:
            return turned(form)(*arguments, **options)
        return plainly(*arguments, **options)

    return call


def _filtering(plainly: Function, convert: Turned, turned: Turned) -> Function:
    def call(*arguments: Any, **options: Any) -> Any:
        if current_tracer() is None or len(arguments) != 2 or options:
            return plainly(*arguments, **options)
        at = user_location()
        function, items = arguments
        if is_decided_at(at) or is_by_turns(items):
            return turned(_filter)(function, items)
        return plainly(_checked(convert(function), at), items)

    return call


def _checked(function: Function | None, at: Location | None) -> Function:
    """A test that says where a tensor decides, for the trace to be begun anew."""

    def test(item: Any) -> Any:
        answer = item if function is None else function(item)
        if is_traced(answer):
            note_decided(at)
            raise UnsupportedSyntax(
                "filter() cannot depend on a tensor",
                at=at,
                why=REASONS["comprehension-lazy"].why,
                hint=REASONS["comprehension-lazy"].hint,
            )
        return answer

    return test
