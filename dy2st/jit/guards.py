"""What a Program has taken from outside of its arguments, and whether it is still so.

Tracing reads Python values of globals, closures and Layer attributes once. Each value that was
read is remembered; when one has changed, the function is traced again.
"""

from __future__ import annotations

import builtins
import os
import sys
import weakref
from abc import get_cache_token
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, ModuleType
from typing import Any, TypeAlias

from dy2st.convert.call import conversion_of, is_ignored_module
from dy2st.convert.heap import names_in
from dy2st.convert.record import Record
from dy2st.convert.references import reference_to
from dy2st.convert.swapping import own_code
from dy2st.jit.constants import COMPARED, constant_key
from dy2st.jit.live_state import Apart, LiveState
from dy2st.jit.watched import OURS, Watched
from dy2st.transpiler.source import mangle
from dy2st_runtime.ir.gradient_flow import flags_of
from dy2st_runtime.tensor import EagerTensor

_UNBOUND = object()


@dataclass(frozen=True)
class Guard:
    """A variable of a module or closure, and the key of the value it had."""

    place: Mapping[str, Any] | CellType
    name: str
    key: Hashable

    def holds(self) -> bool:
        """Whether the variable still has that value."""
        return constant_key(_value(self.place, self.name)) == self.key


@dataclass(frozen=True)
class Same:
    """A variable that holds a function, class or other object, which must stay the same one."""

    place: Mapping[str, Any] | CellType
    name: str
    value: Callable[[], Any]

    def holds(self) -> bool:
        """Whether the variable still holds it."""
        return _value(self.place, self.name) is self.value()


@dataclass(frozen=True)
class SameCode:
    """The functions that were called, their code and defaults, which tools may change in place."""

    functions: tuple[tuple[weakref.ref[FunctionType], CodeType, Any], ...]

    def holds(self) -> bool:
        """Whether no function that is still there has other code or defaults."""
        for reference, code, defaults in self.functions:
            function = reference()
            if function is None:
                continue
            # While a trace runs, the code may be swapped for its converted form.
            is_other = function.__code__ is not code and own_code(function) is not code
            if is_other or function.__defaults__ is not defaults:
                return False
        return True


@dataclass(frozen=True)
class SameFlags:
    """Whether gradients flow through tensors, and begin there: those of a Program by name, and
    others."""

    live: LiveState
    named: Mapping[str, tuple[bool, bool]]
    others: Sequence[tuple[EagerTensor, tuple[bool, bool]]]

    @classmethod
    def of(cls, live: LiveState, names: Mapping[int, str], read: Iterable[Any]) -> SameFlags:
        """Those that were read, with their flags; `names` are those in the Program, by id."""
        named = {names[id(tensor)]: flags for tensor, flags in read if id(tensor) in names}
        return cls(live, named, [found for found in read if id(found[0]) not in names])

    def holds(self) -> bool:
        """Whether it still is so."""
        now = self.live.now()
        known = all(flags_of(now[name]) == flags for name, flags in self.named.items())
        return known and all(flags_of(tensor) == flags for tensor, flags in self.others)


@dataclass(frozen=True)
class Read:
    """What a function of Python's tells of the interpreter or the system."""

    function: Callable[[], Any]
    key: Hashable

    def holds(self) -> bool:
        """Whether it tells the same."""
        return constant_key(self.function()) == self.key


# Functions without arguments whose answer others may change.
_READERS = {id(f): f for f in (os.getcwd, sys.getrecursionlimit, sys.getswitchinterval)}
# What reads attributes without saying which, in code that is not converted.
_OPENING = frozenset({"format", "getattr", "hasattr", "repr"})
# As this, in any code.
_OPENERS = frozenset(
    {"__dict__", "__getstate__", "__reduce_ex__", "asdict", "astuple", "attrgetter", "deepcopy"}
    | {"dir", "dumps", "fields", "getattr_static", "getmembers", "methodcaller", "vars"}
)

# What finds a module by a text.
_LOADING = frozenset({"__import__", "import_module", "modules"})

AnyGuard: TypeAlias = SameFlags | Apart | Read | Guard | Same | SameCode | Watched


class _Guards:
    """The guards of some functions while they are gathered."""

    def __init__(self) -> None:
        self.found: dict[tuple[int, str], AnyGuard | None] = {}  # None for a module
        self.values: list[Any] = []

    def add(self, place: Any, name: str, names: Iterable[str]) -> None:
        """Guard a variable; of a module all that these names may read."""
        key = id(place), name
        if key in self.found:
            return
        value = _value(place, name)
        if type(value) is str and not _LOADING.isdisjoint(names) and value in sys.modules:
            self.add(sys.modules, value, names)
        if isinstance(value, COMPARED):
            self.found[key] = Guard(place, name, constant_key(value))
        if isinstance(value, ModuleType):
            self.found[key] = None
            if not is_ignored_module(value.__name__):
                for attribute in names:
                    self.add(vars(value), attribute, names)
            else:
                self.values += _of_library(value, names)
        elif value is _UNBOUND:
            if hasattr(builtins, name):  # a variable of that name would stand before it
                self.found[key] = Same(place, name, lambda: _UNBOUND)
        elif not _is_library(value):
            self.values.append(value)
            self.found.setdefault(key, Same(place, name, reference_to(value)))


