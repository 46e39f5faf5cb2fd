"""Gives single functions that are tried out."""

from __future__ import annotations

from typing import Any

from dy2st.paddle.geometric import send_u_recv
from dy2st.paddle.private_modules import private_modules
from dy2st_runtime.errors import ArgumentError, ShapeError
from dy2st_runtime.ir import F


def graph_send_recv(
    x: Any,
    src_index: Any,
    dst_index: Any,
    pool_type: str = "sum",
    out_size: Any = None,
    name: str | None = None,
) -> Any:
    """The same as `geometric.send_u_recv`, by an older name.

    >>> x = dy2st.to_tensor([1.0, 2.0, 4.0])
    >>> sources, targets = dy2st.to_tensor([0, 1, 2]), dy2st.to_tensor([1, 0, 1])
    >>> dy2st.incubate.graph_send_recv(x, sources, targets).tolist()
    [2.0, 5.0, 0.0]
    """
    return send_u_recv(x, src_index, dst_index, pool_type, out_size)


def softmax_mask_fuse(x: Any, mask: Any, name: str | None = None) -> Any:
    """softmax(x + mask) over the last axis: (b, h, q, k), (b, 1, q, k) -> (b, h, q, k).

    >>> x, mask = dy2st.zeros([1, 1, 1, 2]), dy2st.to_tensor([[[[0.0, -1e9]]]])
    >>> dy2st.incubate.softmax_mask_fuse(x, mask).flatten().tolist()
    [1.0, 0.0]
    """
    return F.softmax(x + mask, axis=-1)


def softmax_mask_fuse_upper_triangle(x: Any) -> Any:
    """softmax over the last axis of what is not above the diagonal, 0 above: (b, h, n, n).

    >>> import dy2st
    >>> softmax_mask_fuse_upper_triangle(dy2st.zeros([1, 1, 2, 2])).tolist()
    [[[[1.0, 0.0], [0.5, 0.5]]]]
    """
    if x.ndim != 4:
        raise ShapeError(f"softmax_mask_fuse_upper_triangle takes (b, h, n, n), not {x.shape}")
    rows = F.unsqueeze(F.arange(x.shape[2]), 1)
    is_seen = F.arange(x.shape[3]) <= rows
    return F.softmax(F.where(is_seen, x, float("-inf")), axis=-1)


def is_inference_mode(func: Any) -> bool:
    """Whether a function has been made for inference alone: none is, here.

    >>> dy2st.incubate.is_inference_mode(dy2st.to_static(lambda x: x))
    False
    """
    return False


def identity_loss(x: Any, reduction: Any = "none") -> Any:
    """x itself, its sum or its mean: 2 or "none", 0 or "sum", 1 or "mean".

    >>> dy2st.incubate.identity_loss(dy2st.to_tensor([1.0, 3.0]), "mean").item()
    2.0
    """
    if reduction in (2, "none"):
        return x
    if reduction in (0, "sum"):
        return F.sum(x)
    if reduction in (1, "mean"):
        return F.mean(x)
    raise ArgumentError(f"reduction is none, sum or mean, not {reduction!r}")


private_modules(__name__)
