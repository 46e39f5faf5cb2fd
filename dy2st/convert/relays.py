"""An exception that a branch of a called function raises, and a `try` of a caller catches.

Python unwinds the frames between the two; a Program has none. Where a trace fails for that reason,
it is begun anew: the functions on the way get another form (see
`transpiler/rewrites/relays.py`), in which each relays the exception to its caller as its result.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from types import CodeType, FunctionType, MethodType
from typing import Any

from dy2st.convert.catchers import refuse_if_leaving, refused
from dy2st.convert.caught import Place, Relayed, convert_raised, same_error
from dy2st.convert.choices import is_case, spread
from dy2st.transpiler import MOST_RELAYED, Relays, lines_of
from dy2st_runtime.errors import UnsupportedSyntax
from dy2st_runtime.ir import user_location
from dy2st_runtime.ir.choice import Choice
from dy2st_runtime.nn.layer import Layer
from dy2st_runtime.thread_state import ThreadState

Call = Callable[[Any], Any]


# How often a trace that is begun anew meets an exception before it stops: its loop may have no end.
_MOST_NOTED = 100


@dataclass
class Passed:
    """The lines that exceptions pass, by file, and how many pass each."""

    lines: dict[str, dict[int, int]] = field(default_factory=dict)
    # What a trace has met: known when the next one begins.
    _met: list[tuple[str, int, int]] = field(default_factory=list)
    _left: int = _MOST_NOTED

    @property
    def is_new(self) -> bool:
        """Whether the trace is to be begun anew."""
        return bool(self._met)

    def begin(self) -> None:
        """A trace begins."""
        for file, line, count in self._met:
            known = self.lines.setdefault(file, {})
            known[line] = max(count, known.get(line, 0))
        self._met, self._left = [], _MOST_NOTED

    def note(self, path: Sequence[tuple[str, int]]) -> bool:
        """An exception passes these lines; False if the trace need not go on."""
        new = [(file, line, 1) for file, line in path if line not in self.lines.get(file, ())]
        self._met += new
        self._left -= 1
        return bool(new) and self._left > 0

    def need(self, file: str, line: int, count: int) -> bool:
        """So many exceptions pass a line; False if that is known, or too many."""
        is_new = self.lines.get(file, {}).get(line, 0) < count <= MOST_RELAYED
        if is_new:
            self._met.append((file, line, count))
        return is_new


class _Mode(ThreadState):
    passed: Passed | None = None
    # Whom a caller is calling that takes its exceptions as results, and where its `try` stands.
    called: tuple[Any, Place] | None = None


_mode = _Mode()


@contextmanager
def relaying(passed: Passed) -> Iterator[None]:
    """Inside, the functions that have these lines relay what is raised or passes there."""
    outer, _mode.passed = (_mode.passed, refused.note), passed
    refused.note = passed.note
    passed.begin()
    try:
        yield
    finally:
        _mode.passed, refused.note = outer


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
    if is_last and len(found) > index + 1 and not _comes_anew(len(found)):
        raise UnsupportedSyntax(
            f"a called function raises one of {len(found)} exceptions, and a tensor decides which",
            at=user_location(),
            why="each needs a branch of its own in the `try` that may catch it",
            hint="raise one exception with one text, or call the function outside of the `try`",
        )
    if len(found) <= index:
        return False
    return is_case(result, found[index]) if isinstance(result, Choice) else True


def _comes_anew(count: int) -> bool:
    """Whether a trace begins anew for so many exceptions at this line."""
    at, passed = user_location(), _mode.passed
    return passed is not None and at is not None and passed.need(at.file, at.line, count)


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
