"""Gives parts of transformers as one function each: composites, which engines may fuse."""

from typing import TYPE_CHECKING

from dy2st.paddle.incubate.nn.attention import fused_feedforward, fused_multi_head_attention
from dy2st.paddle.incubate.nn.norms import (
    fused_bias_dropout_residual_layer_norm,
    fused_dropout_add,
    fused_layer_norm,
    fused_rms_norm,
)
from dy2st.paddle.incubate.nn.products import (
    fused_linear,
    fused_linear_activation,
    fused_matmul_bias,
)
from dy2st.paddle.incubate.nn.rotary import fused_rotary_position_embedding
from dy2st.paddle.mirrors import names_of
from dy2st.paddle.private_modules import private_modules
from dy2st_runtime.lazy import public_dir
from dy2st_runtime.nn.functions.activations import swiglu

__all__ = [
    "fused_bias_dropout_residual_layer_norm",
    "fused_dropout_add",
    "fused_feedforward",
    "fused_layer_norm",
    "fused_linear",
    "fused_linear_activation",
    "fused_matmul_bias",
    "fused_multi_head_attention",
    "fused_rms_norm",
    "fused_rotary_position_embedding",
    "swiglu",
]
__dir__ = public_dir(__name__)

if not TYPE_CHECKING:
    __getattr__ = names_of(__name__, [])

private_modules(__name__)
