"""What each operator is for jax: a function of traced arrays, by the operator's name.

A function takes the operands in order and the attributes by name, with numbers for sizes, and gives
one array or a tuple. What it gives is cast to the dtypes that the Program says. `lower` enters one.

A *check* says whether all is well, of the results and what the function was given. XLA raises
nothing: a position outside is moved inside, and a division by 0 gives some number. So checks are
one flag of the compiled function, looked at when it has run; if it is down, NumPy's kernels compute
that part once more, and raise what there is to raise, with the operator's place. A check may
therefore be too careful.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Lowering = Callable[..., Any]

LOWERINGS: dict[str, Lowering] = {}
# Of elements that are taken or put along one `axis`: see `lowerings/indexing.py`.
ALONG: dict[str, Lowering] = {}
# Of random numbers that the device draws: they take a key first.
DRAWS: dict[str, Lowering] = {}
CHECKS: dict[str, Callable[..., Any]] = {}


def rows(table: Mapping[str, Lowering]) -> None:
    """Enter many functions, by the names of operators."""
    for name, function in table.items():
        assert name not in LOWERINGS, f"operator {name!r} is lowered twice"
        LOWERINGS[name] = function


def lower(*names: str) -> Callable[[Lowering], Lowering]:
    """Enter the decorated function for these operators."""

    def enter(function: Lowering) -> Lowering:
        rows(dict.fromkeys(names, function))
        return function

    return enter


def along(name: str) -> Callable[[Lowering], Lowering]:
    """Enter the decorated function for an operator, where it works along one axis."""

    def enter(function: Lowering) -> Lowering:
        ALONG[name] = function
        return function

    return enter


def draw(name: str) -> Callable[[Lowering], Lowering]:
    """Enter the decorated function for an operator of random numbers."""

    def enter(function: Lowering) -> Lowering:
        DRAWS[name] = function
        return function

    return enter


def check(*names: str) -> Callable[[Lowering], Lowering]:
    """Enter the decorated function, of results, operands and attributes, as a check of these."""

    def enter(function: Lowering) -> Lowering:
        CHECKS.update(dict.fromkeys(names, function))
        return function

    return enter


__all__ = [
    "ALONG",
    "CHECKS",
    "DRAWS",
    "LOWERINGS",
    "Lowering",
    "along",
    "check",
    "draw",
    "lower",
    "rows",
]
