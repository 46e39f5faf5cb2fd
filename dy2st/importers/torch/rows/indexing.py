"""Reads and writes of chosen elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dy2st.importers.torch.rows.shapes import cut
from dy2st.importers.torch.table import (
    Call,
    as_tensor,
    axis_of,
    is_known,
    is_tensor,
    row,
    rows,
    truth,
)
from dy2st_runtime.ir.dispatch import F


def _with_axis(x: Any) -> Any:
    return x if x.ndim else F.reshape(x, [1])


def _key(indices: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(slice(None) if one is None else _whole(one) for one in indices)


def _whole(index: Any) -> Any:
    """torch takes bytes for masks, and all other integers for places."""
    if index.dtype.name == "uint8":
        return truth(index)
    return index if index.dtype.kind == "b" else F.cast(index, "int64")


@row("aten.index.Tensor", "aten._unsafe_index.Tensor")
def _index(at: Call, x: Any, indices: Sequence[Any]) -> Any:
    return x[_key(indices)]


@row("aten.index_put.default", "aten._unsafe_index_put.default")
def _put(at: Call, x: Any, indices: Sequence[Any], values: Any, accumulate: bool = False) -> Any:
    if not accumulate:
        return F.setitem(x, _key(indices), at.cast(values))
    if any(one is not None and one.dtype.kind == "b" for one in indices):
        places = [one for index in indices for one in _places(index)]
    else:
        places = list(indices)
    places += [None] * (x.ndim - len(places))
    front = [axis for axis, one in enumerate(places) if one is not None]
    rest = [axis for axis in range(x.ndim) if axis not in front]
    order = [*front, *rest]
    chosen = tuple(F.broadcast_tensors([_whole(places[axis]) for axis in front]))
    rank = chosen[0].ndim
    shape = [*chosen[0].shape, *(x.shape[axis] for axis in rest)]
    values = at.cast(values)
    if front != list(range(front[0], front[-1] + 1)) or front[0] == 0:
        values = F.broadcast_to(values, shape)
    else:  # indices side by side: what they choose stands where they are
        before = front[0]
        shown = [*shape[rank : rank + before], *shape[:rank], *shape[rank + before :]]
        values = F.broadcast_to(values, shown)
        ends = range(before + rank, len(shown))
        values = F.transpose(values, [*range(before, before + rank), *range(before), *ends])
    made = F.index_put(F.transpose(x, order), chosen, values, True)
    back = [order.index(axis) for axis in range(x.ndim)]
    return F.transpose(made, back)


def _places(index: Any) -> list[Any]:
    if index is None or index.dtype.kind != "b":
        return [index]
    return [F.reshape(one, [-1]) for one in F.nonzero(index, as_tuple=True)]


@row("aten._unsafe_masked_index.default")
def _masked_index(at: Call, x: Any, mask: Any, indices: Sequence[Any], fill: Any) -> Any:
    safe = [one if one is None else F.where(mask, one, F.zeros_like(one)) for one in indices]
    found = x[_key(safe)]
    return F.where(F.broadcast_to(mask, found.shape), found, at.cast(fill))


@row("aten._unsafe_masked_index_put_accumulate.default")
def _masked_put(at: Call, x: Any, mask: Any, indices: Sequence[Any], values: Any) -> Any:
    safe = [one if one is None else F.where(mask, one, F.zeros_like(one)) for one in indices]
    return _put(at, x, safe, F.where(mask, at.cast(values), at.cast(0)), True)


@row("aten.index_select.default")
def _selected(at: Call, x: Any, dim: int, index: Any) -> Any:
    if not x.ndim:
        return x
    return F.index_select(x, F.reshape(index, [-1]), axis_of(dim, x.ndim))


@row("aten.gather.default")
def _gathered(at: Call, x: Any, dim: int, index: Any, sparse_grad: bool = False) -> Any:
    if any(is_known(size, 0) for size in index.shape):
        return F.zeros(index.shape, x.dtype)
    found = F.take_along_axis(
        _with_axis(x), _with_axis(index), axis_of(dim, x.ndim), broadcast=False
    )
    return F.reshape(found, index.shape)


_REDUCTIONS = {
    "sum": "add",
    "add": "add",
    "prod": "mul",
    "multiply": "mul",
    "mean": "mean",
    "amax": "amax",
    "amin": "amin",
}


def _scattered(
    at: Call, x: Any, dim: int, index: Any, src: Any, reduce: Any = None, include_self: bool = True
) -> Any:
    if not is_tensor(src) or (not src.ndim and index.ndim):
        src = F.broadcast_to(at.cast(src), index.shape)
    if any(is_known(size, 0) for size in index.shape):
        return F.clone(x)
    src = _with_axis(at.cast(src))
    index = _with_axis(index)
    if list(src.shape) != list(index.shape):
        src = src[tuple(slice(None, size) for size in index.shape)]
    how = "assign" if reduce is None else _REDUCTIONS[reduce]
    made = F.put_along_axis(
        _with_axis(x), index, src, axis_of(dim, x.ndim), how, include_self, broadcast=False
    )
    return F.reshape(made, x.shape)


rows(
    {
        "scatter.src scatter.value": _scattered,
        "scatter.reduce scatter.value_reduce": lambda at, x, dim, index, src, reduce: _scattered(
            at, x, dim, index, src, reduce
        ),
        "scatter_add": lambda at, x, dim, index, src: _scattered(at, x, dim, index, src, "add"),
        "scatter_reduce.two": _scattered,
        "masked_select": lambda at, x, mask: F.masked_select(
            *[_with_axis(one) for one in F.broadcast_tensors([x, truth(mask)])]
        ),
        "nonzero argwhere": lambda at, x: F.nonzero(_with_axis(x))[:, : x.ndim],
    }
)


_EMPTY = {"sum": 0.0, "mean": 0.0, "prod": 1.0, "max": float("-inf"), "min": float("inf")}
_JOINED = {"sum": "add", "mean": "add", "prod": "mul", "max": "amax", "min": "amin"}


@row("aten.segment_reduce.default")
def _by_segments(
    at: Call,
    x: Any,
    reduce: str,
    *,
    lengths: Any = None,
    indices: Any = None,
    offsets: Any = None,
    axis: int = 0,
    unsafe: bool = False,
    initial: Any = None,
) -> Any:
    """Elements along an axis joined segment by segment; what follows the last one is left out."""
    if lengths is None:
        ends, lengths = offsets[..., 1:], F.subtract(offsets[..., 1:], offsets[..., :-1])
    else:
        ends = F.cumsum(lengths, -1)
    axis, count = axis_of(axis, x.ndim), ends.shape[-1]
    places = F.arange(0, x.shape[axis], 1, ends.dtype)
    is_behind = F.greater_equal(F.unsqueeze(places, 1), F.unsqueeze(ends, -2))
    segment = F.sum(F.cast(is_behind, "int64"), [-1])
    behind = [1] * (x.ndim - axis - 1)
    segment = F.broadcast_to(F.reshape(segment, [*x.shape[: axis + 1], *behind]), x.shape)
    first = as_tensor(_EMPTY[reduce] if initial is None else initial, x.dtype)
    first = F.broadcast_to(first, [*x.shape[:axis], count + 1, *x.shape[axis + 1 :]])
    made = F.put_along_axis(first, segment, x, axis, _JOINED[reduce], broadcast=False)
    made = cut(made, axis, None, -1)
    if reduce == "mean":
        number = F.reshape(F.cast(lengths, x.dtype), [*lengths.shape, *behind])
        made = F.divide(made, F.maximum(number, F.ones_like(number)))
        if initial is None:
            is_empty = F.equal(number, F.zeros_like(number))
            made = F.where(is_empty, as_tensor(float("nan"), x.dtype), made)
    return made


@row("aten.index_add.default")
def _index_added(at: Call, x: Any, dim: int, index: Any, source: Any, alpha: Any = 1) -> Any:
    source = at.cast(source)
    source = source if alpha == 1 else F.multiply(source, at.cast(alpha))
    made = F.index_add(
        _with_axis(x), F.reshape(index, [-1]), axis_of(dim, x.ndim), _with_axis(source)
    )
    return F.reshape(made, x.shape)


@row("aten.index_copy.default")
def _index_copied(at: Call, x: Any, dim: int, index: Any, source: Any) -> Any:
    if not x.ndim:
        return F.reshape(at.cast(source), [])
    key = (*[slice(None)] * axis_of(dim, x.ndim), F.reshape(index, [-1]))
    return F.setitem(x, key, _with_axis(at.cast(source)))


@row("aten.index_fill.int_Scalar", "aten.index_fill.int_Tensor")
def _index_filled(at: Call, x: Any, dim: int, index: Any, value: Any) -> Any:
    key = (*[slice(None)] * axis_of(dim, x.ndim), F.reshape(index, [-1]))
    return F.reshape(F.setitem(_with_axis(x), key, at.cast(value)), x.shape)


@row("aten.index_reduce.default")
def _index_reduced(
    at: Call, x: Any, dim: int, index: Any, source: Any, reduce: str, include_self: bool = True
) -> Any:
    dim, flat = axis_of(dim, x.ndim), _with_axis(x)
    source = _with_axis(at.cast(source))
    shape = [1] * flat.ndim
    shape[dim] = -1
    places = F.broadcast_to(F.reshape(index, shape), source.shape)
    return F.reshape(_scattered(at, flat, dim, places, source, reduce, include_self), x.shape)


@row("aten.masked_fill.Scalar", "aten.masked_fill.Tensor")
def _masked_filled(at: Call, x: Any, mask: Any, value: Any) -> Any:
    return F.where(truth(mask), at.cast(value), x)


@row("aten.masked_scatter.default")
def _masked_scattered(at: Call, x: Any, mask: Any, source: Any) -> Any:
    x, mask = F.broadcast_tensors([x, truth(mask)])
    flat = F.reshape(mask, [-1])
    place = F.subtract(F.cumsum(F.cast(flat, "int64"), 0), as_tensor(1))
    safe = F.where(flat, place, F.zeros_like(place))
    found = F.reshape(source, [-1])[safe]
    return F.where(mask, F.reshape(at.cast(found), x.shape), x)


@row("aten.take.default")
def _taken(at: Call, x: Any, index: Any) -> Any:
    return F.reshape(F.reshape(x, [-1])[F.reshape(index, [-1])], index.shape)


@row("aten.put.default")
def _put_flat(at: Call, x: Any, index: Any, source: Any, accumulate: bool = False) -> Any:
    key = (F.reshape(index, [-1]),)
    made = F.index_put(F.reshape(x, [-1]), key, F.reshape(at.cast(source), [-1]), accumulate)
    return F.reshape(made, x.shape)


@row("aten.isin.Tensor_Tensor", "aten.isin.Tensor_Scalar", "aten.isin.Scalar_Tensor")
def _is_in(at: Call, x: Any, among: Any, assume_unique: bool = False, invert: bool = False) -> Any:
    x, among = (one if is_tensor(one) else as_tensor(one) for one in (x, among))
    return F.isin(x, F.reshape(among, [-1]), assume_unique, invert)


@row("aten.nonzero_static.default")
def _nonzero_static(at: Call, x: Any, *, size: Any, fill_value: int = -1) -> Any:
    found = F.nonzero(x if x.ndim else F.reshape(x, [1]))[:, : x.ndim]
    return F.concat([found, F.full([size, x.ndim], fill_value, "int64")], 0)[:size]


@row("aten.embedding_renorm.default")
def _renormed(at: Call, weight: Any, indices: Any, max_norm: float, norm_type: float) -> Any:
    """Rows that are read get at most this norm; others stay."""
    ones = F.ones([indices.size], weight.dtype)
    is_read = F.index_add(
        F.zeros([weight.shape[0]], weight.dtype), F.reshape(indices, [-1]), 0, ones
    )
    norm = F.vector_norm(weight, float(norm_type), [1], True)
    most = as_tensor(max_norm, weight.dtype)
    scale = F.divide(most, F.add(norm, as_tensor(1e-7, weight.dtype)))
    is_cut = F.logical_and(F.unsqueeze(truth(is_read), 1), F.greater_than(norm, most))
    return F.where(is_cut, F.multiply(weight, scale), weight)


@row("aten.embedding.default")
def _embedded(
    at: Call, weight: Any, indices: Any, padding_idx: int = -1, *_: Any, **__: Any
) -> Any:
    """The row of `padding_idx` is read as others, but is not trained."""
    found = F.embedding(indices, weight)
    if padding_idx < 0:
        return found
    is_padding = F.unsqueeze(F.equal(indices, as_tensor(padding_idx, indices.dtype)), -1)
    return F.where(is_padding, F.detach(found), found)
