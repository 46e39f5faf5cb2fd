"""The key of what a Layer holds in Python."""

from __future__ import annotations

import weakref
from collections.abc import Hashable

from dy2st.jit.constants import COMPARED, constant_key
from dy2st_runtime.nn.layer import Layer, attribute_changes


class LayerState:
    """The key of everything that a Layer holds in Python, computed again only after a change.

    A buffer counts by its type and by which other buffers are the same tensor: a call may make it
    another one.
    """

    def __init__(self, layer: Layer):
        """Watch a Layer and all that are inside."""
        self._layer = weakref.ref(layer)  # the state belongs to a method of the Layer
        self._changes = -1
        self._key: Hashable = None

    def key(self) -> Hashable:
        """Equal while no attribute of any Layer is set to another value; None if it is gone."""
        if self._changes != attribute_changes():
            self._changes = attribute_changes()
            layer = self._layer()
            if layer is None:
                return None
            numbers: dict[int, int] = {}
            layers = layer.sublayers(include_self=True)
            self._key = tuple(_layer_key(layer, numbers) for layer in layers)
        return self._key


def _is_setting(layer: Layer, name: str) -> bool:
    """Whether an attribute is public, or one of those that our Layers keep as private ones."""
    return not name.startswith("_") or name in layer._aliases.values()


def _layer_key(layer: Layer, numbers: dict[int, int]) -> Hashable:
    held = {
        name: value
        for name, value in layer.__dict__.items()
        if name == "training" or (_is_setting(layer, name) and isinstance(value, COMPARED))
    }
    hooks = (*layer._forward_pre_hooks.items(), *layer._forward_post_hooks.items())
    registered = (*layer._parameters.items(), *layer._sub_layers.items(), *hooks)
    buffers = tuple(
        (name, None if tensor is None else (tensor.array.dtype, tensor.array.shape, number))
        for name, tensor in layer._buffers.items()
        for number in [numbers.setdefault(id(tensor), len(numbers))]
    )
    own = tuple((name, id(value)) for name, value in registered)
    return id(layer), id(type(layer)), constant_key(held), own, buffers
