"""Loads modules, and makes objects, when they are first used: not everybody converts and saves.

What converts and traces (`jit/programs.py`, loaded with the first `to_static`), passes, engines and
files would triple the time of `import dy2st`.

What `once` makes is made by one thread: others wait, and so does a fork. `functools.cache` lets two
threads that come at once make two, of which one is dropped while it may be in use. A lock that some
thread holds while another one forks would be held for ever in the child, so a fork first takes
every lock that is registered here. Python has a lock for each module that is being imported, too,
which nobody else can take: a fork waits until `load_module` has ended in all other threads.
"""

from __future__ import annotations

import os
import sys
import time
from _thread import RLock, get_ident
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from functools import partial, wraps
from importlib import import_module
from types import MappingProxyType, ModuleType
from typing import Any, Generic, ParamSpec, TypeVar, overload

from dy2st_runtime.errors import MissingAttribute

P = ParamSpec("P")
R = TypeVar("R")


class Lazy:
    """A module that is loaded when something in it is first asked for.

    >>> Lazy("fractions").Fraction(1, 2)
    Fraction(1, 2)
    """

    def __init__(self, module: str) -> None:
        """Take its name."""
        self._module = module

    def __getattr__(self, name: str) -> Any:
        """What has the name in the module; who looks for a special one asks for ours."""
        if name.startswith("__"):
            raise AttributeError(name)
        value = getattr(load_module(self._module), name)
        setattr(self, name, value)
        return value


class cached_property(Generic[R]):
    """An attribute that a method gives when it is first asked for.

    Until Python 3.11 that of functools has a lock, which a child would find taken for ever if
    another thread holds it when a process forks. Two threads may both make one, as since 3.12.

    >>> class Square:
    ...     area = cached_property(lambda self: 9)
    >>> Square().area
    9
    """

    def __init__(self, make: Callable[[Any], R]) -> None:
        """Take the method."""
        self._make, self.__doc__ = make, make.__doc__
        self._name = make.__name__

    def __set_name__(self, owner: type, name: str) -> None:
        """Take the name under which a class has it."""
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> cached_property[R]: ...

    @overload
    def __get__(self, instance: object, owner: type) -> R: ...

    def __get__(self, instance: object | None, owner: type) -> cached_property[R] | R:
        """The value, which the object holds from then on."""
        if instance is None:
            return self
        value = instance.__dict__[self._name] = self._make(instance)
        return value


# It needs what is lazy itself.
_own_frames = Lazy("dy2st_runtime.ir.location")


def places(names: Mapping[str, str]) -> dict[str, str]:
    """Where each name is to be found, from the names in each module.

    >>> places({"fractions": "Fraction", "math": "gcd lcm"})["lcm"]
    'math:lcm'
    """
    return {name: f"{module}:{name}" for module in names for name in names[module].split()}


def lazy_names(
    package: str, places: Mapping[str, str] = MappingProxyType({})
) -> Callable[[str], Any]:
    """The `__getattr__` of a package, for names that stand for `module` or `module:name`.

    For any other the AttributeError says which public name is nearly written like it.

    >>> find = lazy_names("math", {"Fraction": "fractions:Fraction"})
    >>> find("Fraction").__name__
    'Fraction'
    """

    def load(name: str) -> Any:
        if name not in places:
            try:
                reason = f"module {package!r} has no attribute {name!r}"
                known = partial(_public_names, sys.modules[package], places)
                raise MissingAttribute(reason, name=name, known=known)
            except AttributeError as error:  # goes on, without this frame
                _own_frames.hide_own_frames(error)
                raise
        module, _, attribute = places[name].partition(":")
        value = load_module(module)
        value = _own_frames.hidden_in_place(value, attribute) if attribute else value
        setattr(sys.modules[package], name, value)
        return value

    load.places = places  # type: ignore[attr-defined]  # for who lists them
    return load


def public_dir(package: str) -> Callable[[], list[str]]:
    """The `__dir__` of a module: all its public names, those loaded late too, and no others.

    They are `__all__`, or else what the module itself defines.

    >>> import textwrap
    >>> public_dir("textwrap")() == sorted(textwrap.__all__)
    True
    """

    def names() -> list[str]:
        module = sys.modules[package]
        own = getattr(module, "__all__", None)
        if own is None:
            values = vars(module).items()
            own = [name for name, value in values if getattr(value, "__module__", 0) == package]
        late = getattr(vars(module).get("__getattr__"), "places", ())
        return sorted(name for name in {*own, *late} if not name.startswith("_"))

    return names


def _public_names(module: ModuleType, places: Mapping[str, str]) -> list[str]:
    return [*(getattr(module, "__all__", None) or vars(module)), *places]


_lock = RLock()
# Whoever makes something may take the others meanwhile, so that one comes first.
_gate = RLock()  # of `_importing`, for no longer than an append: who imports waits for no maker
_locks: list[AbstractContextManager[Any]] = [_lock, _gate]
_taken: list[AbstractContextManager[Any]] = []


def once(make: Callable[P, R]) -> Callable[P, R]:
    """Mark a function of hashable positional arguments that runs once for each of them.

    >>> table = once(lambda: [])
    >>> table() is table()
    True
    """
    made: dict[Any, R] = {}

    @wraps(make)
    def get(*args: P.args, **kwargs: P.kwargs) -> R:
        assert not kwargs
        if args not in made:
            with _lock:
                if args not in made:
                    made[args] = make(*args, **kwargs)
        return made[args]

    return get


def held_by_forks(lock: AbstractContextManager[Any]) -> None:
    """Let a fork wait until no other thread holds a lock, so that a child finds it free.

    The lock is one that the thread which holds it may take once more.
    """
    if lock not in _locks:
        _locks.append(lock)


_importing: list[int] = []  # the threads that import something of ours
_PATIENCE = 10.0  # seconds that a fork waits for them: one may wait for the thread that forks


def load_module(module: str) -> ModuleType:
    """A module of ours, loaded if need be: no other thread forks meanwhile.

    >>> load_module("fractions").Fraction(1, 2)
    Fraction(1, 2)
    """
    with _gate:
        _importing.append(get_ident())
    try:
        return import_module(module)
    finally:
        _importing.remove(get_ident())


def _take() -> None:
    own, until = get_ident(), time.monotonic() + _PATIENCE
    while True:
        for lock in _locks:
            lock.__enter__()
            _taken.append(lock)
        if all(one == own for one in _importing) or time.monotonic() > until:
            return
        _release()  # what is imported may need them
        time.sleep(0.001)


def _release() -> None:
    while _taken:
        _taken.pop().__exit__(None, None, None)


def _release_in_child() -> None:
    _importing[:] = [one for one in _importing if one == get_ident()]  # the others are gone
    _release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_take, after_in_parent=_release, after_in_child=_release_in_child)


__all__ = [
    "Lazy",
    "cached_property",
    "held_by_forks",
    "lazy_names",
    "load_module",
    "once",
    "places",
    "public_dir",
]
