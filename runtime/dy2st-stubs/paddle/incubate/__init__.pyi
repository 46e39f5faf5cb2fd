"""Gives what PaddlePaddle tries out, under its names: composites of operators."""

from dy2st.paddle.geometric import (
    segment_max as segment_max,
    segment_mean as segment_mean,
    segment_min as segment_min,
    segment_sum as segment_sum,
)
from dy2st.paddle.incubate import nn as nn
from dy2st_runtime.ir.tensor import Tensor, TensorLike
from typing import Any

def graph_send_recv(x: TensorLike, src_index: TensorLike, dst_index: TensorLike, pool_type: str = 'sum', out_size: Any = None, name: str | None = None) -> Tensor:
    """The same as `geometric.send_u_recv`, by an older name."""
def identity_loss(x: TensorLike, reduction: str = 'none') -> Tensor:
    """x itself, its sum or its mean: 2 or "none", 0 or "sum", 1 or "mean"."""
def is_inference_mode(func: Any) -> bool:
    """Whether a function has been made for inference alone: none is, here."""
def softmax_mask_fuse(x: TensorLike, mask: TensorLike, name: str | None = None) -> Tensor:
    """softmax(x + mask) over the last axis: (b, h, q, k), (b, 1, q, k) -> (b, h, q, k)."""
def softmax_mask_fuse_upper_triangle(x: TensorLike) -> Tensor:
    """softmax over the last axis of what is not above the diagonal, 0 above: (b, h, n, n)."""
