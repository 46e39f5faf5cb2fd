"""Storage: which eager tensors share memory, so that a change of one is a change of all.

Arrays are never written over: what gradients, Programs and others hold stays as it was. So a change
in place copies the memory once, changes the copy, and gives every tensor that shares it its own
place in the copy. A tensor that shares memory with no other one has no Storage and costs nothing.
"""

from __future__ import annotations

from enum import Enum
from typing import Any
from weakref import ref

import numpy as np
from numpy import ndarray

Array = np.ndarray[Any, Any]
_FEW = 16


class VarType(Enum):
    """The kinds of variables that PaddlePaddle has, by its names; tensors here are of the first."""

    DENSE_TENSOR = LOD_TENSOR = 7
    SELECTED_ROWS = 8
    DENSE_TENSOR_ARRAY = LOD_TENSOR_ARRAY = 13


class Storage:
    """The tensors that are views of one memory, held weakly."""

    __slots__ = ("_limit", "_views")

    def __init__(self, owner: Any):
        """Begin with the tensor of which there are views."""
        self._views: list[ref[Any]] = [ref(owner)]
        self._limit = _FEW

    def add(self, view: Any) -> None:
        """Note another view."""
        views = self._views
        views.append(ref(view))
        if len(views) > self._limit:  # most of them may be gone
            self._views = [one for one in views if one() is not None]
            self._limit = 2 * len(self._views) + _FEW

    def others(self, tensor: Any) -> list[Any]:
        """All other tensors that share the memory now."""
        alive = [one() for one in self._views]
        others = [one for one in alive if one is not None and one is not tensor]
        return [one for one in others if one.storage is self]

    def put(self, tensor: Any, array: Array) -> None:
        """Let a tensor hold the elements of an array, and its views with it.

        One of another shape or dtype does not fit into the memory: it is the tensor's alone then.
        """
        old = tensor.array
        owner = _owner(old)
        others = [one for one in self.others(tensor) if shares_memory(one, tensor)]
        if not others or array.shape != old.shape or array.dtype != old.dtype:
            tensor.array, tensor.storage = array, None
            return
        place = _Copy(owner)
        changed = place.of(old)
        changed[...] = array
        moved = [(one, place.of(one.array)) for one in others]
        tensor.array = changed
        for one, view in moved:
            one.array = view


def without_views(value: Any) -> Any:
    """A tensor as it is now, whatever becomes of the one of which it is a view.

    >>> x = dy2st.zeros([2])
    >>> y = x.detach()
    >>> kept = without_views(y)
    >>> x.fill_(1.0).tolist(), y.tolist(), kept.tolist()
    ([1.0, 1.0], [1.0, 1.0], [0.0, 0.0])
    """
    if getattr(value, "storage", None) is None:
        return value
    made = value.alias(value.array, value.node, value.index)
    made.stopped = value.stopped
    return made


class _Copy:
    """A copy of memory, as it lies, byte by byte."""

    def __init__(self, owner: Array):
        """Copy all that an array looks into."""
        self._owner: Array | None = None
        self._copy: Array | None = None
        self._start, end = np.lib.array_utils.byte_bounds(owner)
        if owner.flags.forc:
            copy = owner.copy(order="K")
            self._owner, self._copy = owner, copy
            self._bytes = copy.reshape(-1, order="A").view(np.uint8)
        else:
            self._bytes = np.asarray(_Bytes(owner, self._start, end - self._start)).copy()

    def of(self, array: Array) -> Array:
        """The view that lies in the copy as an array lies in the memory."""
        if array is self._owner and self._copy is not None:
            return self._copy
        offset = array.__array_interface__["data"][0] - self._start
        return np.ndarray(array.shape, array.dtype, self._bytes, offset, array.strides)


class _Bytes:
    """Memory as NumPy's protocol describes it."""

    def __init__(self, owner: Array, start: int, count: int):
        """So many bytes of what an array looks into, which is held."""
        self._owner = owner
        self.__array_interface__ = {
            "data": (start, True),
            "shape": (count,),
            "typestr": "|u1",
            "version": 3,
        }


def _owner(array: Array) -> Array:
    """The array whose memory it is, as far as NumPy knows."""
    base: Any = array.base
    while base is not None:
        if isinstance(base, ndarray):
            array = base
        base = getattr(base, "base", None)  # NumPy puts objects of its own between some arrays
    return array


def _is_within(seen: Array, array: Array) -> bool:
    """Whether an array looks into the memory into which another one does."""
    base = seen.base
    return base is not None and (base is array.base or _owner(seen) is _owner(array))


def shares_memory(tensor: Any, other: Any) -> bool:
    """Whether two tensors still look into one memory: one may have got an array of its own."""
    return _owner(tensor.array) is _owner(other.array)


def lay_by_rows(owner: Any) -> None:
    """Lay a tensor that is no view row by row, as PaddlePaddle has it.

    Before there are views of it: NumPy lays what it computes of a transposed array in columns, and
    whether a view is reshaped where it lies must not depend on that.
    """
    flags = owner.array.flags
    if owner.storage is None and flags.owndata and not flags.c_contiguous:
        owner.array = np.ascontiguousarray(owner.array)


def share(owner: Any, view: Any) -> None:
    """Note that a tensor is a view of another one, if its array is a view of that one's."""
    array, seen = owner.array, view.array
    if seen is array:
        lay_by_rows(owner)
        view.array = owner.array
    elif seen.base is not array and not _is_within(seen, array):
        return
    storage = owner.storage
    if storage is None:
        storage = owner.storage = Storage(owner)
    view.storage = storage
    storage.add(view)


__all__ = ["Storage", "VarType", "lay_by_rows", "share", "shares_memory"]
