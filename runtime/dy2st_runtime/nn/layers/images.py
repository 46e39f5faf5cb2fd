"""Layers that move pixels and channels, cut images into windows, and enlarge images."""

from __future__ import annotations

from typing import Any

from dy2st_runtime.ir import F
from dy2st_runtime.nn.functions.pixels import channel_shuffle, pixel_unshuffle
from dy2st_runtime.nn.functions.unfold import fold, unfold
from dy2st_runtime.nn.layers.function_layer import OfFunction, settings


def _pixel_shuffle(x: Any, upscale_factor: int, data_format: str) -> Any:
    return F.pixel_shuffle(x, upscale_factor, data_format)


def _unflatten(x: Any, axis: int, shape: Any) -> Any:
    return F.unflatten(x, axis, shape)


def _bilinear(x: Any, size: Any, scale_factor: Any, data_format: str) -> Any:
    return F.interpolate(
        x, size, scale_factor, mode="bilinear", align_corners=True, data_format=data_format
    )


def _nearest(x: Any, size: Any, scale_factor: Any, data_format: str) -> Any:
    return F.interpolate(x, size, scale_factor, mode="nearest", data_format=data_format)


class PixelShuffle(
    OfFunction, calls=_pixel_shuffle, takes=settings("upscale_factor", data_format="NCHW")
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


class Unflatten(OfFunction, calls=_unflatten, takes=settings("axis", "shape")):
    """One axis as several: (6, n) -> (2, 3, n) for axis 0 and shape [2, 3].

    >>> Unflatten(1, [2, -1])(F.ones([5, 6])).shape
    [5, 2, 3]
    """


class UpsamplingBilinear2D(
    OfFunction, calls=_bilinear, takes=settings(size=None, scale_factor=None, data_format="NCHW")
):
    """(n, c, h, w) -> (n, c, h', w'), linear between pixels, the corners at the corners."""


class UpsamplingNearest2D(
    OfFunction, calls=_nearest, takes=settings(size=None, scale_factor=None, data_format="NCHW")
):
    """(n, c, h, w) -> (n, c, h', w'), the nearest pixel."""
