"""Histograms of one axis and of several: how many elements lie between two edges."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from dy2st.importers.torch.table import Call, as_tensor, is_known, row
from dy2st_runtime.ir.dispatch import F


@row("aten.histc.default")
def _histogram(at: Call, x: Any, bins: int = 100, min: Any = 0, max: Any = 0) -> Any:
    return F.histogram(x, bins, float(min), float(max))


def _edges(x: Any, bins: int, range: Any) -> Any:
    """The edges of equal bins of a vector, in float64: from 0 to 1 where it is empty."""
    x = F.cast(x, "float64")
    if range is None and is_known(x.shape[0], 0):
        range = (0.0, 1.0)
    least, most = map(_number, range) if range is not None else (F.amin(x), F.amax(x))
    half = F.where(F.equal(least, most), _number(0.5), _number(0.0))
    least, most = F.subtract(least, half), F.add(most, half)
    steps = F.divide(F.cast(F.arange(0, bins + 1, 1, "int64"), "float64"), _number(bins))
    return F.add(least, F.multiply(F.subtract(most, least), steps))


def _number(value: Any) -> Any:
    return as_tensor(float(value), "float64")


def _counts(x: Any, edges: Sequence[Any], weight: Any, density: bool) -> Any:
    """How many rows of (n, d) lie in each bin of d axes, or their weight; the last edge is in."""
    sizes = [one.shape[0] - 1 for one in edges]
    place, is_in = as_tensor(0, "int64"), as_tensor(True, "bool")
    for axis, (ends, size) in enumerate(zip(edges, sizes, strict=True)):
        column = F.cast(x[:, axis], ends.dtype)
        found = F.subtract(F.searchsorted(ends, column, False, True), as_tensor(1, "int64"))
        last = as_tensor(size - 1, "int64")
        inside = F.logical_and(F.greater_equal(column, ends[0]), F.less_equal(column, ends[size]))
        is_in = F.logical_and(is_in, inside)
        found = F.minimum(F.where(inside, found, F.zeros_like(found)), last)
        place = F.add(F.multiply(place, as_tensor(size, "int64")), found)
    one = F.ones([x.shape[0]], x.dtype) if weight is None else F.reshape(weight, [-1])
    one = F.where(is_in, one, F.zeros_like(one))
    counts = F.index_add(F.zeros([math.prod(sizes)], one.dtype), place, 0, one)
    counts = F.reshape(counts, sizes)
    if density:
        counts = F.divide(counts, F.sum(counts))
        for axis, (ends, size) in enumerate(zip(edges, sizes, strict=True)):
            width = F.cast(F.subtract(ends[1:], ends[:-1]), counts.dtype)
            shape = [size if axis == place else 1 for place in range(len(sizes))]
            counts = F.divide(counts, F.reshape(width, shape))
    return counts


def _column(x: Any) -> Any:
    return F.reshape(x, [-1, 1])


@row("aten.histogram.bin_ct")
def _binned(
    at: Call, x: Any, bins: int = 100, range: Any = None, weight: Any = None, density: bool = False
) -> Any:
    edges = _edges(F.reshape(x, [-1]), bins, range)
    return _counts(_column(x), [edges], weight, density), F.cast(edges, x.dtype)


@row("aten.histogram.bins_tensor")
def _between(at: Call, x: Any, bins: Any, weight: Any = None, density: bool = False) -> Any:
    return _counts(_column(x), [bins], weight, density), F.assign(bins)


def _all_edges(x: Any, bins: Sequence[int], range: Any) -> list[Any]:
    x = F.reshape(x, [-1, len(bins)])
    pairs = [None] * len(bins) if range is None else [*zip(range[::2], range[1::2], strict=True)]
    return [_edges(x[:, axis], *pair) for axis, pair in enumerate(zip(bins, pairs, strict=True))]


@row("aten._histogramdd_bin_edges.default")
def _edges_of_all(
    at: Call, x: Any, bins: Any, range: Any = None, weight: Any = None, density: bool = False
) -> Any:
    return [F.cast(one, x.dtype) for one in _all_edges(x, bins, range)]


@row("aten._histogramdd_from_bin_cts.default")
def _binned_of_all(
    at: Call, x: Any, bins: Any, range: Any = None, weight: Any = None, density: bool = False
) -> Any:
    return _counts(F.reshape(x, [-1, len(bins)]), _all_edges(x, bins, range), weight, density)


@row("aten._histogramdd_from_bin_tensors.default")
def _between_of_all(at: Call, x: Any, bins: Any, weight: Any = None, density: bool = False) -> Any:
    return _counts(F.reshape(x, [-1, len(bins)]), bins, weight, density)
