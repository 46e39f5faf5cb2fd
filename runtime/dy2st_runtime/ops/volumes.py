"""Pooling and transposed convolution along three axes."""

from __future__ import annotations

from typing import Any

from dy2st_runtime.ir import public
from dy2st_runtime.ops.convolve import transposed
from dy2st_runtime.ops.pooling import (
    adaptive,
    adaptive_with_places,
    largest_of_windows,
    means_of_windows,
)


@public
def max_pool3d(
    x: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    return_mask: bool = False,
    ceil_mode: bool = False,
    data_format: str = "NCDHW",
    name: str | None = None,
) -> Any:
    """(n, c, d, h, w) -> (n, c, d', h', w'): the largest element of every window.

    With `return_mask` also their places in the flattened volume.

    >>> dy2st.nn.functional.max_pool3d(dy2st.ones([1, 1, 4, 4, 4]), 2).shape
    [1, 1, 2, 2, 2]
    """
    return largest_of_windows(
        x, 3, kernel_size, stride, padding, return_mask, ceil_mode, data_format
    )


@public
def avg_pool3d(
    x: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    exclusive: bool = True,
    divisor_override: Any = None,
    data_format: str = "NCDHW",
    name: str | None = None,
) -> Any:
    """(n, c, d, h, w) -> (n, c, d', h', w'): means; `exclusive` does not count padding.

    >>> dy2st.nn.functional.avg_pool3d(dy2st.ones([1, 1, 4, 4, 4]), 2).shape
    [1, 1, 2, 2, 2]
    """
    return means_of_windows(
        x, 3, kernel_size, stride, padding, exclusive, ceil_mode, divisor_override, data_format
    )


@public
def adaptive_avg_pool3d(
    x: Any, output_size: Any, data_format: str = "NCDHW", name: str | None = None
) -> Any:
    """(n, c, d, h, w) -> (n, c, *output_size): means of equal parts; None keeps a size.

    >>> x = dy2st.ones([1, 1, 4, 4, 4])
    >>> dy2st.nn.functional.adaptive_avg_pool3d(x, [1, 2, None]).shape
    [1, 1, 1, 2, 4]
    """
    return adaptive(x, output_size, 3, "mean", data_format)


@public
def adaptive_max_pool3d(
    x: Any, output_size: Any, return_mask: bool = False, name: str | None = None
) -> Any:
    """(n, c, d, h, w) -> (n, c, *output_size): the largest of equal parts; None keeps a size.

    With `return_mask` also their places in the flattened volume.

    >>> x = dy2st.ones([1, 1, 4, 4, 4])
    >>> dy2st.nn.functional.adaptive_max_pool3d(x, [1, 2, None]).shape
    [1, 1, 1, 2, 4]
    """
    if return_mask:
        return adaptive_with_places(x, output_size, 3)
    return adaptive(x, output_size, 3, "max", "NCDHW")


@public
def conv3d_transpose(
    x: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
    output_size: Any = None,
    data_format: str = "NCDHW",
    name: str | None = None,
) -> Any:
    """(n, c, d, h, w), (c, o/groups, kd, kh, kw) -> (n, o, d', h', w'), the gradient of conv3d.

    >>> x, weight = dy2st.ones([1, 1, 2, 2, 2]), dy2st.ones([1, 3, 2, 2, 2])
    >>> dy2st.nn.functional.conv3d_transpose(x, weight, stride=2).shape
    [1, 3, 4, 4, 4]
    """
    return transposed(
        x,
        weight,
        bias,
        3,
        stride,
        padding,
        output_padding,
        groups,
        dilation,
        output_size,
        data_format,
    )
