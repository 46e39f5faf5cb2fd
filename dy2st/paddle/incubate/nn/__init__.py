"""Gives layers of transformers in few parts, under PaddlePaddle's names."""

from dy2st.paddle.private_modules import private_modules
from dy2st_runtime.lazy import lazy_names, places, public_dir

_PLACES = places(
    {
        "dy2st.paddle.incubate.nn.layers": "FusedBiasDropoutResidualLayerNorm FusedDropoutAdd "
        "FusedFeedForward FusedLinear FusedMultiHeadAttention FusedTransformerEncoderLayer",
    }
)

__all__ = ["functional", *_PLACES]
__dir__ = public_dir(__name__)

__getattr__ = lazy_names(__name__, {"functional": "dy2st.paddle.incubate.nn.functional", **_PLACES})

private_modules(__name__)
