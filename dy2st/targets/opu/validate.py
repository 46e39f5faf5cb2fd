"""Checks a Network: sizes, connections, codes. Errors name the layer and the key."""

from __future__ import annotations

from typing import Any

from dy2st.targets.opu.layer import Activation, Layer, LayerType, Order, Pooling
from dy2st.targets.opu.network import Network
from dy2st.targets.opu.quantiser import check_legal
from dy2st_runtime.errors import ArgumentError, FormatError

FIXED = {
    "upsample_method": "nearest_neighbor",
    "data_layout": "NCHW",
    "kernel_layout": "OIHW",
    "channel_shuffle": 0,
}
"""Keys with one possible value."""

_CODES = {
    "type": LayerType,
    "pooling_type": Pooling,
    "activation_type": Activation,
    "res_position": Order,
}
_FLAGS = ("residual", "post_padding", "post_padding_mode", "extra_pre_padding", "enhanced")
_POSITIVE = ("ker_size", "ker_stride", "pooling_size", "pooling_stride", "dilation")
_NOT_NEGATIVE = ("pool_padding_size", "post_padding_size", "pre_remove_padding_size")


def check(network: Network, is_quantised: bool = False) -> None:
    """FormatError unless the layers fit each other, and their parameters them."""
    check_layers(network, is_quantised)
    for layer in network.layers:
        wanted: tuple[tuple[str, dict[int, Any], tuple[int, ...]], ...] = (
            ("weights", network.weights, weight_shape(layer)),
            ("bias", network.biases, (layer.output_size[3],)),
            ("integer weights", network.int_weights, weight_shape(layer)),
            ("integer bias", network.int_biases, (layer.output_size[3],)),
        )
        for what, table, shape in wanted:
            if not layer.has_weights:
                if layer.index in table:
                    raise FormatError(f"layer {layer.index}: a layer without weights has {what}")
            elif layer.index in table and table[layer.index].shape != shape:
                found = list(table[layer.index].shape)
                raise FormatError(f"layer {layer.index}: the {what} are {found}, not {list(shape)}")


def check_layers(network: Network, is_quantised: bool = False) -> None:
    """The same without the arrays."""
    if not network.layers:
        raise FormatError("there are no layers")
    for index, layer in enumerate(network.layers, 1):
        check_layer(layer, index)
        _check_producers(network, layer)
        _check_input(network, layer)
        high, wide = result_size(layer)
        found, times = made(layer), max(layer.upsample, 1)
        if found[:2] != (high * times, wide * times):
            raise _wrong(layer, "output_size", f"it computes {high * times} x {wide * times}")
        if not layer.has_weights and found[2] != layer.input_size[3]:
            raise _wrong(layer, "output_size", f"it has {layer.input_size[3]} channels")
        size = _multiplied(layer, 0), _multiplied(layer, 1)
        if layer.res_position == Order.ACTIVATION_POOLING_RESIDUAL:
            size = result_size(layer)
        wanted = (*size, layer.output_size[3])
        for index in layer.residual_source:
            found = made(network.layer(index))
            if found != wanted:
                raise _wrong(layer, "residual_source", f"it makes {found}, {wanted} is added to")
        if len(layer.scale_source) != (layer.type == LayerType.SCALE):
            raise _wrong(layer, "scale_source", "a layer that scales has one, others have none")
        wanted = (1, 1, layer.output_size[3])
        for index in layer.scale_source:
            if made(network.layer(index)) != wanted:
                found = made(network.layer(index))
                raise _wrong(layer, "scale_source", f"it makes {found}, {wanted} is expected")
    for layer in network.layers:
        readers = [other.index for other in network.layers if layer.index in other.input_layer]
        if sorted(index for index in layer.output_layer if index != -1) != readers:
            raise _wrong(layer, "output_layer", f"{readers} read it")
        if (-1 in layer.output_layer) != (layer.index in network.outputs):
            raise _wrong(layer, "output_layer", f"outputs of the network are {network.outputs}")
    if not network.outputs:
        raise FormatError("no layer is an output: none has -1 in output_layer")
    for layer in network.layers if is_quantised else ():
        try:
            check_legal(layer)
        except ArgumentError as error:
            raise FormatError(str(error)) from None
        producers = [index for index in layer.input_layer if index > 0]
        for key, sources, own in (
            ("input_fraclen", producers, layer.input_fraclen),
            ("output_fraclen", layer.residual_source, layer.output_fraclen),
            ("weight_fraclen", layer.scale_source, layer.weight_fraclen),
        ):
            for index in sources:
                made_with = network.layer(index).output_fraclen
                if made_with != own:
                    raise _wrong(layer, key, f"but layer {index} makes numbers of {made_with}")


