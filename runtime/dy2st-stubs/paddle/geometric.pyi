"""Passes messages along the edges of graphs, under PaddlePaddle's names."""

from dy2st_runtime.ir.tensor import Tensor, TensorLike
from typing import Any

def segment_max(data: Any, segment_ids: TensorLike, name: str | None = None) -> Tensor:
    """The largest of the rows of each segment."""
def segment_mean(data: Any, segment_ids: TensorLike, name: str | None = None) -> Tensor:
    """The mean of the rows of each segment; of integers it is cut to one."""
def segment_min(data: Any, segment_ids: TensorLike, name: str | None = None) -> Tensor:
    """The smallest of the rows of each segment."""
def segment_sum(data: Any, segment_ids: TensorLike, name: str | None = None) -> Tensor:
    """The sum of the rows of each segment: (n, ...), (n,) -> (max(segment_ids) + 1, ...)."""
def send_u_recv(x: TensorLike, src_index: TensorLike, dst_index: TensorLike, reduce_op: str = 'sum', out_size: Any = None, name: str | None = None) -> Tensor:
    """What nodes receive along edges from others: (n, ...), (e,), (e,) -> (n or out_size, ...)."""
def send_ue_recv(x: TensorLike, y: TensorLike, src_index: TensorLike, dst_index: TensorLike, message_op: str = 'add', reduce_op: str = 'sum', out_size: Any = None, name: str | None = None) -> Tensor:
    """What nodes receive, of nodes x joined with edges y: (n, ...), (e, ...) -> (n, ...)."""
def send_uv(x: TensorLike, y: TensorLike, src_index: TensorLike, dst_index: TensorLike, message_op: str = 'add', name: str | None = None) -> Tensor:
    """What edges have of both ends: (n, ...), (n, ...), (e,), (e,) -> (e, ...)."""
