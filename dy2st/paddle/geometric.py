"""Passes messages along the edges of graphs, under PaddlePaddle's names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dy2st.paddle.private_modules import private_modules
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir import F, Tensor
from dy2st_runtime.lazy import public_dir

__all__ = [
    "segment_max",
    "segment_mean",
    "segment_min",
    "segment_sum",
    "send_u_recv",
    "send_ue_recv",
    "send_uv",
]
__dir__ = public_dir(__name__)

_MESSAGES: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
}


def segment_sum(data: Any, segment_ids: Any, name: str | None = None) -> Any:
    """The sum of the rows of each segment: (n, ...), (n,) -> (max(segment_ids) + 1, ...).

    Segments without a row are 0, here and in the other functions.

    >>> import dy2st
    >>> segment_sum(dy2st.to_tensor([1.0, 2.0, 4.0]), dy2st.to_tensor([0, 0, 2])).tolist()
    [3.0, 0.0, 4.0]
    """
    return _gathered(data, segment_ids, "sum", _segments(segment_ids))


def segment_mean(data: Any, segment_ids: Any, name: str | None = None) -> Any:
    """The mean of the rows of each segment; of integers it is cut to one.

    >>> rows, segments = dy2st.to_tensor([1.0, 2.0, 4.0]), dy2st.to_tensor([0, 0, 1])
    >>> dy2st.geometric.segment_mean(rows, segments).tolist()
    [1.5, 4.0]
    """
    return _gathered(data, segment_ids, "mean", _segments(segment_ids))


def segment_max(data: Any, segment_ids: Any, name: str | None = None) -> Any:
    """The largest of the rows of each segment.

    >>> rows, segments = dy2st.to_tensor([1.0, 2.0, 4.0]), dy2st.to_tensor([0, 0, 1])
    >>> dy2st.geometric.segment_max(rows, segments).tolist()
    [2.0, 4.0]
    """
    return _gathered(data, segment_ids, "max", _segments(segment_ids))


def segment_min(data: Any, segment_ids: Any, name: str | None = None) -> Any:
    """The smallest of the rows of each segment.

    >>> rows, segments = dy2st.to_tensor([1.0, 2.0, 4.0]), dy2st.to_tensor([0, 0, 1])
    >>> dy2st.geometric.segment_min(rows, segments).tolist()
    [1.0, 4.0]
    """
    return _gathered(data, segment_ids, "min", _segments(segment_ids))


def send_u_recv(
    x: Any,
    src_index: Any,
    dst_index: Any,
    reduce_op: str = "sum",
    out_size: Any = None,
    name: str | None = None,
) -> Any:
    """What nodes receive along edges from others: (n, ...), (e,), (e,) -> (n or out_size, ...).

    Parameters
    ----------
    src_index, dst_index
        The nodes at both ends of each edge, (e,).
    reduce_op
        'sum', 'mean', 'max' or 'min'.
    out_size
        How many nodes there are in the result.

    Examples
    --------
    >>> import dy2st
    >>> x, edges = dy2st.to_tensor([1.0, 2.0, 4.0]), dy2st.to_tensor([[0, 1, 2], [1, 0, 1]])
    >>> send_u_recv(x, edges[0], edges[1]).tolist()
    [2.0, 5.0, 0.0]
    """
    return _gathered(F.gather(x, src_index), dst_index, reduce_op, _size(out_size, x))


def send_ue_recv(
    x: Any,
    y: Any,
    src_index: Any,
    dst_index: Any,
    message_op: str = "add",
    reduce_op: str = "sum",
    out_size: Any = None,
    name: str | None = None,
) -> Any:
    """What nodes receive, of nodes x joined with edges y: (n, ...), (e, ...) -> (n, ...).

    Parameters
    ----------
    src_index, dst_index
        The nodes at both ends of each edge, (e,).
    message_op
        'add', 'sub', 'mul' or 'div' of node and edge.
    reduce_op, out_size
        As of `send_u_recv`.

    Examples
    --------
    >>> x, y = dy2st.to_tensor([1.0, 2.0, 4.0]), dy2st.to_tensor([10.0, 20.0, 30.0])
    >>> sources, targets = dy2st.to_tensor([0, 1, 2]), dy2st.to_tensor([1, 0, 1])
    >>> dy2st.geometric.send_ue_recv(x, y, sources, targets).tolist()
    [22.0, 45.0, 0.0]
    """
    message = _joined(F.gather(x, src_index), y, message_op)
    return _gathered(message, dst_index, reduce_op, _size(out_size, x))


def send_uv(
    x: Any,
    y: Any,
    src_index: Any,
    dst_index: Any,
    message_op: str = "add",
    name: str | None = None,
) -> Any:
    """What edges have of both ends: (n, ...), (n, ...), (e,), (e,) -> (e, ...).

    >>> x, ends = dy2st.to_tensor([1.0, 2.0, 4.0]), dy2st.to_tensor([[0, 1], [2, 2]])
    >>> dy2st.geometric.send_uv(x, x, ends[0], ends[1]).tolist()
    [5.0, 6.0]
    """
    return _joined(F.gather(x, src_index), F.gather(y, dst_index), message_op)


def _joined(x: Any, y: Any, message_op: str) -> Any:
    """x and y joined, the one of lower rank spread over the other's last axes."""
    if message_op not in _MESSAGES:
        raise ArgumentError(f"message_op is add, sub, mul or div, not {message_op!r}")
    rank = max(x.ndim, y.ndim)
    x, y = (F.reshape(t, [*t.shape, *([1] * (rank - t.ndim))]) for t in (x, y))
    return _MESSAGES[message_op](x, y)


def _segments(segment_ids: Any) -> Any:
    return F.arange(0, F.cast(F.max(segment_ids), "int64") + 1).shape[0]


def _size(out_size: Any, x: Any) -> Any:
    if isinstance(out_size, Tensor):
        return F.arange(0, F.reshape(F.cast(out_size, "int64"), [])).shape[0]
    return out_size if isinstance(out_size, int) and out_size > 0 else x.shape[0]


def _gathered(data: Any, places: Any, how: str, size: Any) -> Any:
    """Rows of data joined at their places: zeros where there is none."""
    empty = F.zeros([size, *data.shape[1:]], data.dtype)
    if how in ("max", "min"):
        wide = F.reshape(places, [-1, *([1] * (data.ndim - 1))])
        wide = F.expand(wide, list(data.shape))
        return F.put_along_axis(
            empty, wide, data, 0, f"a{how}", include_self=False, broadcast=False
        )
    if how not in ("sum", "mean"):
        raise ArgumentError(f"rows are joined by sum, mean, max or min, not {how!r}")
    total = F.index_add(empty, places, 0, data)
    if how == "sum":
        return total
    counts = F.index_add(F.zeros([size], data.dtype), places, 0, F.ones_like(places, data.dtype))
    counts = F.reshape(F.maximum(counts, F.ones_like(counts)), [-1, *([1] * (data.ndim - 1))])
    if data.dtype.kind in "iu":
        return F.sign(total) * F.floor_divide(F.abs(total), counts)
    return total / counts


private_modules(__name__)
