"""What finds objects: anchors, boxes, what overlaps, and parts of images."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dy2st.importers.paddle.calls import Call, constant, table
from dy2st_runtime.dims import product
from dy2st_runtime.ir.dispatch import F, apply
from dy2st_runtime.nn import functional as nn
from dy2st_runtime.ops.boxes import box_coder, prior_box, yolo_box
from dy2st_runtime.ops.overlaps import matrix_nms, nms
from dy2st_runtime.ops.proposals import distribute_fpn_proposals, generate_proposals
from dy2st_runtime.ops.roi import psroi_pool, roi_align, roi_pool

Row = Callable[[Call], Any]
ROWS: dict[str, Row] = {}
_row = table(ROWS)


@_row("box_coder")
def _box_coder(c: Call) -> Any:
    variance = c[1] if c[1] is not None else c.get("variance") or None
    return box_coder(
        c[0], variance, c[2], c.get("code_type", "encode_center_size"),
        c.get("box_normalized", True), c.get("axis", 0),
    )  # fmt: skip


@_row("prior_box")
def _prior_box(c: Call) -> Any:
    return prior_box(
        c[0], c[1], c.need("min_sizes"), c.get("max_sizes") or None,
        c.get("aspect_ratios") or [1.0], c.get("variances") or (0.1, 0.1, 0.2, 0.2),
        c.get("flip", True), c.get("clip", True), (c.get("step_w", 0.0), c.get("step_h", 0.0)),
        c.get("offset", 0.5), c.get("min_max_aspect_ratios_order", False),
    )  # fmt: skip


@_row("yolo_box")
def _yolo_box(c: Call) -> Any:
    return yolo_box(
        c[0], c[1], c.need("anchors"), c.need("class_num"), c.need("conf_thresh"),
        c.get("downsample_ratio", 32), c.get("clip_bbox", True),
        scale_x_y=c.get("scale_x_y", 1.0), iou_aware=c.get("iou_aware", False),
        iou_aware_factor=c.get("iou_aware_factor", 0.5),
    )  # fmt: skip


def _matrix_nms(c: Call) -> Any:
    return matrix_nms(
        c[0], c[1], c.need("score_threshold"), c.get("post_threshold", 0.0), c.need("nms_top_k"),
        c.need("keep_top_k"), c.get("use_gaussian", False), c.get("gaussian_sigma", 2.0),
        c.get("background_label", 0), c.get("normalized", True), return_index=True,
    )  # fmt: skip


@_row("matrix_nms")
def _matrix_rows(c: Call) -> Any:
    out, counts, index = _matrix_nms(c)
    return out, index, counts


@_row("multiclass_nms3")
def _multiclass(c: Call) -> Any:
    """Boxes (n, m, 4), scores (n, classes, m) -> rows (class, score, x1, y1, x2, y2), by image.

    Of each class the best overlap no better one of the same; then the best of all classes stay.
    Regions have a box for each class: boxes (r, classes, 4), scores (r, classes), counts (n,).
    """
    boxes, scores, regions = c[0], c[1], c[2]
    fits = boxes.ndim == 3 and scores.ndim == (3 if regions is None else 2)
    c.refuse_unless(fits, "boxes and scores of other axes")
    c.refuse_unless(c.get("nms_eta", 1.0) >= 1.0, "an nms_eta below 1")
    background, most = c.get("background_label", 0), c.need("nms_top_k")
    classes = scores.shape[1]
    is_wanted = F.greater_than(scores, c.need("score_threshold"))
    if background >= 0:
        numbers = F.reshape(F.arange(classes), [1, classes] + [1] * (scores.ndim - 2))
        is_wanted = F.logical_and(is_wanted, F.not_equal(numbers, background))
    # Places in the scores as one row; of each place its image and class, and the box.
    if regions is None:
        images, _, count = scores.shape
        order = F.argsort(scores, -1, descending=True, stable=True)
        order = order[:, :, :most] if most > -1 else order
        groups = F.reshape(F.arange(product([images, classes])), [images, classes, 1])
        order = F.reshape(F.add(F.multiply(groups, count), order), [-1])
    else:
        images = regions.shape[0]
        image = F.searchsorted(F.cumsum(regions, 0), F.arange(scores.shape[0]), right=True)
        groups = F.add(F.unsqueeze(F.multiply(image, classes), 1), F.arange(classes))
        groups = F.reshape(groups, [-1])
        order = F.argsort(F.reshape(scores, [-1]), descending=True, stable=True)
        order = F.gather(order, F.argsort(F.gather(groups, order), stable=True))
        if most > -1:
            own = F.gather(groups, order)
            place = F.arange(own.shape[0]) - F.searchsorted(own, own)
            order = F.masked_select(order, F.less_than(place, most))
    places = F.masked_select(order, F.gather(F.reshape(is_wanted, [-1]), order))
    found = F.gather(F.reshape(scores, [-1]), places)
    best = F.argsort(found, descending=True, stable=True)
    places, found = F.gather(places, best), F.gather(found, best)
    if regions is None:
        category = F.floor_divide(places, count)
        image = F.floor_divide(category, classes)
        box = F.add(F.multiply(image, count), F.remainder(places, count))
    else:
        category, box = F.gather(groups, places), places
        image = F.floor_divide(category, classes)
    corners = F.gather(F.reshape(boxes, [-1, 4]), box)
    edge = 0.0 if c.get("normalized", True) else 1.0
    spread = F.add(corners, constant([0.0, 0.0, edge, edge], boxes.dtype))
    kept = apply("nms", spread, category, threshold=float(c.get("nms_threshold", 0.3)))
    kept = F.gather(kept, F.argsort(F.gather(image, kept), stable=True))
    most = c.need("keep_top_k")
    if most > -1:
        # The best of each image: it is so many places behind the first one of its image.
        own = F.gather(image, kept)
        before = F.searchsorted(own, own)
        kept = F.masked_select(kept, F.less_than(F.arange(own.shape[0]) - before, most))
    if regions is not None:  # those of a class stand in their own order
        kept = F.gather(kept, F.argsort(F.gather(places, kept)))
    kept = F.gather(kept, F.argsort(F.gather(category, kept), stable=True))
    label = F.cast(F.remainder(F.gather(category, kept), classes), boxes.dtype)
    rows = F.concat([F.stack([label, F.gather(found, kept)], 1), F.gather(corners, kept)], 1)
    own = F.gather(image, kept)
    counts = F.sum(
        F.cast(F.equal(F.unsqueeze(F.arange(images), 1), F.unsqueeze(own, 0)), "int32"), 1
    )
    index = F.cast(F.unsqueeze(F.gather(box, kept), 1), "int32")
    return rows, index, F.cast(counts, "int32")


@_row("generate_proposals")
def _proposals(c: Call) -> Any:
    return generate_proposals(
        c[0], c[1], c[2], c[3], c[4], c.get("pre_nms_top_n", 6000), c.get("post_nms_top_n", 1000),
        c.get("nms_thresh", 0.5), c.get("min_size", 0.1), c.get("eta", 1.0),
        c.get("pixel_offset", True), return_rois_num=True,
    )  # fmt: skip


@_row("distribute_fpn_proposals")
def _levels(c: Call) -> Any:
    boxes, restore, counts = distribute_fpn_proposals(
        c[0], c.need("min_level"), c.need("max_level"), c.need("refer_level"),
        c.need("refer_scale"), c.get("pixel_offset", True), c[1],
    )  # fmt: skip
    return boxes, counts, restore


@_row("box_clip")
def _box_clip(c: Call) -> Any:
    """Boxes (n, m, 4) inside of images of (height, width, scale)."""
    sizes = F.round(F.divide(c[1][:, :2], c[1][:, 2:3]))
    high, wide = (F.unsqueeze(F.subtract(sizes[:, place], 1.0), 1) for place in (0, 1))
    parts = F.unbind(c[0], -1)
    limits = (wide, high, wide, high)
    zero = F.zeros_like(parts[0])
    inside = [
        F.maximum(F.minimum(part, limit), zero) for part, limit in zip(parts, limits, strict=True)
    ]
    return F.stack(inside, -1)


def _roi(function: Any) -> Row:
    def row(c: Call) -> Any:
        size = c.get("pooled_height", 1), c.get("pooled_width", 1)
        return function(c[0], c[1], c[2], size, c.get("spatial_scale", 1.0))

    return row


@_row("roi_align")
def _roi_align(c: Call) -> Any:
    size = c.get("pooled_height", 1), c.get("pooled_width", 1)
    return roi_align(
        c[0], c[1], c[2], size, c.get("spatial_scale", 1.0), c.get("sampling_ratio", -1),
        c.get("aligned", False),
    )  # fmt: skip


ROWS |= {
    "gather_tree": lambda c: nn.gather_tree(c[0], c[1]),
    "nms": lambda c: nms(c[0], c.get("threshold", c.get("iou_threshold", 0.3))),
    "psroi_pool": _roi(psroi_pool),
    "roi_pool": _roi(roi_pool),
}

__all__ = ["ROWS"]
