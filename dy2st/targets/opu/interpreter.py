"""Runs a Network with plain integers: what every other form of it must equal, bit for bit.

There are no tiles, buffers or words here, only values and the order of the passes, which is part of
the result because sums saturate:

    A    = sat26(dot << shift_features)
    B    = sat26(bias << shift_bias) in the very first pass, psum << 10 in the others
    psum = sat16((A + B) >> 10)

Behind the first pass, 1024 divides B, so this is psum = sat16(psum + (A >> 10)), and A >> 10 is
sat16(floor(dot * 2 ** (shift_features - 10))): the ends of 26 bits, shifted, are those of 16.

Whole numbers are kept in float32, for the speed of its products, and each is exact. A pass has at
most 64 products of at most 2 ** 14, so a dot and every sum on the way to it is a whole number of at
most 2 ** 20, whichever order they are added in, and float32 has all of those up to 2 ** 24. The
weights are scaled by 2 ** (shift_features - 10) in advance, a power of two, which moves exponents
only. Partial sums are at most 2 ** 16 before they saturate. The first pass needs 27 bits and takes
float64.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

import numpy as np

from dy2st.targets.opu import machine as machines
from dy2st.targets.opu.executable import check_executable
from dy2st.targets.opu.layer import Layer, LayerType
from dy2st.targets.opu.machine import CHANNELS, Machine
from dy2st.targets.opu.network import Array, Network
from dy2st.targets.opu.post_processing import post_process
from dy2st.targets.opu.sizes import (
    border,
    input_size,
    is_depthwise,
    kernel_size,
    multiplied_size,
    part_channels,
)
from dy2st_runtime.errors import ArgumentError

BLOCK = 1 << 17
"""Partial sums that are worked on at a time, so that they stay in the processor's cache."""

ACCUMULATOR = 2.0**25
SUM = 2.0**15
Pair = tuple[int, int]


@dataclass
class Saturation:
    """How often a layer's values did not fit, and of how many.

    accumulator   dots or biases beyond 26 bits; partial_sum: beyond 16, out of `passes` sums.
    cut, residual outputs beyond 8 bits, behind the last pass and behind the addition, of `values`.
    peak          the largest partial sum in front of saturation; 32768 is too large.
    """

    accumulator: int = 0
    partial_sum: int = 0
    passes: int = 0
    cut: int = 0
    residual: int = 0
    values: int = 0
    peak: int = 0


def interpret(
    network: Network,
    inputs: list[Array],
    *,
    machine: Machine | str = "opu1024",
    saturation: dict[int, Saturation] | None = None,
) -> dict[int, Array]:
    """What every layer makes of int8 inputs (n, h, w, c), by its index, without stored borders.

    Of the machine, only the taps of a depthwise pass matter: macs / 64. `saturation` is filled
    with the counts of every layer. Raises ArgumentError for a network that is not quantised or not
    legal.

    >>> from dy2st.targets.opu.gen_ir import gen_ir
    >>> net = dy2st.nn.Sequential(dy2st.nn.Conv2D(3, 4, 3, padding=1), dy2st.nn.ReLU()).eval()
    >>> traced = dy2st.to_static(net, [dy2st.static.InputSpec([1, 3, 8, 8])])
    >>> image = np.random.default_rng(0).random((1, 3, 8, 8), "float32")
    >>> network, _ = gen_ir(traced, [image], on="opu1024")
    >>> {i: y.shape for i, y in interpret(network, [np.zeros((1, 8, 8, 3), "int8")]).items()}
    {1: (1, 8, 8, 4)}
    """
    opu = machines.machine(machine)
    sizes = [tuple(size[1:]) for size in network.input_sizes]
    # an input that no layer reads has a size of zeros, and may be any
    read = [(x, size) for x, size in zip(inputs, sizes) if any(size)]
    fits = len(inputs) == len(sizes) and len({x.shape[:1] for x, _ in read}) == 1
    if not fits or any(x.dtype != np.int8 or x.shape[1:] != size for x, size in read):
        given = [f"{x.dtype} {x.shape}" for x in inputs]
        raise ArgumentError(f"the network reads int8 (n, h, w, c) of {sizes}, given are {given}")
    tensors = {-i: x for i, x in enumerate(inputs)}
    for layer in network.layers:
        counts = None if saturation is None else saturation.setdefault(layer.index, Saturation())
        check_executable(network, layer)
        maps = [tensors[producer] for producer in layer.input_layer]
        scales = [tensors[producer] for producer in layer.scale_source]
        sums = _LayerSums(network, layer, opu, counts).of(maps, scales)
        residual = tensors[layer.residual_source[0]] if layer.residual else None
        rounded = (sums >> 8) + ((sums >> 7) & 1)
        cut = rounded.clip(-128, 127).astype(np.int8)
        if counts is not None:
            counts.values += cut.size
            counts.cut += int(np.count_nonzero(rounded != cut))
        made, lost = post_process(layer, cut, residual)
        if counts is not None:
            counts.residual += lost
        tensors[layer.index] = made
    return {index: x for index, x in tensors.items() if index > 0}


