"""Gives all transforms in one place, as PaddlePaddle has them."""

from dy2st.paddle.distribution import (
    AbsTransform as AbsTransform,
    AffineTransform as AffineTransform,
    ChainTransform as ChainTransform,
    ExpTransform as ExpTransform,
    IndependentTransform as IndependentTransform,
    PowerTransform as PowerTransform,
    ReshapeTransform as ReshapeTransform,
    SigmoidTransform as SigmoidTransform,
    SoftmaxTransform as SoftmaxTransform,
    StackTransform as StackTransform,
    StickBreakingTransform as StickBreakingTransform,
    TanhTransform as TanhTransform,
    Transform as Transform,
)
from dy2st.paddle.distribution.transform_base import Type as Type