def _wrong(layer: Layer, key: str, why: str) -> FormatError:
    return FormatError(f"layer {layer.index}: {key} is {getattr(layer, key)!r}, {why}")


# -- one layer ------------------------------------------------------------------------------------


def check_layer(layer: Layer, index: int) -> None:
    """What can be said without the other layers."""
    if layer.index != index:
        raise FormatError(f"line {index}: index is {layer.index}, {index} is expected")
    for key, codes in _CODES.items():
        known = [int(code) for code in codes]
        if getattr(layer, key) not in known:
            raise _wrong(layer, key, f"there are {', '.join(map(str, known))}")
    for key, value in FIXED.items():
        if getattr(layer, key) != value:
            raise _wrong(layer, key, f"only {value!r} is possible")
    for key in _FLAGS:
        if getattr(layer, key) not in (0, 1):
            raise _wrong(layer, key, "0 or 1 is expected")
    for key in (*_POSITIVE, "input_size", "output_size"):
        if min(getattr(layer, key)) < 1:
            raise _wrong(layer, key, "positive numbers are expected")
    for key in _NOT_NEGATIVE:
        if min(getattr(layer, key)) < 0:
            raise _wrong(layer, key, "no negative numbers are expected")
    # what keys say together
    if layer.type != LayerType.TRANSPOSED and min(layer.padding_size) < 0:
        raise _wrong(layer, "padding_size", "no negative numbers are expected")
    for key in ("input_size", "output_size"):
        if getattr(layer, key)[0] != 1:
            raise _wrong(layer, key, "one image at a time is computed")
    if layer.upsample < 0:
        raise _wrong(layer, "upsample", "0 or a factor is expected")
    if bool(layer.residual) != bool(layer.residual_source) or len(layer.residual_source) > 1:
        raise _wrong(
            layer, "residual_source", f"residual is {layer.residual}, and at most one adds"
        )
    if layer.residual and layer.res_position == Order.ACTIVATION_POOLING:
        raise _wrong(layer, "res_position", "a residual needs one of 0, 1 and 2")
    if any(layer.post_padding_size) != bool(layer.post_padding):
        raise _wrong(layer, "post_padding_size", f"post_padding is {layer.post_padding}")
    limit = layer.activation_limit
    if limit is not None and (layer.activation_type != Activation.RELU or not limit > 0):
        raise _wrong(layer, "activation_limit", "a positive limit of a relu is expected")
    if layer.group < 1 or layer.input_size[3] % layer.group or layer.output_size[3] % layer.group:
        raise _wrong(layer, "group", "it divides the channels of input and output")


# -- connections ----------------------------------------------------------------------------------


def _check_producers(network: Network, layer: Layer) -> None:
    first = 1 - max(len(network.input_sizes), 1)
    if not layer.input_layer:
        raise _wrong(layer, "input_layer", "at least one producer is expected")
    for key, least in (("input_layer", first), ("residual_source", 1), ("scale_source", 1)):
        for index in getattr(layer, key):
            if not least <= index < layer.index:
                raise _wrong(layer, key, f"producers are {least} to {layer.index - 1}")
    if len(layer.input_layer) > 1:
        if min(layer.input_layer) <= 0:
            raise _wrong(layer, "input_layer", "an input of the network is no part of a concat")
        borders = {tuple(network.layer(index).post_padding_size) for index in layer.input_layer}
        if len(borders) > 1:
            raise _wrong(layer, "input_layer", "the parts are stored with different borders")


