"""Gives all transforms in one place, as PaddlePaddle has them."""

from dy2st.paddle.distribution.transform_base import (
    ChainTransform,
    IndependentTransform,
    StackTransform,
    Transform,
    Type,
)
from dy2st.paddle.distribution.transforms import (
    AbsTransform,
    AffineTransform,
    ExpTransform,
    PowerTransform,
    ReshapeTransform,
    SigmoidTransform,
    SoftmaxTransform,
    StickBreakingTransform,
    TanhTransform,
)
from dy2st_runtime.lazy import public_dir

__all__ = [
    "AbsTransform",
    "AffineTransform",
    "ChainTransform",
    "ExpTransform",
    "IndependentTransform",
    "PowerTransform",
    "ReshapeTransform",
    "SigmoidTransform",
    "SoftmaxTransform",
    "StackTransform",
    "StickBreakingTransform",
    "TanhTransform",
    "Transform",
    "Type",
]
__dir__ = public_dir(__name__)
