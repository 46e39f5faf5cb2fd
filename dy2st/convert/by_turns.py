"""Generator functions whose items a tensor decides: they run what consumes them, item by item.

Python runs a generator and its consumer by turns, each in its own frame; a Program has no such
frames. Where a trace fails for that reason, it is begun anew with all generator functions in
another form (see `transpiler/rewrites/turns.py`), which a `for`, a comprehension or `list` of what
such a function gives makes use of.
"""

from __future__ import annotations

import inspect
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from types import CodeType, FunctionType, GeneratorType
from typing import Any

Take = Callable[[Any, Any], Any]
Stops = Callable[[Any], Any]
Run = Callable[[Take, Stops, Any], Any]
"""`run(take, stops, taken)`: what a consumer has `taken` after all items, or until it stops."""


class _Mode(threading.local):
    is_on = False

    def __init__(self) -> None:
        self.made: weakref.WeakKeyDictionary[Any, Run] = weakref.WeakKeyDictionary()


_mode = _Mode()


@contextmanager
def by_turns(is_on: bool) -> Iterator[None]:
    """Inside, generator functions run what consumes them, or do not."""
    outer, _mode.is_on = _mode.is_on, is_on
    try:
        yield
    finally:
        _mode.is_on = outer
        _mode.made.clear()


def are_by_turns() -> bool:
    """Whether generator functions run what consumes them."""
    return _mode.is_on


def has_generators(code: CodeType) -> bool:
    """Whether this is the code of a generator function, or holds such."""
    inner = (const for const in code.co_consts if isinstance(const, CodeType))
    return bool(code.co_flags & inspect.CO_GENERATOR) or any(map(has_generators, inner))


def convert_generator(function: FunctionType, turns: FunctionType) -> FunctionType:
    """A generator function; of its generators it is known how they run by turns."""

    @wraps(function)
    def generate(*arguments: Any, **options: Any) -> Any:
        made = function(*arguments, **options)

        def run(take: Take, stops: Stops, taken: Any) -> Any:
            return turns(take, stops, taken, *arguments, **options)

        _mode.made[made] = run
        return made

    assert isinstance(generate, FunctionType)
    return generate


def is_by_turns(iterable: object) -> bool:
    """Whether this is a new generator of which it is known how it runs by turns.

    >>> is_by_turns(iter([1, 2]))
    False
    """
    if not _mode.is_on or type(iterable) is not GeneratorType or iterable not in _mode.made:
        return False
    return inspect.getgeneratorstate(iterable) == inspect.GEN_CREATED


def turns_of(generator: Any) -> Run:
    """How such a generator runs by turns; it has no items left then, as in Python."""
    run = _mode.made.pop(generator)
    generator.close()
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
