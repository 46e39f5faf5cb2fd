"""Marks arrays from files of torch, where the weight of a Linear lies as [out, in].

A square weight shows nowhere else that it must be transposed. Copies and casts stay marked; what
else is computed of such an array, its transpose for one, does not.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dy2st_runtime.thread_state import ByIdentity

Array = np.ndarray[Any, Any]

COPIES = frozenset(("assign", "cast"))
"""Operators whose results lie as their operands do."""
_MARKED: ByIdentity[Array, bool] = ByIdentity()


def note_of_torch(array: Array) -> None:
    """Note that an array was read from a file of torch."""
    _MARKED[array] = True


def note_copy(array: Array, copy: Array) -> None:
    """Mark a copy as its source is."""
    if len(_MARKED) and _MARKED.get(array):
        _MARKED[copy] = True


def is_of_torch(value: Any) -> bool:
    """Whether a tensor or an array lies as a file of torch has it."""
    return bool(len(_MARKED)) and bool(_MARKED.get(getattr(value, "array", value)))
