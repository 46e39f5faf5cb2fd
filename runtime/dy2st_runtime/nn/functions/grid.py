"""Images that are looked at where a grid points (Jaderberg 2015)."""

from __future__ import annotations

import itertools
from typing import Any

from dy2st_runtime.dims import Size, product, require, require_equal
from dy2st_runtime.errors import ArgumentError, ShapeError
from dy2st_runtime.ir import F
from dy2st_runtime.ir.arguments import as_shape


def affine_grid(
    theta: Any, out_shape: Any, align_corners: bool = True, name: str | None = None
) -> Any:
    """(n, 2, 3) -> (n, h, w, 2), or (n, 3, 4) -> (n, d, h, w, 3): where each pixel comes from.

    `out_shape` is that of the images, (n, c, h, w). A place is theta @ (x, y, 1), with -1 and 1 at
    the centres of the outermost pixels, or without `align_corners` at their outer edges.

    >>> print(affine_grid(F.ones([1, 2, 3]), [1, 1, 1, 2])[0, 0])
    [[0. 0.]
     [2. 2.]]
    """
    sizes = as_shape(out_shape)
    if len(sizes) not in (4, 5) or theta.ndim != 3:
        raise ShapeError(f"affine_grid: theta {theta.shape} does not fit images {list(sizes)}")
    count, spatial = len(sizes) - 2, sizes[2:]
    for axis, (have, want) in enumerate(
        zip(theta.shape, (sizes[0], count, count + 1), strict=True)
    ):
        require_equal(have, want, f"affine_grid: axis {axis} of theta has {have} for {want}")
    columns = []
    for axis in reversed(range(count)):  # x is the last axis of the images
        shape: list[Size] = [1] * count
        shape[axis] = spatial[axis]
        # The places of pixels from -1 to 1; a single one is at 0.
        size = spatial[axis]
        dtype = theta.dtype
        numbers = F.cast(F.arange(size), dtype)
        if align_corners:
            last = F.cast(size - 1, dtype)
            steps = numbers * 2.0 / F.maximum(last, 1.0) - F.minimum(last, 1.0)
        else:
            steps = (numbers * 2.0 + 1.0) / F.cast(size, dtype) - 1.0
        columns.append(F.broadcast_to(F.reshape(steps, shape), spatial))
    columns.append(F.ones(spatial, theta.dtype))
    flat = F.reshape(F.stack(columns, axis=-1), [1, product(spatial), count + 1])
    places = F.matmul(flat, F.transpose(theta, [0, 2, 1]))
    return F.reshape(places, [sizes[0], *spatial, count])


def grid_sample(
    x: Any,
    grid: Any,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool = True,
    name: str | None = None,
) -> Any:
    """(n, c, h, w), (n, h', w', 2) -> (n, c, h', w'): x at the places of the grid; also in 3-d.

    A place is (x, y), from -1 to 1 over the image; mode: 'bilinear' or 'nearest'. Outside there
    are 'zeros', the 'border', or the 'reflection' of the image.

    >>> image = F.reshape(F.arange(4.0), [1, 1, 2, 2])
    >>> print(grid_sample(image, F.zeros([1, 1, 1, 2])).item())
    1.5
    """
    count = x.ndim - 2
    if mode not in ("bilinear", "nearest"):
        raise ArgumentError(f"grid_sample: mode is 'bilinear' or 'nearest', not {mode!r}")
    if padding_mode not in ("zeros", "border", "reflection"):
        raise ArgumentError(
            f"grid_sample: padding_mode is 'zeros', 'border' or 'reflection', not {padding_mode!r}"
        )
    if count not in (2, 3) or grid.ndim != x.ndim or grid.shape[-1] != count:
        raise ShapeError(f"grid_sample: the grid {grid.shape} does not fit images {x.shape}")
    require_equal(x.shape[0], grid.shape[0], "grid_sample: as many grids as images")
    spatial, points = x.shape[2:], grid.shape[1:-1]
    for size in spatial:
        require(size > 0, "grid_sample: an image without pixels")
    flat = F.reshape(grid, [grid.shape[0], product(points), count])
    places = []
    for axis, size in enumerate(spatial):
        # A coordinate from -1 to 1 as a number of pixels.
        coordinate = flat[:, :, count - 1 - axis]
        if align_corners:
            place = (coordinate + 1.0) * (F.cast(size - 1, coordinate.dtype) / 2.0)
        else:
            place = ((coordinate + 1.0) * F.cast(size, coordinate.dtype) - 1.0) / 2.0
        # A place brought into the image, unless zeros are outside.
        if padding_mode == "zeros":
            inside = place
        else:
            last = F.cast(size - 1, place.dtype)
            if padding_mode == "reflection":
                edge = 0.0 if align_corners else 0.5
                period = F.maximum((last + 2 * edge) * 2.0, 1.0)
                along = F.remainder(F.abs(place + edge), period)
                place = F.minimum(along, period - along) - edge
            inside = F.minimum(F.maximum(place, 0.0), last)
        places.append(inside)
    found = picked(F.flatten(x, 2), places, spatial, mode)
    return F.reshape(found, [*x.shape[:2], *points])


def picked(x: Any, places: list[Any], spatial: list[Size], mode: str) -> Any:
    """(n, c, pixels) at places (n, points) along each axis -> (n, c, points)."""
    if mode == "nearest":
        return _pixels(x, [F.round(place) for place in places], spatial)
    lows = [F.floor(place) for place in places]
    shares = [place - low for place, low in zip(places, lows, strict=True)]
    total: Any = None
    for corner in itertools.product((0, 1), repeat=len(places)):
        weight: Any = 1.0
        for side, share in zip(corner, shares, strict=True):
            weight = (share if side else 1.0 - share) * weight
        at = [low + float(side) for low, side in zip(lows, corner, strict=True)]
        part = _pixels(x, at, spatial) * F.unsqueeze(weight, [1])
        total = part if total is None else total + part
    return total


def _pixels(x: Any, at: list[Any], spatial: list[Size]) -> Any:
    """Whole places along each axis -> the pixels there, 0 outside of the image."""
    place: Any = 0
    valid: Any = None
    for along, size in zip(at, spatial, strict=True):
        last = F.cast(size - 1, along.dtype)
        kept = F.minimum(F.maximum(along, 0.0), last)
        inside = F.equal(kept, along)
        valid = inside if valid is None else F.logical_and(valid, inside)
        place = place * size + F.cast(kept, "int64")
    pixels = F.take_along_axis(x, F.unsqueeze(place, [1]), 2)
    return F.where(F.unsqueeze(valid, [1]), pixels, F.zeros_like(pixels))
