"""Pooling layers: each keeps the settings of one function of `nn.functional`."""

from __future__ import annotations

from typing import Any

from dy2st_runtime.ir import F
from dy2st_runtime.nn.layer import Layer


class _MaxPool(Layer):
    function = "max_pool2d"

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        return_mask: bool = False,
        ceil_mode: bool = False,
    ):
        """Take the window; the stride is its size if it is left out."""
        super().__init__()
        self.settings = {
            "kernel_size": kernel_size,
            "stride": stride,
            "padding": padding,
            "return_mask": return_mask,
            "ceil_mode": ceil_mode,
        }

    def forward(self, x: Any) -> Any:
        """The largest element of every window."""
        return getattr(F, self.function)(x, **self.settings)

    def extra_repr(self) -> str:
        """The settings."""
        return ", ".join(f"{name}={value}" for name, value in self.settings.items())


class MaxPool1D(_MaxPool):
    """(n, c, l) -> (n, c, l'): the largest element of every window."""

    function = "max_pool1d"


class MaxPool2D(_MaxPool):
    """(n, c, h, w) -> (n, c, h', w'): the largest element of every window."""


class _AvgPool(Layer):
    function = "avg_pool2d"

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        exclusive: bool = True,
        ceil_mode: bool = False,
    ):
        """Take the window; `exclusive` does not count the padding."""
        super().__init__()
        self.settings = {
            "kernel_size": kernel_size,
            "stride": stride,
            "padding": padding,
            "exclusive": exclusive,
            "ceil_mode": ceil_mode,
        }

    def forward(self, x: Any) -> Any:
        """The mean of every window."""
        return getattr(F, self.function)(x, **self.settings)

    def extra_repr(self) -> str:
        """The settings."""
        return ", ".join(f"{name}={value}" for name, value in self.settings.items())


class AvgPool1D(_AvgPool):
    """(n, c, l) -> (n, c, l'): the mean of every window."""

    function = "avg_pool1d"


class AvgPool2D(_AvgPool):
    """(n, c, h, w) -> (n, c, h', w'): the mean of every window."""


class _AdaptivePool(Layer):
    function = "adaptive_avg_pool2d"

    def __init__(self, output_size: Any):
        """Take the size of the result; None keeps that of the input."""
        super().__init__()
        self.output_size = output_size

    def forward(self, x: Any) -> Any:
        """As many windows as the output has elements."""
        return getattr(F, self.function)(x, self.output_size)

    def extra_repr(self) -> str:
        """The size."""
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1D(_AdaptivePool):
    """(n, c, l) -> (n, c, out): means of equal parts."""

    function = "adaptive_avg_pool1d"


class AdaptiveAvgPool2D(_AdaptivePool):
    """(n, c, h, w) -> (n, c, *out): means of equal parts."""


class AdaptiveMaxPool1D(_AdaptivePool):
    """(n, c, l) -> (n, c, out): the largest of equal parts."""

    function = "adaptive_max_pool1d"


class AdaptiveMaxPool2D(_AdaptivePool):
    """(n, c, h, w) -> (n, c, *out): the largest of equal parts."""

    function = "adaptive_max_pool2d"
