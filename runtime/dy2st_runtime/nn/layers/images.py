"""Layers that move pixels and channels, cut images into windows, and enlarge images."""

from __future__ import annotations

from dy2st_runtime.ir import F
from dy2st_runtime.nn.functions.pixels import channel_shuffle, pixel_unshuffle
from dy2st_runtime.nn.functions.unfold import fold, unfold
from dy2st_runtime.nn.layers.function_layer import OfFunction, settings


class PixelShuffle(
    OfFunction,
    calls=lambda x, upscale_factor, data_format: F.pixel_shuffle(x, upscale_factor, data_format),
    takes=settings("upscale_factor", data_format="NCHW"),
):
    """(n, c*r*r, h, w) -> (n, c, h*r, w*r): channels as squares of pixels (Shi 2016)."""


class PixelUnshuffle(
    OfFunction, calls=pixel_unshuffle, takes=settings("downscale_factor", data_format="NCHW")
):
    """(n, c, h*r, w*r) -> (n, c*r*r, h, w): squares of pixels as channels."""


class ChannelShuffle(
    OfFunction, calls=channel_shuffle, takes=settings("groups", data_format="NCHW")
):
    """(n, c, h, w) -> (n, c, h, w): the first channel of every group, then the second ones."""


class Unfold(
    OfFunction,
    calls=unfold,
    takes=settings("kernel_sizes", dilations=1, paddings=0, strides=1),
):
    """(n, c, h, w) -> (n, c * kh * kw, windows): every window of an image as a column."""


class Fold(
    OfFunction,
    calls=fold,
    takes=settings("output_sizes", "kernel_sizes", dilations=1, paddings=0, strides=1),
):
    """(n, c * kh * kw, windows) -> (n, c, h, w): windows added to the image."""


class Unflatten(
    OfFunction,
    calls=lambda x, axis, shape: F.unflatten(x, axis, shape),
    takes=settings("axis", "shape"),
):
    """One axis as several: (6, n) -> (2, 3, n) for axis 0 and shape [2, 3].

    >>> Unflatten(1, [2, -1])(F.ones([5, 6])).shape
    [5, 2, 3]
    """


class UpsamplingBilinear2D(
    OfFunction,
    calls=lambda x, size, scale_factor, data_format: F.interpolate(
        x, size, scale_factor, mode="bilinear", align_corners=True, data_format=data_format
    ),
    takes=settings(size=None, scale_factor=None, data_format="NCHW"),
):
    """(n, c, h, w) -> (n, c, h', w'), linear between pixels, the corners at the corners."""


class UpsamplingNearest2D(
    OfFunction,
    calls=lambda x, size, scale_factor, data_format: F.interpolate(
        x, size, scale_factor, mode="nearest", data_format=data_format
    ),
    takes=settings(size=None, scale_factor=None, data_format="NCHW"),
):
    """(n, c, h, w) -> (n, c, h', w'), the nearest pixel."""
