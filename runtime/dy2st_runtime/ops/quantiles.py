"""Medians and quantiles, the most frequent element, sums and means without NaN."""

from __future__ import annotations

from typing import Any

from dy2st_runtime.dims import product
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir import F, method
from dy2st_runtime.ir.arguments import (
    Axes,
    normalize_axis,
    rank_of,
    reduced_axes,
    shape_of,
)
from dy2st_runtime.ops.rules import with_floats
from dy2st_runtime.ops.zero_rank import of_numbers_too


@method
def nansum(
    x: Any, axis: Axes = None, dtype: Any = None, keepdim: bool = False, name: str | None = None
) -> Any:
    """The sum of the elements that are not NaN, along axes: (..., n) -> (...) along the last axis.

    >>> dy2st.nansum(dy2st.to_tensor([1.0, np.nan, 2.0])).item()
    3.0
    """
    return F.sum(F.masked_fill(x, F.isnan(x), 0), axis, dtype, keepdim)


@method
def nanmean(x: Any, axis: Axes = None, keepdim: bool = False, name: str | None = None) -> Any:
    """The mean of the elements that are not NaN, along axes: (..., n) -> (...) along the last axis.

    >>> dy2st.nanmean(dy2st.to_tensor([1.0, np.nan, 2.0])).item()
    1.5
    """
    count = F.sum(F.cast(F.logical_not(F.isnan(x)), x.dtype), axis, keepdim=keepdim)
    return F.divide(nansum(x, axis, None, keepdim), count)


def _ordered_at(ordered: Any, place: Any) -> Any:
    """The elements at places (one a row, or one for all) along the last axis."""
    wide = F.broadcast_to(F.unsqueeze(place, -1), [*shape_of(ordered)[:-1], 1])
    found = F.take_along_axis(ordered, F.cast(wide, "int64"), -1, broadcast=False)
    return F.squeeze(found, -1)


_WAYS = ("linear", "lower", "higher", "midpoint", "nearest")


def _quantile(
    x: Any, q: Any, axis: Axes, keepdim: bool, interpolation: str, skips_nan: bool
) -> Any:
    if interpolation not in _WAYS:
        raise ArgumentError(f"quantile: interpolation is one of {_WAYS}, not {interpolation!r}")
    rank = x.ndim
    # x with the axes joined to one at the end.
    x = with_floats(x)
    axes = reduced_axes(axis, x.ndim)
    rest = [a for a in range(x.ndim) if a not in axes]
    sizes = [x.shape[a] for a in rest]
    joined = product([x.shape[a] for a in axes])
    rows = F.reshape(F.transpose(x, [*rest, *axes]), [*sizes, joined])
    ordered = F.sort(rows, axis=-1)  # NaN comes last
    counts = F.sum(F.cast(F.logical_not(F.isnan(rows)), "int64"), axis=-1)  # of what is no NaN
    is_broken = F.less_than(counts, 1 if skips_nan else shape_of(rows)[-1])
    parts = q if isinstance(q, (list, tuple)) else F.unbind(q) if rank_of(q) else [q]
    found = []
    for part in parts:
        # The element at q of the way through the first `counts` elements of rows in order.
        last = F.cast(F.maximum(F.subtract(counts, 1), 0), ordered.dtype)
        place = F.multiply(last, F.cast(part, ordered.dtype))
        low, high = F.floor(place), F.ceil(place)
        if interpolation == "lower":
            value = _ordered_at(ordered, low)
        elif interpolation == "higher":
            value = _ordered_at(ordered, high)
        elif interpolation == "nearest":
            value = _ordered_at(ordered, F.round(place))
        else:
            left, right = _ordered_at(ordered, low), _ordered_at(ordered, high)
            if interpolation == "midpoint":
                value = F.multiply(F.add(left, right), 0.5)
            else:
                value = F.add(left, F.multiply(F.subtract(right, left), F.subtract(place, low)))
        value = F.masked_fill(value, is_broken, float("nan"))
        # The reduced axes back with size 1; a number has had none.
        if not keepdim or not rank:
            kept = value
        else:
            sizes = shape_of(value)
            for axis in axes:
                sizes.insert(axis, 1)
            kept = F.reshape(value, sizes)
        found.append(kept)
    is_one = not isinstance(q, (list, tuple)) and not rank_of(q)
    return found[0] if is_one else F.stack(found, 0)


@method
@of_numbers_too
def quantile(
    x: Any,
    q: Any,
    axis: Axes = None,
    keepdim: bool = False,
    interpolation: str = "linear",
    name: str | None = None,
) -> Any:
    """The element at q of the way (0 to 1) through the elements in order, along axes.

    (..., n) -> (...) along the last axis, (q, ...) for q numbers.

    Between two elements as `interpolation` says; several q make a new first axis.

    >>> dy2st.quantile(dy2st.to_tensor([1.0, 2.0, 4.0, 8.0]), [0.5, 1.0]).tolist()
    [3.0, 8.0]
    """
    return _quantile(x, q, axis, keepdim, interpolation, False)


