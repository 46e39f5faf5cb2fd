"""Runs a Network in real numbers, layer by layer: what the integers are compared with.

Maps are (n, h, w, c) without post padding: where they are stored with a border, the border is
computed anew for every consumer, so that a Network gives the same before and after post padding.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import dy2st_runtime.ops  # noqa: F401  (enters the operators into the table)
from dy2st.targets.opu.layer import Activation, Layer, LayerType, Order, Pooling
from dy2st.targets.opu.network import Array, Network
from dy2st.targets.opu.sizes import border
from dy2st_runtime.errors import ArgumentError, DTypeError, ShapeError, counted
from dy2st_runtime.ir import lookup

Stages = list[tuple[str, Array]]
"""What a layer computes in turn: "sum", then "residual", "activation", "pooling" and "upsample" as
the layer has them; the last is its output."""

_STEPS = {
    Order.RESIDUAL_ACTIVATION_POOLING: ("residual", "activation", "pooling"),
    Order.ACTIVATION_RESIDUAL_POOLING: ("activation", "residual", "pooling"),
    Order.ACTIVATION_POOLING_RESIDUAL: ("activation", "pooling", "residual"),
    Order.ACTIVATION_POOLING: ("activation", "pooling"),
}


def run_float(network: Network, inputs: Array | Sequence[Array]) -> dict[int, Array]:
    """Outputs (n, h, w, c) of all layers by index, for inputs (n, h, w, c).

    Computed in float32, or in float64 if an input has it. ShapeError or DTypeError for inputs that
    are not the Network's.
    """
    values = input_values(network, inputs)
    for layer in network.layers:
        values[layer.index] = layer_stages(network, layer, values)[-1][1]
    return {layer.index: values[layer.index] for layer in network.layers}


def input_values(network: Network, inputs: Array | Sequence[Array]) -> dict[int, Array]:
    """The inputs by the producer's number, 0, -1, ...; checked."""
    arrays = [inputs] if isinstance(inputs, np.ndarray) else list(inputs)
    if len(arrays) != len(network.input_sizes):
        raise ArgumentError(
            f"the network has {counted(len(network.input_sizes), 'input')}, not {len(arrays)}"
        )
    for number, (array, size) in enumerate(zip(arrays, network.input_sizes, strict=True)):
        if not isinstance(array, np.ndarray) or array.dtype.kind != "f":
            kind = getattr(array, "dtype", type(array).__name__)
            raise DTypeError(f"input {number} is of {kind}: an array of floats is wanted")
        if array.ndim != 4 or tuple(array.shape[1:]) != tuple(size[1:]):
            raise ShapeError(
                f"input {number} has the shape {list(array.shape)}, the network takes "
                f"[n, {', '.join(map(str, size[1:]))}]: batch, height, width, channels"
            )
    dtype = np.result_type(np.float32, *arrays)
    return {-number: array.astype(dtype, copy=False) for number, array in enumerate(arrays)}


def layer_stages(network: Network, layer: Layer, values: Mapping[int, Array]) -> Stages:
    """One layer, from the outputs of its producers by their numbers."""
    parts = [with_border(network, layer, values[source]) for source in layer.input_layer]
    x = parts[0] if len(parts) == 1 else np.concatenate(parts, axis=3)
    if layer.type == LayerType.SCALE:
        x = x * values[layer.scale_source[0]]
    stages = behind_sum(layer, _linear(network, layer, x), values)
    if layer.upsample > 1:
        wide = stages[-1][1].repeat(layer.upsample, axis=1).repeat(layer.upsample, axis=2)
        stages.append(("upsample", wide))
    got, wanted = stages[-1][1].shape, (*_output_map(layer), layer.output_size[3])
    if got[1:] != wanted:
        raise ShapeError(f"{named(layer)} gives {list(got[1:])}, its output is {list(wanted)}")
    return stages


def behind_sum(layer: Layer, sums: Array, values: Mapping[int, Array]) -> Stages:
    """The stages of a layer from its sums on, without upsampling."""
    stages: Stages = [("sum", sums)]
    for step in steps(layer):
        stages.append((step, _step(layer, step, stages[-1][1], values)))
    return stages


def steps(layer: Layer) -> list[str]:
    """Which of "residual", "activation", "pooling" a layer has, in its order."""
    if layer.channel_shuffle:
        raise ArgumentError(f"{named(layer)}: a channel shuffle is not supported")
    there = {
        "residual": bool(layer.residual_source),
        "activation": layer.activation_type != Activation.NONE,
        "pooling": layer.pooling_type != Pooling.NONE,
    }
    order = _STEPS[Order(layer.res_position)]
    if there["residual"] and "residual" not in order:
        raise ArgumentError(f"{named(layer)}: its order has no place for its residual")
    return [step for step in order if there[step]]


def named(layer: Layer) -> str:
    """`layer 3 (conv, model.py:7)`, for messages."""
    notes = ", ".join(note for note in (layer.name, layer.location) if note)
    return f"layer {layer.index} ({notes})" if notes else f"layer {layer.index}"


