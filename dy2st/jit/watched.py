"""What a trace may have read of objects that can change in place, and whether they have."""

from __future__ import annotations

import sys
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextvars import ContextVar
from functools import partial
from operator import attrgetter, is_, methodcaller
from types import FunctionType, MappingProxyType, MethodType
from typing import Any

import numpy as np

from dy2st.convert.attributes import STORES, slots_of
from dy2st.convert.classes import functions_of
from dy2st.convert.hidden import has_state, state_of
from dy2st.convert.references import reference_to
from dy2st.jit.constants import constant_key
from dy2st.jit.layer_state import LayerState
from dy2st_runtime.ir import Tensor
from dy2st_runtime.nn.layer import Layer

# A container with more entries is compared if they are plain values. What else there is of such,
# and what is behind so many objects, is not: a call would take too long.
MOST_ENTRIES = 10_000
MOST_BYTES = 1 << 20

_PLAIN = (int, float, complex, bool, str, bytes, type(None), np.generic, np.dtype)
_CONTAINERS = (list, tuple, dict, set, deque)
# Modules of Python with classes, written in Python, that hold what others put in.
_DATA_OF_PYTHON = frozenset({"_weakrefset", "collections", "os", "queue", "weakref"})
_VIEWS: tuple[type[Iterable[Any]], ...] = (type({}.keys()), type({}.values()), type({}.items()))
_GETTERS = (attrgetter, methodcaller)
OURS = frozenset({"dy2st", "dy2st_runtime", "numpy"})

Get = Callable[[], Any]


class Watched:
    """Lists, dicts, sets, arrays, Layers and attributes of objects, reached from some values.

    Of objects those attributes count whose names stand in the functions that were called, also
    those that are missing; all of them if an object is read as a whole (`is_open`). No object is
    kept alive that takes weak references.

    `functions` are what Python may have called by itself in the classes that were met: properties
    and operators. `too_much` says what cannot be watched; it is empty if all is.
    """

    def __init__(
        self,
        values: Iterable[Any],
        names: frozenset[str],
        is_library: Callable[[Any], bool],
        is_open: bool = False,
    ):
        """Remember what is there now."""
        self._names, self._is_library, self.is_open = names, is_library, is_open
        self.too_much = ""
        self._met: set[type] = set()
        self.functions: list[FunctionType] = []
        self._checks: list[Callable[[], bool]] = []
        seen: dict[int, Any] = {}
        todo = [(value, reference_to(value)) for value in values]
        while todo and len(seen) < MOST_ENTRIES:
            value, get = todo.pop()
            if id(value) not in seen and not isinstance(value, (*_PLAIN, Tensor)):
                seen[id(value)] = value
                todo += self._look(value, get)
        if todo:
            self.too_much = f"what it reads leads to more than {MOST_ENTRIES:,} objects"

    def take_functions(self) -> list[FunctionType]:
        """The functions, once: a class that a program has made must not be kept alive."""
        found, self.functions = self.functions, []
        self._met.clear()
        return found

    def holds(self) -> bool:
        """Whether all still hold the same."""
        try:
            return all(check() for check in self._checks)
        except (LookupError, TypeError, AttributeError):  # it is no longer where it was
            return False

    def _look(self, value: Any, get: Get) -> Iterator[tuple[Any, Get]]:
        """Remember one value; gives what is inside, and how to get it again."""
        if isinstance(value, (*_CONTAINERS, frozenset)) and len(value) > MOST_ENTRIES:
            self._look_at_many(value, get)
        elif isinstance(value, _VIEWS):
            self._checks.append(_Entries(get).hold)
            for entry in value:
                yield entry, reference_to(entry)
        elif isinstance(value, _GETTERS):
            self.is_open = True
        elif isinstance(value, (dict, MappingProxyType)):
            self._checks.append(_Entries(lambda: [*get(), *get().values()]).hold)
            for key, entry in value.items():
                yield entry, _item(get, key)
        elif isinstance(value, (list, tuple, deque)):
            self._checks.append(_Entries(get).hold)
            for index, entry in enumerate(value):
                yield entry, _item(get, index)
        elif isinstance(value, set):
            key = constant_key(value)
            self._checks.append(lambda: constant_key(get()) == key)
        elif isinstance(value, np.ndarray):
            if value.nbytes <= MOST_BYTES or value.dtype.hasobject:
                data = value.tobytes()
                self._checks.append(lambda: get().tobytes() == data)
            else:
                copy = value.copy()
                self._checks.append(lambda: _same_array(get(), copy))
        elif isinstance(value, (bytearray, memoryview)):
            text = bytes(value)
            self._checks.append(lambda: bytes(get()) == text)
        elif isinstance(value, ContextVar):
            self._checks.append(_Entries(lambda: [get().get(None)]).hold)
            yield value.get(None), lambda: get().get(None)
        elif isinstance(value, weakref.ref):
            self._checks.append(_Entries(lambda: [get()()]).hold)
            yield value(), lambda: get()()
        elif _is_logger(value):
            level = _level(value)
            self._checks.append(lambda: _level(get()) == level)
        elif has_state(value):
            state = state_of(value)
            self._checks.append(lambda: state_of(get()) == state)
        elif isinstance(value, Layer):
            layers = LayerState(value)
            key = layers.key()
            self._checks.append(lambda: layers.key() == key)
            for layer in value.sublayers(include_self=True):
                yield from self._classes(type(layer))
                yield from self._attributes(reference_to(layer))
        elif isinstance(value, (MethodType, partial)):
            self._checks.append(_Entries(lambda: _parts(get())).hold)
            for inner in _parts(value):
                yield inner, reference_to(inner)
        elif isinstance(value, FunctionType):
            yield from self._attributes(reference_to(value))
        elif isinstance(value, type):
            yield from self._classes(value)
            yield from self._classes(type(value))
        else:
            yield from self._object(value)

    def _look_at_many(self, value: Any, get: Get) -> None:
        """Remember a very large container of plain values."""
        if isinstance(value, (set, frozenset)):
            items = set(value)
            self._checks.append(lambda: get() == items)
            return
        entries = _all_in(value)
        if all(isinstance(entry, _PLAIN) for entry in entries):
            self._checks.append(lambda: _are_same(_all_in(get()), entries))
        else:
            self.too_much = f"it reads a {type(value).__name__} of {len(value):,} objects"

    def _object(self, value: Any) -> Iterator[tuple[Any, Get]]:
        """An object of a class, whose attributes it has."""
        kind, get = type(value), reference_to(value)
        self._checks.append(_Entries(lambda: [type(get())]).hold)
        yield from self._classes(kind)
        if kind.__module__.partition(".")[0] not in OURS:
            yield from self._attributes(get)

    def _classes(self, kind: type) -> Iterator[tuple[Any, Get]]:
        """A class and those that it inherits from, but for libraries'."""
        for base in kind.__mro__:
            if self._is_library(base) or base in self._met:
                continue
            self._met.add(base)
            self.functions += functions_of(base, self._names)
            yield from self._attributes(reference_to(base))

    def _attributes(self, owner: Get) -> Iterator[tuple[Any, Get]]:
        """The attributes that may have been read."""
        is_plain = isinstance(owner(), type) or not slots_of(type(owner()))
        get = _in_dict if is_plain else _held
        held = get(owner())
        keys, known = frozenset(held), self._names
        is_whole = self.is_open or type(owner()).__module__ in _DATA_OF_PYTHON
        if is_whole:
            known = keys  # which of them its methods read is not told by names
        if isinstance(owner(), Layer):
            known = known.difference(STORES)  # of which LayerState knows
        names = sorted(known.intersection(held))

        def has_same_names() -> bool:
            now = get(owner()).keys()
            return now == keys or (not is_whole and sorted(known.intersection(now)) == names)

        self._checks.append(has_same_names)
        if names:
            self._checks.append(_Entries(lambda: [*map(get(owner()).get, names)]).hold)
            for name in names:
                yield held[name], _attribute(owner, name)


