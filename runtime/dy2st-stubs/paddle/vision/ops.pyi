"""Gives what models that find objects need, under PaddlePaddle's names."""

from collections.abc import Callable, Sequence
from dy2st.paddle.vision.image import decode_jpeg as decode_jpeg, read_file as read_file
from dy2st_runtime.ir.tensor import Tensor, TensorLike
from dy2st_runtime.nn.initializer import Initializer
from dy2st_runtime.nn.layer import Layer
from dy2st_runtime.nn.layers.vision import (
    ConvNormActivation as _ConvNormActivation,
    DeformConv2D as _DeformConv2D,
    PSRoIPool as _PSRoIPool,
    RoIAlign as _RoIAlign,
    RoIPool as _RoIPool,
)
from dy2st_runtime.nn.parameters import ParamAttr
from dy2st_runtime.tensor import Parameter
from typing import Any

class ConvNormActivation(_ConvNormActivation):
    """activation(norm(conv(x))): (n, in, h, w) -> (n, out, h', w')."""
    def __init__(self, in_channels: int, out_channels: int, kernel_size: int | Sequence[int] = 3, stride: int | Sequence[int] = 1, padding: int | str | Sequence[int] | Sequence[Sequence[int]] | None = None, groups: int = 1, norm_layer: Callable[..., Layer] | None = ..., activation_layer: Callable[..., Layer] | None = ..., dilation: int = 1, bias: bool | None = None) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
class DeformConv2D(_DeformConv2D):
    """`deform_conv2d` with its weight: offsets, and masks if there are any, are given with x."""
    weight: Parameter
    bias: Parameter
    def __init__(self, in_channels: int, out_channels: int, kernel_size: int | Sequence[int], stride: int | Sequence[int] = 1, padding: int | str | Sequence[int] | Sequence[Sequence[int]] = 0, dilation: int | Sequence[int] = 1, deformable_groups: int = 1, groups: int = 1, weight_attr: ParamAttr | Initializer | str | bool | None = None, bias_attr: ParamAttr | Initializer | str | bool | None = None) -> None: ...
    def forward(self, x: Tensor, offset: Tensor, mask: Tensor | None = None) -> Tensor: ...
class PSRoIPool(_PSRoIPool):
    """(n, c * p * q, h, w), (r, 4), (n,) -> (r, c, p, q): means, of other channels each (Dai 2016)."""
    def __init__(self, output_size: int | Sequence[int | None], spatial_scale: float = 1.0) -> None: ...
    def forward(self, x: Tensor, boxes: Tensor, boxes_num: Tensor) -> Tensor: ...
class RoIAlign(_RoIAlign):
    """(n, c, h, w), (r, 4), (n,) -> (r, c, p, q): means of bilinear points of each part."""
    def __init__(self, output_size: int | Sequence[int | None], spatial_scale: float = 1.0) -> None: ...
    def forward(self, x: Tensor, boxes: Tensor, boxes_num: Tensor, aligned: bool = True) -> Tensor: ...
class RoIPool(_RoIPool):
    """(n, c, h, w), (r, 4), (n,) -> (r, c, p, q): the largest pixel of each part (Girshick 2015)."""
    def __init__(self, output_size: int | Sequence[int | None], spatial_scale: float = 1.0) -> None: ...
    def forward(self, x: Tensor, boxes: Tensor, boxes_num: Tensor) -> Tensor: ...
def box_coder(prior_box: TensorLike, prior_box_var: Any, target_box: TensorLike, code_type: str = 'encode_center_size', box_normalized: bool = True, axis: int = 0, name: str | None = None) -> Tensor:
    """Boxes as shifts and logarithms of sizes relative to others, or back again."""
def deform_conv2d(x: TensorLike, offset: TensorLike, weight: TensorLike, bias: TensorLike | None = None, stride: int | Sequence[int] = 1, padding: int | str | Sequence[int] | Sequence[Sequence[int]] = 0, dilation: int | Sequence[int] = 1, deformable_groups: int = 1, groups: int = 1, mask: TensorLike | None = None, name: str | None = None) -> Tensor:
    """(n, c, h, w), (n, 2 * dg * kh * kw, h', w'), (out, c / groups, kh, kw) -> (n, out, h', w')."""
