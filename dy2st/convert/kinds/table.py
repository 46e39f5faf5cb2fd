"""The rows, found by function or by type and name of the method."""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType
from typing import Any

Row = Callable[..., Any]

FUNCTIONS: dict[int, tuple[Any, Row]] = {}
METHODS: dict[tuple[type, str], Row] = {}
CODES: dict[CodeType, Row] = {}
OPERATORS: dict[tuple[str, type], Row] = {}


def function_row(*functions: Any) -> Callable[[Row], Row]:
    """Let a function of the trace stand for functions of Python."""

    def register(row: Row) -> Row:
        for function in functions:
            FUNCTIONS[id(function)] = function, row
        return row

    return register


def method_row(*kinds: type, name: str = "") -> Callable[[Row], Row]:
    """Let a function of the trace stand for a method of built-in types."""

    def register(row: Row) -> Row:
        for kind in kinds:
            METHODS[kind, name or row.__name__.strip("_")] = row
        return row

    return register


def operator_row(name: str, *kinds: type) -> Callable[[Row], Row]:
    """Let a function of the trace stand for an operator, by the class of the left operand."""

    def register(row: Row) -> Row:
        for kind in kinds:
            OPERATORS[name, kind] = row
        return row

    return register


def code_row(code: CodeType) -> Callable[[Row], Row]:
    """Let a function of the trace stand for all functions of a code, which gets the one called."""

    def register(row: Row) -> Row:
        CODES[code] = row
        return row

    return register


def row_of_operator(name: str, kind: type) -> Row | None:
    """What stands for an operator, if anything."""
    return OPERATORS.get((name, kind))


def row_of_function(function: Any) -> Row | None:
    """What stands for a function, if anything."""
    found = FUNCTIONS.get(id(function))
    return None if found is None else found[1]


def row_of_method(kind: type, name: str) -> Row | None:
    """What stands for a method, if anything."""
    return METHODS.get((kind, name))


__all__ = [
    "CODES",
    "FUNCTIONS",
    "METHODS",
    "OPERATORS",
    "Row",
    "code_row",
    "function_row",
    "method_row",
    "operator_row",
    "row_of_function",
    "row_of_method",
    "row_of_operator",
]
