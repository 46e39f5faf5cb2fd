"""Functions of the array API on the order of elements: sorting, searching in it, sets."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dy2st_runtime.array_api.manipulation import require_axis
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir import F
from dy2st_runtime.tensor import EagerTensor


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

    >>> from dy2st_runtime import array_api as xp
    >>> xp.argsort(xp.asarray([1, 2, 1]), descending=True).tolist()
    [1, 0, 2]
    """
    return F.argsort(x, require_axis(axis, x.ndim), descending, stable)


def sort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    """The elements along an axis in order."""
    return F.sort(x, require_axis(axis, x.ndim), descending, stable)


def searchsorted(x1: Any, x2: Any, /, *, side: str = "left", sorter: Any = None) -> Any:
    """Where the numbers x2 belong in the sorted vector x1, before or behind those equal to them."""
    if side not in ("left", "right"):
        raise ArgumentError(f"searchsorted: side is 'left' or 'right', not {side!r}")
    if sorter is not None:
        x1 = F.gather(x1, sorter, 0)
    return F.searchsorted(x1, x2, right=side == "right")


def unique_all(x: Any, /) -> UniqueAll:
    """The distinct elements in order, where each is first, which each element is, how many are."""
    if isinstance(x, EagerTensor):  # each NaN is an element of its own
        made = np.unique_all(np.asarray(F.detach(x)))
        return UniqueAll(*(EagerTensor(np.asarray(one)) for one in made))
    values, first, inverse, counts = F.unique(x, True, True, True)
    return UniqueAll(values, first, F.reshape(inverse, x.shape), counts)


def unique_counts(x: Any, /) -> UniqueCounts:
    """The distinct elements in order, and how often each is there."""
    made = unique_all(x)
    return UniqueCounts(made.values, made.counts)


def unique_inverse(x: Any, /) -> UniqueInverse:
    """The distinct elements in order, and which of them each element is."""
    made = unique_all(x)
    return UniqueInverse(made.values, made.inverse_indices)


def unique_values(x: Any, /) -> Any:
    """The distinct elements in order."""
    return unique_all(x).values
