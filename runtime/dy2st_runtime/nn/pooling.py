"""Pooling layers: each keeps the settings of one function of `nn.functional`."""

from __future__ import annotations

from typing import Any, ClassVar

from dy2st_runtime.errors import WrongKind
from dy2st_runtime.ir import F
from dy2st_runtime.nn.layer import Layer


class _Pool(Layer):
    """Windows of a size, at a stride (the size if it is left out), over padded images."""

    function = ""
    # What the function takes after kernel_size, stride and padding.
    last_settings: ClassVar[dict[str, Any]] = {}

    def __init__(
        self, kernel_size: Any, stride: Any = None, padding: Any = 0, *last: Any, **named: Any
    ):
        """Take the settings of the function, by position or name."""
        super().__init__()
        known = {**self.last_settings, "name": None}
        unknown = [name for name in named if name not in known]
        if unknown or len(last) > len(known):
            names = ", ".join(["kernel_size", "stride", "padding", *known])
            raise WrongKind(f"{type(self).__name__} takes {names}")
        self.kernel_size, self.stride, self.padding = kernel_size, stride, padding
        for name, value in {**known, **dict(zip(known, last, strict=False)), **named}.items():
            setattr(self, name, value)

    @property
    def settings(self) -> dict[str, Any]:
        """The settings by name."""
        names = ("kernel_size", "stride", "padding", *self.last_settings)
        return {name: getattr(self, name) for name in names}

    def forward(self, x: Any) -> Any:
        """One result for every window."""
        return getattr(F, self.function)(x, **self.settings)

    def extra_repr(self) -> str:
        """The settings."""
        return ", ".join(f"{name}={value}" for name, value in self.settings.items())


class MaxPool1D(_Pool):
    """(n, c, l) -> (n, c, l'): the largest element of every window.

    With `return_mask` also the places of these elements; `ceil_mode` rounds l' up.

    >>> print(dy2st.nn.MaxPool1D(2)(dy2st.to_tensor([[[1.0, 3.0, 2.0, 0.0]]])))
    [[[3. 2.]]]
    """

    function = "max_pool1d"
    last_settings: ClassVar[dict[str, Any]] = {"return_mask": False, "ceil_mode": False}


class MaxPool2D(_Pool, private="ksize:kernel_size"):
    """(n, c, h, w) -> (n, c, h', w'): the largest element of every window.

    With `return_mask` also the places of these elements in the flattened image; `ceil_mode` rounds
    h' and w' up.

    >>> x = dy2st.arange(16.0).reshape([1, 1, 4, 4])
    >>> print(dy2st.nn.MaxPool2D(2)(x)[0, 0])
    [[ 5.  7.]
     [13. 15.]]
    """

    function = "max_pool2d"
    last_settings: ClassVar[dict[str, Any]] = {
        "return_mask": False,
        "ceil_mode": False,
        "data_format": "NCHW",
    }


class AvgPool1D(_Pool):
    """(n, c, l) -> (n, c, l'): the mean of every window; `exclusive` does not count padding.

    >>> print(dy2st.nn.AvgPool1D(2)(dy2st.to_tensor([[[1.0, 3.0, 2.0, 0.0]]])))
    [[[2. 1.]]]
    """

    function = "avg_pool1d"
    last_settings: ClassVar[dict[str, Any]] = {"exclusive": True, "ceil_mode": False}


class AvgPool2D(_Pool, private="ksize:kernel_size divisor:divisor_override"):
    """(n, c, h, w) -> (n, c, h', w'): the mean of every window; `exclusive` counts no padding.

    `divisor_override` is what sums are divided by instead of the number of elements.

    >>> x = dy2st.arange(16.0).reshape([1, 1, 4, 4])
    >>> print(dy2st.nn.AvgPool2D(2)(x)[0, 0])
    [[ 2.5  4.5]
     [10.5 12.5]]
    """

    function = "avg_pool2d"
    last_settings: ClassVar[dict[str, Any]] = {
        "ceil_mode": False,
        "exclusive": True,
        "divisor_override": None,
        "data_format": "NCHW",
    }


class _AdaptivePool(Layer, private="_output_size"):
    function = "adaptive_avg_pool2d"

    def __init__(self, output_size: Any, name: str | None = None):
        """Take the size of the result; None keeps that of the input."""
        super().__init__()
        self._output_size, self._name = output_size, name

    def forward(self, x: Any) -> Any:
        """As many windows as the output has elements."""
        return getattr(F, self.function)(x, self._output_size)

    def extra_repr(self) -> str:
        """The size."""
        return f"output_size={self._output_size}"


class AdaptiveAvgPool1D(_AdaptivePool):
    """(n, c, l) -> (n, c, out): means of equal parts, which overlap if out does not divide l.

    >>> print(dy2st.nn.AdaptiveAvgPool1D(2)(dy2st.to_tensor([[[1.0, 3.0, 2.0, 0.0]]])))
    [[[2. 1.]]]
    """

    function = "adaptive_avg_pool1d"


class AdaptiveAvgPool2D(_AdaptivePool, private="_data_format"):
    """(n, c, h, w) -> (n, c, *out): means of equal parts; None for a size keeps that of the input.

    >>> dy2st.nn.AdaptiveAvgPool2D([1, None])(dy2st.ones([2, 3, 5, 7])).shape
    [2, 3, 1, 7]
    """

    def __init__(self, output_size: Any, data_format: str = "NCHW", name: str | None = None):
        """Take the size of the result, and whether channels come last."""
        super().__init__(output_size, name)
        self._data_format = data_format

    def forward(self, x: Any) -> Any:
        """As many windows as the output has elements."""
        return F.adaptive_avg_pool2d(x, self._output_size, self._data_format)


class _AdaptiveMaxPool(_AdaptivePool, private="_return_mask"):
    def __init__(self, output_size: Any, return_mask: bool = False, name: str | None = None):
        """Take the size of the result, and whether places are given too."""
        super().__init__(output_size, name)
        self._return_mask = return_mask

    def forward(self, x: Any) -> Any:
        """As many windows as the output has elements; with `return_mask` their places too."""
        return getattr(F, self.function)(x, self._output_size, self._return_mask)


class AdaptiveMaxPool1D(_AdaptiveMaxPool):
    """(n, c, l) -> (n, c, out): the largest of equal parts; with `return_mask` their places too.

    >>> print(dy2st.nn.AdaptiveMaxPool1D(2)(dy2st.to_tensor([[[1.0, 3.0, 2.0, 0.0]]])))
    [[[3. 2.]]]
    """

    function = "adaptive_max_pool1d"


class AdaptiveMaxPool2D(_AdaptiveMaxPool):
    """(n, c, h, w) -> (n, c, *out): the largest of equal parts, with `return_mask` their places.

    >>> dy2st.nn.AdaptiveMaxPool2D(3)(dy2st.ones([2, 3, 6, 9])).shape
    [2, 3, 3, 3]
    """

    function = "adaptive_max_pool2d"
