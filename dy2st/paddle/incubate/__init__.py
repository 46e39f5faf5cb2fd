"""Gives what PaddlePaddle tries out, under its names: composites of operators."""

from dy2st.paddle.private_modules import private_modules
from dy2st_runtime.lazy import lazy_names, places, public_dir

_PLACES = places(
    {
        "dy2st.paddle.geometric": "segment_max segment_mean segment_min segment_sum",
        "dy2st.paddle.incubate.operators": "graph_send_recv identity_loss is_inference_mode "
        "softmax_mask_fuse softmax_mask_fuse_upper_triangle",
    }
)

__all__ = ["nn", *_PLACES]
__dir__ = public_dir(__name__)

__getattr__ = lazy_names(__name__, {"nn": "dy2st.paddle.incubate.nn", **_PLACES})

private_modules(__name__)
