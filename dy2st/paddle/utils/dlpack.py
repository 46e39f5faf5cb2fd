"""Hands tensors to other libraries and takes theirs, without a copy."""

from __future__ import annotations

from typing import Any

from dy2st_runtime.ir.location import without_own_frames
from dy2st_runtime.lazy import public_dir
from dy2st_runtime.tensor import from_dlpack


@without_own_frames
def to_dlpack(x: Any) -> Any:
    """A capsule with the data of a tensor, for another library.

    >>> capsule = dy2st.utils.dlpack.to_dlpack(dy2st.ones([2]))
    >>> type(capsule).__name__
    'PyCapsule'
    """
    return x.__dlpack__()


__all__ = ["from_dlpack", "to_dlpack"]
__dir__ = public_dir(__name__)
