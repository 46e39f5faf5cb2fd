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
    """(n, c*r*r, h, w) -> (n, c, h*r, w*r): channels as squares of pixels (Shi et al. 2016).

    >>> dy2st.nn.PixelShuffle(2)(dy2st.ones([1, 8, 2, 3])).shape
    [1, 2, 4, 6]
    """


class PixelUnshuffle(
    OfFunction, calls=pixel_unshuffle, takes=settings("downscale_factor", data_format="NCHW")
):
    """(n, c, h*r, w*r) -> (n, c*r*r, h, w): squares of pixels as channels.

    >>> dy2st.nn.PixelUnshuffle(2)(dy2st.ones([1, 2, 4, 6])).shape
    [1, 8, 2, 3]
    """


class ChannelShuffle(
    OfFunction, calls=channel_shuffle, takes=settings("groups", data_format="NCHW")
):
    """(n, c, h, w) -> (n, c, h, w): the first channel of every group, then the second ones.

    >>> x = dy2st.arange(4).reshape([1, 4, 1, 1])
    >>> dy2st.nn.ChannelShuffle(2)(x).flatten().tolist()
    [0, 2, 1, 3]
    """


class Unfold(
    OfFunction,
    calls=unfold,
    takes=settings("kernel_sizes", dilations=1, paddings=0, strides=1),
):
    """(n, c, h, w) -> (n, c * kh * kw, windows): every window of an image as a column.

    >>> dy2st.nn.Unfold([2, 2])(dy2st.ones([1, 3, 4, 4])).shape
    [1, 12, 9]
    """


class Fold(
    OfFunction,
    calls=fold,
    takes=settings("output_sizes", "kernel_sizes", dilations=1, paddings=0, strides=1),
):
    """(n, c * kh * kw, windows) -> (n, c, h, w): windows added to the image.

    >>> columns = dy2st.ones([1, 4, 4])
    >>> print(dy2st.nn.Fold([3, 3], 2)(columns)[0, 0])
    [[1. 2. 1.]
     [2. 4. 2.]
     [1. 2. 1.]]
    """


class Unflatten(
    OfFunction,
    calls=lambda x, axis, shape: F.unflatten(x, axis, shape),
    takes=settings("axis", "shape"),
):
    """One axis as several: (6, n) -> (2, 3, n) for axis 0 and shape [2, 3].

    >>> dy2st.nn.Unflatten(1, [2, -1])(dy2st.ones([5, 6])).shape
    [5, 2, 3]
    """


class UpsamplingBilinear2D(
    OfFunction,
    calls=lambda x, size, scale_factor, data_format: F.interpolate(
        x, size, scale_factor, mode="bilinear", align_corners=True, data_format=data_format
    ),
    takes=settings(size=None, scale_factor=None, data_format="NCHW"),
):
    """(n, c, h, w) -> (n, c, h', w'), linear between pixels, the corners at the corners.

    `size` or `scale_factor` say how large.

    >>> x = dy2st.to_tensor([[[[0.0, 2.0]]]])
    >>> print(dy2st.nn.UpsamplingBilinear2D(size=[1, 3])(x))
    [[[[0. 1. 2.]]]]
    """


class UpsamplingNearest2D(
    OfFunction,
    calls=lambda x, size, scale_factor, data_format: F.interpolate(
        x, size, scale_factor, mode="nearest", data_format=data_format
    ),
    takes=settings(size=None, scale_factor=None, data_format="NCHW"),
):
    """(n, c, h, w) -> (n, c, h', w'), the nearest pixel; `size` or `scale_factor` say how large.

    >>> x = dy2st.to_tensor([[[[0.0, 2.0]]]])
    >>> print(dy2st.nn.UpsamplingNearest2D(size=[1, 4])(x))
    [[[[0. 0. 2. 2.]]]]
    """
