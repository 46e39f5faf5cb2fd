"""Boxes as a network sees them: relative to anchors, to cells of a grid, to the picture."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from dy2st_runtime.dims import require_equal
from dy2st_runtime.errors import ArgumentError, ShapeError
from dy2st_runtime.ir import F


def yolo_box(
    x: Any,
    img_size: Any,
    anchors: Sequence[int],
    class_num: int,
    conf_thresh: float,
    downsample_ratio: int,
    clip_bbox: bool = True,
    name: str | None = None,
    scale_x_y: float = 1.0,
    iou_aware: bool = False,
    iou_aware_factor: float = 0.5,
) -> tuple[Any, Any]:
    """(n, a * (5 + k), h, w), (n, 2) -> boxes (n, a * h * w, 4), scores (n, a * h * w, k).

    A cell gives a centre, sigmoid(tx, ty) from its corner, and a size, anchor * exp(tw, th); a
    confidence, and a probability for each class (Redmon 2018). Boxes are in pixels of pictures of
    the sizes (height, width); those below `conf_thresh` are all 0. `iou_aware` has `a` more
    channels before all others: then confidence^(1 - factor) * iou^factor counts.

    >>> sizes = F.full([1, 2], 32, "int64")
    >>> boxes, scores = yolo_box(F.zeros([1, 6, 1, 1]), sizes, [8, 8], 1, 0.1, 32)
    >>> boxes.tolist(), scores.tolist()
    ([[[12.0, 12.0, 20.0, 20.0]]], [[[0.25]]])
    """
    count = len(anchors) // 2
    if x.ndim != 4:
        raise ShapeError(f"yolo_box takes (n, channels, h, w), not {x.shape}")
    channels = count * (5 + class_num + bool(iou_aware))
    reason = f"yolo_box: {x.shape[1]} channels are not {channels}, for {count} anchors"
    require_equal(x.shape[1], channels, reason)
    n, _, h, w = x.shape
    iou, cells = (x[:, :count], x[:, count:]) if iou_aware else (None, x)
    cells = F.reshape(cells, [n, count, 5 + class_num, h, w])
    confidence = F.sigmoid(cells[:, :, 4])
    if iou is not None:
        confidence = confidence ** (1.0 - iou_aware_factor) * F.sigmoid(iou) ** iou_aware_factor
    confidence = F.where(confidence < conf_thresh, F.zeros_like(confidence), confidence)
    pictures = F.reshape(F.cast(img_size, x.dtype), [n, 2, 1, 1, 1])
    lows, highs = [], []
    for axis, size in enumerate((w, h)):
        steps = F.reshape(F.arange(size), [1, 1, 1, size] if axis == 0 else [1, 1, size, 1])
        picture = pictures[:, 1 - axis]
        inside = F.sigmoid(cells[:, :, axis]) * scale_x_y - 0.5 * (scale_x_y - 1.0)
        centre = (F.cast(steps, x.dtype) + inside) * picture / F.cast(size, x.dtype)
        sides = F.reshape(_column(anchors[axis::2], x.dtype), [1, count, 1, 1])
        whole = F.cast(size * downsample_ratio, x.dtype)
        half = F.exp(cells[:, :, axis + 2]) * sides * picture / whole / 2.0
        low, high = centre - half, centre + half
        if clip_bbox:
            low, high = F.maximum(low, 0.0), F.minimum(high, picture - 1.0)
        lows.append(low)
        highs.append(high)
    seen = F.unsqueeze(F.cast(confidence > 0, x.dtype), [4])
    boxes = F.stack([*lows, *highs], axis=4) * seen
    scores = F.unsqueeze(confidence, [2]) * F.sigmoid(cells[:, :, 5:])
    scores = F.reshape(F.moveaxis(scores, 2, 4), [n, count * h * w, class_num])
    return F.reshape(boxes, [n, count * h * w, 4]), scores


def _column(values: Sequence[float], dtype: Any) -> Any:
    return F.stack([F.full([], float(value), dtype) for value in values], axis=0)


def _list(value: Any) -> list[float]:
    return [float(v) for v in (value if isinstance(value, (list, tuple)) else [value])]


def _ratios(given: Any, flip: bool) -> list[float]:
    """1, the given ones, and one by each of them, without repetition."""
    result = [1.0]
    for ratio in _list(given):
        for one in (ratio, 1.0 / ratio) if flip else (ratio,):
            if all(abs(one - other) >= 1e-6 for other in result):
                result.append(one)
    return result


def prior_sizes(
    min_sizes: Any, max_sizes: Any, aspect_ratios: Any, flip: bool, squares_first: bool
) -> list[tuple[float, float]]:
    """The widths and heights of the boxes of one cell, in PaddlePaddle's order.

    >>> prior_sizes(4.0, 9.0, 4.0, False, False)
    [(4.0, 4.0), (8.0, 2.0), (6.0, 6.0)]
    """
    smallest = _list(min_sizes)
    largest = [] if max_sizes is None else _list(max_sizes)
    if largest and len(largest) != len(smallest):
        raise ArgumentError(f"prior_box: {len(largest)} max_sizes for {len(smallest)} min_sizes")
    sizes = []
    for place, small in enumerate(smallest):
        shapes = [
            (small * math.sqrt(ratio), small / math.sqrt(ratio))
            for ratio in _ratios(aspect_ratios, flip)
        ]
        squares = [(math.sqrt(small * large),) * 2 for large in largest[place : place + 1]]
        where = 1 if squares_first else len(shapes)
        sizes += [*shapes[:where], *squares, *shapes[where:]]
    return sizes


def prior_box(
    input: Any,
    image: Any,
    min_sizes: Any,
    max_sizes: Any = None,
    aspect_ratios: Any = (1.0,),
    variance: Sequence[float] = (0.1, 0.1, 0.2, 0.2),
    flip: bool = False,
    clip: bool = False,
    steps: Sequence[float] = (0.0, 0.0),
    offset: float = 0.5,
    min_max_aspect_ratios_order: bool = False,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Boxes about every cell of (n, c, h, w), and variances: (h, w, boxes, 4) twice (Liu 2015).

    Relative to `image` (n, c, H, W). A cell is `steps` (width, height) pixels large, 0: image by
    input. Each min size has a box of every ratio, and with a max size a square of sqrt(min * max).

    >>> boxes, variances = prior_box(F.zeros([1, 1, 1, 1]), F.zeros([1, 1, 8, 8]), [4.0])
    >>> boxes.tolist()
    [[[[0.25, 0.25, 0.75, 0.75]]]]
    """
    sizes = prior_sizes(min_sizes, max_sizes, aspect_ratios, flip, min_max_aspect_ratios_order)
    cells, dtype = input.shape[2:], input.dtype
    lows, highs = [], []
    for axis in (1, 0):  # x first
        picture = F.cast(image.shape[2 + axis], dtype)
        step = steps[1 - axis] if steps[1 - axis] else picture / F.cast(cells[axis], dtype)
        shape = [1, cells[1], 1] if axis else [cells[0], 1, 1]
        places = F.reshape(F.cast(F.arange(cells[axis]), dtype), shape)
        centres = F.broadcast_to((places + offset) * step, [*cells, len(sizes)])
        half = F.reshape(_column([size[1 - axis] / 2 for size in sizes], dtype), [1, 1, -1])
        lows.append((centres - half) / picture)
        highs.append((centres + half) / picture)
    boxes = F.stack([*lows, *highs], axis=3)
    boxes = F.clip(boxes, 0.0, 1.0) if clip else boxes
    return boxes, F.broadcast_to(_column(variance, dtype), [*cells, len(sizes), 4])


