"""The loss of networks that give boxes cell by cell (Redmon 2018)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dy2st_runtime.dims import require_equal
from dy2st_runtime.errors import ArgumentError, ShapeError
from dy2st_runtime.ir import F

_LEAST = 1e-6
"""A box that is not wider and higher than that only fills a row."""


def yolo_loss(
    x: Any,
    gt_box: Any,
    gt_label: Any,
    anchors: Sequence[int],
    anchor_mask: Sequence[int],
    class_num: int,
    ignore_thresh: float,
    downsample_ratio: int,
    gt_score: Any = None,
    use_label_smooth: bool = True,
    name: str | None = None,
    scale_x_y: float = 1.0,
) -> Any:
    """(n, a * (5 + classes), h, w), (n, b, 4), (n, b) -> (n,): the loss of each image.

    A true box is (x, y, width, height), its centre and size relative to the picture. The anchor
    that is most like it, if `anchor_mask` names it, must give it in the cell that it is in, with
    its class; all others must give nothing, unless they overlap a true box by more than
    `ignore_thresh`. `gt_score` (n, b) weighs the true boxes.

    >>> x, boxes = F.zeros([1, 6, 2, 2]), F.full([1, 1, 4], 0.5)
    >>> labels = F.zeros([1, 1], "int64")
    >>> round(yolo_loss(x, boxes, labels, [16, 16], [0], 1, 0.7, 16, None, False).item(), 3)
    5.892
    """
    count = len(anchor_mask)
    if x.ndim != 4 or gt_box.ndim != 3 or gt_label.ndim != 2:
        raise ShapeError(
            "yolo_loss takes (n, channels, h, w), boxes (n, b, 4) and labels (n, b), not "
            f"{x.shape}, {gt_box.shape} and {gt_label.shape}"
        )
    if any(not 0 <= place < len(anchors) // 2 for place in anchor_mask):
        raise ArgumentError(f"yolo_loss: anchor_mask {list(anchor_mask)} of {len(anchors)} numbers")
    channels = count * (5 + class_num)
    reason = f"yolo_loss: {x.shape[1]} channels are not {channels}, for {count} anchors"
    require_equal(x.shape[1], channels, reason)
    n, _, h, w = x.shape
    boxes = F.cast(F.detach(gt_box), x.dtype)
    score = F.ones(gt_label.shape, x.dtype) if gt_score is None else F.cast(gt_score, x.dtype)
    cells = F.moveaxis(F.reshape(x, [n, count, 5 + class_num, h, w]), 2, 4)
    match, target = _matched(boxes, anchors, anchor_mask, [h, w], downsample_ratio)
    own = [[anchors[2 * place + side] for place in anchor_mask] for side in (0, 1)]
    near = _overlaps(F.detach(cells), boxes, own, downsample_ratio, scale_x_y) > ignore_thresh
    # Which of all cells must give each box, one behind the last for none; how many there are.
    total = n * count * h * w
    own_cells = []
    for side, size in ((1, h), (0, w)):
        place = F.cast(F.floor(boxes[:, :, side] * F.cast(size, boxes.dtype)), "int64")
        own_cells.append(F.minimum(F.maximum(place, 0), F.cast(size - 1, "int64")))
    images = F.unsqueeze(F.arange(n), [1])
    places = ((images * count + match) * h + own_cells[0]) * w + own_cells[1]
    places = F.where(match < 0, F.zeros_like(places) + total, places)
    objects = F.scatter(F.zeros([total + 1], x.dtype), F.flatten(places), F.flatten(score))
    objects = F.reshape(objects[:total], [n, count, h, w])
    rows = F.gather(F.reshape(cells, [total, 5 + class_num]), F.minimum(places, total - 1), 0)
    weight = F.where(match < 0, F.zeros_like(score), score)
    smooth = min(1.0 / class_num, 1.0 / 40) if use_label_smooth else 0.0
    # (n, b): the losses of centres and sizes, those of small boxes weighing more.
    centres = _entropy(rows[:, :, :2], target[:, :, :2])
    sizes = F.abs(rows[:, :, 2:4] - target[:, :, 2:])
    share = (2.0 - boxes[:, :, 2] * boxes[:, :, 3]) * weight
    loss = (F.sum(centres, axis=2) + F.sum(sizes, axis=2)) * share
    loss = loss + _of_classes(rows[:, :, 5:], gt_label, weight, smooth)
    return F.sum(loss, axis=1) + _of_objects(cells[:, :, :, :, 4], objects, near)


def _entropy(logit: Any, label: Any) -> Any:
    """-log of the probability of a label from 0 to 1."""
    return F.maximum(logit, 0.0) - logit * label + F.log1p(F.exp(-F.abs(logit)))


def _column(values: Sequence[float], dtype: Any) -> Any:
    return F.stack([F.full([], float(value), dtype) for value in values], axis=0)


def _matched(
    boxes: Any, anchors: Sequence[int], mask: Sequence[int], grid: list[Any], ratio: int
) -> tuple[Any, Any]:
    """Which of the masked anchors each box is like, -1 for none; and what it must give."""
    sizes = [F.cast(size * ratio, boxes.dtype) for size in (grid[1], grid[0])]
    shared, areas = 1.0, (boxes[:, :, 2] * boxes[:, :, 3]).unsqueeze(2)
    own: Any = 1.0
    for side in (0, 1):
        lengths = _column(anchors[side::2], boxes.dtype) / sizes[side]
        shared = shared * F.minimum(boxes[:, :, 2 + side : 3 + side], lengths)
        own = own * lengths
    best = F.argmax(shared / (own + areas - shared), axis=2)
    match = F.full(best.shape, -1, "int64")
    wide, high = F.ones_like(boxes[:, :, 0]), F.ones_like(boxes[:, :, 0])
    for place, anchor in enumerate(mask):
        here = F.equal(best, anchor)
        match = F.where(here, F.full(best.shape, place, "int64"), match)
        wide = F.where(here, F.full_like(wide, anchors[2 * anchor]), wide)
        high = F.where(here, F.full_like(high, anchors[2 * anchor + 1]), high)
    filled = F.logical_and(boxes[:, :, 2] > _LEAST, boxes[:, :, 3] > _LEAST)
    match = F.where(filled, match, F.full(best.shape, -1, "int64"))
    logs = []
    for side, length in enumerate((wide, high)):
        size = F.where(match < 0, F.ones_like(length), boxes[:, :, 2 + side])
        logs.append(F.log(size * sizes[side] / length))
    centres = [boxes[:, :, side] * F.cast(grid[1 - side], boxes.dtype) for side in (0, 1)]
    return match, F.stack([*(c - F.floor(c) for c in centres), *logs], axis=2)


def _overlaps(cells: Any, boxes: Any, sides: list[list[int]], ratio: int, scale: float) -> Any:
    """The largest overlap of what each cell gives with a true box: (n, a, h, w)."""
    _, count, h, w, _ = cells.shape
    shared: Any = 1.0
    own: Any = 1.0
    for side, size in enumerate((w, h)):
        steps = F.reshape(F.arange(size), [1, 1, 1, size] if side == 0 else [1, 1, size, 1])
        inside = F.sigmoid(cells[:, :, :, :, side]) * scale - 0.5 * (scale - 1.0)
        centre = (F.cast(steps, cells.dtype) + inside) / F.cast(size, cells.dtype)
        lengths = F.reshape(_column(sides[side], cells.dtype), [1, count, 1, 1])
        length = F.exp(cells[:, :, :, :, side + 2]) * lengths / F.cast(size * ratio, cells.dtype)
        centre, length = F.unsqueeze(centre, [4]), F.unsqueeze(length, [4])
        true = F.reshape(boxes, [boxes.shape[0], 1, 1, 1, boxes.shape[1], 4])
        middle, wide = true[:, :, :, :, :, side], true[:, :, :, :, :, side + 2]
        low = F.maximum(centre - length / 2.0, middle - wide / 2.0)
        high = F.minimum(centre + length / 2.0, middle + wide / 2.0)
        shared = shared * F.maximum(high - low, 0.0)
        own = own * length
    wide, high = boxes[:, :, 2], boxes[:, :, 3]
    areas = F.reshape(wide * high, [boxes.shape[0], 1, 1, 1, boxes.shape[1]])
    filled = F.logical_and(wide > _LEAST, high > _LEAST)
    filled = F.reshape(filled, [boxes.shape[0], 1, 1, 1, boxes.shape[1]])
    overlap = shared / (own + areas - shared)
    return F.max(F.where(filled, overlap, F.zeros_like(overlap)), axis=4)


def _of_classes(logits: Any, labels: Any, weight: Any, smooth: float) -> Any:
    """(n, b): the losses of all classes."""
    classes = F.arange(logits.shape[2])
    right = F.cast(F.equal(F.unsqueeze(F.cast(labels, "int64"), [2]), classes), logits.dtype)
    wanted = right * (1.0 - 2.0 * smooth) + smooth
    return F.sum(_entropy(logits, wanted), axis=2) * weight


def _of_objects(logits: Any, objects: Any, near: Any) -> Any:
    """(n,): the losses of whether a cell gives something."""
    something = objects > 1e-5
    counts = F.logical_not(F.logical_or(something, near))
    loss = F.where(
        something,
        _entropy(logits, 1.0) * objects,
        F.where(counts, _entropy(logits, 0.0), F.zeros_like(logits)),
    )
    return F.sum(loss, axis=[1, 2, 3])
