"""Convolution and pooling of volumes, (n, c, d, h, w)."""

from __future__ import annotations

from typing import Any

from dy2st_runtime.nn.convolution import _Convolution
from dy2st_runtime.nn.layers.function_layer import OfFunction, settings
from dy2st_runtime.ops.volumes import (
    adaptive_avg_pool3d,
    adaptive_max_pool3d,
    avg_pool3d,
    max_pool3d,
)


class Conv3D(_Convolution):
    """Cross-correlation along three axes: (n, in, d, h, w) -> (n, out, d', h', w'); see `Conv2D`.

    >>> layer = dy2st.nn.Conv3D(2, 4, 3)
    >>> layer(dy2st.ones([1, 2, 4, 4, 4])).shape, layer.weight.shape
    ([1, 4, 2, 2, 2], [4, 2, 3, 3, 3])
    """

    axes, default_format = 3, "NCDHW"


class Conv3DTranspose(_Convolution):
    """The gradient of Conv3D with respect to its input: (n, in, d, h, w) -> (n, out, d', h', w').

    >>> layer = dy2st.nn.Conv3DTranspose(2, 4, 3)
    >>> layer(dy2st.ones([1, 2, 4, 4, 4])).shape, layer.weight.shape
    ([1, 4, 6, 6, 6], [2, 4, 3, 3, 3])
    """

    axes, transposed, default_format = 3, True, "NCDHW"

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCDHW",
    ):
        """Make the parameters; ValueError if the channels are no multiple of the groups."""
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride=stride,
            padding=padding,
            output_padding=output_padding,
            dilation=dilation,
            groups=groups,
            weight_attr=weight_attr,
            bias_attr=bias_attr,
            data_format=data_format,
        )


class MaxPool3D(
    OfFunction,
    calls=max_pool3d,
    takes=settings(
        "kernel_size",
        stride=None,
        padding=0,
        return_mask=False,
        ceil_mode=False,
        data_format="NCDHW",
    ),
):
    """(n, c, d, h, w) -> (n, c, d', h', w'): the largest element of every window.

    >>> dy2st.nn.MaxPool3D(2)(dy2st.ones([1, 1, 4, 6, 8])).shape
    [1, 1, 2, 3, 4]
    """


class AvgPool3D(
    OfFunction,
    calls=avg_pool3d,
    takes=settings(
        "kernel_size",
        stride=None,
        padding=0,
        ceil_mode=False,
        exclusive=True,
        divisor_override=None,
        data_format="NCDHW",
    ),
):
    """(n, c, d, h, w) -> (n, c, d', h', w'): means; `exclusive` counts no padding.

    >>> dy2st.nn.AvgPool3D(2)(dy2st.arange(8.0).reshape([1, 1, 2, 2, 2])).item()
    3.5
    """


class AdaptiveAvgPool3D(
    OfFunction, calls=adaptive_avg_pool3d, takes=settings("output_size", data_format="NCDHW")
):
    """(n, c, d, h, w) -> (n, c, *out): means of equal parts.

    >>> dy2st.nn.AdaptiveAvgPool3D(1)(dy2st.ones([2, 3, 4, 5, 6])).shape
    [2, 3, 1, 1, 1]
    """


class AdaptiveMaxPool3D(
    OfFunction, calls=adaptive_max_pool3d, takes=settings("output_size", return_mask=False)
):
    """(n, c, d, h, w) -> (n, c, *out): the largest of equal parts.

    >>> dy2st.nn.AdaptiveMaxPool3D([1, 2, 3])(dy2st.ones([2, 3, 4, 4, 6])).shape
    [2, 3, 1, 2, 3]
    """
