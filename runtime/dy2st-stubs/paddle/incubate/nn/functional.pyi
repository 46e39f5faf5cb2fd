"""Gives parts of transformers as one function each: composites, which engines may fuse."""

from dy2st.nn.functional import swiglu as swiglu
from dy2st_runtime.ir.tensor import Tensor, TensorLike
from typing import Any

def fused_bias_dropout_residual_layer_norm(x: TensorLike, residual: TensorLike, bias: TensorLike | None = None, ln_scale: TensorLike | None = None, ln_bias: TensorLike | None = None, dropout_rate: float = 0.5, ln_epsilon: float = 1e-05, training: bool = True, mode: str = 'upscale_in_train', name: str | None = None) -> Tensor:
    """layer_norm(residual + dropout(x + bias)) over the last axis."""
def fused_dropout_add(x: TensorLike, y: TensorLike, p: float = 0.5, training: bool = True, mode: str = 'upscale_in_train', name: str | None = None) -> Tensor:
    """dropout(x) + y."""
def fused_feedforward(x: TensorLike, linear1_weight: TensorLike, linear2_weight: TensorLike, linear1_bias: TensorLike | None = None, linear2_bias: TensorLike | None = None, ln1_scale: TensorLike | None = None, ln1_bias: TensorLike | None = None, ln2_scale: TensorLike | None = None, ln2_bias: TensorLike | None = None, dropout1_rate: float = 0.5, dropout2_rate: float = 0.5, activation: str = 'relu', ln1_epsilon: float = 1e-05, ln2_epsilon: float = 1e-05, pre_layer_norm: bool = False, training: bool = True, mode: str = 'upscale_in_train', ring_id: int = -1, add_residual: bool = True, name: str | None = None) -> Tensor:
    """x + dropout(linear2(dropout(activation(linear1(x))))), with a layer norm before or after."""
def fused_layer_norm(x: TensorLike, norm_weight: TensorLike, norm_bias: TensorLike, epsilon: float, residual_alpha: float = 1.0, begin_norm_axis: int = 1, bias: TensorLike | None = None, residual: TensorLike | None = None, quant_scale: float = -1, quant_round_type: float = 0, quant_max_bound: float = 0, quant_min_bound: float = 0) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The layer norm of x + bias + residual_alpha * residual over the axes from one on."""
def fused_linear(x: TensorLike, weight: TensorLike, bias: TensorLike | None = None, transpose_weight: bool = False, name: str | None = None) -> Tensor:
    """x @ weight + bias, with the weight (in, out), or (out, in) with `transpose_weight`."""
def fused_linear_activation(x: TensorLike, y: TensorLike, bias: TensorLike, trans_x: bool = False, trans_y: bool = False, activation: str | None = None) -> Tensor:
    """gelu(x @ y + bias), relu of it, or itself."""
def fused_matmul_bias(x: TensorLike, y: TensorLike, bias: TensorLike | None = None, transpose_x: bool = False, transpose_y: bool = False, name: str | None = None) -> Tensor:
    """x @ y + bias: (..., n, k) @ (k, m) + (m,) -> (..., n, m)."""
def fused_multi_head_attention(x: TensorLike, qkv_weight: TensorLike, linear_weight: TensorLike, pre_layer_norm: bool = False, pre_ln_scale: TensorLike | None = None, pre_ln_bias: TensorLike | None = None, ln_scale: TensorLike | None = None, ln_bias: TensorLike | None = None, pre_ln_epsilon: float = 1e-05, qkv_bias: TensorLike | None = None, linear_bias: TensorLike | None = None, cache_kv: Any = None, attn_mask: TensorLike | None = None, dropout_rate: float = 0.5, attn_dropout_rate: float = 0.5, ln_epsilon: float = 1e-05, training: bool = True, mode: str = 'upscale_in_train', ring_id: int = -1, add_residual: bool = True, num_heads: int = -1, transpose_qkv_wb: bool = False, name: str | None = None) -> Tensor:
    """x + dropout(linear(attention(x))), with a layer norm before or after: (b, s, n) -> (b, s, n)."""
def fused_rms_norm(x: TensorLike, norm_weight: TensorLike, norm_bias: TensorLike, epsilon: float, begin_norm_axis: int = 1, bias: TensorLike | None = None, residual: TensorLike | None = None, quant_scale: float = -1, quant_round_type: float = 0, quant_max_bound: float = 0, quant_min_bound: float = 0) -> tuple[Tensor, Tensor]:
    """x / sqrt(mean(x**2) + epsilon) * weight + bias of x + bias + residual; and that sum."""
def fused_rotary_position_embedding(q: TensorLike, k: int | None = None, v: Any = None, sin: Any = None, cos: Any = None, position_ids: Any = None, use_neox_rotary_style: bool = True, time_major: bool = False, rotary_emb_base: float = 10000.0) -> tuple[Tensor, Tensor, Tensor]:
    """q, k and v with each pair rotated by the angle of its position; None stays None."""
