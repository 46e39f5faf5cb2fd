"""Functions of the array API on the order of elements: sorting, searching in it, sets."""

from __future__ import annotations

from typing import Any, NamedTuple

from dy2st_runtime.array_api.manipulation import require_axis
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir import F


class UniqueAll(NamedTuple):
    """What `unique_all` gives."""

    values: Any
    indices: Any
    inverse_indices: Any
    counts: Any


class UniqueCounts(NamedTuple):
    """What `unique_counts` gives."""

    values: Any
    counts: Any


class UniqueInverse(NamedTuple):
    """What `unique_inverse` gives."""

    values: Any
    inverse_indices: Any


def argsort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    """The positions in which the elements along an axis are in order; equal ones stay as they are.

    >>> dy2st.array_api.argsort(dy2st.to_tensor([30, 10, 20])).tolist()
    [1, 2, 0]
    """
    return F.argsort(x, require_axis(axis, x.ndim), descending, stable)


def sort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    """The elements along an axis in order.

    >>> dy2st.array_api.sort(dy2st.to_tensor([2, 3, 1]), descending=True).tolist()
    [3, 2, 1]
    """
    return F.sort(x, require_axis(axis, x.ndim), descending, stable)


def searchsorted(x1: Any, x2: Any, /, *, side: str = "left", sorter: Any = None) -> Any:
    """Where the numbers x2 belong in the sorted vector x1, before or behind those equal to them.

    >>> ends = dy2st.to_tensor([10, 20, 30])
    >>> dy2st.array_api.searchsorted(ends, dy2st.to_tensor([5, 20, 99])).tolist()
    [0, 1, 3]
    """
    if side not in ("left", "right"):
        raise ArgumentError(f"searchsorted: side is 'left' or 'right', not {side!r}")
    if sorter is not None:
        x1 = F.gather(x1, sorter, 0)
    return F.searchsorted(x1, x2, right=side == "right")


def _ordered(x: Any) -> Any:
    """The positions in which equal elements stand beside each other: complex ones by both parts."""
    if x.dtype.kind != "c":
        return F.argsort(x, stable=True)
    by_imag = F.argsort(F.imag(x), stable=True)
    by_real = F.argsort(F.real(F.gather(x, by_imag, 0)), stable=True)
    return F.gather(by_imag, by_real, 0)


def unique_all(x: Any, /) -> UniqueAll:
    """The distinct elements in order, where each is first, which each element is, how many are.

    Each NaN is an element of its own.

    >>> found = dy2st.array_api.unique_all(dy2st.to_tensor([3, 1, 3]))
    >>> found.values.tolist(), found.inverse_indices.tolist(), found.counts.tolist()
    ([1, 3], [1, 0, 1], [1, 2])
    """
    flat = F.reshape(F.detach(x), [-1])
    order = _ordered(flat)
    values, count = F.gather(flat, order, 0), flat.shape[0]
    differs = F.not_equal(values, F.roll(values, 1))
    is_first = F.logical_or(differs, F.equal(F.arange(count), 0))
    starts = F.reshape(F.nonzero(is_first), [-1])
    ranks = F.cumsum(F.cast(is_first, "int64"), 0) - 1
    ends = F.concat([starts[1:], F.full([F.minimum(count, 1)], count, "int64")])
    return UniqueAll(
        F.gather(values, starts, 0),
        F.gather(order, starts, 0),
        F.reshape(F.gather(ranks, F.argsort(order), 0), x.shape),
        ends - starts,
    )


def unique_counts(x: Any, /) -> UniqueCounts:
    """The distinct elements in order, and how often each is there.

    >>> values, counts = dy2st.array_api.unique_counts(dy2st.to_tensor([3, 1, 3]))
    >>> values.tolist(), counts.tolist()
    ([1, 3], [1, 2])
    """
    made = unique_all(x)
    return UniqueCounts(made.values, made.counts)


def unique_inverse(x: Any, /) -> UniqueInverse:
    """The distinct elements in order, and which of them each element is.

    >>> values, places = dy2st.array_api.unique_inverse(dy2st.to_tensor([3, 1, 3]))
    >>> values.tolist(), places.tolist()
    ([1, 3], [1, 0, 1])
    """
    made = unique_all(x)
    return UniqueInverse(made.values, made.inverse_indices)


def unique_values(x: Any, /) -> Any:
    """The distinct elements in order.

    >>> dy2st.array_api.unique_values(dy2st.to_tensor([3, 1, 3])).tolist()
    [1, 3]
    """
    return unique_all(x).values
