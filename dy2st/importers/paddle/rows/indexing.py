"""Elements by their places, sorting, and places of elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dy2st.importers.paddle.calls import Call, scalar, table
from dy2st_runtime.ir.arguments import as_int
from dy2st_runtime.ir.dispatch import F

Row = Callable[[Call], Any]
ROWS: dict[str, Row] = {}
_row = table(ROWS)


@_row("gather")
def _gather(c: Call) -> Any:
    index = c[1]
    axis = as_int(0 if c[2] is None else c.number(2, "an axis"), "an axis")
    index = F.reshape(index, [-1]) if index.ndim == 2 else index
    if not index.ndim:
        return F.squeeze(F.gather(c[0], F.reshape(index, [1]), axis), axis)
    return F.gather(c[0], index, axis)


@_row("scatter")
def _scatter(c: Call) -> Any:
    index = F.reshape(c[1], [-1]) if c[1].ndim == 2 else c[1]
    return F.scatter(c[0], index, c[2], c.get("overwrite", True))


@_row("topk")
def _topk(c: Call) -> Any:
    (count,) = found if isinstance(found := c.ints(1), list) else (scalar(found),)
    return F.topk(c[0], count, c.get("axis", -1), c.get("largest", True), c.get("sorted", True))


@_row("argsort")
def _argsort(c: Call) -> Any:
    x, axis = c[0], c.get("axis", -1)
    if not x.ndim:
        return x, F.zeros([], "int64")
    order = F.argsort(x, axis, c.get("descending", False), c.get("stable", False))
    return F.take_along_axis(x, order, axis), order


@_row("put_along_axis")
def _put(c: Call) -> Any:
    reduce = c.get("reduce", "assign")
    reduce = {"multiply": "mul"}.get(reduce, reduce)
    return F.put_along_axis(
        c[0], c[1], c[2], c.need("axis"), reduce, c.get("include_self", True), broadcast=False
    )


@_row("index_put")
def _index_put(c: Call) -> Any:
    return F.index_put(c[0], tuple(c[1]), c[2], c.get("accumulate", False))


@_row("one_hot")
def _one_hot(c: Call) -> Any:
    return F.one_hot(c[0], as_int(c.number(1, "a number of classes"), "a number of classes"))


@_row("unique")
def _unique(c: Call) -> Any:
    axes = c.get("axis", [])
    axis = axes[0] if isinstance(axes, list) and axes else None
    found = F.unique(c[0], True, True, True, axis, c.dtype() or "int64")
    return tuple(found)


@_row("unique_consecutive")
def _unique_consecutive(c: Call) -> Any:
    axes = c.get("axis", [])
    axis = axes[0] if isinstance(axes, list) and axes else None
    return tuple(F.unique_consecutive(c[0], True, True, axis, c.dtype() or "int64"))


@_row("sequence_mask")
def _sequence_mask(c: Call) -> Any:
    count = c.get("maxlen", c.get("max_len", -1)) if c[1] is None else c.ints(1)
    if isinstance(count, list):
        (count,) = count
    count = scalar(count)
    if isinstance(count, int) and count < 0:
        count = None
    return F.sequence_mask(c[0], count, c.dtype("out_dtype") or "int64")


@_row("bincount")
def _bincount(c: Call) -> Any:
    return F.bincount(c[0], c[1], 0 if c[2] is None else c.value(2))


@_row("masked_fill")
def _masked_fill(c: Call) -> Any:
    return F.masked_fill(c[0], c[1], c.value(2))


@_row("index_select")
def _index_select(c: Call) -> Any:
    return F.index_select(c[0], c[1], c.get("axis", c.get("dim", 0)))


@_row("index_elementwise_get")
def _index_get(c: Call) -> Any:
    """`x[i]` of one index tensor along the first axes, as 3.2 writes it."""
    indices = c[1] if isinstance(c[1], list) else [c[1]]
    return F.getitem(c[0], tuple(indices) if len(indices) > 1 else indices[0])


@_row("is_empty")
def _is_empty(c: Call) -> Any:
    return F.is_empty(c[0])


@_row("nonzero")
def _nonzero(c: Call) -> Any:
    return F.nonzero(c[0])


@_row("histogram")
def _histogram(c: Call) -> Any:
    given = c.get("bins", 100), c.get("min", 0.0), c.get("max", 0.0)
    return F.histogram(c[0], *given, c[1], c.get("density", False))


@_row("fill_diagonal")
def _fill_diagonal(c: Call) -> Any:
    x, offset = c[0], c.get("offset", 0)
    c.refuse_unless(x.ndim == 2 and not c.get("wrap", False), "other than two axes, or wrap")
    rows, columns = F.arange(x.shape[0]), F.arange(x.shape[1])
    on = F.equal(F.unsqueeze(rows, 1) + offset, F.unsqueeze(columns, 0))
    return F.where(on, F.full_like(x, c.get("value", 0.0)), x)


ROWS |= {
    "gather_nd": lambda c: F.gather_nd(c[0], c[1]),
    "index_add": lambda c: F.index_add(c[0], c[1], c.get("axis", 0), c[2]),
    "index_sample": lambda c: F.index_sample(c[0], c[1]),
    "masked_select": lambda c: F.masked_select(c[0], c[1]),
    "multiplex": lambda c: F.multiplex(c[0], c[1]),
    "scatter_nd_add": lambda c: F.scatter_nd_add(c[0], c[1], c[2]),
    "searchsorted": lambda c: F.searchsorted(c[0], c[1], c.get("out_int32", False),
                                             c.get("right", False)),
    "shard_index": lambda c: F.shard_index(c[0], c.need("index_num"), c.need("nshards"),
                                           c.need("shard_id"), c.get("ignore_value", -1)),
    "take_along_axis": lambda c: F.take_along_axis(c[0], c[1], c.need("axis"), False),
}  # fmt: skip

__all__ = ["ROWS"]
