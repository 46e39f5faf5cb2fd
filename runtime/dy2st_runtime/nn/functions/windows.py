"""Pooling by norms and by windows of random size, and maxima put back at their places."""

from __future__ import annotations

import math
from typing import Any

from dy2st_runtime.dims import Size, product, require
from dy2st_runtime.errors import ArgumentError, ShapeError
from dy2st_runtime.ir import F
from dy2st_runtime.ir.arguments import as_shape, pair
from dy2st_runtime.ops.pooling import largest_of_windows, sums_of_windows
from dy2st_runtime.ops.short_floats import in_float32

# -- norms ------------------------------------------------------------------------------------


@in_float32
def _lp_pool(
    x: Any,
    axes: int,
    norm_type: float,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    ceil_mode: bool,
    data_format: str,
) -> Any:
    p = float(norm_type)
    if p == 0:
        raise ArgumentError("lp_pool: norm_type is not 0")
    if p == math.inf:
        return largest_of_windows(
            x, axes, kernel_size, stride, padding, False, ceil_mode, data_format
        )
    sums = sums_of_windows(F.pow(x, p), axes, kernel_size, stride, padding, ceil_mode, data_format)
    return F.pow(sums, 1.0 / p)


def lp_pool1d(
    x: Any,
    norm_type: float,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    data_format: str = "NCL",
    name: str | None = None,
) -> Any:
    """(n, c, l) -> (n, c, l'): (sum x**p)**(1/p) of every window, with p = norm_type.

    >>> print(lp_pool1d(F.ones([1, 1, 4]) * 3.0, 2.0, 4).item())
    6.0
    """
    return _lp_pool(x, 1, norm_type, kernel_size, stride, padding, ceil_mode, data_format)


def lp_pool2d(
    x: Any,
    norm_type: float,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """(n, c, h, w) -> (n, c, h', w'): (sum x**p)**(1/p) of every window, with p = norm_type.

    >>> dy2st.nn.functional.lp_pool2d(dy2st.ones([1, 1, 2, 2]), 2.0, 2).item()
    2.0
    """
    return _lp_pool(x, 2, norm_type, kernel_size, stride, padding, ceil_mode, data_format)


# -- maxima at their places -------------------------------------------------------------------


def _max_unpool(
    x: Any,
    indices: Any,
    axes: int,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    data_format: str,
    output_size: Any,
) -> Any:
    if data_format[:2] != "NC" or x.ndim != axes + 2 or indices.ndim != x.ndim:
        raise ShapeError(
            f"max_unpool{axes}d takes (n, c, ...) of {axes + 2} axes and places of that shape, not "
            f"{x.shape} and {indices.shape} in {data_format}"
        )
    kernel = pair(kernel_size, axes, "kernel_size")
    strides = kernel if stride is None else pair(stride, axes, "stride")
    pads = pair(padding, axes, "padding", 0)
    sizes: tuple[Size, ...] = tuple(
        (n - 1) * s + k - 2 * p
        for n, k, s, p in zip(x.shape[2:], kernel, strides, pads, strict=True)
    )
    if output_size is not None:
        # The user's sizes, less than a stride away from those that fit.
        wanted = as_shape(output_size)
        wished = wanted[-len(sizes) :]
        if len(wanted) not in (len(sizes), len(sizes) + 2):
            raise ArgumentError(f"max_unpool: output_size takes {len(sizes)} sizes, not {wanted}")
        for size, fitting, stride in zip(wished, sizes, strides, strict=True):
            for far in (size - fitting, fitting - size):
                require(far < stride, f"max_unpool: a size of {size} is too far from {fitting}")
        sizes = wished
    flat = F.zeros([*x.shape[:2], product(sizes)], x.dtype)
    places = F.cast(F.flatten(indices, 2), "int64")
    placed = F.put_along_axis(flat, places, F.flatten(x, 2), 2)
    return F.reshape(placed, [*x.shape[:2], *sizes])


def max_unpool1d(
    x: Any,
    indices: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    data_format: str = "NCL",
    output_size: Any = None,
    name: str | None = None,
) -> Any:
    """(n, c, l), places -> (n, c, l'): maxima back at their places, 0 elsewhere.

    >>> y, places = dy2st.to_tensor([[[3.0, 2.0]]]), dy2st.to_tensor([[[1, 2]]])
    >>> print(dy2st.nn.functional.max_unpool1d(y, places, 2))
    [[[0. 3. 2. 0.]]]
    """
    return _max_unpool(x, indices, 1, kernel_size, stride, padding, data_format, output_size)


def max_unpool2d(
    x: Any,
    indices: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    data_format: str = "NCHW",
    output_size: Any = None,
    name: str | None = None,
) -> Any:
    """(n, c, h, w), places -> (n, c, h', w'): maxima back at their places, 0 elsewhere.

    >>> y, places = F.max_pool2d(F.ones([1, 1, 4, 4]), 2, return_mask=True)
    >>> print(max_unpool2d(y, places, 2)[0, 0, 0])
    [1. 0. 1. 0.]
    """
    return _max_unpool(x, indices, 2, kernel_size, stride, padding, data_format, output_size)


def max_unpool3d(
    x: Any,
    indices: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    data_format: str = "NCDHW",
    output_size: Any = None,
    name: str | None = None,
) -> Any:
    """(n, c, d, h, w), places -> (n, c, d', h', w'): maxima back at their places, 0 elsewhere.

    >>> y, places = dy2st.full([1, 1, 1, 1, 1], 7.0), dy2st.full([1, 1, 1, 1, 1], 5, "int64")
    >>> dy2st.nn.functional.max_unpool3d(y, places, 2).flatten().tolist()
    [0.0, 0.0, 0.0, 0.0, 0.0, 7.0, 0.0, 0.0]
    """
    return _max_unpool(x, indices, 3, kernel_size, stride, padding, data_format, output_size)
