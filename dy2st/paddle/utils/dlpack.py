"""Hands tensors to other libraries and takes theirs, without a copy."""

from __future__ import annotations

from typing import Any

from dy2st_runtime.lazy import public_dir
from dy2st_runtime.tensor import from_dlpack


def to_dlpack(x: Any) -> Any:
    """A capsule with the data of a tensor, for another library."""
    return x.__dlpack__()


__all__ = ["from_dlpack", "to_dlpack"]
__dir__ = public_dir(__name__)