def distribute_fpn_proposals(fpn_rois: TensorLike, min_level: int, max_level: int, refer_level: int, refer_scale: int, pixel_offset: bool = False, rois_num: TensorLike | None = None, name: str | None = None) -> tuple[list[Tensor], Tensor, list[Tensor] | None]:
    """Boxes (r, 4) by level, their places in the levels one after the other (r, 1), and counts."""
def generate_proposals(scores: TensorLike, bbox_deltas: TensorLike, img_size: TensorLike, anchors: TensorLike, variances: TensorLike, pre_nms_top_n: int = 6000, post_nms_top_n: int = 1000, nms_thresh: float = 0.5, min_size: float = 0.1, eta: float = 1.0, pixel_offset: bool = False, return_rois_num: bool = False, name: str | None = None) -> tuple[Tensor, ...]:
    """(n, a, h, w), (n, 4 * a, h, w), (n, 2), (h, w, a, 4) twice -> (r, 4), (r, 1), (n,)."""
def matrix_nms(bboxes: TensorLike, scores: TensorLike, score_threshold: float, post_threshold: float, nms_top_k: int, keep_top_k: int, use_gaussian: bool = False, gaussian_sigma: float = 2.0, background_label: int = 0, normalized: bool = True, return_index: bool = False, return_rois_num: bool = True, name: str | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """(n, m, 4), (n, classes, m) -> rows (class, score, x1, y1, x2, y2), counts, places."""
def nms(boxes: TensorLike, iou_threshold: float = 0.3, scores: TensorLike | None = None, category_idxs: TensorLike | None = None, categories: Any = None, top_k: int | None = None) -> Tensor:
    """The places of boxes (n, 4) that overlap no better one by more than the threshold: (m,)."""
def prior_box(input: TensorLike, image: TensorLike, min_sizes: Any, max_sizes: Any = None, aspect_ratios: Any = ..., variance: Sequence[float] = ..., flip: bool = False, clip: bool = False, steps: Sequence[float] = ..., offset: float = 0.5, min_max_aspect_ratios_order: bool = False, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Boxes about every cell of (n, c, h, w), and variances: (h, w, boxes, 4) twice (Liu 2015)."""
def psroi_pool(x: TensorLike, boxes: TensorLike, boxes_num: TensorLike, output_size: int | Sequence[int | None], spatial_scale: float = 1.0, name: str | None = None) -> Tensor:
    """(n, c * p * q, h, w), (r, 4), (n,) -> (r, c, p, q): means of each part (Dai 2016)."""
def roi_align(x: TensorLike, boxes: TensorLike, boxes_num: TensorLike, output_size: int | Sequence[int | None], spatial_scale: float = 1.0, sampling_ratio: int = -1, aligned: bool = True, name: str | None = None) -> Tensor:
    """(n, c, h, w), (r, 4), (n,) -> (r, c, p, q): means of bilinear points of each part (He 2017)."""
def roi_pool(x: TensorLike, boxes: TensorLike, boxes_num: TensorLike, output_size: int | Sequence[int | None], spatial_scale: float = 1.0, name: str | None = None) -> Tensor:
    """(n, c, h, w), (r, 4), (n,) -> (r, c, p, q): the largest pixel of each part (Girshick 2015)."""
def yolo_box(x: TensorLike, img_size: TensorLike, anchors: Sequence[int], class_num: int, conf_thresh: float, downsample_ratio: int, clip_bbox: bool = True, name: str | None = None, scale_x_y: float = 1.0, iou_aware: bool = False, iou_aware_factor: float = 0.5) -> tuple[Tensor, Tensor]:
    """(n, a * (5 + k), h, w), (n, 2) -> boxes (n, a * h * w, 4), scores (n, a * h * w, k)."""
def yolo_loss(x: TensorLike, gt_box: TensorLike, gt_label: TensorLike, anchors: Sequence[int], anchor_mask: Sequence[int], class_num: int, ignore_thresh: float, downsample_ratio: int, gt_score: TensorLike | None = None, use_label_smooth: bool = True, name: str | None = None, scale_x_y: float = 1.0) -> Tensor:
    """(n, a * (5 + classes), h, w), (n, b, 4), (n, b) -> (n,): the loss of each image."""
