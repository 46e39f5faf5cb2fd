"""Functions in a class that Python calls by itself: those behind operators, `with`, properties."""

from __future__ import annotations

import functools
import sys
from collections.abc import Container, Iterator
from pathlib import Path
from types import FunctionType
from typing import Any

_LIBRARIES = frozenset({"dy2st", "dy2st_runtime", "numpy", *sys.stdlib_module_names})
_INSTALLED = frozenset({"dist-packages", "site-packages"})
# Not called by the tensor code of a model, or called at any time by whoever looks at an object.
_LEFT = frozenset({"__del__", "__repr__", "__hash__", "__reduce__", "__reduce_ex__", "__sizeof__"})
_MAKING = frozenset({"__init__", "__new__", "__post_init__"})


def is_library(module: str) -> bool:
    """Whether a module is ours, Python's or NumPy's, and no code of a user's."""
    return str(module).partition(".")[0] in _LIBRARIES  # that of a class made in C may be no str


@functools.cache
def is_installed(package: str) -> bool:
    """Whether a package lies where installers put what others have written."""
    module = sys.modules.get(package)
    places = [getattr(module, "__file__", None) or "", *getattr(module, "__path__", ())]
    return any(not _INSTALLED.isdisjoint(Path(place).parts) for place in places)


def called_by_python(owner: type, makes: bool = False) -> Iterator[FunctionType]:
    """The functions of a class alone; those that make an instance only with `makes`."""
    for name, value in vars(owner).items():
        is_called = name.startswith("__") and name.endswith("__") and name not in _LEFT
        if is_called and (makes or name not in _MAKING):
            yield from functions_behind(value)
        elif not isinstance(value, FunctionType):
            yield from _behind_attribute(value)


def functions_of(owner: type, names: Container[str]) -> Iterator[FunctionType]:
    """The functions of a class alone that Python calls where one of the names is read, or by
    operators and the like."""
    for name, value in vars(owner).items():
        if name.startswith("__") and name.endswith("__"):
            yield from functions_behind(value) if name not in _LEFT | _MAKING else ()
        elif name in names and not isinstance(value, FunctionType):
            yield from _behind_attribute(value)


def all_functions_of(owner: type) -> Iterator[FunctionType]:
    """The functions of a class alone."""
    for value in [*vars(owner).values()]:
        if isinstance(value, (FunctionType, staticmethod, classmethod)):
            yield from functions_behind(value)
        elif hasattr(type(value), "__get__"):
            yield from _behind_attribute(value)


def functions_behind(value: Any) -> Iterator[FunctionType]:
    """A function, or that inside a staticmethod or classmethod."""
    inner = value.__func__ if isinstance(value, (staticmethod, classmethod)) else value
    if isinstance(inner, FunctionType):
        yield inner


def _behind_attribute(value: Any) -> Iterator[FunctionType]:
    """The functions of a descriptor: those of Python's own by their parts."""
    if isinstance(value, property):
        parts = [value.fget, value.fset, value.fdel]
    elif isinstance(value, (functools.cached_property, functools.partialmethod)):
        parts = [value.func]
    elif isinstance(value, functools.singledispatchmethod):
        parts = list(value.dispatcher.registry.values())
    else:
        parts = [part for kind in type(value).__mro__ for part in _accessors(kind)]
    for part in parts:
        yield from functions_behind(part)


def _accessors(kind: type) -> list[Any]:
    return [vars(kind).get(name) for name in ("__get__", "__set__", "__delete__")]
