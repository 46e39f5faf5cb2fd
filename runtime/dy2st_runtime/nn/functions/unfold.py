"""Images as columns of windows, and columns of windows as images."""

from __future__ import annotations

from typing import Any

from dy2st_runtime.dims import Size, require_equal
from dy2st_runtime.errors import ArgumentError, ShapeError
from dy2st_runtime.ir import F
from dy2st_runtime.ir.arguments import as_shape, pair
from dy2st_runtime.ops.convolution import window_count

Geometry = tuple[tuple[int, ...], tuple[int, ...], tuple[tuple[int, int], ...], tuple[int, ...]]


def unfold(
    x: Any,
    kernel_sizes: Any,
    strides: Any = 1,
    paddings: Any = 0,
    dilations: Any = 1,
    name: str | None = None,
) -> Any:
    """(n, c, h, w) -> (n, c * kh * kw, windows): every window of an image as a column.

    `paddings` is one number, [vertical, horizontal] or [top, left, bottom, right].

    Parameters
    ----------
    kernel_sizes, strides, dilations
        A number, or one for each axis.

    Examples
    --------
    >>> unfold(F.ones([1, 2, 4, 4]), 3).shape
    [1, 18, 4]
    """
    if x.ndim != 4:
        raise ShapeError(f"unfold takes images (n, c, h, w), not a tensor of shape {x.shape}")
    kernel, steps, pads, spread = geometry = _geometry(kernel_sizes, strides, paddings, dilations)
    counts = _counts(x.shape[2:], geometry)
    flat = [size for sides in ((0, 0), (0, 0), *pads) for size in sides]
    y = F.pad(x, flat) if any(flat) else x
    for axis, (k, s, d, count) in enumerate(zip(kernel, steps, spread, counts, strict=True)):
        y = F.gather(y, _places(k, s, d, count), 2 + 2 * axis)
    n, c, _, _, _, _ = y.shape  # (n, c, kh, rows, kw, columns)
    columns = F.transpose(y, [0, 1, 2, 4, 3, 5])
    return F.reshape(columns, [n, c * kernel[0] * kernel[1], counts[0] * counts[1]])


def fold(
    x: Any,
    output_sizes: Any,
    kernel_sizes: Any,
    strides: Any = 1,
    paddings: Any = 0,
    dilations: Any = 1,
    name: str | None = None,
) -> Any:
    """(n, c * kh * kw, windows) -> (n, c, h, w): windows added to the image, where they overlap.

    Parameters
    ----------
    output_sizes
        The size of the image, (h, w).
    kernel_sizes, strides, dilations
        A number, or one for each axis.

    Examples
    --------
    >>> print(fold(F.ones([1, 4, 4]), 3, 2)[0, 0])
    [[1. 2. 1.]
     [2. 4. 2.]
     [1. 2. 1.]]
    """
    if x.ndim != 3:
        raise ShapeError(f"fold takes columns (n, c * kh * kw, windows), not the shape {x.shape}")
    sizes = as_shape(output_sizes)
    if len(sizes) > 2:
        raise ArgumentError(f"output_sizes takes one or two sizes, not {list(sizes)}")
    sizes = sizes * 2 if len(sizes) == 1 else sizes
    kernel, steps, pads, spread = geometry = _geometry(kernel_sizes, strides, paddings, dilations)
    rows, columns = counts = _counts(sizes, geometry)
    n, wide, windows = x.shape
    require_equal(
        windows, rows * columns, f"fold: {windows} windows, but {list(sizes)} has {rows * columns}"
    )
    c = wide // (kernel[0] * kernel[1])
    require_equal(c * kernel[0] * kernel[1], wide, f"fold: {wide} rows are no windows of {kernel}")
    y = F.transpose(F.reshape(x, [n, c, *kernel, rows, columns]), [0, 1, 2, 4, 3, 5])
    for axis in (1, 0):
        room = sizes[axis] + sum(pads[axis])
        places = _places(kernel[axis], steps[axis], spread[axis], counts[axis])
        shape = [*y.shape[: 2 + 2 * axis], room, *y.shape[4 + 2 * axis :]]
        y = F.index_add(F.zeros(shape, y.dtype), places, 2 + 2 * axis, y)
    starts = [before for before, _ in pads]
    ends = [start + size for start, size in zip(starts, sizes, strict=True)]
    return F.slice(y, [2, 3], starts, ends)


def _geometry(kernel_sizes: Any, strides: Any, paddings: Any, dilations: Any) -> Geometry:
    return (
        pair(kernel_sizes, 2, "kernel_sizes"),
        pair(strides, 2, "strides"),
        _pads(paddings),
        pair(dilations, 2, "dilations"),
    )


def _pads(paddings: Any) -> tuple[tuple[int, int], ...]:
    """Before and after for both axes."""
    if isinstance(paddings, (list, tuple)) and len(paddings) == 4:
        top, left, bottom, right = pair(paddings, 4, "paddings", 0)
        return (top, bottom), (left, right)
    return tuple((p, p) for p in pair(paddings, 2, "paddings", 0))


def _counts(sizes: Any, geometry: Geometry) -> list[Size]:
    """How many windows there are along both axes."""
    return [window_count(*along) for along in zip(sizes, *geometry, strict=True)]


def _places(kernel: int, stride: int, dilation: int, count: Size) -> Any:
    """(kernel, count): where each window has each of its places."""
    inside = F.unsqueeze(F.arange(kernel), [1]) * dilation
    return inside + F.arange(count) * stride
