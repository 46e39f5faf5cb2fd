"""What code that is not traced may read of what it is given: all that it can reach."""

from __future__ import annotations

from collections import deque
from types import FunctionType, MappingProxyType, MemberDescriptorType, ModuleType
from typing import Any

from dy2st.heart.trace import CONTAINERS, MISSING, Trace
from dy2st_runtime.ir import Tensor
from dy2st_runtime.nn.layer import Layer

_COLLECTIONS = (list, dict, set, deque, MappingProxyType) + tuple(
    type(getattr({}, name)()) for name in ("keys", "values", "items")
)
_STORES = ("_parameters", "_buffers", "_sub_layers")
# What a Layer keeps for itself; who calls its hooks notes them.
_OWN = frozenset(
    ("_state_dict_hooks", "_non_persistable_buffer_names_set", "_hooks_with_kwargs")
    + ("_forward_pre_hooks", "_forward_post_hooks", *_STORES)
)


def note_reached(trace: Trace, values: Any, through_users: bool = True) -> list[Any]:
    """Note all that can be reached from values as read; gives those objects.

    `through_users`: Layers of the user's inside of others too; they are traced if they are called.
    """
    todo, seen = list(values), dict[int, Any]()
    while todo:
        value = todo.pop()
        if id(value) not in seen and not isinstance(value, Tensor):
            seen[id(value)] = value
            todo += _parts(trace, value, through_users)
    return list(seen.values())


def _parts(trace: Trace, value: Any, through_users: bool) -> list[Any]:
    kind = type(value)
    if isinstance(value, tuple):
        return list(value)
    if kind in CONTAINERS:
        content = trace.content(value)
        trace.read_content(value)
        if type(content) not in CONTAINERS or kind is bytearray:
            return []
        return list(content.values() if isinstance(content, dict) else content)
    if isinstance(value, Layer):
        return _of_layer(trace, value, through_users)
    if not trace.is_outside(value):
        return []
    if isinstance(value, memoryview):
        trace.read("state", value, None, None)
    if isinstance(value, _COLLECTIONS):
        trace.read("content", value, None, None)
        items = [*value.values()] if isinstance(value, (dict, MappingProxyType)) else [*value]
        return [*_marked(trace, value, items), *note_fields(trace, value)]
    return note_fields(trace, value)


def note_fields(trace: Trace, owner: Any) -> list[Any]:
    """Note all attributes that an object from outside itself holds; gives their values."""
    if not trace.is_outside(owner) or isinstance(owner, (type, ModuleType, FunctionType)):
        return []
    held = getattr(owner, "__dict__", None)
    held = dict(held) if isinstance(held, dict) else {}
    if held:
        trace.read("fields", owner, None, None)
    for kind in type(owner).__mro__:
        slots = [one for one in vars(kind).values() if isinstance(one, MemberDescriptorType)]
        held |= {one.__name__: getattr(owner, one.__name__, MISSING) for one in slots}
    for name, one in held.items():
        if (id(owner), name) not in trace.over:
            trace.read("attr", owner, name, one)
    return list(held.values())


def _of_layer(trace: Trace, layer: Layer, through_users: bool) -> list[Any]:
    if trace.is_outside(layer):
        trace.read("layer", layer, "all", None)
    fields = [value for name, value in vars(layer).items() if name not in _OWN]
    children = [one for store in _STORES for one in vars(layer).get(store, {}).values()]
    _marked(trace, layer, [*fields, *children])
    inner = [one for one in children if through_users or not is_users(one)]
    return [*(one for one in fields if not isinstance(one, Layer)), *inner]


def is_users(value: Any) -> bool:
    """Whether an object is a Layer of a class of the user's."""
    return isinstance(value, Layer) and not type(value).__module__.startswith("dy2st_runtime.")


def _marked(trace: Trace, owner: Any, values: Any) -> list[Any]:
    """What an owner outside holds is outside."""
    found = list(values)
    if trace.is_outside(owner):
        for value in found:
            trace.mark_outside(value)
    return found


__all__ = ["note_fields", "note_reached"]
