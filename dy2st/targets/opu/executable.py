"""Checks a quantised layer before it is compiled or interpreted."""

from __future__ import annotations

from dy2st.targets.opu.layer import Activation, Layer, LayerType
from dy2st.targets.opu.network import Array, Network
from dy2st.targets.opu.operations import FRACTION
from dy2st.targets.opu.sizes import border, input_size, kernel_size, made_size, tensor_size
from dy2st_runtime.errors import ArgumentError


def check_executable(network: Network, layer: Layer) -> None:
    """ArgumentError unless sizes, fraction lengths and integers of a layer fit each other."""
    made, said = made_size(network, layer), tensor_size(network, layer.index)
    _demand(layer, made == said, f"makes {made}, and its output_size says {said}")
    sides = border(network, layer)
    _demand(layer, min(sides[::2]) >= 0, f"has a padding of {sides}")
    _demand(layer, not layer.channel_shuffle, "shuffles channels, which nothing computes")
    _demand(layer, bool(layer.residual) == bool(layer.residual_source), "has half a residual")
    _demand(layer, len(layer.residual_source) <= 1, "adds several residuals; one is possible")
    _check_fraction_lengths(network, layer)
    is_swish = layer.activation_type == Activation.HARD_SWISH
    legal = not is_swish or layer.output_fraclen in FRACTION
    _demand(layer, legal, f"has a hard swish at fraction length {layer.output_fraclen}")
    if layer.type == LayerType.SCALE:
        sizes = [tensor_size(network, index) for index in layer.scale_source]
        size = [(1, 1, layer.output_size[3])]
        _demand(layer, sizes == size, f"multiplies by maps of {sizes}, not of {size}")
    if not layer.has_weights:
        return
    _demand(layer, min(sides) >= 0 or layer.type == LayerType.TRANSPOSED, f"is cut by {sides}")
    taps = kernel_size(network, layer)
    channels = input_size(network, layer)[2]
    wanted = (*taps, channels // layer.group, layer.output_size[3])
    _check_array(layer, network.int_weights.get(layer.index), "int8", wanted, "weights")
    _check_array(layer, network.int_biases.get(layer.index), "int16", wanted[3:], "biases")
    reads_input = len(layer.input_layer) == 1 and layer.input_layer[0] <= 0
    is_plain = layer.type == LayerType.CONVOLUTION and layer.group == 1 and reads_input
    _demand(layer, is_plain or not layer.enhanced, "is enhanced, and not a plain first convolution")
    dilated = layer.type == LayerType.TRANSPOSED and list(layer.dilation[1:]) != [1, 1]
    _demand(layer, not dilated, "is a transposed convolution with a dilation")


def _check_fraction_lengths(network: Network, layer: Layer) -> None:
    lengths = [layer.input_fraclen, layer.weight_fraclen, layer.bias_fraclen, layer.output_fraclen]
    _demand(layer, all(isinstance(n, int) for n in lengths), f"has fraction lengths {lengths}")
    for producers, own in (
        (layer.input_layer, layer.input_fraclen),
        (layer.residual_source, layer.output_fraclen),
        (layer.scale_source, layer.weight_fraclen),
    ):
        lengths = [network.layer(i).output_fraclen for i in producers if i > 0]
        message = f"reads {producers} with fraction length {own}; theirs are {lengths}"
        _demand(layer, set(lengths) <= {own}, message)
    if layer.type == LayerType.NONE:
        shift = layer.output_fraclen - layer.input_fraclen
        _demand(layer, -16 <= shift <= 15, f"shifts by {shift}, not by -16 to 15")
        return
    position = layer.output_fraclen + 18
    features = position - layer.input_fraclen - layer.weight_fraclen
    bias = position - layer.bias_fraclen
    legal = 1 <= features <= 31 and 0 <= bias <= 31
    _demand(layer, legal, f"shifts features by {features} (1 to 31), biases by {bias} (0 to 31)")


def _check_array(
    layer: Layer, array: Array | None, dtype: str, shape: tuple[int, ...], what: str
) -> None:
    _demand(layer, array is not None, f"has no integer {what}: quantise the network first")
    if array is not None and (array.dtype != dtype or array.shape != shape):
        raise ArgumentError(
            f"layer {layer.index}: its {what} are {dtype} {shape}, not {array.dtype} {array.shape}"
        )


def _demand(layer: Layer, holds: bool, message: str) -> None:
    if not holds:
        raise ArgumentError(f"layer {layer.index} {layer.name}".rstrip() + f": it {message}")


__all__ = ["check_executable"]
