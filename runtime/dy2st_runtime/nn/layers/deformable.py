"""A convolution whose kernels look where offsets say, as a layer."""

from __future__ import annotations

import math
from numbers import Integral
from typing import Any

from dy2st_runtime.nn.functions.deformable import deform_conv2d
from dy2st_runtime.nn.initializer import Normal
from dy2st_runtime.nn.layer import Layer


class DeformConv2D(Layer):
    """`deform_conv2d` with its weight: offsets, and masks if there are any, are given with x."""

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
            raise ValueError(
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
