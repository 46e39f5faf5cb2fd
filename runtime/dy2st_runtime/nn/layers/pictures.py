"""A convolution with what usually follows it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dy2st_runtime.nn.activation import ReLU
from dy2st_runtime.nn.containers import Sequential
from dy2st_runtime.nn.convolution import Conv2D
from dy2st_runtime.nn.layer import Layer
from dy2st_runtime.nn.normalisation import BatchNorm2D


class ConvNormActivation(Sequential):
    """activation(norm(conv(x))): (n, in, h, w) -> (n, out, h', w').

    Without `padding` an image at stride 1 keeps its size. A layer that is None is left out; the
    convolution has a bias only without a norm, unless `bias` says otherwise.
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
