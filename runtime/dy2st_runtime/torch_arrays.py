"""Marks arrays from files of torch, where the weight of a Linear lies as [out, in].

A square weight shows nowhere else that it must be transposed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dy2st_runtime.identity_tables import ByIdentity

Array = np.ndarray[Any, Any]

_SQUARES: ByIdentity[Array, bool] = ByIdentity()


def note_of_torch(array: Array) -> None:
    """Note that an array was read from a file of torch."""
    if array.ndim == 2 and array.shape[0] == array.shape[1] > 1:
        _SQUARES[array] = True


def is_square_of_torch(value: Any) -> bool:
    """Whether a tensor or an array is square, and as a file of torch has it."""
    return bool(_SQUARES.get(getattr(value, "array", value)))
