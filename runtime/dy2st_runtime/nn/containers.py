"""Layers that hold other Layers or parameters in order or by name."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from typing import Any

from dy2st_runtime.nn.layer import Layer
from dy2st_runtime.nn.layer_tree import note_change
from dy2st_runtime.tensor import Parameter


class Sequential(Layer):
    """Layers one after the other: Sequential(a, b)(x) = b(a(x)).

    Also takes (name, layer) pairs, or one dict of them; index it by position, name or slice.

    >>> net = dy2st.nn.Sequential(dy2st.nn.Linear(4, 8), dy2st.nn.ReLU(), dy2st.nn.Linear(8, 2))
    >>> net(dy2st.ones([3, 4])).shape, len(net), net[1]
    ([3, 2], 3, ReLU())
    """

    def __init__(self, *layers: Any):
        """Register the layers under "0", "1", ... or their names."""
        super().__init__()
        if len(layers) == 1 and isinstance(layers[0], Mapping):
            layers = tuple(layers[0].items())
        for index, entry in enumerate(layers):
            name, layer = entry if isinstance(entry, (tuple, list)) else (str(index), entry)
            self.add_sublayer(name, layer)

    def forward(self, x: Any) -> Any:
        """Pass x through every layer."""
        for layer in self._sub_layers.values():
            x = layer(x)
        return x

    def __getitem__(self, index: Any) -> Any:
        """A layer by position or name, or a Sequential of a slice."""
        if isinstance(index, str):
            return self._sub_layers[index]
        if isinstance(index, slice):
            return Sequential(*list(self._sub_layers.items())[index])
        return list(self._sub_layers.values())[index]

    def __setitem__(self, name: Any, layer: Layer) -> None:
        """Replace a layer."""
        self.add_sublayer(_key(self._sub_layers, name), layer)

    def __len__(self) -> int:
        """How many layers."""
        return len(self._sub_layers)

    def __iter__(self) -> Iterator[Any]:
        """The layers in order."""
        return iter(self._sub_layers.values())


class LayerList(Layer):
    """A list of Layers that are registered: their parameters are those of the model.

    >>> layers = dy2st.nn.LayerList([dy2st.nn.Linear(2, 2)])
    >>> layers = layers.append(dy2st.nn.ReLU()).extend([dy2st.nn.Tanh()])
    >>> layers.insert(1, dy2st.nn.Sigmoid())
    >>> [type(layer).__name__ for layer in layers]
    ['Linear', 'Sigmoid', 'ReLU', 'Tanh']
    """

    def __init__(self, sublayers: Iterable[Layer] | None = None):
        """Take the first layers."""
        super().__init__()
        self.extend(sublayers or ())

    def append(self, sublayer: Layer) -> LayerList:
        """Add a layer at the end."""
        self.add_sublayer(str(len(self)), sublayer)
        return self

    def extend(self, sublayers: Iterable[Layer]) -> LayerList:
        """Add layers at the end."""
        for sublayer in sublayers:
            self.append(sublayer)
        return self

    def insert(self, index: int, sublayer: Layer) -> None:
        """Put a layer before a position."""
        layers = list(self)
        layers.insert(index, sublayer)
        self._replace(layers)

    def _replace(self, layers: list[Layer]) -> None:
        note_change(self)
        self._sub_layers.clear()
        self.extend(layers)

    def __getitem__(self, index: Any) -> Any:
        """A layer by position, or a LayerList of a slice."""
        layers = list(self._sub_layers.values())
        return LayerList(layers[index]) if isinstance(index, slice) else layers[index]

    def __setitem__(self, index: int, sublayer: Layer) -> None:
        """Replace a layer."""
        self.add_sublayer(_key(self._sub_layers, index), sublayer)

    def __delitem__(self, index: Any) -> None:
        """Remove a layer; those behind move up."""
        layers = list(self)
        del layers[index]
        self._replace(layers)

    def __len__(self) -> int:
        """How many layers."""
        return len(self._sub_layers)

    def __iter__(self) -> Iterator[Any]:
        """The layers in order."""
        return iter(self._sub_layers.values())


class LayerDict(Layer):
    """A dict of Layers that are registered: their parameters are those of the model.

    >>> layers = dy2st.nn.LayerDict({"a": dy2st.nn.ReLU()})
    >>> layers.update({"b": dy2st.nn.Tanh()})
    >>> list(layers.keys()), layers.pop("a"), len(layers.values()), list(layers.items())
    (['a', 'b'], ReLU(), 1, [('b', Tanh())])
    >>> layers.clear()
    """

    def __init__(self, sublayers: Any = None):
        """Take the first layers: a dict or (name, layer) pairs."""
        super().__init__()
        self.update(sublayers or {})

    def update(self, sublayers: Any) -> None:
        """Add or replace layers."""
        pairs = sublayers.items() if hasattr(sublayers, "items") else sublayers
        for name, layer in pairs:
            self.add_sublayer(name, layer)

    def pop(self, key: str) -> Any:
        """Remove a layer and return it."""
        note_change(self)
        return self._sub_layers.pop(key)

    def clear(self) -> None:
        """Remove all layers."""
        note_change(self)
        self._sub_layers.clear()

    def keys(self) -> KeysView[str]:
        """The names in order."""
        return self._sub_layers.keys()

    def values(self) -> ValuesView[Any]:
        """The layers in order."""
        return self._sub_layers.values()

    def items(self) -> ItemsView[str, Any]:
        """Names and layers in order."""
        return self._sub_layers.items()

    def __getitem__(self, key: str) -> Any:
        """A layer by name."""
        return self._sub_layers[key]

    def __setitem__(self, key: str, sublayer: Layer) -> None:
        """Add or replace a layer."""
        self.add_sublayer(key, sublayer)

    def __delitem__(self, key: str) -> None:
        """Remove a layer."""
        note_change(self)
        del self._sub_layers[key]

    def __contains__(self, key: object) -> bool:
        """Whether there is a layer of this name."""
        return key in self._sub_layers

    def __len__(self) -> int:
        """How many layers."""
        return len(self._sub_layers)

    def __iter__(self) -> Iterator[str]:
        """The names in order."""
        return iter(self._sub_layers)


class ParameterList(Layer):
    """A list of Parameters that are registered.

    >>> made = [dy2st.create_parameter([2], "float32") for _ in range(2)]
    >>> parameters = dy2st.nn.ParameterList(made[:1]).append(made[1])
    >>> len(parameters), len(parameters.parameters())
    (2, 2)
    """

    def __init__(self, parameters: Iterable[Parameter] | None = None):
        """Take the first parameters."""
        super().__init__()
        for parameter in parameters or ():
            self.append(parameter)

    def append(self, parameter: Parameter) -> ParameterList:
        """Add a parameter at the end."""
        self.add_parameter(str(len(self)), parameter)
        return self

    def __getitem__(self, index: int) -> Parameter:
        """A parameter by position."""
        return list(self._parameters.values())[index]  # type: ignore[no-any-return]

    def __setitem__(self, index: int, parameter: Parameter) -> None:
        """Replace a parameter."""
        self.add_parameter(_key(self._parameters, index), parameter)

    def __len__(self) -> int:
        """How many parameters."""
        return len(self._parameters)

    def __iter__(self) -> Iterator[Parameter]:
        """The parameters in order."""
        return iter(self._parameters.values())


def _key(entries: OrderedDict[str, Any], index: Any) -> str:
    """The name at a position, or the name itself."""
    return index if isinstance(index, str) else list(entries)[index]
