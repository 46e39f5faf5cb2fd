"""What a Program has taken from outside of its arguments, and whether it is still so.

Tracing reads Python values of globals, closures and Layer attributes once. Each value that was
read is remembered; when one has changed, the function is traced again.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import CellType, CodeType, FunctionType
from typing import Any

from dy2st.jit.constants import constant_key
from dy2st_runtime.nn.layer import Layer, attribute_changes
from dy2st_runtime.tensor import EagerTensor

# Values that are compared. Functions, modules and classes are not: replacing one is rare, and
# what they contain is compared where it is used.
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


def guards_of(functions: Iterable[FunctionType]) -> list[Guard]:
    """Guards for all globals and closure variables with compared values that functions read."""
    guards: dict[tuple[int, str], Guard] = {}
    for function in functions:
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
        for name in _names(function.__code__):
            place: Any = cells.get(name, function.__globals__)
            value = _value(place, name)
            if isinstance(value, _COMPARED):
                guards[id(place), name] = Guard(place, name, constant_key(value))
    return list(guards.values())


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
        self._layer = layer
        self._changes = -1
        self._key: Hashable = None

    def key(self) -> Hashable:
        """Equal as long as no attribute of any Layer was set to another value."""
        if self._changes != attribute_changes():
            self._changes = attribute_changes()
            self._key = tuple(map(_layer_key, self._layer.sublayers(include_self=True)))
        return self._key


def object_key(instance: Any) -> Hashable:
    """The key of the compared attributes of an object that is no Layer."""
    held = getattr(instance, "__dict__", {})
    return constant_key({n: value for n, value in held.items() if isinstance(value, _COMPARED)})


def _layer_key(layer: Layer) -> Hashable:
    held = {
        name: value
        for name, value in layer.__dict__.items()
        if name == "training" or (not name.startswith("_") and isinstance(value, _COMPARED))
    }
    registered = (*layer._parameters.items(), *layer._buffers.items(), *layer._sub_layers.items())
    return id(layer), constant_key(held), tuple((name, id(value)) for name, value in registered)
