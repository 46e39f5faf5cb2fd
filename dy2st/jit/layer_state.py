"""The key of what a Layer holds in Python."""

from __future__ import annotations

import weakref
from collections.abc import Hashable

from dy2st.jit.constants import COMPARED, constant_key
from dy2st_runtime.nn.layer import Layer, attribute_changes


class LayerState:
    """The key of everything that a Layer holds in Python, computed again only after a change."""

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
            self._key = tuple(map(_layer_key, layer.sublayers(include_self=True)))
        return self._key


def _layer_key(layer: Layer) -> Hashable:
    held = {
        name: value
        for name, value in layer.__dict__.items()
        if name == "training" or (not name.startswith("_") and isinstance(value, COMPARED))
    }
    registered = (*layer._parameters.items(), *layer._buffers.items(), *layer._sub_layers.items())
    return id(layer), constant_key(held), tuple((name, id(value)) for name, value in registered)
