"""Picking and placing elements by tensors of indices."""

from __future__ import annotations

from typing import Any

import numpy as np

from dy2st_runtime.dims import Size, product
from dy2st_runtime.errors import ArgumentError, ShapeError
from dy2st_runtime.ir import REQUIRED, F, Sample, TensorType, apply, define, method, public
from dy2st_runtime.ir.arguments import as_dtype, as_size, fresh_symbol, normalize_axis
from dy2st_runtime.ops.rules import require_dtype

_INT = ("float64", "int64")


@method
def gather(x: Any, index: Any, axis: Any = 0, name: str | None = None) -> Any:
    """The slices of x at the places `index` along an axis: index of shape (m,) or ()."""
    return apply("index", x, index, axes=(normalize_axis(axis, x.ndim),))


@method
def index_select(x: Any, index: Any, axis: int = 0, name: str | None = None) -> Any:
    """The slices of x at the places `index` along an axis: index of shape (m,)."""
    return gather(x, index, axis)


@method
def gather_nd(x: Any, index: Any, name: str | None = None) -> Any:
    """x[tuple(index[..., :])]: the last axis of `index` names a place along the first axes of x."""
    depth = index.shape[-1]
    if not isinstance(depth, int) or depth > x.ndim:
        raise ShapeError(f"gather_nd: an index of shape {index.shape} does not fit {x.shape}")
    return apply("index", x, *_columns(index, depth), axes=tuple(range(depth)))


def _columns(index: Any, depth: int) -> list[Any]:
    return [index[..., i] for i in range(depth)]


@method
def scatter(
    x: Any, index: Any, updates: Any, overwrite: bool = True, name: str | None = None
) -> Any:
    """x with the rows `index` replaced by `updates`, or, without overwrite, by sums of updates."""
    index = F.flatten(index) if index.ndim else index
    if overwrite:
        return apply("index_put", x, updates, index, axes=(0,), accumulate=False)
    cleared = apply("index_put", x, F.zeros_like(updates), index, axes=(0,), accumulate=False)
    return apply("index_put", cleared, updates, index, axes=(0,), accumulate=True)


@method
def scatter_nd_add(x: Any, index: Any, updates: Any, name: str | None = None) -> Any:
    """x with `updates` added at the places that the last axis of `index` names."""
    depth = index.shape[-1]
    if not isinstance(depth, int) or depth > x.ndim:
        raise ShapeError(f"scatter_nd_add: an index of {index.shape} does not fit {x.shape}")
    places = _columns(index, depth)
    return apply("index_put", x, updates, *places, axes=tuple(range(depth)), accumulate=True)


@method
def index_add(x: Any, index: Any, axis: int, value: Any, name: str | None = None) -> Any:
    """x with `value` added to its slices at the places `index` along an axis."""
    place = (normalize_axis(axis, x.ndim),)
    return apply("index_put", x, value, index, axes=place, accumulate=True)


def _along(x: Any, index: Any, axis: int) -> list[Any]:
    """Indices of all axes for `take_along_axis`: places along one axis, the own ones elsewhere."""
    indices: list[Any] = []
    for a in range(x.ndim):
        if a == axis:
            indices.append(index)
            continue
        shape: list[Size] = [1] * x.ndim
        shape[a] = index.shape[a]
        indices.append(F.reshape(F.arange(index.shape[a]), shape))
    return indices


@method
def take_along_axis(arr: Any, indices: Any, axis: int, broadcast: bool = True) -> Any:
    """arr[..., indices[..., i, ...], ...]: places along an axis, element by element."""
    place = normalize_axis(axis, arr.ndim)
    if indices.ndim != arr.ndim:
        raise ShapeError(f"take_along_axis: {indices.shape} and {arr.shape} differ in rank")
    if broadcast:
        wide = [indices.shape[a] if a == place else arr.shape[a] for a in range(arr.ndim)]
        indices = F.broadcast_to(indices, wide)
    return apply("index", arr, *_along(arr, indices, place), axes=tuple(range(arr.ndim)))


@method
def put_along_axis(arr: Any, indices: Any, values: Any, axis: int, reduce: str = "assign") -> Any:
    """arr with values at places along an axis, element by element; reduce: 'assign' or 'add'."""
    if reduce not in ("assign", "add"):
        raise ArgumentError(f"put_along_axis: reduce is 'assign' or 'add', not {reduce!r}")
    place = normalize_axis(axis, arr.ndim)
    values = F.broadcast_to(F.cast(values, arr.dtype), indices.shape)
    return apply(
        "index_put",
        arr,
        values,
        *_along(arr, indices, place),
        axes=tuple(range(arr.ndim)),
        accumulate=reduce == "add",
    )


@method
def masked_fill(x: Any, mask: Any, value: Any, name: str | None = None) -> Any:
    """x with `value` where the mask is true, with broadcasting."""
    return F.where(mask, F.cast(value, x.dtype), x)


def _nonzero_infer(x: TensorType) -> TensorType:
    total = product(x.shape)
    return TensorType("int64", (fresh_symbol("nonzero", 0, total), x.rank))


