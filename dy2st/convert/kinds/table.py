"""The rows of functions, and what gives types the rows of their methods."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from types import CodeType
from typing import Any

from dy2st.convert.effect_table import POLYFILLS
from dy2st.convert.types.row import kinds_of, own_row
from dy2st_runtime.lazy import load_module

Row = Callable[..., Any]

FUNCTIONS: dict[int, tuple[Any, Row]] = {}
CODES: dict[CodeType, Row] = {}
WHOLE: set[Row] = set()
# Operators of two values by the names of the protocol, and the special methods that have them.
SPECIAL = {"or_bits": "__or__", "and_bits": "__and__"} | {
    name: f"__{name}__" for name in ("add", "sub", "xor", "eq", "ne", "lt", "le", "gt", "ge")
}


def for_each(*entries: Any) -> Callable[[Callable[..., None]], None]:
    """Let a function register rows for each of some entries: its arguments."""

    def run(register: Callable[..., None]) -> None:
        for entry in entries:
            register(*entry) if type(entry) is tuple else register(entry)

    return run


def function_row(*functions: Any) -> Callable[[Row], Row]:
    """Let a function of the trace stand for functions of Python."""

    def register(row: Row) -> Row:
        for function in functions:
            FUNCTIONS[id(function)] = function, row
        return row

    return register


def whole_row(row: Row) -> Row:
    """Let a row get arguments that are one of several, and not each of their cases."""
    WHOLE.add(row)
    return row


def _each(kinds: Iterable[type | str]) -> Iterator[type]:
    """Types, and those of the families that are named."""
    for kind in kinds:
        yield from kinds_of(kind) if isinstance(kind, str) else (kind,)


def method_row(*kinds: type | str, name: str = "") -> Callable[[Row], Row]:
    """Let a function of the trace stand for a method of built-in types."""

    def register(row: Row) -> Row:
        for kind in _each(kinds):
            own_row(kind).methods[name or row.__name__.strip("_")] = row
        return row

    return register


def operator_row(name: str, *kinds: type | str) -> Callable[[Row], Row]:
    """Let a function of the trace stand for an operator, by the class of the left operand."""

    def register(row: Row) -> Row:
        for kind in _each(kinds):
            own_row(kind).operators[name] = row
        return row

    return register


def code_row(code: CodeType) -> Callable[[Row], Row]:
    """Let a function of the trace stand for all functions of a code, which gets the one called."""

    def register(row: Row) -> Row:
        CODES[code] = row
        return row

    return register


def row_of_function(function: Any) -> Row | None:
    """What stands for a function, if anything."""
    found = FUNCTIONS.get(id(function))
    return None if found is None else found[1]


# What is registered when a function of the module is called first: to import it takes long.
_LATE = {"statistics": "statistics_"}
_LATE |= dict.fromkeys(("heapq", "_heapq", "_bisect", "_operator", "dataclasses"), "in_python")


def load_late(function: Any) -> Any:
    """The row of a function, if its polyfills are registered late."""
    name = _LATE.get(str(getattr(function, "__module__", "")))
    if name is not None:
        load_module(POLYFILLS + name)
    return row_of_function(function)


def say_misfit(error: TypeError, function: Any, args: Any, options: Any) -> None:
    """Raise Python's own error where the arguments of a call do not fit a row at all.

    error: as it was caught where the row was called.
    """
    place = error.__traceback__
    if place is None or place.tb_next is not None:
        return  # it comes from inside of the row
    try:
        function(*args, **options)
    except TypeError as said:
        raise said.with_traceback(None) from None
