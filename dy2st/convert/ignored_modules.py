"""Which functions are called as they are: those of libraries, and what the user leaves alone."""

from __future__ import annotations

import sys
from collections.abc import Container, Iterable
from types import FunctionType, ModuleType

IGNORED_PACKAGES = frozenset({"dy2st", "dy2st_runtime", "numpy", *sys.stdlib_module_names})
IGNORE_MARK = "__dy2st_ignore__"

# Our own functions that are written like the user's.
_LIKE_THE_USERS = (
    *("dy2st.amp", "dy2st.paddle.autograd", "dy2st.paddle.distributed.dist_model"),
    *("dy2st_runtime.nn.clip", "dy2st_runtime.nn.vectors", "dy2st_runtime.optimizer"),
    *("dy2st.static.nn", "dy2st_runtime.grad_scaler", "dy2st_runtime.regularizer"),
)
# What makes, holds and runs Programs: nothing in it is a value of the user's code.
_MACHINERY = (
    *("dy2st.convert", "dy2st.jit", "dy2st.passes", "dy2st.static", "dy2st.targets"),
    *("dy2st.transpiler", "dy2st_runtime.autodiff", "dy2st_runtime.dims"),
    *("dy2st_runtime.engine", "dy2st_runtime.ir"),
)
_ignored_modules: set[str] = set()


def ignore_module(modules: Iterable[ModuleType]) -> None:
    """Leave the functions of these modules, and of modules inside them, as they are.

    >>> import json
    >>> ignore_module([json])
    """
    for module in modules:
        if not isinstance(module, ModuleType):
            raise TypeError(f"ignore_module takes a list of modules, not {module!r}")
        _ignored_modules.add(module.__name__)


def is_ignored_module(name: str) -> bool:
    """Whether the functions of a module are called as they are: libraries, and as asked for."""
    if is_of_library(name):
        return not is_like_the_users(name)
    return _is_in(name, _ignored_modules)


def is_of_library(module: str) -> bool:
    """Whether a module is one of a library whose functions nobody looks into."""
    return module.partition(".")[0] in IGNORED_PACKAGES


def module_of_code(function: FunctionType) -> str:
    """The module of a function, though `functools.wraps` has given it the name of a library.

    >>> import functools, json
    >>> module_of_code(functools.wraps(json.dumps)(lambda *values: values)) == "json"
    False
    """
    named = str(function.__module__)
    if is_of_library(named):
        return str(function.__globals__.get("__name__", named))
    return named


def is_like_the_users(name: str) -> bool:
    """Whether a module of ours is traced as the user's are."""
    return name.startswith("dy2st") and _is_in(name, _LIKE_THE_USERS)


def is_machinery(value: object) -> bool:
    """Whether an object is a cache, a Program, an executable, ...: no state of the user's."""
    name = str(type(value).__module__)
    return name.startswith("dy2st") and _is_in(name, _MACHINERY) and not is_like_the_users(name)


def is_polyfill(module: object) -> bool:
    """Whether a module has functions of Python's library, written in Python: nobody changes it."""
    return type(module) is str and module.startswith("dy2st.convert.polyfills.")


def _is_in(name: str, modules: Container[str]) -> bool:
    while name and name not in modules:
        name = name.rpartition(".")[0]
    return bool(name)
