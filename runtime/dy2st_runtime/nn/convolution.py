"""Convolution layers."""

from __future__ import annotations

from typing import Any

from dy2st_runtime.ir import F
from dy2st_runtime.nn.initializer import KaimingUniform
from dy2st_runtime.nn.layer import Layer

Sizes = int | list[int] | tuple[int, ...]


class _Convolution(Layer):
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
    ):
        """Make the parameters; ValueError if the channels are no multiple of the groups."""
        super().__init__()
        if groups < 1 or in_channels % groups or out_channels % groups:
            raise ValueError(
                f"{in_channels} input and {out_channels} output channels cannot be split into "
                f"{groups} groups"
            )
        if padding_mode != "zeros":
            raise ValueError(f"padding_mode {padding_mode!r}: only 'zeros', pad before instead")
        is_int = isinstance(kernel_size, int)
        kernel = [kernel_size] * self.axes if is_int else list(kernel_size)  # type: ignore[arg-type]
        self.in_channels, self.out_channels, self.kernel_size = in_channels, out_channels, kernel
        self.stride, self.padding, self.output_padding = stride, padding, output_padding
        self.dilation, self.groups = dilation, groups
        self.data_format = data_format or self.default_format
        channels = (
            [in_channels, out_channels // groups]
            if self.transposed
            else [out_channels, in_channels // groups]
        )
        self.weight = self.create_parameter(
            [*channels, *kernel], weight_attr, default_initializer=KaimingUniform()
        )
        self.bias = self.create_parameter([out_channels], bias_attr, is_bias=True)

    def forward(self, x: Any, output_size: Any = None) -> Any:
        """(n, in, ...) -> (n, out, ...); `output_size` is for transposed convolutions."""
        function = getattr(F, f"conv{self.axes}d" + ("_transpose" if self.transposed else ""))
        settings: dict[str, Any] = {
            "stride": self.stride,
            "padding": self.padding,
            "dilation": self.dilation,
            "groups": self.groups,
            "data_format": self.data_format,
        }
        if self.transposed:
            settings.update(output_padding=self.output_padding, output_size=output_size)
        return function(x, self.weight, self.bias, **settings)

    def extra_repr(self) -> str:
        """Channels and kernel."""
        return (
            f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, "
            f"stride={self.stride}, padding={self.padding}"
        )


class Conv1D(_Convolution):
    """Cross-correlation along one axis: (n, in, l) -> (n, out, l')."""

    axes, default_format = 1, "NCL"


class Conv2D(_Convolution):
    """Cross-correlation along two axes: (n, in, h, w) -> (n, out, h', w')."""


class Conv1DTranspose(_Convolution):
    """The gradient of Conv1D with respect to its input: (n, in, l) -> (n, out, l')."""

    axes, transposed, default_format = 1, True, "NCL"


class Conv2DTranspose(_Convolution):
    """The gradient of Conv2D with respect to its input: (n, in, h, w) -> (n, out, h', w')."""

    transposed = True
