"""Counts the multiplications of a layer, and describes it in a few words."""

from __future__ import annotations

from math import prod

from dy2st.targets.opu.layer import Activation, Layer, LayerType, Pooling
from dy2st.targets.opu.network import Network
from dy2st.targets.opu.sizes import (
    input_size,
    is_depthwise,
    kernel_size,
    multiplied_size,
    pooled_size,
)

_NAMES = {
    LayerType.FULLY_CONNECTED: "dense",
    LayerType.CONVOLUTION: "conv",
    LayerType.TRANSPOSED: "transposed",
    LayerType.NONE: "pass",
    LayerType.SCALE: "scale",
}


CONVOLUTIONS, COLUMNS, DENSE, OTHERS = "convolutions", "host columns", "dense", "no weights"
"""Parts of a network: the host makes the columns that a layer of the second kind reads; dense
layers use every weight once, so memory bounds them; the others pool, add and scale."""


def part_of(layer: Layer) -> str:
    """The part of the network that a layer is counted in."""
    if layer.type == LayerType.FULLY_CONNECTED:
        return DENSE
    if not layer.has_weights:
        return OTHERS
    return COLUMNS if layer.enhanced else CONVOLUTIONS


def products(network: Network, layer: Layer) -> int:
    """Multiplications of real channels for real pixels; zeros of a padding count, as everywhere.

    Pixels that no window of a pooling reads are not computed.
    """
    if layer.type == LayerType.NONE:
        return 0
    if layer.type == LayerType.SCALE:
        return prod(multiplied_size(network, layer)) * layer.output_size[3]
    per_group = input_size(network, layer)[2] // layer.group * layer.output_size[3]
    if layer.type == LayerType.TRANSPOSED:
        taps = _transposed_taps(network, layer, 0) * _transposed_taps(network, layer, 1)
        return taps * per_group
    # of the pixels that are computed: not of those between windows that lie apart
    sizes = multiplied_size(network, layer)
    if layer.pooling_type == Pooling.NONE:
        height, width = sizes
    else:
        before = layer.pool_padding_size[::2]
        counts = pooled_size(network, layer)
        pairs = zip(layer.pooling_size[1:], layer.pooling_stride[1:], strict=True)
        read = [
            {at * stride + r - start for at in range(count) for r in range(window)} & {*range(size)}
            for (window, stride), start, count, size in zip(
                pairs, before, counts, sizes, strict=True
            )
        ]
        height, width = len(read[0]), len(read[1])
    kernel = kernel_size(network, layer)
    return height * width * kernel[0] * kernel[1] * per_group


def _transposed_taps(network: Network, layer: Layer, axis: int) -> int:
    """Pairs of an input row and a tap whose result lies inside the output."""
    size, limit = input_size(network, layer)[axis], multiplied_size(network, layer)[axis]
    kernel, stride = layer.ker_size[axis + 1], layer.ker_stride[axis + 1]
    before = layer.padding_size[2 * axis]
    places = (i * stride + r - before for i in range(size) for r in range(kernel))
    return sum(0 <= place < limit for place in places)


def described(layer: Layer) -> str:
    """What the layer does, as `conv 3x3 /2 relu max 2x2 /2`, for tables."""
    parts = ["depthwise" if is_depthwise(layer) else _NAMES[LayerType(layer.type)]]
    if layer.type in (LayerType.CONVOLUTION, LayerType.TRANSPOSED):
        parts.append(_window(layer.ker_size, layer.ker_stride))
        if layer.group > 1 and not is_depthwise(layer):
            parts.append(f"groups {layer.group}")
    # what is done with the sums, in its order
    pool = ""
    if layer.pooling_type != Pooling.NONE:
        name = "max" if layer.pooling_type == Pooling.MAX else "average"
        pool = f"{name} {_window(layer.pooling_size, layer.pooling_stride)}"
    relu = "relu" if layer.activation_limit is None else f"relu{layer.activation_limit:g}"
    activation = {Activation.RELU: relu, Activation.LEAKY: "leaky"}
    activation[Activation.HARD_SWISH] = "hard swish"
    steps = {
        "r": "residual" if layer.residual else "",
        "a": activation.get(Activation(layer.activation_type), ""),
        "p": pool,
    }
    order = ("rap", "arp", "apr", "ap")[layer.res_position]
    after = [steps[letter] for letter in order if steps[letter]]
    if layer.upsample > 1:
        after.append(f"upsample {layer.upsample}")
    return " ".join(parts + after)


def _window(size: list[int], stride: list[int]) -> str:
    edge = f"{size[1]}x{size[2]}"
    if stride[1:] == [1, 1]:
        return edge
    return f"{edge} /{stride[1]}" if stride[1] == stride[2] else f"{edge} /{stride[1]},{stride[2]}"


__all__ = ["COLUMNS", "CONVOLUTIONS", "DENSE", "OTHERS", "described", "part_of", "products"]
