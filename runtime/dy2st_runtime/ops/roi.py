"""Features of boxes in images: mean or largest values of the parts of every box.

A box is cut into p by q parts. The value of a part is linear in the pixels, and the weights of
rows and of columns are independent, so `regions` sums weights of rows by weights of columns by
pixels; `roi_align` and `psroi_pool` differ in the weights. As in PaddlePaddle no gradient reaches
the boxes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dy2st_runtime.dims import Size, require_equal
from dy2st_runtime.errors import ShapeError
from dy2st_runtime.ir import F, Sample, TensorType, apply, define
from dy2st_runtime.ir.arguments import pair
from dy2st_runtime.ir.attribute_kinds import NUMBER, SIZE, between
from dy2st_runtime.ops.rules import require_dtype

# -- sums over regions ------------------------------------------------------------------------


def _check_weights(rows: TensorType, columns: TensorType, images: TensorType) -> None:
    require_dtype("regions", images, "iu", "integers for images")
    if (rows.rank, columns.rank, images.rank) != (3, 3, 1):
        raise ShapeError("regions takes weights (r, p, h) and (r, q, w), and r images")
    for other in (columns, images):
        require_equal(other.shape[0], rows.shape[0], "regions: as many weights as boxes")


def _regions_infer(
    x: TensorType, rows: TensorType, columns: TensorType, images: TensorType
) -> TensorType:
    _check_weights(rows, columns, images)
    require_dtype("regions", x, "f", "images of floats")
    if x.rank != 4:
        raise ShapeError(f"regions takes images (n, c, h, w), not {list(x.shape)}")
    require_equal(x.shape[2], rows.shape[2], "regions: as many weights as rows")
    require_equal(x.shape[3], columns.shape[2], "regions: as many weights as columns")
    return x.with_shape([rows.shape[0], x.shape[1], rows.shape[1], columns.shape[1]])


def _back_infer(
    g: TensorType, rows: TensorType, columns: TensorType, images: TensorType, count: Size
) -> TensorType:
    _check_weights(rows, columns, images)
    require_dtype("regions_back", g, "f", "floats")
    if g.rank != 4:
        raise ShapeError(f"regions_back takes values (r, c, p, q), not {list(g.shape)}")
    for axis, want in ((0, rows.shape[0]), (2, rows.shape[1]), (3, columns.shape[1])):
        require_equal(g.shape[axis], want, "regions_back: one value for every part")
    return g.with_shape([count, g.shape[1], rows.shape[2], columns.shape[2]])


def _used(weights: Any) -> tuple[slice, Any]:
    """Where weights (p, h) are not all 0, and those."""
    places = np.flatnonzero(weights.any(axis=0))
    part = slice(places[0], places[-1] + 1) if places.size else slice(0, 0)
    return part, weights[:, part]


def _fit(infer: Any, *arrays: Any, **attributes: Any) -> None:
    """ShapeError for arrays that the shape rule does not take."""
    infer(*(TensorType(array.dtype, array.shape) for array in arrays), **attributes)


def _inside(images: Any, count: int) -> None:
    if images.size and (images.min() < 0 or images.max() >= count):
        raise IndexError(f"boxes of other images than 0 .. {count - 1}: boxes_num does not fit")


def _regions_kernel(x: Any, rows: Any, columns: Any, images: Any) -> Any:
    _fit(_regions_infer, x, rows, columns, images)
    _inside(images, len(x))
    result = np.empty((len(rows), x.shape[1], rows.shape[1], columns.shape[1]), x.dtype)
    rows, columns = rows.astype(x.dtype), columns.astype(x.dtype)
    for box, image in enumerate(images):
        (high, row), (wide, column) = _used(rows[box]), _used(columns[box])
        result[box] = row @ (x[image, :, high, wide] @ column.T)
    return result


def _back_kernel(g: Any, rows: Any, columns: Any, images: Any, count: int) -> Any:
    _fit(_back_infer, g, rows, columns, images, count=count)
    _inside(images, count)
    result = np.zeros((count, g.shape[1], rows.shape[2], columns.shape[2]), g.dtype)
    rows, columns = rows.astype(g.dtype), columns.astype(g.dtype)
    for box, image in enumerate(images):
        (high, row), (wide, column) = _used(rows[box]), _used(columns[box])
        result[image, :, high, wide] += row.T @ (g[box] @ column)
    return result


# Weights are float32 here: they are made of boxes, which get no gradient.
_TYPES = ("float64", "float32", "float32", "int64")
define(
    "regions",
    doc="Sums of rows[r, i, h] * columns[r, j, w] * x[images[r], c, h, w] over h and w.",
    inputs="x, rows, columns, images",
    raises=IndexError,
    infer=_regions_infer,
    kernel=_regions_kernel,
    gradient=lambda g, y, x, rows, columns, images: (
        lambda: apply("regions_back", g, rows, columns, images, count=x.shape[0]),
        None,
        None,
        None,
    ),
    samples=(
        Sample(((2, 2, 3, 4), (3, 2, 3), (3, 1, 4), (3,)), dtypes=_TYPES, low=0, high=2),
        Sample(((2, 1, 3, 4), (0, 2, 3), (0, 1, 4), (0,)), dtypes=_TYPES, low=0, high=2),
    ),
)
define(
    "regions_back",
    doc="The images whose pixels get the weighted values of the regions that they are in.",
    inputs="g, rows, columns, images",
    attributes={"count": SIZE},
    raises=IndexError,
    infer=_back_infer,
    kernel=_back_kernel,
    gradient=lambda g, y, x, rows, columns, images, count: (
        lambda: apply("regions", g, rows, columns, images),
        None,
        None,
        None,
    ),
    samples=(Sample(((3, 2, 2, 1), (3, 2, 3), (3, 1, 4), (3,)), {"count": 2}, _TYPES, 0, 2),),
)

# -- weights ----------------------------------------------------------------------------------


_FARTHEST = 2**24


def _weights_infer(
    start: TensorType, extent: TensorType, length: Size, parts: int, points: int
) -> TensorType:
    require_dtype("bilinear_weights", start, "f", "floats")
    if start.rank != 1 or extent.rank != 1:
        raise ShapeError("bilinear_weights takes starts and extents, (r,)")
    require_equal(start.shape[0], extent.shape[0], "bilinear_weights: one extent a start")
    return start.with_shape([start.shape[0], parts, length])


def _weights_kernel(start: Any, extent: Any, length: int, parts: int, points: int) -> Any:
    """Box by box, as boxes differ in how many points their parts have."""
    _fit(_weights_infer, start, extent, length=length, parts=parts, points=points)
    if not (np.abs(start) + np.abs(extent) < _FARTHEST).all():  # nor NaN
        raise ValueError(f"a box ends more than {_FARTHEST} pixels away, or has no size at all")
    result = np.zeros((len(start), parts, length), start.dtype)
    if not length:
        return result
    for box, (first, size) in enumerate(zip(start, extent, strict=True)):
        part = size / parts
        count = points if points > 0 else int(np.ceil(part))
        if count <= 0:
            continue
        steps = (np.arange(count) + 0.5) * part / count
        places = (first + np.arange(parts)[:, None] * part + steps).astype(start.dtype)
        seen = ((places >= -1) & (places <= length)) / count
        places = np.clip(places, 0, length - 1)
        low = np.minimum(places.astype(np.int64), length - 1)
        share, part_of = places - low, np.arange(parts)[:, None]
        np.add.at(result[box], (part_of, low), (1 - share) * seen)
        np.add.at(result[box], (part_of, np.minimum(low + 1, length - 1)), share * seen)
    return result


_PARTS = between(1, 2**31).or_else(1)
_POINTS = between(-(2**31), 2**16).or_else(0)

define(
    "bilinear_weights",
    doc="The shares of `length` pixels in the means of points in `parts` parts of each interval.",
    inputs="start, extent",
    attributes={"length": SIZE, "parts": _PARTS, "points": _POINTS},
    infer=_weights_infer,
    kernel=_weights_kernel,
    raises=ValueError,
    samples=(
        Sample(((3,), (3,)), {"length": 5, "parts": 2}, low=0, high=6),
        Sample(((3,), (3,)), {"length": 5, "parts": 2, "points": 2}, low=-2, high=6),
    ),
)


def _sizes(output_size: Any) -> list[int]:
    return list(pair(output_size, 2, "output_size"))


def _images(name: str, x: Any, boxes: Any, boxes_num: Any) -> Any:
    """Of which image each box is: (r,)."""
    if x.ndim != 4 or boxes.ndim != 2 or boxes_num.ndim != 1:
        raise ShapeError(
            f"{name} takes images (n, c, h, w), boxes (r, 4) and numbers of boxes (n,), not "
            f"{x.shape}, {boxes.shape} and {boxes_num.shape}"
        )
    require_equal(boxes.shape[1], 4, f"{name}: a box is (x1, y1, x2, y2)")
    require_equal(boxes_num.shape[0], x.shape[0], f"{name}: one number of boxes an image")
    ends = F.cumsum(F.cast(boxes_num, "int64"), 0)
    return F.searchsorted(ends, F.arange(boxes.shape[0]), right=True)


def roi_align(
    x: Any,
    boxes: Any,
    boxes_num: Any,
    output_size: Any,
    spatial_scale: float = 1.0,
    sampling_ratio: int = -1,
    aligned: bool = True,
    name: str | None = None,
) -> Any:
    """(n, c, h, w), (r, 4), (n,) -> (r, c, p, q): means of bilinear points of each part (He 2017).

    Boxes are (x1, y1, x2, y2) in pixels of the picture, `spatial_scale` those of x for one of them;
    boxes_num says how many are of each image. `sampling_ratio` points along each side of a part,
    -1: one a pixel. With `aligned` a pixel's centre lies half a pixel from its edge; without, a box
    has at least one pixel.

    >>> x = F.reshape(F.arange(16.0), [1, 1, 4, 4])
    >>> boxes = F.reshape(F.cast(F.arange(4) > 1, "float32") * 2.0, [1, 4])
    >>> roi_align(x, boxes, F.ones([1], "int64"), 1).item()
    2.5
    """
    images = _images("roi_align", x, boxes, boxes_num)
    boxes = F.detach(boxes) * spatial_scale - (0.5 if aligned else 0.0)
    weights = []
    for axis, parts in zip((1, 0), _sizes(output_size), strict=True):
        start, extent = boxes[:, axis], boxes[:, axis + 2] - boxes[:, axis]
        extent = extent if aligned else F.maximum(extent, 1.0)
        settings = {"length": x.shape[3 - axis], "parts": parts, "points": sampling_ratio}
        weights.append(apply("bilinear_weights", start, extent, **settings))
    return apply("regions", x, *weights, images)


def psroi_pool(
    x: Any,
    boxes: Any,
    boxes_num: Any,
    output_size: Any,
    spatial_scale: float = 1.0,
    name: str | None = None,
) -> Any:
    """(n, c * p * q, h, w), (r, 4), (n,) -> (r, c, p, q): means of each part (Dai 2016).

    Part (i, j) of channel k comes from the channel (k * p + i) * q + j of x.

    >>> x = F.reshape(F.arange(16.0), [1, 4, 2, 2])
    >>> boxes, counts = F.cast(F.arange(4) > 1, "float32"), F.ones([1], "int64")
    >>> psroi_pool(x, F.reshape(boxes, [1, 4]), counts, 2).reshape([-1]).tolist()
    [0.0, 5.0, 10.0, 15.0]
    """
    images = _images("psroi_pool", x, boxes, boxes_num)
    high, wide = _sizes(output_size)
    if isinstance(x.shape[1], int) and x.shape[1] % (high * wide):
        raise ShapeError(f"psroi_pool: {x.shape[1]} channels are no multiple of {high} * {wide}")
    boxes = F.detach(boxes)
    rows = _means(boxes[:, 1], boxes[:, 3], x.shape[2], high, spatial_scale)
    columns = _means(boxes[:, 0], boxes[:, 2], x.shape[3], wide, spatial_scale)
    parts = F.reshape(x, [x.shape[0], -1, high, wide, *x.shape[2:]])
    lines = []
    for i in range(high):
        row = rows[:, i : i + 1]
        line = [
            apply("regions", parts[:, :, i, j], row, columns[:, j : j + 1], images)
            for j in range(wide)
        ]
        lines.append(F.concat(line, 3))
    return F.concat(lines, 2)


def _rounded(x: Any) -> Any:
    """The nearest integer, halves away from 0."""
    return F.sign(x) * F.floor(F.abs(x) + 0.5)


def _means(low: Any, high: Any, length: Size, parts: int, scale: float) -> Any:
    """(r,), (r,) -> (r, parts, length): the shares of the pixels that a part touches."""
    start = F.unsqueeze(_rounded(low) * scale, [1])
    end = F.unsqueeze((_rounded(high) + 1.0) * scale, [1])
    size = F.maximum(end - start, 0.1) / float(parts)
    steps = F.unsqueeze(F.cast(F.arange(parts), low.dtype), [0])
    first = F.unsqueeze(F.floor(steps * size + start), [2])
    last = F.unsqueeze(F.ceil((steps + 1.0) * size + start), [2])
    places = F.reshape(F.cast(F.arange(length), low.dtype), [1, 1, length])
    inside = F.cast(F.logical_and(places >= first, places < last), low.dtype)
    return inside / F.maximum(F.sum(inside, 2, keepdim=True), 1.0)


# -- largest values ---------------------------------------------------------------------------


def _places_infer(
    x: TensorType, boxes: TensorType, images: TensorType, high: int, wide: int, scale: float
) -> TensorType:
    require_dtype("roi_pool", x, "f", "images of floats")
    require_dtype("roi_pool", boxes, "f", "boxes of floats")
    if (x.rank, boxes.rank, images.rank) != (4, 2, 1):
        raise ShapeError("roi_pool takes images (n, c, h, w), boxes (r, 4) and r integers")
    require_dtype("roi_pool", images, "iu", "integers for images")
    require_equal(boxes.shape[0], images.shape[0], "roi_pool: one image a box")
    require_equal(boxes.shape[1], 4, "roi_pool: a box is (x1, y1, x2, y2)")
    return TensorType("int64", (boxes.shape[0], x.shape[1], high, wide))


def _ends(low: Any, high: Any, parts: int, length: int) -> list[tuple[int, int]]:
    """Where the parts of an interval of whole pixels begin and end."""
    size = np.float32(max(high - low + 1, 1)) / np.float32(parts)
    steps = np.arange(parts + 1, dtype="float32") * size
    first, last = np.floor(steps[:-1]) + low, np.ceil(steps[1:]) + low
    ends = (np.nan_to_num(np.clip(part, 0, length)) for part in (first, last))
    inside = [part.astype(int).tolist() for part in ends]
    return list(zip(*inside, strict=True))


def _places_kernel(x: Any, boxes: Any, images: Any, high: int, wide: int, scale: float) -> Any:
    _fit(_places_infer, x, boxes, images, high=high, wide=wide, scale=scale)
    _inside(images, len(x))
    _, channels, height, width = x.shape
    scaled = boxes * boxes.dtype.type(scale)
    whole = np.sign(scaled) * np.floor(np.abs(scaled) + 0.5)
    result = np.full((len(boxes), channels, high, wide), -1, np.int64)
    for box, image in enumerate(images):
        left, top, right, bottom = whole[box]
        rows, columns = _ends(top, bottom, high, height), _ends(left, right, wide, width)
        starts = (image * channels + np.arange(channels)) * height * width
        for i, (up, down) in enumerate(rows):
            for j, (first, last) in enumerate(columns):
                if up < down and first < last:
                    part = x[image, :, up:down, first:last].reshape(channels, -1)
                    row, column = np.divmod(part.argmax(axis=1), last - first)
                    result[box, :, i, j] = starts + (up + row) * width + first + column
    return result


define(
    "roi_pool_places",
    doc="Where in the flattened x the largest pixel of each part of a box is; -1 in an empty one.",
    inputs="x, boxes, images",
    attributes={
        "high": _PARTS,
        "wide": _PARTS,
        "scale": NUMBER.or_else(1.0),
    },
    raises=IndexError,
    infer=_places_infer,
    kernel=_places_kernel,
    samples=(
        Sample(
            ((2, 2, 4, 5), (3, 4), (3,)),
            {"high": 2, "wide": 3},
            ("float64", "float32", "int64"),
            0,
            2,
        ),
    ),
)


def roi_pool(
    x: Any,
    boxes: Any,
    boxes_num: Any,
    output_size: Any,
    spatial_scale: float = 1.0,
    name: str | None = None,
) -> Any:
    """(n, c, h, w), (r, 4), (n,) -> (r, c, p, q): the largest pixel of each part (Girshick 2015).

    Corners of boxes are brought to whole pixels, and belong to them; an empty part is 0.

    >>> x = F.reshape(F.arange(16.0), [1, 1, 4, 4])
    >>> boxes, counts = F.full([1, 4], 2.0), F.ones([1], "int64")
    >>> roi_pool(x, boxes, counts, 1).item()
    10.0
    """
    images = _images("roi_pool", x, boxes, boxes_num)
    high, wide = _sizes(output_size)
    settings = {"high": high, "wide": wide, "scale": float(spatial_scale)}
    places = apply("roi_pool_places", F.detach(x), F.detach(boxes), images, **settings)
    pixels = F.gather(F.flatten(x), F.maximum(places, 0))
    return F.where(places < 0, F.zeros_like(pixels), pixels)
