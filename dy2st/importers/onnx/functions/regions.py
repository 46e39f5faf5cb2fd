"""Parts of images: boxes and what is in them, columns of windows, kernels that look elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dy2st.errors import ArgumentError
from dy2st.importers.onnx.functions.geometry import pairs, per_axis
from dy2st.importers.onnx.functions.late import as_whole, number, sizes
from dy2st_runtime.dims import Size, product
from dy2st_runtime.ir import F, apply
from dy2st_runtime.ir.tensor import Tensor
from dy2st_runtime.nn.functions.deformable import deform_conv2d
from dy2st_runtime.ops.control_flow import while_loop
from dy2st_runtime.ops.convolution import window_count

# Boxes


def non_max_suppression(
    boxes: Any,
    scores: Any,
    max_output_boxes_per_class: Any = None,
    iou_threshold: Any = None,
    score_threshold: Any = None,
    *,
    center_point_box: int = 0,
) -> Any:
    """(batch, boxes, 4), (batch, classes, boxes) -> (kept, 3): of batch, class and box; best first.

    A box is kept that overlaps no better one of its class by more than `iou_threshold`, a number.
    """
    most, threshold = number(max_output_boxes_per_class), number(iou_threshold)
    least = number(score_threshold)
    if most is None or (isinstance(most, int) and most <= 0):
        return F.zeros([0, 3], "int64")
    batch, classes, count = scores.shape
    flat = F.flatten(scores)
    places = F.argsort(flat, descending=True, stable=True)
    if least is not None:
        found = F.gather(flat, places)
        least = least if isinstance(least, Tensor) else float(np.float32(least))
        places = F.masked_select(places, F.greater_than(found, least))
    groups = F.floor_divide(places, as_whole(count))
    place = F.remainder(places, as_whole(count))
    a, b, c, d = (F.squeeze(side, [2]) for side in F.split(F.detach(boxes), 4, axis=2))
    if center_point_box:  # x, y, width, height
        sides = [a - c / 2.0, b - d / 2.0, a + c / 2.0, b + d / 2.0]
    else:  # y1, x1, y2, x2
        sides = [F.minimum(b, d), F.minimum(a, c), F.maximum(b, d), F.maximum(a, c)]
    corners = F.reshape(F.stack(sides, axis=2), [batch * count, 4])
    rows = F.floor_divide(groups, as_whole(classes)) * as_whole(count) + place
    sorted_boxes = F.gather(corners, rows)
    if isinstance(threshold, Tensor):
        kept = _kept(sorted_boxes, groups, F.cast(threshold, boxes.dtype))
    else:
        kept = apply("nms", sorted_boxes, groups, threshold=float(np.float32(threshold or 0)))
    groups, place = F.gather(groups, kept), F.gather(place, kept)
    order = F.argsort(groups, stable=True)
    groups, place = F.gather(groups, order), F.gather(place, order)
    rank = F.arange(groups.shape[0]) - F.searchsorted(groups, groups)
    few = F.less_than(rank, most)
    groups, place = F.masked_select(groups, few), F.masked_select(place, few)
    sample = F.floor_divide(groups, as_whole(classes))
    return F.stack([sample, F.remainder(groups, as_whole(classes)), place], axis=1)


def _kept(boxes: Any, groups: Any, threshold: Any) -> Any:
    """What the operator `nms` gives, for a threshold that only the run tells."""
    low, high = F.slice(boxes, [1], [0], [2]), F.slice(boxes, [1], [2], [4])
    ends = F.minimum(F.unsqueeze(high, [1]), high) - F.maximum(F.unsqueeze(low, [1]), low)
    shared, area = F.prod(F.maximum(ends, 0.0), axis=2), F.prod(high - low, axis=1)
    union = F.unsqueeze(area, [1]) + area - shared
    overlap = F.where(F.greater_than(shared, 0.0), shared / union, F.zeros_like(shared))
    place = F.arange(boxes.shape[0])
    near = F.logical_and(
        F.greater_than(overlap, threshold), F.equal(F.unsqueeze(groups, [1]), groups)
    )
    near = F.logical_and(near, F.greater_than(place, F.unsqueeze(place, [1])))

    def drop(n: Any, stays: Any) -> list[Any]:
        this = F.reshape(n, [1])
        drops = F.logical_and(F.gather(near, this), F.gather(stays, this))
        return [n + 1, F.logical_and(stays, F.logical_not(F.squeeze(drops, [0])))]

    first, end = [np.array(0), F.ones([boxes.shape[0]], "bool")], as_whole(boxes.shape[0])
    _, stays = while_loop(lambda n, _: [F.less_than(n, end)], drop, first)
    return F.masked_select(place, stays)


def roi_align(
    X: Any,
    rois: Any,
    batch_indices: Any,
    *,
    coordinate_transformation_mode: str = "half_pixel",
    mode: str = "avg",
    output_height: int = 1,
    output_width: int = 1,
    sampling_ratio: int = 0,
    spatial_scale: float = 1.0,
) -> Any:
    """(n, c, h, w), (r, 4), (r,) -> (r, c, height, width): bilinear points of each part of a box.

    Boxes are (x1, y1, x2, y2) in pixels of the picture; their means, or the largest of what the
    pixels around the points add to them.
    """
    shifted = coordinate_transformation_mode == "half_pixel"
    boxes = F.detach(rois) * spatial_scale - (0.5 if shifted else 0.0)
    images, lines = F.cast(batch_indices, "int64"), []
    for axis, parts in ((1, output_height), (0, output_width)):
        start, end = (F.squeeze(F.slice(boxes, [1], [k], [k + 1]), [1]) for k in (axis, axis + 2))
        extent = end - start if shifted else F.maximum(end - start, 1.0)
        lines.append((start, extent, X.shape[3 - axis], parts))
    if mode == "max":
        return _largest_points(X, images, lines, sampling_ratio)
    if mode != "avg":
        raise ArgumentError(f"RoiAlign: mode is avg or max, not {mode!r}")
    weights = [
        apply("bilinear_weights", start, extent, length=size, parts=parts, points=sampling_ratio)
        for start, extent, size, parts in lines
    ]
    return apply("regions", X, *weights, images)


def _largest_points(x: Any, images: Any, lines: Sequence[Any], points: int) -> Any:
    if points < 1:
        raise ArgumentError(
            "RoiAlign: mode='max' takes a sampling_ratio above 0; with 0 each box has its own "
            "number of points"
        )
    (rows, high, tall), (columns, wide, broad) = (_of_points(line, points) for line in lines)
    flat = F.flatten(F.gather(x, images), 2)
    best = None
    for row, above in rows:
        for column, left in columns:
            place = F.unsqueeze(row, [2]) * as_whole(x.shape[3]) + F.unsqueeze(column, [1])
            weight = F.unsqueeze(above, [2]) * F.unsqueeze(left, [1])
            index = F.unsqueeze(F.flatten(place, 1), [1])
            pixels = F.take_along_axis(flat, index, 2) * F.unsqueeze(F.flatten(weight, 1), [1])
            best = pixels if best is None else F.maximum(best, pixels)
    parts = F.reshape(best, [images.shape[0], x.shape[1], high, tall, wide, broad])
    return F.max(parts, axis=[3, 5])


def _of_points(line: tuple[Any, Any, Size, int], points: int) -> Any:
    """The pixels on both sides of each point with their weights, (r, parts * points)."""
    start, extent, size, parts = line
    part = F.unsqueeze(extent / float(parts), [1])
    number = F.arange(parts * points)
    first = F.cast(F.floor_divide(number, points), start.dtype)
    inside = F.cast(F.remainder(number, points), start.dtype)
    place = F.unsqueeze(start, [1]) + first * part + (inside + 0.5) * part / float(points)
    end = float(size) if isinstance(size, int) else F.cast(size, start.dtype)
    seen = F.logical_and(F.greater_equal(place, -1.0), F.less_equal(place, end))
    place = F.minimum(F.maximum(place, 0.0), end - 1.0)
    low = F.floor(place)
    share, seen = place - low, F.cast(seen, start.dtype)
    high = F.minimum(low + 1.0, end - 1.0)
    sides = [
        (F.cast(low, "int64"), (1.0 - share) * seen),
        (F.cast(high, "int64"), share * seen),
    ]
    return sides, parts, points


def max_roi_pool(
    X: Any, rois: Any, *, pooled_shape: Sequence[int], spatial_scale: float = 1.0
) -> Any:
    """(n, c, h, w), (r, 5) -> (r, c, p, q): the largest pixel of each part; a box begins with n."""
    high, wide = pooled_shape
    given = F.detach(rois)
    images = F.cast(F.squeeze(F.slice(given, [1], [0], [1]), [1]), "int64")
    boxes = F.slice(given, [1], [1], [5])
    settings = {"high": high, "wide": wide, "scale": float(spatial_scale)}
    places = apply("roi_pool_places", F.detach(X), boxes, images, **settings)
    pixels = F.gather(F.flatten(X), F.flatten(F.maximum(places, 0)))
    pixels = F.reshape(pixels, places.shape)
    return F.where(F.less_than(places, 0), F.zeros_like(pixels), pixels)


# Windows


def col2im(
    input: Any,
    image_shape: Any,
    block_shape: Any,
    *,
    dilations: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
) -> Any:
    """(n, c * block, windows) -> (n, c, *image_shape): windows added to the image they are of."""
    image, kernel = sizes(image_shape), sizes(block_shape)
    axes = len(image)
    steps, holes, around = per_axis(strides, axes), per_axis(dilations, axes), pairs(pads, axes)
    geometry = zip(image, kernel, steps, around, holes, strict=True)
    counts = [window_count(*one) for one in geometry]  # type: ignore[arg-type]
    channels = input.shape[1] // product(kernel)
    y = F.reshape(input, [input.shape[0], channels, *kernel, *counts])
    mixed = [axis for n in range(axes) for axis in (2 + n, 2 + axes + n)]
    y = F.transpose(y, [0, 1, *mixed])
    for axis in reversed(range(axes)):
        room = image[axis] + around[axis][0] + around[axis][1]
        places = F.unsqueeze(F.arange(kernel[axis]), [1]) * holes[axis]
        places = F.flatten(places + F.arange(counts[axis]) * steps[axis])
        at = 2 + 2 * axis
        y = F.flatten(y, at, at + 1)
        shape = [*y.shape[:at], room, *y.shape[at + 1 :]]
        y = F.index_add(F.zeros(shape, y.dtype), places, at, y)
    starts = [before for before, _ in around]
    ends = [start + size for start, size in zip(starts, image, strict=True)]
    return F.slice(y, [*range(2, 2 + axes)], starts, ends)


def deform_conv(
    X: Any,
    W: Any,
    offset: Any,
    B: Any = None,
    mask: Any = None,
    *,
    dilations: Sequence[int] | None = None,
    group: int = 1,
    kernel_shape: Sequence[int] | None = None,
    offset_group: int = 1,
    pads: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
) -> Any:
    """A convolution whose kernels look where the offsets say; images have two axes."""
    if X.ndim != 4:
        raise ArgumentError(f"DeformConv: images have two axes here, not {X.ndim - 2}")
    around = [0, 0, 0, 0, *(size for pair in pairs(pads, 2) for size in pair)]
    wide = F.pad(X, around) if any(around) else X
    steps, holes = per_axis(strides, 2), per_axis(dilations, 2)
    settings = {"deformable_groups": offset_group, "groups": group, "mask": mask}
    return deform_conv2d(wide, offset, W, B, list(steps), 0, list(holes), **settings)


def lrn(X: Any, *, alpha: float = 1e-4, beta: float = 0.75, bias: float = 1.0, size: int) -> Any:
    """X by (bias + alpha / size * the sum of squares of `size` channels around)**beta."""
    wide = F.cast(X, "float32") if X.dtype.itemsize == 2 else X
    n, channels = X.shape[:2]
    rows = F.reshape(F.square(wide), [n, 1, channels, product(X.shape[2:])])
    around = ((size - 1) // 2, size // 2)
    window: dict[str, Any] = {"kernel": (size, 1), "strides": (1, 1), "pads": (around, (0, 0))}
    total = F.reshape(apply("window_sum", rows, **window), X.shape)
    return F.cast(wide / F.pow(total * (alpha / size) + bias, beta), X.dtype)


__all__ = [
    "col2im",
    "deform_conv",
    "lrn",
    "max_roi_pool",
    "non_max_suppression",
    "roi_align",
]
