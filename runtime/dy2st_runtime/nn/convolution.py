"""Convolution layers."""

from __future__ import annotations

import math
from typing import Any

from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir import F
from dy2st_runtime.ir.arguments import pair
from dy2st_runtime.nn.initializer import Normal
from dy2st_runtime.nn.layer import Layer

Sizes = int | list[int] | tuple[int, ...]

_PADDINGS = ("reflect", "replicate", "circular")


class _Convolution(
    Layer,
    private="_in_channels _out_channels _kernel_size _stride _padding _dilation _groups "
    "_padding_mode _data_format",
):
    """What all convolutions share; subclasses say how many axes, and in which direction."""

    axes = 2
    transposed = False
    default_format = "NCHW"

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: Any = 0,
        dilation: Sizes = 1,
        groups: int = 1,
        padding_mode: str = "zeros",
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str | None = None,
        output_padding: Sizes = 0,
        bias: bool = True,
        dtype: Any = None,
    ):
        """Make the parameters; ValueError if the channels are no multiple of the groups."""
        super().__init__()
        if groups < 1 or in_channels % groups or out_channels % groups:
            raise ArgumentError(
                f"{in_channels} input and {out_channels} output channels cannot be split into "
                f"{groups} groups"
            )
        if padding_mode != "zeros" and (self.transposed or padding_mode not in _PADDINGS):
            raise ArgumentError(
                f"padding_mode {padding_mode!r}: one of zeros, {', '.join(_PADDINGS)}"
            )
        kernel = self._per_axis(kernel_size)
        self._in_channels, self._out_channels, self._kernel_size = in_channels, out_channels, kernel
        self._stride, self._dilation = self._per_axis(stride), self._per_axis(dilation)
        self._padding, self._padding_mode = padding, padding_mode
        self._groups, self.output_padding = groups, output_padding
        self._data_format = data_format or self.default_format
        self._param_attr, self._bias_attr = weight_attr, bias_attr
        channels = (
            [in_channels, out_channels // groups]
            if self.transposed
            else [out_channels, in_channels // groups]
        )
        # Normal with variance 2 / (inputs of an output, of all groups); Xavier if transposed.
        if self.transposed:
            first_values = None
        else:
            first_values = Normal(
                0.0, math.sqrt(2.0 / (self._in_channels * math.prod(self._kernel_size)))
            )
        self.weight = self.create_parameter(
            [*channels, *kernel], weight_attr, dtype, default_initializer=first_values
        )
        wish = bias_attr if bias else False
        self.bias = self.create_parameter([out_channels], wish, dtype, is_bias=True)

    def _per_axis(self, sizes: Sizes) -> list[int]:
        return list(pair(sizes, self.axes, "a size along the axes", 0))

    def forward(self, x: Any, output_size: Any = None) -> Any:
        """(n, in, ...) -> (n, out, ...); `output_size` is for transposed convolutions."""
        function = getattr(F, f"conv{self.axes}d" + ("_transpose" if self.transposed else ""))
        settings: dict[str, Any] = {
            "stride": self._stride,
            "padding": self._padding,
            "dilation": self._dilation,
            "groups": self._groups,
            "data_format": self._data_format,
        }
        if self.transposed:
            settings.update(output_padding=self.output_padding, output_size=output_size)
        elif self._padding_mode != "zeros":
            # The input with a border of itself on both sides, last axis first as `pad` wants
            # it.
            around = [
                side for size in reversed(self._per_axis(self._padding)) for side in (size, size)
            ]
            padded = F.pad(x, around, mode=self._padding_mode, data_format=self._data_format)
            x, settings["padding"] = padded, 0
        return function(x, self.weight, self.bias, **settings)

    def extra_repr(self) -> str:
        """Channels, kernel, and what is not as usual."""
        shown = [f"{self._in_channels}, {self._out_channels}, kernel_size={self._kernel_size}"]
        ones = [1] * self.axes
        usual = {
            "stride": ones,
            "padding": 0,
            "output_padding": 0,
            "dilation": ones,
            "groups": 1,
            "padding_mode": "zeros",
        }
        for name, value in usual.items():
            if getattr(self, name) != value:
                shown.append(f"{name}={getattr(self, name)}")
        return ", ".join([*shown, f"data_format={self._data_format}"])


class Conv1D(_Convolution):
    """Cross-correlation along one axis: (n, in, l) -> (n, out, l').

    l' = (l + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1. The weight is
    (out, in / groups, kernel); ValueError if groups do not divide the channels.

    >>> layer = dy2st.nn.Conv1D(2, 4, 3, padding=1)
    >>> layer(dy2st.ones([1, 2, 10])).shape, layer.weight.shape
    ([1, 4, 10], [4, 2, 3])
    """

    axes, default_format = 1, "NCL"


class Conv2D(_Convolution):
    """Cross-correlation along two axes: (n, in, h, w) -> (n, out, h', w').

    h' = (h + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1, and so w'. The weight is
    (out, in / groups, kh, kw). ValueError if groups do not divide the channels.

    Parameters
    ----------
    in_channels, out_channels
        How many channels there are before and after.
    kernel_size, stride, dilation
        A number, or one for each axis.
    padding
        A number, one for each axis, two for each, 'SAME' or 'VALID'.
    padding_mode
        What stands around: 'zeros', 'reflect', 'replicate' or 'circular'.
    groups
        Groups of channels, each with filters of its own.
    weight_attr, bias_attr
        ParamAttrs; False for no bias.
    data_format
        'NCHW', or 'NHWC' for channels at the end.

    Examples
    --------
    >>> layer = dy2st.nn.Conv2D(3, 8, 3, stride=2, padding=1)
    >>> layer(dy2st.ones([1, 3, 32, 32])).shape, layer.weight.shape
    ([1, 8, 16, 16], [8, 3, 3, 3])
    """


class Conv1DTranspose(_Convolution):
    """The gradient of Conv1D with respect to its input: (n, in, l) -> (n, out, l').

    l' = (l - 1) * stride - 2 * padding + dilation * (kernel - 1) + output_padding + 1. The weight
    is (in, out / groups, kernel).

    >>> dy2st.nn.Conv1DTranspose(4, 2, 3, stride=2)(dy2st.ones([1, 4, 5])).shape
    [1, 2, 11]
    """

    axes, transposed, default_format = 1, True, "NCL"

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: Any = 0,
        output_padding: Sizes = 0,
        groups: int = 1,
        dilation: Sizes = 1,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCL",
    ):
        """Make the parameters; ValueError if the channels are no multiple of the groups."""
        sizes = (in_channels, out_channels, kernel_size, stride, padding, dilation, groups)
        attrs = ("zeros", weight_attr, bias_attr)
        super().__init__(*sizes, *attrs, data_format, output_padding)


class Conv2DTranspose(_Convolution):
    """The gradient of Conv2D with respect to its input: (n, in, h, w) -> (n, out, h', w').

    h' = (h - 1) * stride - 2 * padding + dilation * (kernel - 1) + output_padding + 1, and so w'.
    The weight is (in, out / groups, kh, kw); a call may take an `output_size`.

    >>> layer = dy2st.nn.Conv2DTranspose(4, 2, 2, stride=2)
    >>> layer(dy2st.ones([1, 4, 5, 5])).shape, layer.weight.shape
    ([1, 2, 10, 10], [4, 2, 2, 2])
    """

    transposed = True

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: Any = 0,
        output_padding: Sizes = 0,
        dilation: Sizes = 1,
        groups: int = 1,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCHW",
    ):
        """Make the parameters; ValueError if the channels are no multiple of the groups."""
        sizes = (in_channels, out_channels, kernel_size, stride, padding, dilation, groups)
        attrs = ("zeros", weight_attr, bias_attr)
        super().__init__(*sizes, *attrs, data_format, output_padding)
