"""Brings layers into a canonical form: vectors, who reads whom, zeros stored by producers.

The machine's multipliers know no padding: a layer's zeros are part of the map that it reads. So the
producer stores them, as much on each side as the widest consumer wants; the others skip the rest.
"""

from __future__ import annotations

from collections.abc import Iterable

from dy2st.targets.opu.layer import Activation, Layer, LayerType, Pooling
from dy2st.targets.opu.network import Network

NONE = [0, 0, 0, 0]


def local(layer: Layer) -> Layer:
    """The layer, with 3 numbers for kernels, strides and windows, 4 for paddings and sizes."""
    for name in ("ker_size", "ker_stride", "pooling_size", "pooling_stride", "dilation"):
        found = [int(value) for value in getattr(layer, name)]
        setattr(layer, name, [1] * (3 - len(found)) + found)
    for name in ("padding_size", "pool_padding_size", "post_padding_size"):
        setattr(layer, name, _four(getattr(layer, name)))
    layer.pre_remove_padding_size = _four(layer.pre_remove_padding_size)
    for name in ("type", "pooling_type", "activation_type", "res_position"):
        setattr(layer, name, int(getattr(layer, name)))
    layer.input_size, layer.output_size = _size(layer.input_size), _size(layer.output_size)
    return layer


def _four(values: Iterable[int]) -> list[int]:
    """(top, bottom, left, right) of (all), or of (height, width)."""
    found = [int(value) for value in values]
    if len(found) == 2:
        return [found[0], found[0], found[1], found[1]]
    return found * 4 if len(found) == 1 else found


def _size(values: Iterable[int]) -> list[int]:
    """(n, h, w, c) of (n, c)."""
    found = [int(value) for value in values]
    return [found[0], 1, 1, found[1]] if len(found) == 2 else found


def connect(network: Network) -> None:
    """Let every layer know its readers, and whether it is a residual; give flattened maps back.

    `output_layer` has the layers that read it as their input, and -1 for an output of the network;
    those that add it as a residual know that themselves.
    """
    for layer in network.layers:
        readers = [other for other in network.layers if layer.index in other.input_layer]
        layer.output_layer = [other.index for other in readers]
        if layer.index in network.outputs:
            layer.output_layer.append(-1)
        is_added = any(layer.index in other.residual_source for other in network.layers)
        layer.output_choice = [3, 3 if is_added else -1]
    for layer in network.layers:
        if layer.type == LayerType.FULLY_CONNECTED:
            unflatten(network, layer)


def unflatten(network: Network, layer: Layer) -> None:
    """The map of a layer that reads flattened elements is its producer's."""
    producers = [network.layer(index) for index in layer.input_layer if index > 0]
    if len(producers) == 1 and layer.input_size[1:3] == [1, 1]:
        made = producers[0]
        _, high, wide, channels = made.output_size
        top, bottom, left, right = made.post_padding_size
        size = [1, high - top - bottom, wide - left - right, channels]
        if size[1] * size[2] * size[3] == layer.input_size[3]:
            layer.input_size = size
            layer.ker_size = [1, size[1], size[2]]
            layer.input_channels = [size[3]]


# -- padding --------------------------------------------------------------------------------------


def skip_pool_padding(network: Network) -> None:
    """Zeros around the input in place of a padding of the window, where both mean the same.

    That is so for layers without weights: for averages, and for maxima of what is never negative.
    """
    for layer in network.layers:
        is_plain = layer.type == LayerType.NONE and not layer.residual
        if (
            is_plain
            and any(layer.pool_padding_size)
            and (
                layer.pooling_type == Pooling.AVERAGE
                or layer.activation_type == Activation.RELU
                or all(i > 0 and is_never_negative(network, i) for i in layer.input_layer)
            )
        ):
            sides = zip(layer.padding_size, layer.pool_padding_size, strict=True)
            layer.padding_size = [a + b for a, b in sides]
            layer.pool_padding_size = list(NONE)


def is_never_negative(network: Network, index: int) -> bool:
    """Whether a relu, or what keeps its sign, comes last in a layer, or in those it only pools."""
    layer = network.layer(index)
    if layer.activation_type == Activation.RELU:
        return not layer.residual or layer.res_position == 0
    if layer.type != LayerType.NONE or layer.residual or layer.activation_type:
        return False
    return all(source > 0 and is_never_negative(network, source) for source in layer.input_layer)


def post_padding(network: Network, symmetric: bool = False) -> None:
    """Let producers store the zeros that their consumers want: see `Layer`.

    `symmetric` stores the widest side on all four, as the public tool chain does; consumers skip
    what they do not want. No value changes by it, and no cycle: sides that nobody reads are only
    said, not stored.

    All parts of a concat are stored alike. A transposed convolution wants none: its padding is cut
    off its result. What reads the network's input keeps its padding, and `extra_pre_padding` says
    that its `input_size` has it. A Network whose producers store zeros already stays as it is.
    """
    if any(layer.post_padding_mode for layer in network.layers):
        return
    family = _families(network)
    stored: dict[int, list[int]] = {}
    for layer in network.layers:
        widest = stored.setdefault(family[layer.input_layer[0]], list(NONE))
        widest[:] = [max(a, b) for a, b in zip(widest, _wanted(layer), strict=True)]
    if symmetric:
        stored = {producer: [max(sides)] * 4 for producer, sides in stored.items()}
    for layer in network.layers:
        layer.post_padding_mode = 1
        if layer.input_layer[0] > 0:
            sides = stored[family[layer.input_layer[0]]]
            own = _wanted(layer)
            layer.pre_remove_padding_size = [a - b for a, b in zip(sides, own, strict=True)]
            layer.input_size = _grown(layer.input_size, sides)
            if layer.type != LayerType.TRANSPOSED:
                layer.padding_size = list(NONE)
        elif any(_wanted(layer)):
            layer.input_size = _grown(layer.input_size, layer.padding_size)
            layer.extra_pre_padding = 1
    for layer in network.layers:
        if layer.index in family:
            sides = stored[family[layer.index]]
            if any(sides):
                layer.post_padding, layer.post_padding_size = 1, list(sides)
                layer.output_size = _grown(layer.output_size, sides)


def _wanted(layer: Layer) -> list[int]:
    return list(NONE) if layer.type == LayerType.TRANSPOSED else layer.padding_size


def _families(network: Network) -> dict[int, int]:
    """Producers that are read together at least once, each by the first of its family."""
    parent: dict[int, int] = {}

    def root(index: int) -> int:
        while parent.setdefault(index, index) != index:
            index = parent[index]
        return index

    for layer in network.layers:
        first = root(layer.input_layer[0])
        for other in layer.input_layer[1:]:
            parent[root(other)] = first
    return {index: root(index) for index in list(parent)}


def _grown(size: list[int], sides: list[int]) -> list[int]:
    return [size[0], size[1] + sides[0] + sides[1], size[2] + sides[2] + sides[3], size[3]]


__all__ = [
    "connect",
    "is_never_negative",
    "local",
    "post_padding",
    "skip_pool_padding",
    "unflatten",
]
