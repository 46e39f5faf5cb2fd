"""An exception that a branch of a called function raises, and a `try` of a caller catches.

Python unwinds the frames between the two; a Program has none. Where a trace fails for that reason,
it is begun anew: the functions on the way get another form (see
`transpiler/rewrites/relays.py`), in which each relays the exception to its caller as its result.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from types import CodeType, FunctionType, MethodType
from typing import Any

from dy2st.convert.catchers import refuse_if_leaving
from dy2st.convert.caught import Place, Relayed, convert_raised, same_error
from dy2st.convert.choices import is_case, spread
from dy2st.transpiler import MOST_RELAYED, Relays, lines_of
from dy2st_runtime.errors import UnsupportedSyntax
from dy2st_runtime.ir import user_location
from dy2st_runtime.ir.choice import Choice
from dy2st_runtime.nn.layer import Layer

Call = Callable[[Any], Any]


@dataclass
class Passed:
    """The lines that exceptions have passed, by file, and how many have passed each."""

    lines: dict[str, dict[int, int]] = field(default_factory=dict)
    is_new: bool = False

    def add(self, path: Sequence[tuple[str, int]]) -> bool:
        """Note a path; False if all of its lines are known, and nothing else is new."""
        if any(line not in self.lines.get(file, ()) for file, line in path):
            for file, line in dict.fromkeys(path):
                self.need(file, line, self.lines.get(file, {}).get(line, 0) + 1)
        was_new, self.is_new = self.is_new, False
        return was_new

    def need(self, file: str, line: int, count: int) -> None:
        """Note that so many exceptions may pass a line."""
        known = self.lines.setdefault(file, {})
        self.is_new = self.is_new or known.get(line, 0) < count <= MOST_RELAYED
        known[line] = count


class _Mode(threading.local):
    passed: Passed | None = None
    # Whom a caller is calling that takes its exceptions as results, and where its `try` stands.
    called: tuple[Any, Place] | None = None


_mode = _Mode()


@contextmanager
def relaying(passed: Passed) -> Iterator[None]:
    """Inside, the functions that have these lines relay what is raised or passes there."""
    outer, _mode.passed = _mode.passed, passed
    try:
        yield
    finally:
        _mode.passed = outer


def are_relaying() -> bool:
    """Whether some functions relay exceptions to their callers."""
    return _mode.passed is not None and bool(_mode.passed.lines)


def relays_of(code: CodeType) -> Relays | None:
    """Where a function relays exceptions, if it does."""
    known = None if _mode.passed is None else _mode.passed.lines.get(code.co_filename)
    if not known:
        return None
    own = lines_of(code)
    counts = frozenset((line, count) for line, count in known.items() if line in own)
    return Relays(counts) if counts else None


class Relaying:
    """A function whose caller takes its exceptions as results."""

    __slots__ = ("convert_call", "function", "place")

    def __init__(self, place: Place, function: Any, convert_call: Call) -> None:
        """The caller's `try` stands at `place`."""
        self.place, self.function, self.convert_call = place, function, convert_call

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """The function's result."""
        if type(self.function) is Choice:
            return spread(lambda case: self._of(case)(*arguments, **keywords), self.function)
        converted = self.convert_call(self.function)
        _mode.called = (_key_of(self.function), self.place)
        try:
            return converted(*arguments, **keywords)
        finally:
            _mode.called = None

    def _of(self, function: Any) -> Relaying:
        return Relaying(self.place, function, self.convert_call)


def _key_of(function: Any) -> tuple[str, str, int] | None:
    """The file, name and first line of the Python function that is called first."""
    while not isinstance(function, FunctionType):
        if isinstance(function, MethodType):
            function = function.__func__
        elif isinstance(function, partial):
            function = function.func
        elif "__wrapped__" in getattr(function, "__dict__", ()):  # a function with @to_static
            function = function.__wrapped__
        else:
            kind: Any = type(function)
            is_layer = isinstance(function, Layer) and kind.__call__ is Layer.__call__
            function = kind.forward if is_layer else inspect.getattr_static(kind, "__call__", None)
            break
    code = getattr(function, "__code__", None)
    return None if code is None else (code.co_filename, code.co_name, code.co_firstlineno)


def relaying_call(convert_call: Call) -> Callable[[Place | None, Any], Any]:
    """`convert_relaying` for this `convert_call`."""

    def convert_relaying(place: Place | None, function: Any) -> Any:
        """What to call instead of a function that may relay an exception to a `try` at `place`."""
        return function if place is None else Relaying(place, function, convert_call)

    return convert_relaying


def convert_heard(file: str, name: str, line: int) -> Place | None:
    """At the begin of a function: where the `try` stands that hears of its exceptions, if any."""
    called, _mode.called = _mode.called, None
    if called is None or called[0] != (file, name, line):
        return None
    return Place(called[1].block)


def convert_relayed(place: Place, site: str, error: Any) -> Relayed:
    """The result of a function that raises this."""
    convert_raised(place, site, error)
    made = place.errors[site]
    refuse_if_leaving(type(made), Relaying.__call__.__code__)
    relayed: Relayed = place.relayed.setdefault(site, Relayed(made))
    return relayed


def convert_has_raised(result: Any, index: int, is_last: bool) -> Any:
    """Whether a called function has raised, and that the exception of this number.

    >>> convert_has_raised(3, 0, False)
    False
    """
    found = _relayed_in(result)
    if is_last and len(found) > index + 1:
        at = user_location()
        if _mode.passed is not None and at is not None:
            _mode.passed.need(at.file, at.line, len(found))  # in the next trace
        raise UnsupportedSyntax(
            f"a called function raises one of {len(found)} exceptions, and a tensor decides which",
            at=at,
            why="each needs a branch of its own in the `try` that may catch it",
            hint="raise one exception with one text, or call the function outside of the `try`",
        )
    if len(found) <= index:
        return False
    return is_case(result, found[index]) if isinstance(result, Choice) else True


def convert_relayed_error(result: Any, index: int) -> BaseException:
    """The exception of this number."""
    if not isinstance(result, Choice):
        return result.error  # type: ignore[no-any-return]
    return result.cases[_relayed_in(result)[index][0]].error  # type: ignore[no-any-return]


def convert_result(result: Any) -> Any:
    """The result of a called function that has not raised.

    >>> convert_result(3)
    3
    """
    found = _relayed_in(result)
    if not found:
        return result
    good = [case for case in result.cases if not isinstance(case, Relayed)]
    if len(good) == 1:
        return good[0]
    # The tag never says Relayed here: any other case may stand for that.
    cases = [good[0] if isinstance(case, Relayed) else case for case in result.cases]
    return Choice(result.tag, tuple(cases))


def _relayed_in(result: Any) -> list[list[int]]:
    """The cases that are exceptions, equal ones together."""
    cases = result.cases if type(result) is Choice else (result,)
    found: list[list[int]] = []
    for index, case in enumerate(cases):
        if type(case) is Relayed:
            known = (one for one in found if same_error(cases[one[0]].error, case.error))
            same = next(known, None)
            if same is None:
                found.append([index])
            else:
                same.append(index)
    return found