def guards_of(
    functions: Iterable[FunctionType],
    arguments: Iterable[Any],
    written: frozenset[str],
    record: Record,
) -> tuple[list[AnyGuard], str]:
    """Guards for all that functions may have read besides the values of their arguments.

    written: the names of globals that the trace has assigned.
    Gives also what cannot be guarded, in words; empty if there is nothing.
    """
    guards = _Guards()
    called = {id(function): function for function in functions}
    converted = {key for key, function in called.items() if _is_converted(function)}
    guards.values += arguments
    every, is_open = set(record.names), record.is_open
    todo = list(called.values())
    while todo:
        for function in todo:
            names = _gather(guards, function, written, record.names)
            every.update(names)
            opening = _OPENERS if id(function) in converted else _OPENERS | _OPENING
            is_open = is_open or not (_is_ours(function) or opening.isdisjoint(names))
        watched = Watched(guards.values, frozenset(every), _is_library, is_open)
        if watched.is_open and not is_open:
            is_open = True
            continue
        todo = [one for one in watched.take_functions() if id(one) not in called]
        called.update((id(function), function) for function in todo)
    codes = tuple((weakref.ref(f), own_code(f), f.__defaults__) for f in called.values())
    found: list[AnyGuard] = [guard for guard in guards.found.values() if guard is not None]
    readers = [get_cache_token, *(_READERS[key] for key in record.called if key in _READERS)]
    reads = [Read(function, constant_key(function())) for function in readers]
    return [*found, *reads, SameCode(codes), watched], watched.too_much


def _is_converted(function: FunctionType) -> bool:
    """Whether a function runs converted, so that what it asks for by name is recorded."""
    conversion = conversion_of(function)
    return conversion is not None and not conversion.untouched


def _is_ours(function: FunctionType) -> bool:
    return str(function.__module__).partition(".")[0] in OURS


def _of_library(module: ModuleType, names: Iterable[str]) -> list[Any]:
    """What code with these names may read of a module of Python's that others may change."""
    if module.__name__ not in sys.stdlib_module_names:
        return []
    found = [vars(module).get(name) for name in names if name != "modules"]
    if module is os and "getenv" in names:
        found.append(os.environ)
    return [value for value in found if isinstance(value, (dict, list)) or value is os.environ]


def _gather(
    guards: _Guards, function: FunctionType, written: frozenset[str], computed: set[str]
) -> tuple[str, ...]:
    """Add what one function may have read; returns the names in it."""
    code = own_code(function)
    cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
    names = names_in(code)
    if not written.isdisjoint(names):
        unseen = written & _written_first(function)
        names = tuple(name for name in names if name not in unseen)
    for name in names:
        guards.add(cells.get(name, function.__globals__), name, (*names, *computed))
        if name in sys.modules and name not in function.__globals__:  # it may import that
            guards.add(sys.modules, name, (*names, *computed))
    guards.values += function.__defaults__ or ()
    guards.values += (function.__kwdefaults__ or {}).values()
    return names


def _written_first(function: FunctionType) -> frozenset[str]:
    """The globals whose values before the call a function cannot see."""
    conversion = conversion_of(function)
    return frozenset() if conversion is None else conversion.written_first


def _is_library(value: Any) -> bool:
    """Whether a function or class is one that nobody replaces while a program runs."""
    if not isinstance(value, (FunctionType, BuiltinFunctionType, type)):
        return False
    module = str(value.__module__)
    if isinstance(value, type) and "." not in value.__qualname__ and module in sys.modules:
        # What make_dataclass() and its like have made for the user says that it is of `types`.
        is_of_module = getattr(sys.modules[module], value.__name__, None) is value
        return is_of_module and is_ignored_module(module)
    return is_ignored_module(module)


def _value(place: Any, name: str) -> Any:
    if isinstance(place, CellType):
        try:
            return place.cell_contents
        except ValueError:  # not assigned yet
            return _UNBOUND
    return place.get(name, _UNBOUND)


def object_key(instance: Any) -> Hashable:
    """The key of the compared attributes of an object that is no Layer."""
    held = {
        name: getattr(instance, name, None)
        for kind in type(instance).__mro__
        for name in _slots(kind)
    }
    held.update(getattr(instance, "__dict__", {}))
    return constant_key({n: value for n, value in held.items() if isinstance(value, COMPARED)})


def _slots(kind: type) -> tuple[str, ...]:
    slots = vars(kind).get("__slots__", ())
    names = (slots,) if isinstance(slots, str) else tuple(slots)
    return tuple(mangle(name, kind.__name__) for name in names if name not in _NO_VALUES)


_NO_VALUES = ("__dict__", "__weakref__")
