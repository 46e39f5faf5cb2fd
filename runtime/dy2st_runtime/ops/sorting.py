"""Order: sorting, the largest elements, places in sorted vectors, distinct elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from dy2st_runtime.dims import Size, product, require, require_equal
from dy2st_runtime.errors import ArgumentError, ShapeError
from dy2st_runtime.ir import F, Sample, TensorType, apply, define, method, public
from dy2st_runtime.ir.arguments import as_size, fresh_symbol, is_unknown, normalize_axis
from dy2st_runtime.ir.attribute_kinds import AXIS, NONE, SIZE, either
from dy2st_runtime.ops.short_floats import in_float32
from dy2st_runtime.ops.zero_rank import of_numbers_too

_FEW = 2000
"""Of fewer elements the first are found by sorting them all."""


def _order_kernel(x: Any, axis: int, descending: bool) -> Any:
    if not descending:
        return np.argsort(x, axis=axis, kind="stable")
    # Equal elements keep their order: sort the reversed tensor and count from the end.
    flipped = np.flip(x, axis)
    return x.shape[axis] - 1 - np.flip(np.argsort(flipped, axis=axis, kind="stable"), axis)


define(
    "argsort",
    doc="The places of the elements in ascending (or descending) order; equal ones stay in order.",
    inputs="x",
    along="axis",
    attributes={"axis": AXIS, "descending": False},
    infer=lambda x, axis, descending: x.with_dtype("int64"),
    kernel=in_float32(_order_kernel),  # bfloat16's order has no place for NaN
    samples=(
        Sample(((2, 3),), {"axis": 1}, ("float32",)),
        Sample(((4,),), {"axis": 0, "descending": True}, ("int64",), 0, 3),
        Sample(((3, 0),), {"axis": 0}, ("int64",)),
    ),
)


@method
@of_numbers_too
def argsort(
    x: Any,
    axis: int = -1,
    descending: bool = False,
    stable: bool = False,
    name: str | None = None,
) -> Any:
    """The places of the elements in order along an axis; always stable, NaN the largest.

    (..., n) -> (..., n), int64.

    >>> dy2st.argsort(dy2st.to_tensor([30, 10, 20])).tolist()
    [1, 2, 0]
    """
    return apply("argsort", x, axis=normalize_axis(axis, x.ndim), descending=bool(descending))


@method
@of_numbers_too
def sort(
    x: Any,
    axis: int = -1,
    descending: bool = False,
    stable: bool = False,
    name: str | None = None,
) -> Any:
    """The elements in order along an axis; NaN are the largest.

    (..., n) -> (..., n).

    >>> dy2st.sort(dy2st.to_tensor([2, 3, 1]), descending=True).tolist()
    [3, 2, 1]
    """
    order = argsort(x, axis, descending)
    return F.take_along_axis(x, order, axis, broadcast=False)


def _require_as_many(count: Size, x: Any, axis: int) -> None:
    reason = f"topk: k = {count} of {x.shape[axis]} elements along axis {axis}"
    require(count <= x.shape[axis], reason)
    require(count >= 0, reason)


def _top_infer(x: TensorType, axis: int, count: Size, largest: bool) -> TensorType:
    _require_as_many(count, x, axis)
    return TensorType("int64", (*x.shape[:axis], count, *x.shape[axis + 1 :]))


@in_float32
def _top_kernel(x: Any, axis: int, count: int, largest: bool) -> Any:
    rows = np.moveaxis(x, axis, -1)
    is_small = x.size < _FEW or count == 0
    if is_small or (x.dtype.kind == "f" and np.isnan(x).any()):
        places = _order_kernel(rows, -1, largest)[..., :count]
    else:
        # The places of those better than the last one wanted, and of the first that are equal.
        last = rows.shape[-1] - count if largest else count - 1
        limit = np.partition(rows, last, axis=-1)[..., last : last + 1]
        is_better = rows > limit if largest else rows < limit
        is_equal = rows == limit
        missing = count - np.sum(is_better, axis=-1, keepdims=True)
        is_taken = is_better | (is_equal & (np.cumsum(is_equal, axis=-1) <= missing))
        places = np.nonzero(is_taken)[-1].reshape(*rows.shape[:-1], count)
        order = _order_kernel(np.take_along_axis(rows, places, -1), -1, largest)
        places = np.take_along_axis(places, order, -1)
    return np.ascontiguousarray(np.moveaxis(places, -1, axis))


define(
    "top_places",
    doc="The places of the largest (or smallest) elements in order; equal ones stay in order.",
    inputs="x",
    along="axis",
    attributes={"axis": AXIS, "count": SIZE, "largest": True},
    infer=_top_infer,
    kernel=_top_kernel,
    decompose=lambda x, axis, count, largest: F.slice(
        argsort(x, axis, descending=largest), [axis], [0], [count]
    ),
    samples=(
        Sample(((2, 3),), {"axis": 1, "count": 2}, ("float32",)),
        Sample(((4,),), {"axis": 0, "count": 3, "largest": False}, ("int64",), 0, 3),
        Sample(((3, 2),), {"axis": 0, "count": 0}, ("int64",)),
    ),
)


@method
@of_numbers_too
def topk(
    x: Any,
    k: Any,
    axis: int | None = None,
    largest: bool = True,
    sorted: bool = True,
    name: str | None = None,
) -> tuple[Any, Any]:
    """The k largest (or smallest) elements along an axis in order, and their places.

    (..., n) -> (..., k), and the places, int64.

    Raises ShapeError if there are fewer than k.

    >>> values, places = dy2st.topk(dy2st.to_tensor([30, 10, 20]), 2)
    >>> values.tolist(), places.tolist()
    ([30, 20], [0, 2])
    """
    place = normalize_axis(-1 if axis is None else axis, x.ndim)
    if is_unknown(k):
        return F.dynamic("topk", x, k, axis=place, largest=largest)  # type: ignore[no-any-return]
    count = as_size(k, "k")
    _require_as_many(count, x, place)
    order = apply("top_places", x, axis=place, count=count, largest=bool(largest))
    return F.take_along_axis(x, order, place, broadcast=False), order


def _searchsorted_infer(sequence: TensorType, values: TensorType, right: bool) -> TensorType:
    if sequence.rank == 1:
        return values.with_dtype("int64")
    shapes = f"{list(sequence.shape)} and {list(values.shape)}"
    if sequence.rank == 0 or sequence.rank != values.rank:
        raise ShapeError(
            f"searchsorted takes a vector, or rows and as many rows of values, not {shapes}"
        )
    for rows, of_values in zip(sequence.shape[:-1], values.shape[:-1], strict=True):
        require_equal(rows, of_values, f"searchsorted: rows and values of {shapes}")
    return values.with_dtype("int64")


@in_float32
def _searchsorted_kernel(sequence: Any, values: Any, right: bool) -> Any:
    side: Any = "right" if right else "left"
    if sequence.ndim == 1:
        return np.searchsorted(sequence, values, side)
    if sequence.ndim != values.ndim or sequence.shape[:-1] != values.shape[:-1]:
        raise ValueError("every row has values of its own")
    made = np.empty(values.shape, np.int64)
    for row in np.ndindex(*values.shape[:-1]):
        made[row] = np.searchsorted(sequence[row], values[row], side)
    return made


def _count_before(sequence: Any, values: Any, right: bool) -> Any:
    sequence = F.unsqueeze(sequence, [-2]) if sequence.ndim > 1 else sequence
    wide = F.unsqueeze(values, [values.ndim])
    before = F.less_equal(sequence, wide) if right else F.less_than(sequence, wide)
    return F.sum(F.cast(before, "int64"), axis=-1)


define(
    "searchsorted",
    doc="How many elements of a sorted vector, or of the same row, lie before each value.",
    inputs="sequence, values",
    attributes={"right": False},
    infer=_searchsorted_infer,
    kernel=_searchsorted_kernel,
    decompose=_count_before,
    promote=True,
    samples=(
        Sample(((1,), (2, 3)), dtypes=("int64", "int64"), low=0, high=3),
        Sample(((1,), ()), {"right": True}, ("int64", "int64"), 0, 3),
        Sample(((0,), (2,)), dtypes=("float32", "float32")),
        Sample(((2, 1), (2, 3)), dtypes=("int64", "int64"), low=0, high=3),
    ),
)


@public
def searchsorted(
    sorted_sequence: Any,
    values: Any,
    out_int32: bool = False,
    right: bool = False,
    name: str | None = None,
    side: str | None = None,
    sorter: Any = None,
) -> Any:
    """How many elements of a sorted vector lie before each value: (n,), (...,) -> (...,).

    Of several sorted rows each has values of its own: (..., n), (..., m) -> (..., m).
    Equal elements lie before with `right` or `side="right"`, behind without. `sorter` holds the
    places of the elements of a vector that is not sorted.

    >>> ends = dy2st.to_tensor([10, 20, 30])
    >>> dy2st.searchsorted(ends, dy2st.to_tensor([5, 20, 99])).tolist()
    [0, 1, 3]
    """
    if side not in (None, "left", "right"):
        raise ArgumentError(f"searchsorted: side is 'left' or 'right', not {side!r}")
    if sorter is not None:
        sorted_sequence = F.take_along_axis(sorted_sequence, sorter, -1, broadcast=False)
    right = right or side == "right"
    found = apply("searchsorted", sorted_sequence, values, right=bool(right))
    return F.cast(found, "int32") if out_int32 else found


def _unique_infer(x: TensorType, axis: int | None) -> tuple[TensorType, ...]:
    total = product(x.shape) if axis is None else x.shape[axis]
    count = fresh_symbol("unique", 0, total)
    values = (count,) if axis is None else (*x.shape[:axis], count, *x.shape[axis + 1 :])
    places = [TensorType("int64", (size,)) for size in (count, total, count)]
    return (x.with_shape(values), *places)


@in_float32
def _unique_kernel(x: Any, axis: int | None) -> tuple[Any, ...]:
    values, *places = np.unique(
        x, return_index=True, return_inverse=True, return_counts=True, axis=axis
    )
    return (values, *(np.reshape(place, -1).astype(np.int64) for place in places))


define(
    "unique",
    doc="The distinct elements in order, where each is first, which each element is, how often.",
    inputs="x",
    attributes={"axis": either(NONE, AXIS).or_else(None)},
    infer=_unique_infer,
    kernel=_unique_kernel,
    samples=(
        Sample(((2, 3),), dtypes=("int64",), low=0, high=3),
        Sample(((3, 2),), {"axis": 0}, ("int64",), 0, 2),
    ),
)


@method
def unique(
    x: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    dtype: Any = "int64",
    sorted: bool = True,
    name: str | None = None,
) -> Any:
    """The distinct elements, always in order (or slices along an axis), and what else is asked for.

    (...,) -> (count,).

    return_index: where each is first. return_inverse: which of them every element is.
    return_counts: how often each occurs. No gradient flows through.

    >>> values, counts = dy2st.unique(dy2st.to_tensor([3, 1, 3]), return_counts=True)
    >>> values.tolist(), counts.tolist()
    ([1, 3], [1, 2])
    """
    place = None if axis is None else normalize_axis(axis, x.ndim)
    values, *rest = apply("unique", F.detach(x), axis=place)
    wanted = (return_index, return_inverse, return_counts)
    places = [F.cast(part, dtype) for part, keep in zip(rest, wanted, strict=True) if keep]
    return (values, *places) if places else values
