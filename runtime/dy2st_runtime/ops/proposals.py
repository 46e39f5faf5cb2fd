"""Boxes that a network proposes, and the level of a pyramid of features that each belongs to."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dy2st_runtime.dims import require_equal
from dy2st_runtime.errors import ShapeError
from dy2st_runtime.ir import F, Sample, TensorType, apply, define
from dy2st_runtime.ir.arguments import fresh_symbol
from dy2st_runtime.ir.attribute_kinds import INTEGER, NUMBER
from dy2st_runtime.ops.overlaps import kept
from dy2st_runtime.ops.rules import require_dtype

_LARGEST = math.log(1000.0 / 16.0)
"""How much larger than its anchor a box may be, as a logarithm."""


def _infer(
    scores: TensorType,
    deltas: TensorType,
    sizes: TensorType,
    anchors: TensorType,
    variances: TensorType,
    **_: Any,
) -> tuple[TensorType, ...]:
    types = (scores, deltas, sizes, anchors, variances)
    for type in types:
        require_dtype("generate_proposals", type, "f", "floats")
    if [type.rank for type in types] != [4, 5, 2, 4, 4]:
        raise ShapeError(
            "generate_proposals takes (n, a, h, w), (n, a, 4, h, w), (n, 2), (h, w, a, 4) twice"
        )
    count, a, h, w = scores.shape
    wanted = ((count, a, 4, h, w), (count, 2), (h, w, a, 4), (h, w, a, 4))
    for type, shape in zip(types[1:], wanted, strict=True):
        for have, want in zip(type.shape, shape, strict=True):
            require_equal(have, want, f"generate_proposals: {list(type.shape)} for {list(shape)}")
    found = fresh_symbol("proposals", 0)
    return (
        scores.with_shape([found, 4]),
        scores.with_shape([found, 1]),
        TensorType("int32", (count,)),
    )


def _of_image(scores: Any, deltas: Any, size: Any, anchors: Any, variances: Any, how: Any) -> Any:
    """The boxes of one image, the best first, and their scores."""
    edge = 1.0 if how["pixel_offset"] else 0.0
    flat = scores.transpose(1, 2, 0).reshape(-1)
    order = np.argsort(-flat, kind="stable")
    order = order[: how["before"]] if 0 < how["before"] < len(order) else order
    shifts = deltas.transpose(2, 3, 0, 1).reshape(-1, 4)
    # Anchors, moved and resized.
    anchors = anchors[order]
    extent = anchors[:, 2:] - anchors[:, :2] + edge
    shift = shifts[order] * variances[order]
    centre = shift[:, :2] * extent + anchors[:, :2] + extent / 2
    half = np.exp(np.minimum(shift[:, 2:], _LARGEST)) * extent / 2
    boxes = np.concatenate([centre - half, centre + half - edge], axis=1)
    limits = size[[1, 0, 1, 0]] - edge
    boxes = np.maximum(np.minimum(boxes, limits), 0).astype(scores.dtype)
    sizes = boxes[:, 2:] - boxes[:, :2] + edge
    stays = (sizes >= max(how["min_size"], 1.0)).all(axis=1)
    if how["pixel_offset"]:
        stays &= (boxes[:, :2] + sizes / 2 <= size[::-1]).all(axis=1)
    boxes, flat = boxes[stays], flat[order][stays]
    if not len(boxes):
        return np.zeros((1, 4), scores.dtype), np.zeros((1, 1), scores.dtype)
    most = max(how["after"], 0)
    if how["threshold"] > 0:
        places = kept(boxes, how["threshold"], most, how["eta"], edge)
        boxes, flat = boxes[places], flat[places]
    return boxes, flat[:, None]


def _kernel(scores: Any, deltas: Any, sizes: Any, anchors: Any, variances: Any, **how: Any) -> Any:
    arrays = (scores, deltas, sizes, anchors, variances)
    _infer(*(TensorType(array.dtype, array.shape) for array in arrays))
    anchors, variances = anchors.reshape(-1, 4), variances.reshape(-1, 4)
    boxes, probabilities = [np.zeros((0, 4), scores.dtype)], [np.zeros((0, 1), scores.dtype)]
    for image in zip(scores, deltas, sizes, strict=True):
        some, their = _of_image(*image, anchors, variances, how)
        boxes.append(some)
        probabilities.append(their)
    counts = np.array([len(some) for some in boxes[1:]], np.int32)
    return np.concatenate(boxes), np.concatenate(probabilities), counts


_SHAPES = ((1, 3, 5, 6), (1, 3, 4, 5, 6), (1, 2), (5, 6, 3, 4), (5, 6, 3, 4))
define(
    "generate_proposals",
    doc="The best boxes that anchors become by the deltas, without those that overlap better ones.",
    inputs="scores, deltas, sizes, anchors, variances",
    attributes={
        "before": INTEGER.or_else(6000),
        "after": INTEGER.or_else(1000),
        "threshold": NUMBER.or_else(0.5),
        "min_size": NUMBER.or_else(0.1),
        "eta": NUMBER.or_else(1.0),
        "pixel_offset": False,
    },
    infer=_infer,
    kernel=_kernel,
    samples=(
        Sample(_SHAPES, {}, ("float64",) * 5, 1, 9),
        Sample(_SHAPES, {"before": 5, "after": 2, "pixel_offset": True}, ("float64",) * 5, 1, 9),
    ),
)


def generate_proposals(
    scores: Any,
    bbox_deltas: Any,
    img_size: Any,
    anchors: Any,
    variances: Any,
    pre_nms_top_n: int = 6000,
    post_nms_top_n: int = 1000,
    nms_thresh: float = 0.5,
    min_size: float = 0.1,
    eta: float = 1.0,
    pixel_offset: bool = False,
    return_rois_num: bool = False,
    name: str | None = None,
) -> tuple[Any, ...]:
    """(n, a, h, w), (n, 4 * a, h, w), (n, 2), (h, w, a, 4) twice -> (r, 4), (r, 1), (n,).

    The best `pre_nms_top_n` anchors of an image are moved by their deltas (Ren 2015), cut off at
    its borders, dropped where they are smaller than `min_size` or overlap a better one by more than
    `nms_thresh`; `post_nms_top_n` stay. Boxes, scores, and how many are of each image: None
    unless `return_rois_num`. An image without any has one box of zeros. Anchors and variances may
    be (h * w * a, 4), too.

    >>> one, two = F.ones([1, 1, 1, 1]), F.full([1, 2], 8.0)
    >>> anchors = F.reshape(F.cast(F.arange(4) > 1, "float32") * 4.0, [1, 1, 1, 4])
    >>> boxes, scores, _ = generate_proposals(one, F.zeros([1, 4, 1, 1]), two, anchors, anchors)
    >>> boxes.tolist()
    [[0.0, 0.0, 4.0, 4.0]]
    """
    if anchors.ndim == 2 and scores.ndim == 4:  # a cell's stand in a row, as in PaddleDetection
        _, a, high, wide = scores.shape
        anchors, variances = (F.reshape(x, [high, wide, a, 4]) for x in (anchors, variances))
    if anchors.ndim != 4 or bbox_deltas.ndim != 4:
        raise ShapeError("generate_proposals takes anchors (h, w, a, 4), deltas (n, 4 * a, h, w)")
    inputs = [F.detach(x) for x in (scores, bbox_deltas, img_size, anchors, variances)]
    a = anchors.shape[2]
    reason = f"generate_proposals: {bbox_deltas.shape[1]} deltas for {a} anchors a cell"
    require_equal(bbox_deltas.shape[1], 4 * a, reason)
    inputs[1] = F.reshape(inputs[1], [scores.shape[0], a, 4, *bbox_deltas.shape[2:]])
    inputs[2:] = [F.cast(x, scores.dtype) for x in inputs[2:]]
    boxes, probabilities, counts = apply(
        "generate_proposals",
        *inputs,
        before=int(pre_nms_top_n),
        after=int(post_nms_top_n),
        threshold=float(nms_thresh),
        min_size=float(min_size),
        eta=float(eta),
        pixel_offset=bool(pixel_offset),
    )
    return boxes, probabilities, counts if return_rois_num else None


def distribute_fpn_proposals(
    fpn_rois: Any,
    min_level: int,
    max_level: int,
    refer_level: int,
    refer_scale: int,
    pixel_offset: bool = False,
    rois_num: Any = None,
    name: str | None = None,
) -> tuple[list[Any], Any, list[Any] | None]:
    """Boxes (r, 4) by level, their places in the levels one after the other (r, 1), and counts.

    level = floor(log2(sqrt(area) / refer_scale) + refer_level), kept inside (Lin 2016). `rois_num`
    (n,) says how many boxes are of each image; then so do the counts (n,) of every level.

    >>> boxes = F.reshape(F.cast(F.arange(8) % 4 > 1, "float32"), [2, 4]) * 200.0
    >>> levels, places, _ = distribute_fpn_proposals(boxes, 2, 4, 4, 224)
    >>> [level.shape[0] for level in levels], places.tolist()
    ([0, 2, 0], [[0], [1]])
    """
    rois = F.detach(fpn_rois)
    edge = 1.0 if pixel_offset else 0.0
    sizes = F.maximum(rois[:, 2:] - rois[:, :2] + edge, 0.0)
    scale = F.sqrt(sizes[:, 0] * sizes[:, 1])
    level = F.floor(F.log2(scale / float(refer_scale) + 1e-6) + float(refer_level))
    level = F.cast(F.clip(level, float(min_level), float(max_level)), "int64")
    images, places, parts, counts = None, [], [], []
    if rois_num is not None:
        ends = F.cumsum(F.cast(rois_num, "int64"), 0)
        images = F.searchsorted(ends, F.arange(rois.shape[0]), right=True)
    for number in range(min_level, max_level + 1):
        inside = F.equal(level, number)
        places.append(F.flatten(F.nonzero(inside)))
        parts.append(F.gather(fpn_rois, places[-1]))
        if images is not None:
            of_image = F.equal(F.unsqueeze(F.arange(rois_num.shape[0]), [1]), images)
            both = F.cast(F.logical_and(of_image, inside), "int32")
            counts.append(F.cast(F.sum(both, axis=1), "int32"))
    restored = F.cast(F.unsqueeze(F.argsort(F.concat(places, 0)), [1]), "int32")
    return parts, restored, None if images is None else counts
