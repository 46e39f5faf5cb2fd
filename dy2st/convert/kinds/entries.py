"""Entries of dicts that may be missing: a branch has set or deleted them.

Such an entry is one of several values, of which one is MISSING.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from dy2st.convert.stage.branch import is_case
from dy2st.convert.trace import Trace
from dy2st.convert.values.layout import Same
from dy2st.convert.values.special import MISSING, SymbolicSequence, Union
from dy2st_runtime.errors import ConversionError
from dy2st_runtime.ir import user_location
from dy2st_runtime.ir.choice import Text


def _missing(value: Union) -> list[int]:
    return [
        place
        for place, node in enumerate(value.layouts)
        if isinstance(node, Same) and node.value is MISSING
    ]


def may_be_missing(trace: Trace, value: Any) -> bool:
    """Whether an entry may be missing here."""
    if type(value) is not Union:
        return False
    return not set(_missing(value)).isdisjoint(trace.cases_of(value))


def presence(trace: Trace, value: Any) -> Any:
    """Whether an entry is there: a bool, or one of the Program."""
    if value is MISSING:
        return False
    if not may_be_missing(trace, value):
        return True
    # A branch that has asked for the entry has ruled cases out: they do not count inside.
    there = [place for place in trace.cases_of(value) if place not in _missing(value)]
    if not there:
        return False
    return is_case(trace, value, *there)


def is_entry(trace: Trace, name: Any, value: Any, key: Any) -> Any:
    """Whether an entry is there and is that of a traced key."""
    here = trace.equals(name, key)
    if not may_be_missing(trace, value):
        return here
    return trace.and_(here, lambda: presence(trace, value))


def missing_key(key: Any) -> KeyError:
    """What Python raises; of a key that no exception of a Program can hold, in words."""
    parts = key if type(key) is tuple else (key,)
    if any(type(part) in (Union, SymbolicSequence, Text) for part in parts):
        return KeyError("a key that is known only when the Program runs")
    return KeyError(key)


def there(trace: Trace, key: Any, value: Any) -> Any:
    """An entry that must be there: KeyError where it is not."""
    must(trace, presence(trace, value), missing_key(key))
    return trace.known(value)


def must(trace: Trace, flag: Any, error: Exception) -> None:
    """Raise an error, in a branch of its own, unless something holds."""

    def fails() -> NoReturn:
        raise error

    trace.if_(flag, tuple, fails, (), ())


def there_or(trace: Trace, value: Any, default: Callable[[], Any]) -> Any:
    """An entry, or what else stands for it where it is missing."""
    flag = presence(trace, value)
    return trace.if_exp(flag, lambda: trace.known(value), default)


def is_sure(trace: Trace, content: dict[Any, Any]) -> bool:
    """Whether all entries are there."""
    return not any(may_be_missing(trace, value) for value in content.values())


def length(trace: Trace, content: dict[Any, Any]) -> Any:
    """How many entries there are."""
    found: Any = 0
    for value in content.values():
        flag = presence(trace, value)
        found = trace.add(found, trace.if_exp(flag, lambda: 1, lambda: 0))
    return found


def gathered(trace: Trace, content: dict[Any, Any], take: Callable[[Any, Any], Any]) -> list[Any]:
    """A new list of what is taken of each entry that is there, by key and value."""
    out: list[Any] = trace.made([])
    for key, value in content.items():

        def add(key: Any = key, value: Any = value) -> tuple[()]:
            trace.method(out, "append", take(key, trace.known(value)))
            return ()

        trace.if_(presence(trace, value), add, lambda: (), (), ())
    return out


def check_sure(trace: Trace, content: dict[Any, Any]) -> None:
    """Refuse entries that may be missing, where nothing can be done about it."""
    for key, value in content.items():
        if may_be_missing(trace, value):
            raise ConversionError(
                f"a dict is used as a whole whose entry {key!r} may be missing",
                at=user_location(),
                why="a branch that depends on a tensor has set or deleted it",
                hint="give the entry a value before the branch, such as None",
            )