def with_border(network: Network, layer: Layer, x: Array) -> Array:
    """A part of a layer's input with the zeros that the layer sees around it."""
    if layer.type == LayerType.TRANSPOSED:  # its padding is taken from the result
        return x
    top, bottom, left, right = border(network, layer)
    if min(top, bottom, left, right) < 0:
        raise ArgumentError(f"{named(layer)} removes more border than there is")
    if not any((top, bottom, left, right)):
        return x
    return np.pad(x, ((0, 0), (top, bottom), (left, right), (0, 0)))


def _linear(network: Network, layer: Layer, x: Array) -> Array:
    if not layer.has_weights:
        return x
    weights = network.weights[layer.index].astype(x.dtype, copy=False)
    bias = network.biases[layer.index].astype(x.dtype, copy=False).reshape(-1)
    if layer.type == LayerType.TRANSPOSED:
        y = _kernel("conv_transpose")(
            _channels_first(x),
            np.ascontiguousarray(weights.transpose(2, 3, 0, 1)),
            bias,
            sizes=transposed_size(
                layer, (x.shape[1], x.shape[2]), (weights.shape[0], weights.shape[1])
            ),
            strides=tuple(layer.ker_stride[1:]),
            pads=tuple((before, max(after, 0)) for before, after in _pairs(layer.padding_size)),
            dilations=tuple(layer.dilation[1:]),
            groups=layer.group,
        )
        return _channels_last(y)
    stride = (1, 1) if layer.type == LayerType.FULLY_CONNECTED else tuple(layer.ker_stride[1:])
    y = _kernel("conv")(
        _channels_first(x),
        np.ascontiguousarray(weights.transpose(3, 2, 0, 1)),
        bias,
        strides=stride,
        pads=((0, 0), (0, 0)),
        dilations=tuple(layer.dilation[1:]),
        groups=layer.group,
    )
    return _channels_last(y)


def transposed_size(
    layer: Layer, size: tuple[int, int], kernel: tuple[int, int]
) -> tuple[int, int]:
    """Height and width of a transposed convolution: the smallest that fit the layer's output."""
    found = []
    wanted = [n // max(layer.upsample, 1) for n in _output_map(layer)]
    for axis, (before, after) in enumerate(_pairs(layer.padding_size)):
        stride, dilation = layer.ker_stride[axis + 1], layer.dilation[axis + 1]
        least = (size[axis] - 1) * stride + dilation * (kernel[axis] - 1) + 1 - before - after
        candidates = range(least, least + max(stride, dilation))
        made = list(candidates)
        if layer.pooling_type != Pooling.NONE:
            cut = layer.pooling_size[axis + 1] - sum(_pairs(layer.pool_padding_size)[axis])
            made = [(n - cut) // layer.pooling_stride[axis + 1] + 1 for n in candidates]
        fits = [n for n, size_made in zip(candidates, made) if size_made == wanted[axis]]
        if not fits:
            raise ArgumentError(
                f"{named(layer)}: a transposed convolution of {size[axis]} never gives "
                f"{wanted[axis]} along axis {axis + 1}"
            )
        found.append(fits[0])
    return found[0], found[1]


def _output_map(layer: Layer) -> tuple[int, int]:
    """Height and width of a layer's output without post padding."""
    top, bottom, left, right = layer.post_padding_size if layer.post_padding else (0, 0, 0, 0)
    return layer.output_size[1] - top - bottom, layer.output_size[2] - left - right


def _step(layer: Layer, step: str, x: Array, values: Mapping[int, Array]) -> Array:
    if step == "pooling":
        window: dict[str, Any] = {
            "kernel": tuple(layer.pooling_size[1:]),
            "strides": tuple(layer.pooling_stride[1:]),
            "pads": _pairs(layer.pool_padding_size),
        }
        if layer.pooling_type == Pooling.MAX:
            return _channels_last(_kernel("window_max")(_channels_first(x), **window))
        area = layer.pooling_size[1] * layer.pooling_size[2]
        total = _kernel("window_sum")(_channels_first(x), **window)
        return _channels_last(total / total.dtype.type(area))
    if step == "activation":
        if layer.activation_type == Activation.LEAKY:
            return np.where(x < 0, x * x.dtype.type(0.125), x)
        if layer.activation_type == Activation.HARD_SWISH:
            made: Array = x * np.clip(x + x.dtype.type(3), 0, 6) / x.dtype.type(6)
            return made
        limit = layer.activation_limit
        return np.maximum(x, 0) if limit is None else np.clip(x, 0, x.dtype.type(limit))
    for source in layer.residual_source:
        if values[source].shape != x.shape:
            raise ShapeError(
                f"{named(layer)}: its residual, layer {source}, has the shape "
                f"{list(values[source].shape)}, not {list(x.shape)}"
            )
        x = x + values[source]
    return x


def _kernel(name: str) -> Any:
    return lookup(name).kernel


def _pairs(sides: Sequence[int]) -> tuple[tuple[int, int], tuple[int, int]]:
    top, bottom, left, right = sides
    return (top, bottom), (left, right)


def _channels_first(x: Array) -> Array:
    return np.ascontiguousarray(x.transpose(0, 3, 1, 2))


def _channels_last(x: Array) -> Array:
    return np.ascontiguousarray(x.transpose(0, 2, 3, 1))


__all__ = [
    "Stages",
    "behind_sum",
    "input_values",
    "layer_stages",
    "named",
    "run_float",
    "steps",
    "transposed_size",
    "with_border",
]