@method
@of_numbers_too
def nanquantile(
    x: Any, q: Any, axis: Axes = None, keepdim: bool = False, interpolation: str = "linear"
) -> Any:
    """`quantile` of the elements that are not NaN, along axes.

    (..., n) -> (...) along the last axis, (q, ...) for q numbers.

    >>> dy2st.nanquantile(dy2st.to_tensor([1.0, np.nan, 2.0]), 0.5).item()
    1.5
    """
    return _quantile(x, q, axis, keepdim, interpolation, True)


def _median(x: Any, axis: Axes, keepdim: bool, mode: str, skips_nan: bool) -> Any:
    if mode not in ("avg", "min"):
        raise ArgumentError(f"median: the mode is 'avg' or 'min', not {mode!r}")
    if axis is not None and not isinstance(axis, int) and not axis:
        raise ArgumentError("median: no axis is given; axis=None means all of them")
    if mode == "avg":
        return _quantile(x, 0.5, axis, keepdim, "midpoint", skips_nan)
    values = _quantile(x, 0.5, axis, True, "lower", skips_nan)
    if axis is None:
        return F.cast(values if keepdim else F.reshape(values, []), x.dtype)
    is_it = F.logical_or(F.equal(x, values), F.logical_and(F.isnan(x), F.isnan(values)))
    index = F.argmax(F.cast(is_it, "int64"), axis, keepdim=True)
    values = F.cast(values, x.dtype)
    return (values, index) if keepdim else (F.squeeze(values, axis), F.squeeze(index, axis))


@method
@of_numbers_too
def median(
    x: Any, axis: Axes = None, keepdim: bool = False, mode: str = "avg", name: Any = None
) -> Any:
    """The element in the middle along an axis; of two the mean, or with mode 'min' the smaller.

    (..., n) -> (...) along the last axis.

    With 'min' and an axis also the place of it along the axis.

    >>> x = dy2st.to_tensor([1.0, 9.0, 2.0, 4.0])
    >>> dy2st.median(x).item(), dy2st.median(x, mode="min").item()
    (3.0, 2.0)
    """
    return _median(x, axis, keepdim, mode, False)


@method
@of_numbers_too
def nanmedian(
    x: Any, axis: Axes = None, keepdim: bool = False, mode: str = "avg", name: Any = None
) -> Any:
    """`median` of the elements that are not NaN: (..., n) -> (...) along the last axis.

    >>> dy2st.nanmedian(dy2st.to_tensor([1.0, np.nan, 2.0, 9.0])).item()
    2.0
    """
    return _median(x, axis, keepdim, mode, True)


@method
@of_numbers_too
def kthvalue(
    x: Any, k: int, axis: int | None = None, keepdim: bool = False, name: str | None = None
) -> tuple[Any, Any]:
    """The k-th smallest element along an axis (k from 1), and its place.

    (..., n) -> (...), (...), the places int64.

    >>> value, place = dy2st.kthvalue(dy2st.to_tensor([30, 10, 20]), 2)
    >>> value.item(), place.item()
    (20, 2)
    """
    place = normalize_axis(-1 if axis is None else axis, x.ndim)
    order = F.slice(F.argsort(x, place), [place], [k - 1], [k])
    value = F.take_along_axis(x, order, place, broadcast=False)
    if keepdim:
        return value, order
    return F.squeeze(value, place), F.squeeze(order, place)


@method
@of_numbers_too
def mode(x: Any, axis: int = -1, keepdim: bool = False, name: str | None = None) -> tuple[Any, Any]:
    """The most frequent element along an axis (the smallest of several), and its last place.

    (..., n) -> (...), (...), the places int64.

    >>> value, place = dy2st.mode(dy2st.to_tensor([2, 1, 2, 1, 2]))
    >>> value.item(), place.item()
    (2, 4)
    """
    rows = F.moveaxis(x, axis, -1)
    same = F.equal(F.unsqueeze(rows, -1), F.unsqueeze(rows, -2))
    often = F.sum(F.cast(same, "int64"), axis=-1)
    order = F.argsort(rows, -1)
    best = F.argmax(F.take_along_axis(often, order, -1, broadcast=False), -1, keepdim=True)
    first = F.take_along_axis(order, best, -1, broadcast=False)
    value = F.take_along_axis(rows, first, -1, broadcast=False)
    size = rows.shape[-1]
    last = (
        size - 1 - F.argmax(F.cast(F.flip(F.equal(rows, value), [-1]), "int64"), -1, keepdim=True)
    )
    if keepdim:
        return F.moveaxis(value, -1, axis), F.moveaxis(last, -1, axis)
    return F.squeeze(value, -1), F.squeeze(last, -1)
