"""Notes memory of tensors that others may write to, as who took it by DLPack.

Tensors never change their arrays, so what was made of one can be kept as long as it is the same
array. This is where the exceptions are known.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dy2st_runtime.thread_state import ByIdentity

Array = np.ndarray[Any, Any]

COUNT = np.zeros((), np.int64)
"""How often memory was exported: what was kept before the last time is to be checked anew."""

_exported: ByIdentity[Array, bool] = ByIdentity()


def note_export(array: Array) -> None:
    """From now on somebody else may write to the memory of an array."""
    _exported[_owner(array)] = True
    COUNT[()] += 1


def is_constant(array: Array) -> bool:
    """Whether nobody can write to the memory of a tensor's array.

    >>> is_constant(np.zeros(3)), is_constant(np.zeros(3)[1:])
    (True, False)
    """
    if _exported.get(_owner(array)):
        return False
    return bool(array.flags.owndata) or _is_read_only(array)


def constant_of(array: Array) -> Array:
    """The array as engines keep what they make of it: by rows, and nobody can write to it."""
    is_kept = array.flags.c_contiguous and is_constant(array)
    return array if is_kept else np.array(array, order="C")


def _owner(array: Array) -> Array:
    """The array whose memory it is, as far as NumPy knows."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def _is_read_only(array: Any) -> bool:
    """Whether neither an array nor what it looks into can be written to."""
    while isinstance(array, np.ndarray):
        if array.flags.writeable:
            return False
        array = array.base
    try:
        return array is None or memoryview(array).readonly
    except TypeError:
        return False


__all__ = ["COUNT", "constant_of", "is_constant", "note_export"]
