"""Pooling by windows whose sizes are random: about the same number for each size (Graham 2014)."""

from __future__ import annotations

from typing import Any

from dy2st_runtime.dims import ceil_divide, product, require
from dy2st_runtime.errors import ArgumentError, ShapeError
from dy2st_runtime.ir import F
from dy2st_runtime.ir.arguments import as_size, pair


def fractional_max_pool2d(
    x: Any,
    output_size: Any,
    kernel_size: Any = None,
    random_u: float | None = None,
    return_mask: bool = False,
    name: str | None = None,
) -> Any:
    """(n, c, h, w) -> (n, c, *output_size): the largest of windows of random size.

    `random_u`, in (0, 1), decides the windows; it is drawn if it is left out. Windows of a
    `kernel_size` overlap. With `return_mask` also the places in the flattened image.

    >>> fractional_max_pool2d(F.ones([1, 1, 7, 7]), [3, None], random_u=0.3).shape
    [1, 1, 3, 7]
    """
    return _pool(x, 2, output_size, kernel_size, random_u, return_mask)


def fractional_max_pool3d(
    x: Any,
    output_size: Any,
    kernel_size: Any = None,
    random_u: float | None = None,
    return_mask: bool = False,
    name: str | None = None,
) -> Any:
    """(n, c, d, h, w) -> (n, c, *output_size); see `fractional_max_pool2d`.

    >>> x = dy2st.ones([1, 1, 5, 5, 5])
    >>> dy2st.nn.functional.fractional_max_pool3d(x, 2, random_u=0.3).shape
    [1, 1, 2, 2, 2]
    """
    return _pool(x, 3, output_size, kernel_size, random_u, return_mask)


def _pool(
    x: Any, axes: int, output_size: Any, kernel_size: Any, random_u: Any, return_mask: bool
) -> Any:
    if x.ndim != axes + 2:
        raise ShapeError(f"fractional pooling takes {axes + 2} axes, not the shape {x.shape}")
    if random_u is None:
        random_u = F.uniform([], "float32", 0.0, 1.0)
    elif not 0 < random_u < 1:
        raise ArgumentError(f"fractional pooling: random_u is between 0 and 1, not {random_u}")
    kernel = (None,) * axes if kernel_size is None else pair(kernel_size, axes, "kernel_size")
    wanted = output_size if isinstance(output_size, (list, tuple)) else [output_size] * axes
    if len(wanted) != axes:
        raise ArgumentError(f"fractional pooling: {axes} sizes, not {list(wanted)}")
    spatial = x.shape[2:]
    places = F.broadcast_to(F.reshape(F.arange(product(spatial)), spatial), x.shape)
    # From the last axis on: so that of equal elements the first one in memory is met first.
    for axis, size, width in reversed(list(zip(range(2, x.ndim), wanted, kernel, strict=True))):
        count = x.shape[axis] if size is None else as_size(size)
        # (count, most): the elements of every window, and which of them it really has.
        size = x.shape[axis]
        u = random_u
        require(size >= count, f"fractional pooling: {count} windows of {size} elements")
        numbers = F.cast(F.arange(count), "float32")
        if width is None:
            share = F.cast(size, "float32") / F.cast(count, "float32")
            # The largest u for which the windows keep within the elements.
            base = size // count
            first = F.cast(base + 2, "float32") / share - 1.0
            last = F.cast(size + 1 - base, "float32") / share - F.cast(count - 1, "float32")
            u = u * F.minimum(first, last)
            most = ceil_divide(size, count) + 1
        else:
            require(size >= width, f"fractional pooling: a window of {width} in {size} elements")
            gaps = F.maximum(F.cast(count - 1, "float32"), 1.0)
            share = F.cast(size - width, "float32") / gaps
            most = width
        first = _whole(share * u)
        starts = _whole((numbers + u) * share) - first
        index = F.unsqueeze(starts, [1]) + F.arange(most)
        if width is None:
            ends = _whole((numbers + 1.0 + u) * share) - first
            inside = F.less_than(index, F.unsqueeze(ends, [1]))
        else:
            inside = F.ones([count, most], "bool")
        index, inside = F.minimum(index, size - 1), F.logical_and(inside, F.less_than(index, size))
        parts = F.gather(x, index, axis)
        shape = [1] * axis + [count, inside.shape[1]] + [1] * (x.ndim - axis - 1)
        parts = F.where(F.reshape(inside, shape), parts, float("-inf"))
        first = F.argmax(parts, axis + 1, keepdim=True)
        x, places = (
            F.squeeze(F.take_along_axis(all_of, first, axis + 1, broadcast=False), axis + 1)
            for all_of in (parts, F.gather(places, index, axis))
        )
    return (x, places) if return_mask else x


def _whole(x: Any) -> Any:
    return F.cast(F.floor(x), "int64")