def made(layer: Layer) -> tuple[int, int, int]:
    """(h, w, c) of a layer's result, without the stored border."""
    _, high, wide, channels = layer.output_size
    top, bottom, left, right = layer.post_padding_size
    return high - top - bottom, wide - left - right, channels


def _check_input(network: Network, layer: Layer) -> None:
    _, high, wide, channels = layer.input_size
    if layer.input_layer[0] <= 0:
        _, own_high, own_wide, parts = network.input_sizes[-layer.input_layer[0]]
        sizes, widths = {(own_high, own_wide)}, [parts]
        border = layer.padding_size if layer.extra_pre_padding else [0, 0, 0, 0]
    else:
        producers = [network.layer(index) for index in layer.input_layer]
        sizes = {made(producer)[:2] for producer in producers}
        widths = [made(producer)[2] for producer in producers]
        border = producers[0].post_padding_size
    grown = {(h + border[0] + border[1], w + border[2] + border[3]) for h, w in sizes}
    if grown != {(high, wide)} or sum(widths) != channels:
        raise _wrong(layer, "input_size", f"its producers make {sorted(grown)} x {sum(widths)}")
    if layer.input_channels != widths:
        raise _wrong(layer, "input_channels", f"its producers make {widths}")
    skipped = zip(layer.pre_remove_padding_size, border, strict=True)
    if any(skip > there for skip, there in skipped):
        raise _wrong(layer, "pre_remove_padding_size", f"only {list(border)} is stored")
    if layer.input_layer[0] <= 0 and any(layer.pre_remove_padding_size):
        raise _wrong(
            layer, "pre_remove_padding_size", "what reads the network's input skips nothing"
        )


def result_size(layer: Layer) -> tuple[int, int]:
    """Height and width behind pooling, before the enlargement."""
    sizes = [_multiplied(layer, axis) for axis in (0, 1)]
    if layer.pooling_type == Pooling.NONE:
        return sizes[0], sizes[1]
    pads, pooled = layer.pool_padding_size, []
    for axis, size in enumerate(sizes):
        room = size + pads[2 * axis] + pads[2 * axis + 1] - layer.pooling_size[axis + 1]
        pooled.append(room // layer.pooling_stride[axis + 1] + 1)
    return pooled[0], pooled[1]


def _multiplied(layer: Layer, axis: int) -> int:
    """How many partial sums there are along an axis."""
    before, after = layer.padding_size[2 * axis : 2 * axis + 2]
    kernel, stride = layer.ker_size[axis + 1], layer.ker_stride[axis + 1]
    size = layer.input_size[axis + 1] - sum(layer.pre_remove_padding_size[2 * axis : 2 * axis + 2])
    if layer.type == LayerType.TRANSPOSED:
        return (size - 1) * stride + kernel - before - after
    if not layer.extra_pre_padding:
        size += before + after
    if not layer.has_weights:
        return size
    if layer.type == LayerType.FULLY_CONNECTED:
        if kernel != size:
            raise _wrong(layer, "ker_size", f"its input has {size} pixels along axis {axis + 1}")
        return 1
    return (size - (kernel - 1) * layer.dilation[axis + 1] - 1) // stride + 1


# -- parameters -----------------------------------------------------------------------------------


def weight_shape(layer: Layer) -> tuple[int, int, int, int]:
    """(kh, kw, c / group, o)."""
    channels, outputs = layer.input_size[3], layer.output_size[3]
    is_whole = layer.type == LayerType.TRANSPOSED
    per_group = channels if is_whole else channels // layer.group
    return layer.ker_size[1], layer.ker_size[2], per_group, outputs


__all__ = ["FIXED", "check", "check_layer", "check_layers", "made", "result_size", "weight_shape"]