define(
    "nonzero",
    doc="The places of the elements that are not 0, one a row.",
    inputs="x",
    infer=_nonzero_infer,
    kernel=lambda x: np.argwhere(x),
    samples=(Sample(((2, 3),), dtypes=("int64",), low=0, high=2),),
)


@method
def nonzero(x: Any, as_tuple: bool = False) -> Any:
    """The places of the elements that are not 0: (count, rank), or one vector an axis."""
    if not x.ndim:
        raise ShapeError("nonzero of a tensor without axes")
    if not hasattr(x, "tensor_type"):
        x = F.assign(x)
    places = apply("nonzero", x)
    if not as_tuple:
        return places
    return tuple(places[:, axis] for axis in range(x.ndim))


@method
def masked_select(x: Any, mask: Any, name: str | None = None) -> Any:
    """The elements of x where the mask is true, as a vector."""
    shape = F.where(mask, x, x).shape
    return F.getitem(F.broadcast_to(x, shape), F.broadcast_to(mask, shape))


# -- sorting ----------------------------------------------------------------------------------


def _order_kernel(x: Any, axis: int, descending: bool) -> Any:
    if not descending:
        return np.argsort(x, axis=axis, kind="stable")
    # Equal elements keep their order: sort the reversed tensor and count from the end.
    turned = np.flip(x, axis)
    return x.shape[axis] - 1 - np.flip(np.argsort(turned, axis=axis, kind="stable"), axis)


define(
    "argsort",
    doc="The places of the elements in ascending (or descending) order; equal ones stay in order.",
    inputs="x",
    attributes={"axis": REQUIRED, "descending": False},
    infer=lambda x, axis, descending: x.with_dtype("int64"),
    kernel=_order_kernel,
    samples=(
        Sample(((2, 3),), {"axis": 1}, ("float32",)),
        Sample(((4,),), {"axis": 0, "descending": True}, ("int64",), 0, 3),
    ),
)


@method
def argsort(
    x: Any,
    axis: int = -1,
    descending: bool = False,
    stable: bool = True,
    name: str | None = None,
) -> Any:
    """The places of the elements in order along an axis; always stable."""
    return apply("argsort", x, axis=normalize_axis(axis, x.ndim), descending=bool(descending))


@method
def sort(
    x: Any,
    axis: int = -1,
    descending: bool = False,
    stable: bool = True,
    name: str | None = None,
) -> Any:
    """The elements in order along an axis."""
    return take_along_axis(x, argsort(x, axis, descending), axis)


@method
def topk(
    x: Any,
    k: Any,
    axis: int | None = None,
    largest: bool = True,
    sorted: bool = True,
    name: str | None = None,
) -> tuple[Any, Any]:
    """The k largest (or smallest) elements along an axis in order, and their places."""
    place = normalize_axis(-1 if axis is None else axis, x.ndim)
    order = argsort(x, place, descending=largest)
    places = F.slice(order, [place], [0], [as_size(k, "k")])
    return take_along_axis(x, places, place, broadcast=False), places


def _one_hot_infer(x: TensorType, num_classes: Size) -> TensorType:
    require_dtype("one_hot", x, "iu", "integers")
    return TensorType("float32", (*x.shape, num_classes))


def _one_hot_kernel(x: Any, num_classes: int) -> Any:
    if x.size and (x.min() < 0 or x.max() >= num_classes):
        raise IndexError(f"one_hot: a class is not in 0 .. {num_classes - 1}")
    return (x[..., None] == np.arange(num_classes)).astype(np.float32)


define(
    "one_hot",
    doc="1 at the place x of a new last axis, 0 elsewhere.",
    inputs="x",
    attributes={"num_classes": REQUIRED},
    infer=_one_hot_infer,
    kernel=_one_hot_kernel,
    samples=(Sample(((2, 3),), {"num_classes": 4}, ("int64",), 0, 4),),
)


@public
def one_hot(x: Any, num_classes: Any, name: str | None = None) -> Any:
    """1 at the place x of a new last axis, 0 elsewhere: (...,) -> (..., num_classes), float32."""
    return apply("one_hot", x, num_classes=as_size(num_classes, "num_classes"))


@public
def sequence_mask(x: Any, maxlen: Any, dtype: Any = "int64", name: str | None = None) -> Any:
    """1 before the place x of a new last axis, 0 from there on: (...,) -> (..., maxlen)."""
    if maxlen is None:
        raise ArgumentError("sequence_mask: maxlen is needed, the largest length is not known")
    places = F.arange(as_size(maxlen, "maxlen"))
    return F.cast(F.less_than(places, F.unsqueeze(x, [x.ndim])), as_dtype(dtype))


@public
def searchsorted(
    sorted_sequence: Any,
    values: Any,
    out_int32: bool = False,
    right: bool = False,
    name: str | None = None,
) -> Any:
    """How many elements of a sorted vector lie before each value: (n,), (...,) -> (...,)."""
    if sorted_sequence.ndim != 1:
        raise ShapeError(f"searchsorted takes a vector, not {sorted_sequence.shape}")
    wide = F.unsqueeze(values, [values.ndim])
    before = F.less_equal(sorted_sequence, wide) if right else F.less_than(sorted_sequence, wide)
    return F.cast(F.sum(before, axis=-1), "int32" if out_int32 else "int64")
