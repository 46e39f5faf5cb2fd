"""Gives layers of transformers in few parts, under PaddlePaddle's names."""

from dy2st.paddle.incubate.nn import functional as functional
from dy2st.paddle.incubate.nn.layers import (
    FusedBiasDropoutResidualLayerNorm as FusedBiasDropoutResidualLayerNorm,
    FusedDropoutAdd as FusedDropoutAdd,
    FusedFeedForward as FusedFeedForward,
    FusedLinear as FusedLinear,
    FusedMultiHeadAttention as FusedMultiHeadAttention,
    FusedTransformerEncoderLayer as FusedTransformerEncoderLayer,
)

