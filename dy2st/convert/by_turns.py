"""Generator functions whose items a tensor decides: they run what consumes them, item by item.

Python runs a generator and its consumer by turns, each in its own frame; a Program has no such
frames. Where a trace fails for that reason, it is begun anew with the generator function, or
generator expression, in another form (see `transpiler/rewrites/turns.py`), which a `for`, a
comprehension or `list` of what such a function gives makes use of.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from types import CodeType, FunctionType, GeneratorType
from typing import Any

from dy2st.transpiler import REASONS, lines_of
from dy2st_runtime.by_identity import ByIdentity
from dy2st_runtime.errors import Location, UnsupportedSyntax
from dy2st_runtime.ir import user_location
from dy2st_runtime.thread_state import ThreadState

Take = Callable[[Any, Any], Any]
Stops = Callable[[Any], Any]
Run = Callable[[Take, Stops, Any], Any]
"""`run(take, stops, taken)`: what a consumer has `taken` after all items, or until it stops."""


# Of the refusals that this form avoids.
_REASONS = (REASONS["yield"].why, REASONS["comprehension-lazy"].why)


class Decided:
    """The generators on whose items a tensor decides: by file, the lines at which they begin."""

    def __init__(self) -> None:
        """None are known."""
        self.lines: dict[str, frozenset[int]] = {}
        self.is_new = False

    def note(self, file: str, line: int) -> None:
        """Note where a generator begins."""
        known = self.lines.get(file, frozenset())
        self.is_new = self.is_new or line not in known
        self.lines[file] = known | {line}

    def add(self, error: Exception, codes: Sequence[CodeType]) -> bool:
        """Note a generator in which a trace has failed, the innermost that is not known, or at
        which it has; False if all are known, or it has failed for another reason."""
        if not isinstance(error, UnsupportedSyntax) or error.why not in _REASONS:
            return False
        if error.at is not None and not (codes and _is_generator(codes[0])):
            self.note(error.at.file, error.at.line)
        for code in filter(_is_generator, codes):
            if not self.is_new:
                self.note(code.co_filename, code.co_firstlineno)
        was_new, self.is_new = self.is_new, False
        return was_new

    def lines_in(self, code: CodeType) -> frozenset[int]:
        """The lines of a function's code at which such generators begin."""
        known = self.lines.get(code.co_filename)
        return known.intersection(lines_of(code)) if known else frozenset()


def _is_generator(code: CodeType) -> bool:
    return bool(code.co_flags & inspect.CO_GENERATOR)


class _Mode(ThreadState):
    decided = Decided()

    def __init__(self) -> None:
        self.made: ByIdentity[Any, tuple[Run, _State]] = ByIdentity()


_mode = _Mode()


@contextmanager
def by_turns(decided: Decided) -> Iterator[None]:
    """Inside, these generators run what consumes them."""
    outer, _mode.decided = _mode.decided, decided
    try:
        yield
    finally:
        _mode.decided = outer
        _mode.made.clear()


def are_by_turns() -> bool:
    """Whether some generators run what consumes them."""
    return bool(_mode.decided.lines)


def turning_lines(code: CodeType) -> frozenset[int]:
    """The lines of a function's code at which generators begin that run their consumers."""
    return _mode.decided.lines_in(code)


def note_decided(at: Location | None) -> None:
    """A tensor decides on the items of what a builtin gives here."""
    if at is not None:
        _mode.decided.note(at.file, at.line)


def is_decided_at(at: Location | None) -> bool:
    """Whether that is known."""
    return at is not None and at.line in _mode.decided.lines.get(at.file, ())


def convert_generator(function: FunctionType, turns: FunctionType) -> FunctionType:
    """A generator function; of its generators it is known how they run by turns."""

    @wraps(function)
    def generate(*arguments: Any, **options: Any) -> Any:
        state = _State()
        made: Any = _items(function(*arguments, **options), state)
        made.__name__, made.__qualname__ = function.__name__, function.__qualname__

        def run(take: Take, stops: Stops, taken: Any) -> Any:
            return turns(take, stops, taken, *arguments, **options)

        _mode.made[made] = run, state
        return made

    assert isinstance(generate, FunctionType)
    return generate


class _State:
    """How far a generator has come: somewhere, which only the run of the Program tells."""

    is_unknown = False


def _items(made: Iterable[Any], state: _State) -> Generator[Any, Any, Any]:
    """What is left if no consumer has run by turns."""
    if state.is_unknown:
        raise UnsupportedSyntax(
            "a generator is read on later, and a tensor decides how far it has come",
            at=user_location(),
            why="how far it has come would be known only when the Program runs",
            hint="take the items before: items = list(...)",
        )
    return (yield from made)


def is_by_turns(iterable: object) -> bool:
    """Whether this is a new generator of which it is known how it runs by turns.

    >>> is_by_turns(iter([1, 2]))
    False
    """
    if type(iterable) is not GeneratorType or _mode.made.get(iterable) is None:
        return False
    return inspect.getgeneratorstate(iterable) == inspect.GEN_CREATED


def turns_of(generator: Any, takes_all: bool) -> Run:
    """How such a generator runs by turns; it has no items left then, if all are taken."""
    run, state = _mode.made.pop(generator)
    if takes_all:
        generator.close()
    else:
        state.is_unknown = True
    return run


def convert_taken(take: Take, taken: Any, item: Any) -> Any:
    """`yield item`: what the consumer has taken then.

    >>> convert_taken(lambda taken, item: taken + item, 1, 2)
    3
    """
    return take(taken, item)


def convert_stops(stops: Stops, taken: Any) -> Any:
    """Whether the consumer takes no more items.

    >>> convert_stops(lambda taken: taken > 1, 2)
    True
    """
    return stops(taken)
