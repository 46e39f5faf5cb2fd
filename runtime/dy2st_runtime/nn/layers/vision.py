"""Layers of `paddle.vision.ops`: convolutions, and pooling of regions of interest."""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Integral
from typing import Any

from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.nn.activation import ReLU
from dy2st_runtime.nn.containers import Sequential
from dy2st_runtime.nn.convolution import Conv2D
from dy2st_runtime.nn.functions.deformable import deform_conv2d
from dy2st_runtime.nn.initializer import Normal
from dy2st_runtime.nn.layer import Layer
from dy2st_runtime.nn.normalisation import BatchNorm2D
from dy2st_runtime.ops.roi import psroi_pool, roi_align, roi_pool


class DeformConv2D(Layer):
    """`deform_conv2d` with its weight: offsets, and masks if there are any, are given with x.

    (n, in, h, w), (n, 2 * dg * kh * kw, h', w') -> (n, out, h', w') (Dai et al. 2017). ValueError
    if the channels are no multiple of the groups.

    >>> layer = dy2st.vision.ops.DeformConv2D(1, 2, 2)
    >>> layer(dy2st.ones([1, 1, 3, 3]), dy2st.zeros([1, 8, 2, 2])).shape
    [1, 2, 2, 2]
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        deformable_groups: int = 1,
        groups: int = 1,
        weight_attr: Any = None,
        bias_attr: Any = None,
    ) -> None:
        """Make the parameters; ValueError if the channels are no multiple of the groups."""
        super().__init__()
        if in_channels % groups or out_channels % groups:
            raise ArgumentError(
                f"{in_channels} input and {out_channels} output channels cannot be split into "
                f"{groups} groups"
            )
        kernel = [int(kernel_size)] * 2 if isinstance(kernel_size, Integral) else list(kernel_size)
        self._in_channels, self._out_channels, self._kernel_size = in_channels, out_channels, kernel
        self._stride, self._padding, self._dilation = stride, padding, dilation
        self._deformable_groups, self._groups = deformable_groups, groups
        first = Normal(0.0, math.sqrt(2.0 / (in_channels * math.prod(kernel))))
        self.weight = self.create_parameter(
            [out_channels, in_channels // groups, *kernel], weight_attr, default_initializer=first
        )
        self.bias = self.create_parameter([out_channels], bias_attr, is_bias=True)

    def forward(self, x: Any, offset: Any, mask: Any = None) -> Any:
        """(n, in, h, w), (n, 2 * dg * kh * kw, h', w') -> (n, out, h', w')."""
        return deform_conv2d(
            x,
            offset,
            self.weight,
            self.bias,
            self._stride,
            self._padding,
            self._dilation,
            self._deformable_groups,
            self._groups,
            mask,
        )


class ConvNormActivation(Sequential):
    """activation(norm(conv(x))): (n, in, h, w) -> (n, out, h', w').

    Without `padding` an image at stride 1 keeps its size. A layer that is None is left out; the
    convolution has a bias only without a norm, unless `bias` says otherwise.

    >>> block = dy2st.vision.ops.ConvNormActivation(3, 8, stride=2)
    >>> block(dy2st.ones([1, 3, 8, 8])).shape, len(block)
    ([1, 8, 4, 4], 3)
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any = 3,
        stride: Any = 1,
        padding: Any = None,
        groups: int = 1,
        norm_layer: Callable[..., Layer] | None = BatchNorm2D,
        activation_layer: Callable[..., Layer] | None = ReLU,
        dilation: int = 1,
        bias: bool | None = None,
    ) -> None:
        """Make the layers."""
        if padding is None:
            padding = (kernel_size - 1) // 2 * dilation
        wish = None if (norm_layer is None if bias is None else bias) else False
        layers: list[Layer] = [
            Conv2D(
                in_channels,
                out_channels,
                kernel_size,
                stride,
                padding,
                dilation,
                groups,
                bias_attr=wish,
            )
        ]
        if norm_layer is not None:
            layers.append(norm_layer(out_channels))
        if activation_layer is not None:
            layers.append(activation_layer())
        super().__init__(*layers)


class _Regions(Layer):
    """What all keep: the size of the result, and pixels of x for one of the picture."""

    def __init__(self, output_size: Any, spatial_scale: float = 1.0) -> None:
        """Take the settings of the function."""
        super().__init__()
        self._output_size, self._spatial_scale = output_size, spatial_scale

    def extra_repr(self) -> str:
        """The settings."""
        return f"output_size={self._output_size}, spatial_scale={self._spatial_scale}"


class RoIAlign(_Regions):
    """(n, c, h, w), (r, 4), (n,) -> (r, c, p, q): means of bilinear points of each part.

    Boxes are [x1, y1, x2, y2] in pixels of the picture, of which x has `spatial_scale`; the
    integers (n,) say how many are in each picture (He et al. 2017).

    >>> boxes, counts = dy2st.to_tensor([[0.0, 0.0, 4.0, 4.0]]), dy2st.to_tensor([1], "int32")
    >>> dy2st.vision.ops.RoIAlign([2, 2])(dy2st.ones([1, 3, 4, 4]), boxes, counts).shape
    [1, 3, 2, 2]
    """

    def forward(self, x: Any, boxes: Any, boxes_num: Any, aligned: bool = True) -> Any:
        """`roi_align`."""
        return roi_align(
            x, boxes, boxes_num, self._output_size, self._spatial_scale, aligned=aligned
        )


class RoIPool(_Regions):
    """(n, c, h, w), (r, 4), (n,) -> (r, c, p, q): the largest pixel of each part (Girshick 2015).

    >>> boxes, counts = dy2st.to_tensor([[0.0, 0.0, 3.0, 3.0]]), dy2st.to_tensor([1], "int32")
    >>> x = dy2st.arange(16.0).reshape([1, 1, 4, 4])
    >>> print(dy2st.vision.ops.RoIPool(2)(x, boxes, counts)[0, 0])
    [[ 5.  7.]
     [13. 15.]]
    """

    def forward(self, x: Any, boxes: Any, boxes_num: Any) -> Any:
        """`roi_pool`."""
        return roi_pool(x, boxes, boxes_num, self._output_size, self._spatial_scale)


class PSRoIPool(_Regions):
    """(n, c * p * q, h, w), (r, 4), (n,) -> (r, c, p, q): means, of other channels each (Dai 2016).

    >>> boxes, counts = dy2st.to_tensor([[0.0, 0.0, 4.0, 4.0]]), dy2st.to_tensor([1], "int32")
    >>> dy2st.vision.ops.PSRoIPool(2)(dy2st.ones([1, 8, 4, 4]), boxes, counts).shape
    [1, 2, 2, 2]
    """

    def forward(self, x: Any, boxes: Any, boxes_num: Any) -> Any:
        """`psroi_pool`."""
        return psroi_pool(x, boxes, boxes_num, self._output_size, self._spatial_scale)
