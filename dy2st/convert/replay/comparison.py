"""Compares a value that is found again with the one that a trace has read."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Collection, Container, Iterable, Mapping
from datetime import date
from hashlib import blake2b
from operator import is_
from pathlib import PurePath
from types import CellType, FunctionType, ModuleType
from typing import Any

import numpy as np

from dy2st.convert.trace import MISSING
from dy2st.convert.types import same
from dy2st.convert.types.row import HEAP_TYPE
from dy2st.convert.values.special import UNBOUND
from dy2st_runtime.nn.layer import Layer
from dy2st_runtime.tensor import EagerTensor, Parameter, form_of

# Longer arrays are not kept.
_LARGE = 4096


def same_answer(value: Any, known: Any) -> bool:
    """As `same`, of lists, dicts, paths and dates that are made anew at each look."""
    if isinstance(known, (PurePath, date)):
        return repr(value) == repr(known)
    if type(known) not in (list, dict) or type(value) is not type(known):
        return same(value, known)
    if len(value) != len(known):
        return False
    if isinstance(known, dict):
        return all(map(same, value, known)) and all(
            map(same_answer, value.values(), known.values())
        )
    return all(map(same_answer, value, known))


def like(value: Any, dtype: Any, shape: tuple[int, ...]) -> bool:
    """Whether a value is a tensor, no parameter, of that type."""
    if not isinstance(value, EagerTensor) or isinstance(value, Parameter):
        return False
    return form_of(value) == (dtype, shape)


def text_of(array: np.ndarray[Any, Any]) -> Any:
    """What tells the content of an array from all others."""
    text = array.tobytes()
    short = text if len(text) <= _LARGE else blake2b(text).digest()
    objects = tuple(map(id, array.ravel().tolist())) if array.dtype.hasobject else ()
    return array.dtype, array.shape, array.flags.num, short, objects


def cell_value(cell: CellType) -> Any:
    """What a variable of a closure holds."""
    try:
        return cell.cell_contents
    except ValueError:
        return UNBOUND


def fields_of(kind: type | None) -> Mapping[str, Any]:
    """What a class holds itself; nothing if it is gone."""
    return {} if kind is None else kind.__dict__


def mro_of(kind: type | None) -> tuple[type, ...]:
    """A class and its bases, in the order of lookups; none if it is gone."""
    return () if kind is None else kind.__mro__


def item_value(owner: Any, index: Any) -> Any:
    """`owner[index]` of a list; MISSING behind its end."""
    try:
        return owner[index]
    except IndexError:
        return MISSING


def layer_value(owner: Layer, name: str) -> Any:
    """What a Layer itself holds under a name; MISSING if nothing."""
    fields = owner.__dict__
    if name in fields:
        return fields[name]
    for store in ("_parameters", "_buffers", "_sub_layers"):
        held = fields.get(store)
        if held is not None and name in held:
            return held[name]
    return MISSING


def hooks_of(layer: Layer) -> tuple[Any, ...]:
    """The hooks of a Layer, in order, and which of them take keywords."""
    if not layer._forward_pre_hooks and not layer._forward_post_hooks:
        return ()
    hooks = (*layer._forward_pre_hooks.items(), *layer._forward_post_hooks.items())
    return (len(layer._forward_pre_hooks), *hooks, *sorted(layer._hooks_with_kwargs))


def is_kept(value: Any) -> bool:
    """Whether a Program may keep a value alive: objects of classes, and closures, it must not."""
    if isinstance(value, FunctionType):
        return value.__closure__ is None
    if isinstance(value, type):
        return "<locals>" not in value.__qualname__
    is_object = type(value).__flags__ & HEAP_TYPE and not isinstance(value, tuple)
    return not is_object or isinstance(value, (ModuleType, EagerTensor))


def weak(value: Any) -> Callable[[], Any] | None:
    """A weak reference to what must not be kept alive; None to all else, and to what takes none."""
    if is_kept(value):
        return None
    try:
        return weakref.ref(value)
    except TypeError:
        return None


class TupleForm:
    """A tuple in which tensors count by their types."""

    def __init__(self, known: tuple[Any, ...]):
        """Take the tuple that was read."""
        self._known = known

    def fits(self, value: Any) -> bool:
        """Whether a value has the same form."""
        known = self._known
        is_one = type(value) is type(known) and len(value) == len(known)
        return is_one and all(map(_is_alike, value, known))


def _is_alike(value: Any, known: Any) -> bool:
    if not isinstance(known, EagerTensor) or isinstance(known, Parameter):
        return same(value, known)
    return like(value, known.array.dtype, known.array.shape)


class References:
    """Values in their order; objects of the user's are not kept alive."""

    def __init__(self, values: Iterable[Any]):
        """Take the values."""
        pairs = [(weak(value), value) for value in values]
        self._values = [(one, value if one is None else None) for one, value in pairs]
        self._count = len(pairs)
        constants = tuple(value for one, value in pairs if one is None)
        self._constants = constants if len(constants) == len(pairs) else None

    def are(self, values: Collection[Any]) -> bool:
        """Whether values are as many and the same, one by one."""
        if len(values) != self._count:
            return False
        if self._constants is not None and all(map(is_, values, self._constants)):
            return True
        return all(
            same(value, constant) if reference is None else value is reference() is not None
            for value, (reference, constant) in zip(values, self._values, strict=False)
        )


class LayerState:
    """All that a Layer holds at a moment; a buffer counts by its type."""

    def __init__(self, layer: Layer, unread: Container[str] = ()):
        """Take the state of now but for attributes that are `unread`.

        Objects of the user's are not kept alive.
        """
        self._unread = unread
        self._names, values = _state_of(layer, unread)
        self._values = References(values)
        self._buffers = _types_of(layer)
        self._hooks = References(hooks_of(layer))

    def holds(self, layer: Layer) -> bool:
        """Whether a Layer still holds the same."""
        names, values = _state_of(layer, self._unread)
        if names != self._names or not self._values.are(values):
            return False
        is_same = not layer._buffers or _types_of(layer) == self._buffers
        return is_same and self._hooks.are(hooks_of(layer))


def _state_of(layer: Layer, unread: Container[str]) -> tuple[tuple[str, ...], tuple[Any, ...]]:
    fields = {name: value for name, value in vars(layer).items() if name not in unread}
    parameters, inner, buffers = layer._parameters, layer._sub_layers, layer._buffers
    names = *fields, *parameters, *inner, *buffers
    return names, (*fields.values(), *parameters.values(), *inner.values())


def _types_of(layer: Layer) -> list[Any]:
    held = layer._buffers.items()
    return [(n, t if t is None else (t.array.dtype, t.array.shape)) for n, t in held]


_STORES = ("_parameters", "_buffers", "_sub_layers", "_forward_pre_hooks", "_forward_post_hooks")


def stores_of(owner: Any) -> list[Any]:
    """The tables of a Layer, of what it holds; none of other objects."""
    if not isinstance(owner, Layer):
        return []
    return [owner.__dict__[name] for name in _STORES if name in owner.__dict__]
