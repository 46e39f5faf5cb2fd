"""Enters functions into tables where they stand, under the names of the operators they are for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def entering(table: dict[str, F]) -> Callable[..., Callable[[F], F]]:
    """A decorator for the functions of a table, to which it gives all names at once.

    >>> table = {}
    >>> named = entering(table)
    >>> @named("floor", "ceil")
    ... def whole(x):
    ...     return x
    >>> sorted(table)
    ['ceil', 'floor']
    """

    def named(*names: str) -> Callable[[F], F]:
        def enter(function: F) -> F:
            table.update(dict.fromkeys(names, function))
            return function

        return enter

    return named


__all__ = ["entering"]