def _all_in(container: Any) -> list[Any]:
    is_mapping = isinstance(container, dict)
    return [*container, *container.values()] if is_mapping else [*container]


def _are_same(now: list[Any], before: list[Any]) -> bool:
    """Whether plain values are the same; seldom are they equal and not the same objects."""
    if len(now) == len(before) and all(map(is_, now, before)):
        return True
    return constant_key(now) == constant_key(before)


def _same_array(now: Any, before: Any) -> bool:
    if now.shape != before.shape or now.dtype != before.dtype:
        return False
    left, right = (np.ascontiguousarray(one).reshape(-1).view(np.uint8) for one in (now, before))
    return bool(np.array_equal(left, right))


def _is_logger(value: Any) -> bool:
    logging = sys.modules.get("logging")
    return logging is not None and isinstance(value, logging.Logger)


def _level(logger: Any) -> tuple[int, int]:
    """What tells which messages a logger takes."""
    return logger.getEffectiveLevel(), logger.manager.disable


def _in_dict(owner: Any) -> Mapping[str, Any]:
    return getattr(owner, "__dict__", None) or {}


def _held(owner: Any) -> Mapping[str, Any]:
    """The attributes that an object itself has, also those in slots."""
    held, slots = _in_dict(owner), slots_of(type(owner))
    return {**held, **{name: value for name in slots for value in _slot(owner, name)}}


def _slot(owner: Any, name: str) -> Iterator[Any]:
    """The value of a slot, if it has one; no code of the user runs."""
    try:
        yield object.__getattribute__(owner, name)
    except AttributeError:
        return


class _Entries:
    """Some values, which must stay the same objects, or plain values that no trace tells apart."""

    def __init__(self, get: Get):
        self._get = get
        entries = list(get())
        self._ids = list(map(id, entries))
        # What is inside of a container is looked at on its own: another one of that id will do.
        loose = [None if isinstance(e, _CONTAINERS) else e for e in entries]
        self._plain = [entry if isinstance(entry, _PLAIN) else None for entry in loose]
        others = [entry for entry in loose if not isinstance(entry, _PLAIN)]
        self._others = [reference_to(entry) for entry in others]

    def hold(self) -> bool:
        """Whether they are."""
        now = self._get()
        if list(map(id, now)) != self._ids and not self._are_alike(list(now)):
            return False
        return all(other() is not None for other in self._others)

    def _are_alike(self, now: list[Any]) -> bool:
        if len(now) != len(self._ids):
            return False
        return all(
            id(entry) == known
            or (isinstance(entry, _PLAIN) and constant_key(entry) == constant_key(plain))
            for entry, known, plain in zip(now, self._ids, self._plain, strict=True)
        )


def _item(get: Get, key: Any) -> Get:
    return lambda: get()[key]


def _attribute(owner: Get, name: str) -> Get:
    return lambda: _held(owner())[name]


def _parts(value: Any) -> list[Any]:
    if isinstance(value, MethodType):
        return [value.__self__]
    return [value.func, *value.args, *value.keywords, *value.keywords.values()]


__all__ = ["Watched"]
