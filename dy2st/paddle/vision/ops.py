"""Gives what models that find objects need, under PaddlePaddle's names."""

from dy2st_runtime.lazy import lazy_names, places, public_dir

LATE = places(
    {
        "dy2st.paddle.vision.image": "decode_jpeg read_file",
        "dy2st_runtime.nn.functions.deformable": "deform_conv2d",
        "dy2st_runtime.nn.functions.yolo": "yolo_loss",
        "dy2st_runtime.nn.layers.vision": "ConvNormActivation DeformConv2D PSRoIPool RoIAlign "
        "RoIPool",
        "dy2st_runtime.ops.boxes": "box_coder prior_box yolo_box",
        "dy2st_runtime.ops.overlaps": "matrix_nms nms",
        "dy2st_runtime.ops.proposals": "distribute_fpn_proposals generate_proposals",
        "dy2st_runtime.ops.roi": "psroi_pool roi_align roi_pool",
    }
)
__getattr__ = lazy_names(__name__, LATE)
__all__ = sorted(LATE)
__dir__ = public_dir(__name__)
