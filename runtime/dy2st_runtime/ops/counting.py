"""Operators that count elements: in bins, in runs, each integer."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dy2st_runtime.dims import Size, equal, require_equal
from dy2st_runtime.errors import ArgumentError, ShapeError
from dy2st_runtime.ir import F, Sample, TensorType, apply, define, method
from dy2st_runtime.ir.arguments import as_dtype, as_size, fresh_symbol
from dy2st_runtime.ir.attribute_kinds import INDEX

_MOST_BINS = 2**48
"""There is no memory for more."""


def _bincount_kernel(x: Any, weights: Any = None, minlength: int = 0) -> Any:
    if weights is not None and weights.shape != x.shape:
        raise ValueError("every integer has one weight")
    if minlength < 0:
        raise ArgumentError(f"bincount: there are no {minlength} bins")
    x = np.array(x)  # NumPy looks at the integers, then counts: nobody may change them meanwhile
    if x.size and x.max() >= _MOST_BINS:  # NumPy adds 1 to the largest without a look
        raise ArgumentError(f"bincount: {int(x.max())} would be counted in as many bins")
    counts = np.bincount(x, weights, minlength)
    return counts if weights is None else counts.astype(weights.dtype)


def _bincount_infer(
    x: TensorType, weights: TensorType | None = None, minlength: Size = 0
) -> TensorType:
    if x.rank != 1 or x.dtype.kind not in "iu":
        raise ShapeError("bincount takes a vector of integers")
    if isinstance(minlength, int) and minlength < 0:
        raise ArgumentError(f"bincount: there are no {minlength} bins")
    if weights is not None:
        reason = f"bincount: {x.shape[0]} integers and weights of shape {list(weights.shape)}"
        if weights.rank != 1:
            raise ShapeError(reason)
        require_equal(x.shape[0], weights.shape[0], reason)
    count = fresh_symbol("bins", minlength)
    return TensorType("int64" if weights is None else weights.dtype, (count,))


define(
    "bincount",
    doc="How often each integer occurs, or the sum of its weights.",
    inputs="x, weights?",
    attributes={"minlength": INDEX.or_else(0)},
    raises=ValueError,
    infer=_bincount_infer,
    kernel=_bincount_kernel,
    samples=(
        Sample(((6,),), {"minlength": 2}, ("int64",), 0, 4),
        Sample(((3,), (3,)), dtypes=("int64", "float32"), low=0, high=4),
    ),
)


@method
def bincount(x: Any, weights: Any = None, minlength: Any = 0, name: str | None = None) -> Any:
    """How often each integer from 0 on occurs in a vector, or the sum of the weights there.

    (n,) -> (max(largest + 1, minlength),), int64 without weights.

    >>> dy2st.bincount(dy2st.to_tensor([1, 3, 1])).tolist()
    [0, 2, 0, 1]
    """
    return apply("bincount", x, weights, minlength=as_size(minlength, "minlength"))


def _bounds(x: Any, low: Any, high: Any) -> tuple[Any, Any]:
    """The ends of the bins: those of the data if none are given, 1 apart if they are equal."""
    if low == 0 and high == 0 and equal(x.shape[0], 0) is True:
        least = most = F.zeros([], "float64")
    elif low == 0 and high == 0:
        least, most = F.cast(F.min(x), "float64"), F.cast(F.max(x), "float64")
    else:
        if low > high:
            raise ArgumentError(f"histogram: the bins begin at {low} and end at {high}")
        least, most = F.full([], low, "float64"), F.full([], high, "float64")
    is_point = F.equal(least, most)
    return F.where(is_point, least - 1, least), F.where(is_point, most + 1, most)


@method
def histogram(
    input: Any,
    bins: int = 100,
    min: float = 0.0,
    max: float = 0.0,
    weight: Any = None,
    density: bool = False,
    name: str | None = None,
) -> Any:
    """How many elements lie in each of `bins` equal bins from min to max; int64 without weights.

    (...,) -> (bins,).

    Both ends 0 mean the smallest and the largest element; `density` divides by the area.

    >>> dy2st.histogram(dy2st.to_tensor([1.0, 2.0, 2.5, 9.0]), bins=2, min=0, max=10).tolist()
    [3, 1]
    """
    x = F.cast(F.flatten(F.detach(input)), "float64")
    least, most = _bounds(x, min, max)
    is_in = F.logical_and(F.greater_equal(x, least), F.less_equal(x, most))
    place = F.floor((x - least) / (most - least) * bins)
    place = F.cast(F.clip(F.where(is_in, place, F.zeros_like(place)), 0, bins - 1), "int64")
    counted = F.ones_like(x) if weight is None else F.cast(F.flatten(weight), "float64")
    counts = F.index_add(F.zeros([bins], "float64"), place, 0, counted * F.cast(is_in, "float64"))
    if density:
        return F.cast(counts / F.sum(counts) / ((most - least) / bins), "float32")
    return F.cast(counts, "int64" if weight is None else weight.dtype)


@method
def histogram_bin_edges(
    input: Any, bins: int = 100, min: float = 0.0, max: float = 0.0, name: str | None = None
) -> Any:
    """The ends of the bins that `histogram` makes: (bins + 1,), float32.

    >>> dy2st.histogram_bin_edges(dy2st.to_tensor([1.0, 2.0]), bins=2, min=0, max=10).tolist()
    [0.0, 5.0, 10.0]
    """
    least, most = _bounds(F.flatten(F.detach(input)), min, max)
    steps = F.cast(F.arange(bins + 1), "float64") / bins
    return F.cast(least + (most - least) * steps, "float32")


@method
def bucketize(
    x: Any,
    sorted_sequence: Any,
    out_int32: bool = False,
    right: bool = False,
    name: str | None = None,
) -> Any:
    """How many elements of a sorted vector lie before each element of x.

    (...,), (n,) -> (...,), int64.

    >>> x, ends = dy2st.to_tensor([5, 20]), dy2st.to_tensor([10, 20, 30])
    >>> dy2st.bucketize(x, ends).tolist(), dy2st.bucketize(x, ends, right=True).tolist()
    ([0, 1], [0, 2])
    """
    return F.searchsorted(sorted_sequence, x, out_int32, right)


def _runs_infer(x: TensorType) -> tuple[TensorType, ...]:
    count = fresh_symbol("runs", 0, x.shape[0])
    of_runs = TensorType("int64", (count,))
    return x.with_shape((count, *x.shape[1:])), TensorType("int64", x.shape[:1]), of_runs


def _runs_kernel(x: Any) -> Any:
    if not len(x):
        return x, np.zeros(0, np.int64), np.zeros(0, np.int64)
    differs = (x[1:] != x[:-1]).reshape(len(x) - 1, math.prod(x.shape[1:])).any(1)
    is_first = np.concatenate([[True], differs])
    starts = np.flatnonzero(is_first)
    counts = np.diff(np.append(starts, len(x)))
    return x[is_first], np.cumsum(is_first) - 1, counts.astype(np.int64)


define(
    "unique_consecutive",
    doc="One of each run of equal slices, which run every slice is in, how long the runs are.",
    inputs="x",
    infer=_runs_infer,
    kernel=_runs_kernel,
    samples=(
        Sample(((6,),), dtypes=("int64",), low=0, high=2),
        Sample(((4, 2),), dtypes=("int64",), low=0, high=2),
    ),
)


@method
def unique_consecutive(
    x: Any,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    dtype: Any = "int64",
    name: str | None = None,
) -> Any:
    """One of each run of equal elements (or slices along an axis), and what else is asked for.

    (n,) -> (count,).

    >>> dy2st.unique_consecutive(dy2st.to_tensor([1, 1, 2, 2, 1])).tolist()
    [1, 2, 1]
    """
    x = F.detach(x)
    rows = F.flatten(x) if axis is None else F.moveaxis(x, axis, 0)
    values, inverse, counts = apply("unique_consecutive", rows)
    values = values if axis is None else F.moveaxis(values, 0, axis)
    asked = ((inverse, return_inverse), (counts, return_counts))
    more = [F.cast(part, as_dtype(dtype)) for part, keep in asked if keep]
    return (values, *more) if more else values