# -- partial sums ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Sweep:
    """Output pixels first + step * (0 ... size - 1) that have the same taps.

    A tap is where its weights are, (r, s), and where its features are for the first pixel, in the
    padded map; those of the next pixel are `stride` further.
    """

    first: Pair
    step: Pair
    size: Pair
    stride: Pair
    taps: list[tuple[Pair, Pair]]


@dataclass(frozen=True)
class _Block:
    """Some rows of some images of a sweep's pixels."""

    images: slice
    first: int
    last: int


class _LayerSums:
    """The partial sums of one layer behind its last pass."""

    def __init__(
        self, network: Network, layer: Layer, machine: Machine, counts: Saturation | None
    ) -> None:
        self.network, self.layer, self.counts = network, layer, counts
        self.taps_a_pass = machine.macs // CHANNELS
        position = layer.output_fraclen + 18
        self.shift = position - layer.input_fraclen - layer.weight_fraclen
        if layer.has_weights:
            bias = network.int_biases[layer.index].astype(np.float64)
            bias *= 2.0 ** (position - layer.bias_fraclen)
            self.bias = bias.clip(-ACCUMULATOR, ACCUMULATOR - 1)
            self._count("accumulator", bias != self.bias)

    def of(self, maps: list[Array], scales: Sequence[Array] = ()) -> Array:
        """int16 (n, h, w, o), of the parts of the input, and of what it is multiplied by."""
        layer = self.layer
        if layer.type == LayerType.SCALE:
            # one pass of one product, without a bias
            value = self._padded(maps).astype(np.float64) * scales[0] * 2.0 ** (self.shift - 10)
            self._count_accumulator(value)
            sums = np.floor(value)
            self._count("partial_sum", (sums < -SUM) | (sums >= SUM))
            return sums.clip(-SUM, SUM - 1).astype(np.int16)
        if layer.type == LayerType.NONE:
            x = self._padded(maps).astype(np.int32)
            amount = 8 + self.layer.output_fraclen - self.layer.input_fraclen
            wide = x << amount if amount >= 0 else x >> -amount
            sums = wide.clip(-(2**15), 2**15 - 1)
            self._count("partial_sum", wide != sums)
            return sums.astype(np.int16)
        if layer.type == LayerType.TRANSPOSED:
            padded, sweeps = _transposed(self.network, layer, maps)
        else:
            padded, sweeps = _convolved(self.network, layer, maps)
        images = len(maps[0])
        size = (*multiplied_size(self.network, layer), layer.output_size[3])
        sums = np.empty((images, *size), np.int16)
        parts = [x.astype(np.float32) for x in padded]
        for sweep in sweeps:
            here = sums[:, sweep.first[0] :: sweep.step[0], sweep.first[1] :: sweep.step[1]]
            self._fill(here, parts, sweep)
        return sums

    def _padded(self, maps: list[Array]) -> Array:
        top, bottom, left, right = border(self.network, self.layer)
        x = np.concatenate(maps, axis=3)
        return np.pad(x, ((0, 0), (top, bottom), (left, right), (0, 0)))

    def _fill(self, sums: Array, parts: list[Array], sweep: _Sweep) -> None:
        # several images if they are small, else some rows of one
        images = len(sums)
        height, width = sweep.size
        rows = max(1, BLOCK // (width * sums.shape[3]))
        if rows >= height:
            count = rows // height
            starts = range(0, images, count)
            blocks = [_Block(slice(i, min(i + count, images)), 0, height) for i in starts]
        else:
            blocks = [
                _Block(slice(image, image + 1), first, min(first + rows, height))
                for image in range(images)
                for first in range(0, height, rows)
            ]
        depthwise = is_depthwise(self.layer)
        matrices = iter(()) if depthwise else self._matrices(sweep)
        kept = list(matrices) if len(blocks) > 1 else matrices
        for block in blocks:
            if depthwise:
                values = self._depthwise(parts[0], sweep, block)
            else:
                values = self._products(parts, sweep, block, kept)
            target = sums[block.images, block.first : block.last]
            # the passes of the block, one after the other
            start = next(values, np.zeros((prod(target.shape[:3]), target.shape[3]), np.float32))
            # the first pass has the bias
            self._count_accumulator(start)
            accumulated = start.astype(np.float64) * 1024
            accumulated.clip(-ACCUMULATOR, ACCUMULATOR - 1, out=accumulated)
            accumulated += self.bias
            accumulated /= 1024
            passed = np.floor(accumulated).astype(np.float32)
            passed = self._saturated(passed)
            for value in values:
                self._count_accumulator(value)
                if self.shift < 10:
                    np.floor(value, out=value)
                value.clip(-SUM, SUM - 1, out=value)
                passed += value
                self._saturated(passed)
            target[...] = passed.reshape(target.shape)

    def _saturated(self, sums: Array) -> Array:
        if self.counts is not None:
            self._count("partial_sum", (sums < -SUM) | (sums >= SUM))
            self.counts.passes += sums.size
            self.counts.peak = max(self.counts.peak, int(np.abs(sums).max()))
        return sums.clip(-SUM, SUM - 1, out=sums)

    def _count_accumulator(self, value: Array) -> None:
        if self.counts is not None:
            self._count("accumulator", (value < -SUM) | (value >= SUM))

    def _count(self, what: str, which: Array) -> None:
        if self.counts is not None:
            setattr(self.counts, what, getattr(self.counts, what) + int(np.count_nonzero(which)))

    # -- the passes of one block: dot * 2 ** (shift - 10), (pixels, outputs) -----------------------

    def _matrices(self, sweep: _Sweep) -> Iterator[tuple[int, slice, Pair, Array]]:
        """Part, channels, place of the features and scaled weights of every pass, in order."""
        weights = _dense_weights(self.network, self.layer)
        scale = np.float32(2.0 ** (self.shift - 10))
        start = 0
        joined = part_channels(self.network, self.layer)
        if self.layer.enhanced:
            joined = [joined[0] * prod(kernel_size(self.network, self.layer))]
        for part, channels in enumerate(joined):
            for first in range(0, channels, CHANNELS):
                last = min(first + CHANNELS, channels)
                for (r, s), place in sweep.taps:
                    matrix = weights[r, s, start + first : start + last].astype(np.float32)
                    yield part, slice(first, last), place, matrix * scale
            start += channels

    def _products(
        self,
        parts: list[Array],
        sweep: _Sweep,
        block: _Block,
        matrices: Iterator[tuple[int, slice, Pair, Array]] | list[tuple[int, slice, Pair, Array]],
    ) -> Iterator[Array]:
        for part, channels, place, matrix in matrices:
            features = _features(parts[part], sweep, block, place)[..., channels]
            yield features.reshape(-1, matrix.shape[0]) @ matrix

    def _depthwise(self, x: Array, sweep: _Sweep, block: _Block) -> Iterator[Array]:
        weights = self.network.int_weights[self.layer.index][:, :, 0].astype(np.float32)
        weights *= np.float32(2.0 ** (self.shift - 10))
        # for every column, so that rows of features are one stretch of memory
        weights = weights[:, :, None].repeat(sweep.size[1], axis=2)
        for first in range(0, len(sweep.taps), self.taps_a_pass):
            taps = sweep.taps[first : first + self.taps_a_pass]
            value = _features(x, sweep, block, taps[0][1]) * weights[taps[0][0]]
            term = np.empty_like(value)
            for tap, place in taps[1:]:
                np.multiply(_features(x, sweep, block, place), weights[tap], out=term)
                value += term
            yield value.reshape(-1, x.shape[3])


def _features(x: Array, sweep: _Sweep, block: _Block, place: Pair) -> Array:
    """What a tap reads for a block's pixels: (images, rows, columns, channels)."""
    (stride_y, stride_x), (y, x_place) = sweep.stride, place
    rows = slice(y + block.first * stride_y, y + (block.last - 1) * stride_y + 1, stride_y)
    columns = slice(x_place, x_place + (sweep.size[1] - 1) * stride_x + 1, stride_x)
    return x[block.images, rows, columns]


# -- kinds of layers -------------------------------------------------------------------------------


def _convolved(
    network: Network, layer: Layer, maps: list[Array]
) -> tuple[list[Array], list[_Sweep]]:
    top, bottom, left, right = border(network, layer)
    around = ((0, 0), (top, bottom), (left, right), (0, 0))
    if is_depthwise(layer):
        maps = [np.concatenate(maps, axis=3)]
    padded = [np.pad(x, around) for x in maps]
    size = multiplied_size(network, layer)
    kernel = kernel_size(network, layer)
    stride, dilation = _pair(layer.ker_stride), _pair(layer.dilation)
    if layer.type == LayerType.FULLY_CONNECTED:
        stride = dilation = (1, 1)
    taps = [((r, s), (r * dilation[0], s * dilation[1])) for r, s in product(*map(range, kernel))]
    sweep = _Sweep((0, 0), (1, 1), size, stride, taps)
    if not layer.enhanced:
        return padded, [sweep]
    # windows as channels: c ascending, then r and s descending
    whole = _Block(slice(None), 0, sweep.size[0])
    windows = [_features(padded[0], sweep, whole, place) for _, place in reversed(sweep.taps)]
    columns = np.stack(windows, axis=-1).reshape(*windows[0].shape[:3], -1)
    return [columns], [_Sweep((0, 0), (1, 1), size, (1, 1), [((0, 0), (0, 0))])]


def _dense_weights(network: Network, layer: Layer) -> Array:
    """int8 (kh, kw, c, o) as the passes have them: zeros between groups, enhanced as columns."""
    weights = network.int_weights[layer.index]
    if layer.enhanced:
        kh, kw, channels, outputs = weights.shape
        columns = weights[::-1, ::-1].transpose(2, 0, 1, 3)
        return columns.reshape(1, 1, channels * kh * kw, outputs)
    if layer.group == 1:
        return weights
    kh, kw, channels, outputs = weights.shape
    dense = np.zeros((kh, kw, channels * layer.group, outputs), np.int8)
    share = outputs // layer.group
    for g in range(layer.group):
        here = slice(g * share, (g + 1) * share)
        dense[:, :, g * channels : (g + 1) * channels, here] = weights[..., here]
    return dense


def _transposed(
    network: Network, layer: Layer, maps: list[Array]
) -> tuple[list[Array], list[_Sweep]]:
    """A sweep for every remainder: its pixels have the taps r with (y + top - r) % stride == 0."""
    sizes = zip(
        input_size(network, layer)[:2],
        multiplied_size(network, layer),
        kernel_size(network, layer),
        _pair(layer.ker_stride),
        border(network, layer)[::2],
    )
    (rows, around_y), (columns, around_x) = (_transposed_axis(*axis) for axis in sizes)
    padded = [np.pad(x, ((0, 0), around_y, around_x, (0, 0))) for x in maps]
    sweeps = []
    for (y, tall, taps_y), (x, wide, taps_x) in product(rows, columns):
        taps = [((r, s), (row, column)) for (r, row), (s, column) in product(taps_y, taps_x)]
        sweeps.append(_Sweep((y, x), _pair(layer.ker_stride), (tall, wide), (1, 1), taps))
    return padded, sweeps


def _transposed_axis(
    length: int, made: int, kernel: int, stride: int, cut: int
) -> tuple[list[tuple[int, int, list[Pair]]], Pair]:
    """For every remainder: its first pixel, how many, taps with the first pixel's features.

    Beside it, the padding that the features then have.
    """
    before = (kernel - 1) // stride
    after = max(0, (made - 1 + cut) // stride - (length - 1))
    remainders = []
    for first in range(min(stride, made)):
        remainder = (first + cut) % stride
        quotient = (first + cut) // stride
        taps = list(range(remainder, kernel, stride))
        places = [(r, before + quotient - i) for i, r in enumerate(taps)]
        remainders.append((first, len(range(first, made, stride)), places))
    return remainders, (before, after)


def _pair(sizes: list[int]) -> Pair:
    return sizes[1], sizes[2]


__all__ = ["Saturation", "interpret"]
