"""Computes the sizes of the maps that a layer reads, multiplies, pools and makes.

All sizes are (h, w) or (h, w, c) of one image, without any stored border.
"""

from __future__ import annotations

from dy2st.targets.opu.layer import Layer, LayerType, Pooling
from dy2st.targets.opu.network import Network

Size = tuple[int, int, int]
Sides = tuple[int, int, int, int]


def tensor_size(network: Network, producer: int) -> Size:
    """(h, w, c) of what a layer makes, or of the network's input -producer."""
    if producer <= 0:
        _, height, width, channels = network.input_sizes[-producer]
        return height, width, channels
    layer = network.layer(producer)
    _, height, width, channels = layer.output_size
    top, bottom, left, right = layer.post_padding_size
    return height - top - bottom, width - left - right, channels


def input_size(network: Network, layer: Layer) -> Size:
    """(h, w, c) of a layer's input, its parts joined along channels."""
    height, width, _ = tensor_size(network, layer.input_layer[0])
    return height, width, sum(part_channels(network, layer))


def part_channels(network: Network, layer: Layer) -> list[int]:
    """How many channels every part of a layer's input has."""
    return [tensor_size(network, producer)[2] for producer in layer.input_layer]


def border(network: Network, layer: Layer) -> Sides:
    """Zeros around the input's map (top, bottom, left, right) that the layer's windows reach.

    What its producers store, less what it does not read, and its own padding. What reads the
    network's input keeps all of its own, stored (`extra_pre_padding`) or not. Of a transposed
    convolution, it is what is cut off the output: a negative number adds to it.
    """
    top, bottom, left, right = layer.padding_size
    producer = layer.input_layer[0]
    if layer.type == LayerType.TRANSPOSED or producer <= 0:
        return top, bottom, left, right
    stored, removed = network.layer(producer).post_padding_size, layer.pre_remove_padding_size
    more = [a - b for a, b in zip(stored, removed)]
    return top + more[0], bottom + more[1], left + more[2], right + more[3]


def is_depthwise(layer: Layer) -> bool:
    """Whether every channel is convolved with a kernel of its own, many taps a pass."""
    channels = layer.input_size[3], layer.output_size[3]
    return layer.type == LayerType.CONVOLUTION and (layer.group,) * 2 == channels != (1, 1)


def kernel_size(network: Network, layer: Layer) -> tuple[int, int]:
    """(h, w) of the kernel: all of its input for a fully connected layer, 1 without weights."""
    if layer.type == LayerType.FULLY_CONNECTED:
        top, bottom, left, right = border(network, layer)
        height, width, _ = input_size(network, layer)
        return height + top + bottom, width + left + right
    if layer.type in (LayerType.NONE, LayerType.SCALE):
        return 1, 1
    return layer.ker_size[1], layer.ker_size[2]


def multiplied_size(network: Network, layer: Layer) -> tuple[int, int]:
    """(h, w) of the partial sums: in front of residual, activation and pooling."""
    top, bottom, left, right = border(network, layer)
    height, width, _ = input_size(network, layer)
    kernel = kernel_size(network, layer)
    _, stride_y, stride_x = layer.ker_stride
    if layer.type == LayerType.TRANSPOSED:
        tall = (height - 1) * stride_y + kernel[0] - top - bottom
        return tall, (width - 1) * stride_x + kernel[1] - left - right
    if layer.type != LayerType.CONVOLUTION:
        stride_y = stride_x = 1
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, layer.dilation[1:])]
    tall = (height + top + bottom - reach[0]) // stride_y + 1
    return tall, (width + left + right - reach[1]) // stride_x + 1


def pooled_size(network: Network, layer: Layer) -> tuple[int, int]:
    """(h, w) behind pooling, in front of upsampling."""
    height, width = multiplied_size(network, layer)
    if layer.pooling_type == Pooling.NONE:
        return height, width
    top, bottom, left, right = layer.pool_padding_size
    tall = (height + top + bottom - layer.pooling_size[1]) // layer.pooling_stride[1] + 1
    return tall, (width + left + right - layer.pooling_size[2]) // layer.pooling_stride[2] + 1


def made_size(network: Network, layer: Layer) -> Size:
    """(h, w, c) of what a layer makes, from what it computes: equal to its `tensor_size`."""
    height, width = pooled_size(network, layer)
    times = max(layer.upsample, 1)
    return height * times, width * times, layer.output_size[3]


__all__ = [
    "Sides",
    "Size",
    "border",
    "input_size",
    "is_depthwise",
    "kernel_size",
    "made_size",
    "multiplied_size",
    "part_channels",
    "pooled_size",
    "tensor_size",
]
