"""Chooses the layers that read the network's input as columns of their windows.

An image has few channels, so its passes leave most lanes idle. As columns, all elements of a window
are channels of one pixel: fewer passes, more words to load. The order of the sums changes with it,
so this is decided before a network is quantised.
"""

from __future__ import annotations

from math import prod

from dy2st.targets.opu import sizes
from dy2st.targets.opu.layer import Layer, LayerType
from dy2st.targets.opu.machine import CHANNELS, Machine, channel_tiles
from dy2st.targets.opu.machine import machine as machine_of
from dy2st.targets.opu.network import Network


def enhance(network: Network, machine: Machine | str = "opu1024") -> list[int]:
    """Set `enhanced` of every layer that is faster so; returns their indices."""
    opu = machine_of(machine)
    found = []
    for layer in network.layers:
        layer.enhanced = 0
        if not _can_be(network, layer):
            continue
        tall, wide = sizes.kernel_size(network, layer)
        height, width = sizes.multiplied_size(network, layer)
        pixels, channels = sizes.input_size(network, layer)[:2], layer.input_size[3]
        tiles, columns = channel_tiles(channels), channel_tiles(channels * tall * wide)
        plain = tall * wide * height * width * _rounds(tiles, layer, opu)
        plain += tall * wide * len(tiles) * opu.pe_epilogue
        apart = height * width * _rounds(columns, layer, opu) + len(columns) * opu.pe_epilogue
        stored = height * width * len(channel_tiles(layer.output_size[3]))
        loaded = pixels[0] * pixels[1] * len(tiles)
        if max(apart, height * width * len(columns) + stored) < max(plain, loaded + stored):
            layer.enhanced = 1
            found.append(layer.index)
    return found


def enhance_as_published(network: Network) -> None:
    """Set `enhanced` by the public tool chain's rule: a window has fewer numbers than a word."""
    for layer in network.layers:
        if _can_be(network, layer):
            numbers = prod(sizes.kernel_size(network, layer)) * layer.input_size[3]
            layer.enhanced = int(numbers < CHANNELS)


def _can_be(network: Network, layer: Layer) -> bool:
    """A plain convolution of a network's input alone."""
    if layer.type != LayerType.CONVOLUTION or layer.group != 1:
        return False
    is_input = len(layer.input_layer) == 1 and layer.input_layer[0] <= 0
    tall, wide = sizes.kernel_size(network, layer)
    return is_input and tall * wide > 1


def _rounds(tiles: list[int], layer: Layer, machine: Machine) -> int:
    outputs = channel_tiles(layer.output_size[3])
    return sum(machine.rounds(channels, k) for channels in tiles for k in outputs)


__all__ = ["enhance", "enhance_as_published"]
