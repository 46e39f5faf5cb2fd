"""What a Program has taken from outside of its arguments, and whether it is still so.

Tracing reads Python values of globals, closures and Layer attributes once. Each value that was
read is remembered; when one has changed, the function is traced again.
"""

from __future__ import annotations

import weakref
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, ModuleType
from typing import Any, TypeAlias

from dy2st.convert.call import conversion_of, is_ignored_module
from dy2st.convert.swapping import own_code
from dy2st.jit.constants import constant_key
from dy2st.transpiler.source import mangle
from dy2st_runtime.nn.layer import Layer, attribute_changes
from dy2st_runtime.tensor import EagerTensor

# Values that are compared. Functions, classes and other callables must be the same ones; of modules
# what is read is compared.
_COMPARED = (int, float, bool, str, bytes, tuple, type(None), EagerTensor)
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
    """A variable that holds a function, class or other callable, which must stay the same one."""

    place: Mapping[str, Any] | CellType
    name: str
    value: weakref.ref[Any]

    def holds(self) -> bool:
        """Whether the variable still holds it."""
        return _value(self.place, self.name) is self.value()


@dataclass(frozen=True)
class SameCode:
    """The functions that were called, and their code: a tool may put in other code in place."""

    functions: tuple[tuple[weakref.ref[FunctionType], CodeType], ...]

    def holds(self) -> bool:
        """Whether no function that is still there has other code."""
        for reference, code in self.functions:
            function = reference()
            if function is not None and own_code(function) is not code:
                return False
        return True


AnyGuard: TypeAlias = Guard | Same | SameCode


def guards_of(
    functions: Iterable[FunctionType], written: frozenset[str] = frozenset()
) -> list[AnyGuard]:
    """Guards for what functions read of globals, closures and modules, and for their own code.

    written: the names of globals that the trace has assigned.
    """
    guards: dict[tuple[int, str], AnyGuard | None] = {}  # None for a module that is guarded
    called = list(functions)
    for function in called:
        code = own_code(function)
        cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
        names = tuple(_names(code))
        if not written.isdisjoint(names):
            unseen = written & _written_first(function)
            names = tuple(name for name in names if name not in unseen)
        for name in names:
            _guard(cells.get(name, function.__globals__), name, names, guards)
    codes = tuple((weakref.ref(function), own_code(function)) for function in called)
    found: list[AnyGuard] = [guard for guard in guards.values() if guard is not None]
    return [*found, SameCode(codes)]


def _written_first(function: FunctionType) -> frozenset[str]:
    """The globals whose values before the call a function cannot see."""
    conversion = conversion_of(function)
    return frozenset() if conversion is None else conversion.written_first


def _guard(
    place: Any, name: str, names: tuple[str, ...], guards: dict[tuple[int, str], AnyGuard | None]
) -> None:
    """Add the guard of a variable; for a module those of what the function may read of it."""
    value = _value(place, name)
    key = id(place), name
    if isinstance(value, ModuleType):
        if key not in guards and not is_ignored_module(value.__name__):
            guards[key] = None
            for attribute in names:
                _guard(vars(value), attribute, names, guards)
    elif isinstance(value, _COMPARED):
        guards[key] = Guard(place, name, constant_key(value))
    elif callable(value) and not _is_library(value):
        try:
            guards[key] = Same(place, name, weakref.ref(value))
        except TypeError:  # an object that takes no weak references
            return


def _is_library(value: Any) -> bool:
    """Whether a function or class is one that nobody replaces while a program runs."""
    is_defined = isinstance(value, (FunctionType, BuiltinFunctionType, type))
    return is_defined and is_ignored_module(str(value.__module__))


def _names(code: CodeType) -> Iterator[str]:
    """Global and free variables that code reads, inner functions included."""
    yield from code.co_names
    yield from code.co_freevars
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _names(inner)


def _value(place: Any, name: str) -> Any:
    if isinstance(place, CellType):
        try:
            return place.cell_contents
        except ValueError:  # not assigned yet
            return _UNBOUND
    return place.get(name, _UNBOUND)


class LayerState:
    """The key of everything that a Layer holds in Python, computed again only after a change."""

    def __init__(self, layer: Layer):
        """Watch a Layer and all that are inside."""
        self._layer = weakref.ref(layer)  # the state belongs to a method of the Layer
        self._changes = -1
        self._key: Hashable = None

    def key(self) -> Hashable:
        """Equal as long as no attribute of any Layer was set to another value."""
        if self._changes != attribute_changes():
            self._changes = attribute_changes()
            layer = self._layer()
            assert layer is not None, "the Layer of a method is gone"
            self._key = tuple(map(_layer_key, layer.sublayers(include_self=True)))
        return self._key


def object_key(instance: Any) -> Hashable:
    """The key of the compared attributes of an object that is no Layer."""
    held = {
        name: getattr(instance, name, None)
        for kind in type(instance).__mro__
        for name in _slots(kind)
    }
    held.update(getattr(instance, "__dict__", {}))
    return constant_key({n: value for n, value in held.items() if isinstance(value, _COMPARED)})


def _slots(kind: type) -> tuple[str, ...]:
    slots = vars(kind).get("__slots__", ())
    names = (slots,) if isinstance(slots, str) else tuple(slots)
    return tuple(mangle(name, kind.__name__) for name in names if name not in _NO_VALUES)


_NO_VALUES = ("__dict__", "__weakref__")


def _layer_key(layer: Layer) -> Hashable:
    held = {
        name: value
        for name, value in layer.__dict__.items()
        if name == "training" or (not name.startswith("_") and isinstance(value, _COMPARED))
    }
    registered = (*layer._parameters.items(), *layer._buffers.items(), *layer._sub_layers.items())
    return id(layer), constant_key(held), tuple((name, id(value)) for name, value in registered)
