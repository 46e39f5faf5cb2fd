"""Estimates for partial sums what clamping costs, and what rounding down is worth.

A partial sum holds the range of the output, so that sums on the way can be clamped although the
result fits. A fraction length that is smaller by one has room for twice as much.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

import numpy as np

from dy2st.targets.opu.float_network import behind_sum, transposed_size, with_border
from dy2st.targets.opu.layer import Layer, LayerType
from dy2st.targets.opu.machine import CHANNELS, Machine
from dy2st.targets.opu.network import Array, Network
from dy2st.targets.opu.quantiser.fraction_lengths import shift_features
from dy2st.targets.opu.sizes import is_depthwise, part_channels


def clamping_errors(
    network: Network,
    layer: Layer,
    values: Mapping[int, Array],
    fraclens: Sequence[int],
    machine: Machine,
) -> list[float]:
    """Squared errors of an output, summed, that clamped partial sums add: for each candidate."""
    bias = network.biases[layer.index].astype(np.float32)
    exact: Array | None = None
    clamped: list[Array] = []
    for part in passes(network, layer, values, machine):
        if exact is None:
            exact = np.zeros_like(part) + bias
            clamped = [_clamped(exact, fraclen) for fraclen in fraclens]
        exact += part
        for y, fraclen in zip(clamped, fraclens, strict=True):
            y += _clamped(part, fraclen)
            _clamp(y, fraclen)
    assert exact is not None, "a layer has a pass"
    return [_difference(layer, y, exact, f, values) for y, f in zip(clamped, fraclens, strict=True)]


def may_clamp(network: Network, layer: Layer, values: Mapping[int, Array], fraclen: int) -> bool:
    """Whether the sizes of inputs and weights allow a partial sum beyond the range."""
    weights = np.abs(network.weights[layer.index])
    largest = max(float(np.abs(values[source]).max()) for source in layer.input_layer)
    axes = (0, 1, 2)
    sums = weights.sum(axis=axes) * largest + np.abs(network.biases[layer.index])
    return bool(sums.max() >= 2.0 ** (7 - fraclen))


def _clamp(x: Array, fraclen: int) -> Array:
    highest = x.dtype.type(((1 << 15) - 1) * 2.0 ** -(fraclen + 8))
    return np.clip(x, x.dtype.type(-(2.0 ** (7 - fraclen))), highest, out=x)


def _clamped(x: Array, fraclen: int) -> Array:
    return _clamp(x.copy(), fraclen)


def _difference(
    layer: Layer, clamped: Array, exact: Array, fraclen: int, values: Mapping[int, Array]
) -> float:
    step = 2.0**-fraclen
    got, wanted = (
        behind_sum(layer, np.clip(x, -128 * step, 127 * step), values)[-1][1]
        for x in (clamped, exact)
    )
    off = (got - wanted).astype(np.float64).reshape(-1)
    return float(off @ off)


# -- the passes -------------------------------------------------------------------------------


def passes(
    network: Network, layer: Layer, values: Mapping[int, Array], machine: Machine
) -> Iterator[Array]:
    """What each pass of the machine adds, (n, h, w, o) in real numbers without the bias."""
    weights = network.weights[layer.index].astype(np.float32)
    parts = [with_border(network, layer, values[p]).astype(np.float32) for p in layer.input_layer]
    if layer.type == LayerType.TRANSPOSED:
        return _transposed_passes(layer, parts, weights)
    if layer.enhanced:
        return _enhanced_passes(layer, parts[0], weights)
    if is_depthwise(layer):
        return _depthwise_passes(layer, np.concatenate(parts, axis=3), weights, machine)
    return _dense_passes(layer, parts, dense(layer, weights))


def dense(layer: Layer, weights: Array) -> Array:
    """Weights (kh, kw, c, o) of a grouped convolution, zero between groups."""
    if layer.group == 1:
        return weights
    kh, kw, inside, o = weights.shape
    wide = np.zeros((kh, kw, inside * layer.group, o), weights.dtype)
    outside = o // layer.group
    for g in range(layer.group):
        columns = slice(g * outside, (g + 1) * outside)
        wide[:, :, g * inside : (g + 1) * inside, columns] = weights[..., columns]
    return wide


def _tiles(parts: Sequence[Array]) -> Iterator[tuple[Array, slice]]:
    """64 channels of a part at a time, and where they are among all channels."""
    first = 0
    for x in parts:
        for start in range(0, x.shape[3], CHANNELS):
            tile = x[..., start : start + CHANNELS]
            yield tile, slice(first + start, first + start + tile.shape[3])
        first += x.shape[3]


def _window(layer: Layer, x: Array, kernel: tuple[int, int], r: int, s: int) -> Array:
    """The input pixel of every output pixel for one tap."""
    strides = (1, 1) if layer.type == LayerType.FULLY_CONNECTED else layer.ker_stride[1:]
    rows, columns = (
        slice(
            tap * dilation, tap * dilation + size - dilation * (taps - 1), stride
        )  # the last window ends with the map
        for tap, dilation, size, taps, stride in zip(
            (r, s), layer.dilation[1:], x.shape[1:3], kernel, strides, strict=True
        )
    )
    return x[:, rows, columns]


def _dense_passes(layer: Layer, parts: Sequence[Array], weights: Array) -> Iterator[Array]:
    kernel = weights.shape[0], weights.shape[1]
    for tile, channels in _tiles(parts):
        for r, s in product(range(kernel[0]), range(kernel[1])):
            yield _window(layer, tile, kernel, r, s) @ weights[r, s, channels]


def _depthwise_passes(layer: Layer, x: Array, weights: Array, machine: Machine) -> Iterator[Array]:
    kernel = weights.shape[0], weights.shape[1]
    taps = list(product(range(kernel[0]), range(kernel[1])))
    at_once = machine.macs // CHANNELS
    for start in range(0, len(taps), at_once):
        some = taps[start : start + at_once]
        yield np.sum([_window(layer, x, kernel, r, s) * weights[r, s, 0] for r, s in some], axis=0)


def _enhanced_passes(layer: Layer, x: Array, weights: Array) -> Iterator[Array]:
    """Columns by channel, then taps from the last to the first."""
    weights = dense(layer, weights)
    kh, kw, c, _ = weights.shape
    places = [(i, r, s) for i in range(c) for r in reversed(range(kh)) for s in reversed(range(kw))]
    for start in range(0, len(places), CHANNELS):
        some = places[start : start + CHANNELS]
        columns = [_window(layer, x[..., i : i + 1], (kh, kw), r, s) for i, r, s in some]
        yield np.concatenate(columns, axis=3) @ np.stack([weights[r, s, i] for i, r, s in some])


def _transposed_passes(layer: Layer, parts: Sequence[Array], weights: Array) -> Iterator[Array]:
    """One tap adds to those output pixels that it reaches."""
    weights = dense(layer, weights)
    kernel = weights.shape[0], weights.shape[1]
    size = parts[0].shape[1], parts[0].shape[2]
    height, width = transposed_size(layer, size, kernel)
    top, _, left, _ = layer.padding_size
    _, step_y, step_x = layer.ker_stride
    for tile, channels in _tiles(parts):
        for r, s in product(range(kernel[0]), range(kernel[1])):
            part = tile @ weights[r, s, channels]
            y = np.zeros((part.shape[0], height, width, part.shape[3]), part.dtype)
            rows, inside_y = _reached(size[0], step_y, r * layer.dilation[1] - top, height)
            columns, inside_x = _reached(size[1], step_x, s * layer.dilation[2] - left, width)
            y[:, rows, columns] = part[:, inside_y, inside_x]
            yield y


def _reached(count: int, step: int, offset: int, size: int) -> tuple[slice, slice]:
    """Where i * step + offset is inside an output of that size; and for which i."""
    first = max(0, -(offset // step))
    last = min(count, (size - 1 - offset) // step + 1)
    last = max(last, first)
    start = first * step + offset
    return slice(start, start + (last - first) * step, step), slice(first, last)


# -- rounding down ----------------------------------------------------------------------------


def pass_count(network: Network, layer: Layer, machine: Machine) -> int:
    """How many passes an output pixel takes at most, all with a partial sum that is cut."""
    kh, kw = network.weights[layer.index].shape[:2]
    if layer.enhanced:
        return int(-(-kh * kw * layer.input_size[3] // CHANNELS))
    if is_depthwise(layer):
        return int(-(-kh * kw // (machine.macs // CHANNELS)))
    if layer.type == LayerType.TRANSPOSED:
        kh, kw = (-(-k // t) for k, t in zip((kh, kw), layer.ker_stride[1:], strict=True))
    tiles = sum(-(-channels // CHANNELS) for channels in part_channels(network, layer))
    return int(kh * kw * tiles)


def floor_loss(network: Network, layer: Layer, machine: Machine) -> float:
    """By how much a result is too small on average, in real numbers.

    A pass drops the bits below the partial sum's last, half of it less half a step on average; the
    last cut rounds half of it up, which makes good for one pass. Nothing is dropped where products
    are multiples of the last bit: from a shift of 10 on.
    """
    shift = shift_features(layer)
    if shift >= 10:
        return 0.0
    dropped = 0.5 * (1 - 2.0 ** (shift - 10)) * pass_count(network, layer, machine)
    return max(dropped - 0.5, 0.0) * 2.0 ** -(layer.output_fraclen + 8)


__all__ = [
    "clamping_errors",
    "dense",
    "floor_loss",
    "may_clamp",
    "pass_count",
    "passes",
]
