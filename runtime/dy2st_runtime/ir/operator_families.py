"""Families of operators that are loaded when one of their names is first asked for.

`dy2st_runtime.ops.lazy` has the table. A name is met in four ways: as a function of a package
(`dy2st.cholesky`), by name in a rule (`F.cholesky`), as a method of a tensor, and as an operator of
a Program that was saved.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import NamedTuple


class Family(NamedTuple):
    """A module of operators, and the names that it has; each of them separated by blanks."""

    module: str
    functions: str = ""
    methods: str = ""
    operators: str = ""


MODULE_OF_FUNCTION: dict[str, str] = {}
MODULE_OF_OPERATOR: dict[str, str] = {}
ALIASES: dict[str, str] = {}


def declare(families: Iterable[Family]) -> None:
    """Remember where the functions and operators are."""
    for family in families:
        MODULE_OF_FUNCTION.update(dict.fromkeys(family.functions.split(), family.module))
        MODULE_OF_OPERATOR.update(dict.fromkeys(family.operators.split(), family.module))


def declare_aliases(aliases: Mapping[str, str]) -> None:
    """Remember the second names of functions."""
    ALIASES.update(aliases)


def load_operator(name: str) -> bool:
    """Load the family of an operator; False if no family has it."""
    return _load(MODULE_OF_OPERATOR, name)


def load_function(name: str) -> bool:
    """Load the family of a function; False if no family has it."""
    return _load(MODULE_OF_FUNCTION, name)


def _load(modules: dict[str, str], name: str) -> bool:
    module = modules.get(name)
    if module is not None:
        import_module(module)
    return module is not None
