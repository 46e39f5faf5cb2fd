"""Computes the end of a layer, on int8: residual, activation, pooling, upsampling.

For the interpreter of layers alone; the simulator of programs has its own.
"""

from __future__ import annotations

from itertools import product
from math import floor

import numpy as np

from dy2st.targets.opu.layer import Activation, Layer, Order, Pooling
from dy2st.targets.opu.network import Array
from dy2st_runtime.errors import ArgumentError


def post_process(layer: Layer, x: Array, residual: Array | None) -> tuple[Array, int]:
    """int8 (n, h, w, c) behind all of it, and how many sums with the residual did not fit."""
    lost = 0

    def added(y: Array) -> Array:
        nonlocal lost
        if residual is None:
            return y
        if y.shape != residual.shape:
            raise ArgumentError(
                f"layer {layer.index}: the residual is {residual.shape}, "
                f"what it is added to {y.shape}"
            )
        wide = y.astype(np.int16) + residual
        fits = wide.clip(-128, 127)
        lost = int(np.count_nonzero(wide != fits))
        return fits.astype(np.int8)

    order = layer.res_position
    if order == Order.RESIDUAL_ACTIVATION_POOLING:
        y = pooled(layer, activated(layer, added(x)))
    elif order == Order.ACTIVATION_RESIDUAL_POOLING:
        y = pooled(layer, added(activated(layer, x)))
    else:
        y = added(pooled(layer, activated(layer, x)))
    times = max(layer.upsample, 1)
    return y.repeat(times, axis=1).repeat(times, axis=2) if times > 1 else y, lost


def activated(layer: Layer, x: Array) -> Array:
    """relu up to its limit; leaky: an eighth of a negative number, halves rounded up; others."""
    if layer.activation_type == Activation.RELU:
        return np.clip(x, 0, activation_limit(layer)).astype(np.int8)
    if layer.activation_type == Activation.LEAKY:
        return np.where(x < 0, (x >> 3) + ((x >> 2) & 1), x)
    if layer.activation_type == Activation.HARD_SWISH:
        return hard_swish(x, layer.output_fraclen)
    return x


def hard_swish(x: Array, fraclen: int) -> Array:
    """x * min(max(x + 3, 0), 6) / 6, by a product with 2 ** 16 / 6; then halves are rounded up.

    All in integers of `fraclen` bits behind the point, of whole numbers if that is less.
    """
    below = max(fraclen, 0)
    gate = (x.astype(np.int64) << (below - fraclen)) + (3 << below)
    product = x * gate.clip(0, 6 << below) * round(2**16 / 6)
    made: Array = ((product + (1 << (15 + below))) >> (16 + below)).clip(-128, 127).astype(np.int8)
    return made


def activation_limit(layer: Layer) -> int:
    """The limit of a relu as an int8: 127 where there is none; halves are rounded up."""
    if layer.activation_limit is None:
        return 127
    limit = floor(min(max(layer.activation_limit * 2.0**layer.output_fraclen, 0), 127) + 0.5)
    return min(limit, 127)


def pooled(layer: Layer, x: Array) -> Array:
    """The largest of the elements inside the map, or the rounded mean of all of the window."""
    if layer.pooling_type == Pooling.NONE:
        return x
    is_max = layer.pooling_type == Pooling.MAX
    # a window outside of the map has no maximum
    paddings = layer.pool_padding_size
    for axis, length in enumerate(x.shape[1:3]):
        before, after = paddings[2 * axis], paddings[2 * axis + 1]
        window, stride = layer.pooling_size[1 + axis], layer.pooling_stride[1 + axis]
        last = (length + before + after - window) // stride * stride - before
        if before >= window or last >= length:
            raise ArgumentError(
                f"layer {layer.index}: a pooling window of {window} lies in the padding"
                f" {paddings} alone"
            )
    # -128 is no larger than any element of a window, which has one at least
    top, bottom, left, right = layer.pool_padding_size
    around = ((0, 0), (top, bottom), (left, right), (0, 0))
    x = np.pad(x, around, constant_values=-128 if is_max else 0)
    _, tall, wide = layer.pooling_size
    _, stride_y, stride_x = layer.pooling_stride
    height, width = (x.shape[1] - tall) // stride_y + 1, (x.shape[2] - wide) // stride_x + 1
    size = (len(x), height, width, x.shape[3])
    made = np.full(size, -128, np.int8) if is_max else np.zeros(size, np.int32)
    for r, s in product(range(tall), range(wide)):
        rows = slice(r, r + (height - 1) * stride_y + 1, stride_y)
        columns = slice(s, s + (width - 1) * stride_x + 1, stride_x)
        (np.maximum if is_max else np.add)(made, x[:, rows, columns], out=made)
    if is_max:
        return made
    # by a product with 2 ** 16 / area, rounded; then halves are rounded up
    area = tall * wide
    factor = (2**17 + area) // (2 * area)
    return ((made * factor + 2**15) >> 16).clip(-128, 127).astype(np.int8)


__all__ = ["activated", "activation_limit", "hard_swish", "pooled", "post_process"]
