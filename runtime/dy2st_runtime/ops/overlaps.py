"""Selects boxes to keep: those that no better one overlaps, or a few of the best.

The number of boxes that stay is known only when it runs; no gradient flows through.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dy2st_runtime.dims import require_equal
from dy2st_runtime.errors import ArgumentError, ShapeError
from dy2st_runtime.ir import F, Sample, TensorType, apply, define
from dy2st_runtime.ir.arguments import fresh_symbol
from dy2st_runtime.ir.attribute_kinds import INTEGER, NUMBER
from dy2st_runtime.ops.rules import require_dtype


def overlaps(boxes: Any, others: Any, edge: float = 0.0) -> Any:
    """Area of the intersection by that of the union: (m, 4), (n, 4) -> (m, n).

    `edge` is 1 where the last pixel belongs to a box.

    >>> overlaps(np.array([[0.0, 0.0, 2.0, 2.0]]), np.array([[1.0, 0.0, 3.0, 2.0]])).round(3)
    array([[0.333]])
    """
    edge = boxes.dtype.type(edge)
    shared: Any = 1
    for side in (0, 1):
        low = np.maximum(boxes[:, side, None], others[:, side])
        high = np.minimum(boxes[:, side + 2, None], others[:, side + 2])
        shared = np.where(high >= low, high - low + edge, 0) * shared
    areas = [np.prod(some[:, 2:] - some[:, :2] + edge, axis=1) for some in (boxes, others)]
    with np.errstate(all="ignore"):  # boxes without area
        return np.where(shared > 0, shared / (areas[0][:, None] + areas[1] - shared), 0)


def kept(boxes: Any, threshold: float, most: int = 0, eta: float = 1.0, edge: float = 0.0) -> Any:
    """The places of boxes, the best first, that overlap none of those before by more.

    `most` ends it, 0: never. With eta below 1 the threshold falls as long as it is above 0.5.
    """
    result: list[int] = []
    for place in range(len(boxes)):
        if not result or overlaps(boxes[place, None], boxes[result], edge).max() <= threshold:
            result.append(place)
            threshold *= eta if eta < 1 and threshold > 0.5 else 1.0
            if len(result) == most:
                break
    return np.array(result, np.int64)


def _nms_infer(boxes: TensorType, groups: TensorType, threshold: float) -> TensorType:
    require_dtype("nms", boxes, "f", "boxes of floats")
    if boxes.rank != 2:
        raise ShapeError(f"nms takes boxes (n, 4), not {list(boxes.shape)}")
    require_equal(boxes.shape[1], 4, "nms: a box is (x1, y1, x2, y2)")
    require_dtype("nms", groups, "iu", "integers for categories")
    if groups.rank != 1:
        raise ShapeError("nms takes one category a box")
    require_equal(groups.shape[0], boxes.shape[0], "nms takes one category a box")
    return TensorType("int64", (fresh_symbol("nms", 0, boxes.shape[0]),))


_BLOCK = 128
"""So many boxes are compared with all others at once."""


def _nms_kernel(boxes: Any, groups: Any, threshold: float) -> Any:
    types = [TensorType(array.dtype, array.shape) for array in (boxes, groups)]
    _nms_infer(types[0], types[1], threshold)
    result = [np.zeros(0, np.int64)]
    for group in np.unique(groups):
        alive = np.flatnonzero(groups == group)
        while alive.size:
            first, behind = alive[:_BLOCK], alive[_BLOCK:]
            # Which boxes stay, one after the other, if each drops those behind it that are
            # near.
            near = overlaps(boxes[first], boxes[first]) > threshold
            stays = np.ones(len(near), bool)
            for place, row in enumerate(near):
                if stays[place]:
                    stays[place + 1 :] &= ~row[place + 1 :]
            first = first[stays]
            near = overlaps(boxes[first], boxes[behind]) > threshold
            result.append(first)
            alive = behind[~near.any(axis=0)]
    return np.sort(np.concatenate(result))


define(
    "nms",
    doc="The places of boxes that overlap no kept one of their group before them by more.",
    inputs="boxes, groups",
    attributes={"threshold": NUMBER.or_else(0.3)},
    infer=_nms_infer,
    kernel=_nms_kernel,
    samples=(
        Sample(((5, 4), (5,)), {}, ("float64", "int64"), 0, 4),
        Sample(((0, 4), (0,)), {"threshold": 0.5}, ("float32", "int64")),
    ),
)


def nms(
    boxes: Any,
    iou_threshold: float = 0.3,
    scores: Any = None,
    category_idxs: Any = None,
    categories: Any = None,
    top_k: int | None = None,
) -> Any:
    """The places of boxes (n, 4) that overlap no better one by more than the threshold: (m,).

    The best come first; without scores (n,) those that stand before others are better. Boxes of
    two categories do not suppress each other, and only those of `categories` are kept. `top_k`
    keeps the best few of what is left.

    >>> boxes = F.reshape(F.cast(F.arange(12) % 5, "float32"), [3, 4])
    >>> nms(boxes, 0.5).shape[0] <= 3
    True
    """
    if (category_idxs is None) != (categories is None):
        raise ArgumentError("nms: give both category_idxs and categories, or neither")
    if category_idxs is not None and scores is None:
        raise ArgumentError("nms: categories are for boxes with scores")
    boxes = F.detach(boxes)
    count = boxes.shape[0]
    order = F.arange(count) if scores is None else F.argsort(F.detach(scores), descending=True)
    groups = F.zeros([count], "int64")
    if category_idxs is not None:
        groups = F.cast(category_idxs, "int64")
        wanted = F.zeros([count], "bool")
        for category in categories:
            wanted = F.logical_or(wanted, F.equal(groups, category))
        order = F.masked_select(order, F.gather(wanted, order))
    sorted_boxes, sorted_groups = F.gather(boxes, order), F.gather(groups, order)
    found = apply("nms", sorted_boxes, sorted_groups, threshold=float(iou_threshold))
    result = F.gather(order, found)
    return result if top_k is None else result[:top_k]


# -- matrix nms -------------------------------------------------------------------------------


def _matrix_infer(boxes: TensorType, scores: TensorType, **_: Any) -> tuple[TensorType, ...]:
    require_dtype("matrix_nms", boxes, "f", "boxes of floats")
    require_dtype("matrix_nms", scores, "f", "scores of floats")
    if boxes.rank != 3 or scores.rank != 3:
        raise ShapeError("matrix_nms takes boxes (n, m, 4) and scores (n, classes, m)")
    require_equal(boxes.shape[2], 4, "matrix_nms: a box is (x1, y1, x2, y2)")
    require_equal(boxes.shape[0], scores.shape[0], "matrix_nms: boxes and scores of each image")
    require_equal(boxes.shape[1], scores.shape[2], "matrix_nms: a score for every box")
    count = fresh_symbol("found", 0)
    return (
        boxes.with_shape([count, 6]),
        TensorType("int32", (count, 1)),
        TensorType("int32", (boxes.shape[0],)),
    )


def _decayed(boxes: Any, scores: Any, sigma: float, edge: float) -> Any:
    """Scores, the best first, less where a better box overlaps (Wang 2020, SOLOv2).

    score * min over better j of f(iou with j) / f(largest iou of j with one better than it).
    """
    iou = np.tril(overlaps(boxes, boxes, edge), -1)
    most = iou.max(axis=1)
    with np.errstate(all="ignore"):
        decay = np.exp((most**2 - iou**2) * sigma) if sigma > 0 else (1 - iou) / (1 - most)
    decay = np.where(np.tri(len(boxes), k=-1, dtype=bool), decay, 1.0)
    return (scores * decay.min(axis=1)).astype(scores.dtype)


def _matrix_kernel(boxes: Any, scores: Any, **how: Any) -> Any:
    _matrix_infer(*(TensorType(a.dtype, a.shape) for a in (boxes, scores)))
    rows, places, counts = [np.zeros((0, 6), boxes.dtype)], [np.zeros(0, np.int64)], []
    for image, (some, their) in enumerate(zip(boxes, scores, strict=True)):
        # Rows (class, score, x1, y1, x2, y2) of one image, the best first, and the boxes'
        # places.
        kept_rows, kept_places = [np.zeros((0, 6), some.dtype)], [np.zeros(0, np.int64)]
        for label, of_class in enumerate(their):
            if label == how["background"]:
                continue
            order = np.flatnonzero(of_class > how["above"])
            order = order[np.argsort(-of_class[order], kind="stable")]
            order = order[: how["first"]] if how["first"] > -1 else order
            if not order.size:
                continue
            edge = 0.0 if how["normalized"] else 1.0
            decayed = _decayed(some[order], of_class[order], how["sigma"], edge)
            stays = decayed > how["least"]
            labels = np.full(stays.sum(), label)
            kept_rows.append(np.column_stack([labels, decayed[stays], some[order[stays]]]))
            kept_places.append(order[stays])
        joined, indices = np.concatenate(kept_rows), np.concatenate(kept_places)
        best = np.argsort(-joined[:, 1], kind="stable")
        best = best[: how["last"]] if how["last"] > -1 else best
        found, indices = joined[best].astype(some.dtype), indices[best]
        rows.append(found)
        places.append(indices + image * boxes.shape[1])
        counts.append(len(found))
    index = np.concatenate(places).astype(np.int32)[:, None]
    return np.concatenate(rows), index, np.array(counts, np.int32)


define(
    "matrix_nms",
    doc="The best boxes of each image, their scores less where better ones overlap them.",
    inputs="boxes, scores",
    attributes={
        "above": NUMBER.or_else(0.0),
        "least": NUMBER.or_else(0.0),
        "first": INTEGER.or_else(-1),
        "last": INTEGER.or_else(-1),
        "sigma": NUMBER.or_else(0.0),
        "background": INTEGER.or_else(-1),
        "normalized": True,
    },
    infer=_matrix_infer,
    kernel=_matrix_kernel,
    samples=(
        Sample(((2, 5, 4), (2, 3, 5)), {}, ("float64", "float64"), 0, 4),
        Sample(((1, 4, 4), (1, 2, 4)), {"sigma": 2.0, "last": 3}, ("float64", "float64"), 0, 4),
    ),
)


def matrix_nms(
    bboxes: Any,
    scores: Any,
    score_threshold: float,
    post_threshold: float,
    nms_top_k: int,
    keep_top_k: int,
    use_gaussian: bool = False,
    gaussian_sigma: float = 2.0,
    background_label: int = 0,
    normalized: bool = True,
    return_index: bool = False,
    return_rois_num: bool = True,
    name: str | None = None,
) -> tuple[Any, Any, Any]:
    """(n, m, 4), (n, classes, m) -> rows (class, score, x1, y1, x2, y2), counts, places.

    The rows of all images follow each other, the best of each first; counts (n,) says how many are
    of each. A place, (rows, 1), is one among the boxes of all images. The last two are None unless
    they are asked for. -1 for `nms_top_k` and `keep_top_k` keeps all.

    >>> boxes, scores = F.reshape(F.arange(8.0), [1, 2, 4]), F.ones([1, 1, 2])
    >>> matrix_nms(boxes, scores, 0.1, 0.0, -1, -1, background_label=-1)[1].tolist()
    [2]
    """
    rows, index, counts = apply(
        "matrix_nms",
        F.detach(bboxes),
        F.detach(scores),
        above=float(score_threshold),
        least=float(post_threshold),
        first=int(nms_top_k),
        last=int(keep_top_k),
        sigma=float(gaussian_sigma) if use_gaussian else 0.0,
        background=int(background_label),
        normalized=bool(normalized),
    )
    return rows, counts if return_rois_num else None, index if return_index else None