def box_coder(
    prior_box: Any,
    prior_box_var: Any,
    target_box: Any,
    code_type: str = "encode_center_size",
    box_normalized: bool = True,
    axis: int = 0,
    name: str | None = None,
) -> Any:
    """Boxes as shifts and logarithms of sizes relative to others, or back again.

    encode: (m, 4), boxes (n, 4) -> (n, m, 4), decode: (m, 4), codes (n, m, 4) -> boxes (n, m, 4);
    with axis 1 the m lie along the first axis of the codes. Codes are divided by the variances,
    (m, 4) or four numbers; None: by 1. Without `box_normalized` the last pixel belongs to a box.

    >>> boxes = F.reshape(F.cast(F.arange(4) > 1, "float32"), [1, 4])
    >>> box_coder(boxes, [1.0, 1.0, 1.0, 1.0], boxes).tolist()
    [[[0.0, 0.0, 0.0, 0.0]]]
    """
    edge = 0.0 if box_normalized else 1.0
    if code_type == "encode_center_size":
        place = 0
    elif code_type == "decode_center_size" and axis in (0, 1):
        place = axis
    else:
        raise ArgumentError(
            "box_coder: code_type is 'encode_center_size' or 'decode_center_size' with axis 0 or "
            f"1, not {code_type!r} with {axis}"
        )
    prior = F.unsqueeze(prior_box, [place])
    size = prior[:, :, 2:] - prior[:, :, :2] + edge
    centre = prior[:, :, :2] + size / 2.0
    share: Any = 1.0
    if prior_box_var is not None:
        is_list = isinstance(prior_box_var, (list, tuple))
        share = _column(prior_box_var, prior_box.dtype) if is_list else prior_box_var
        share = F.reshape(share, [1, 1, 4]) if is_list else F.unsqueeze(share, [place])
    if code_type == "encode_center_size":
        box = F.unsqueeze(target_box, [1])
        middle = (box[:, :, 2:] + box[:, :, :2]) / 2.0
        wide = box[:, :, 2:] - box[:, :, :2] + edge
        shifts, logs = (middle - centre) / size, F.log(F.abs(wide / size))
        return F.concat([shifts, logs], 2) / share
    codes = target_box * share
    middle = codes[:, :, :2] * size + centre
    half = F.exp(codes[:, :, 2:]) * size / 2.0
    return F.concat([middle - half, middle + half - edge], 2)
