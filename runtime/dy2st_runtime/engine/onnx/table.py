"""What each operator is in ONNX: a function that writes nodes, by the operator's name.

A function takes the graph in the making, the operands in order and the attributes by name, with
sizes as they are, and gives one value or a tuple. What it gives is cast to the dtypes that the
Program says. Operators without a row are made of others, where their records say of which.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Writer = Callable[..., Any]

WRITERS: dict[str, Writer] = {}
# Operators that are written as others of ours: a function of Variables.
MADE_OF: dict[str, Callable[..., Any]] = {}
# Operators of which the model has nothing: they compute nothing, or pass their operands on.
LEFT_OUT: set[str] = set()
# Operators that are not written, with the reason.
REFUSED: dict[str, str] = {}


def rows(table: Mapping[str, Writer]) -> None:
    """Enter many functions, by the names of operators."""
    for name, function in table.items():
        assert name not in WRITERS, f"operator {name!r} is written twice"
        WRITERS[name] = function


def write(*names: str) -> Callable[[Writer], Writer]:
    """Enter the decorated function for these operators."""

    def enter(function: Writer) -> Writer:
        rows(dict.fromkeys(names, function))
        return function

    return enter


def made_of(*names: str) -> Callable[[Writer], Writer]:
    """Enter the decorated function of Variables, written with operators, for these operators."""

    def enter(function: Writer) -> Writer:
        MADE_OF.update(dict.fromkeys(names, function))
        return function

    return enter


__all__ = ["LEFT_OUT", "MADE_OF", "REFUSED", "WRITERS", "Writer", "made_of", "rows", "write"]
