"""Converts arrays of foreign files to tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from dy2st_runtime.errors import DTypeError
from dy2st_runtime.ir.types import element_text, named_dtype
from dy2st_runtime.tensor import EagerTensor

Array = np.ndarray[Any, Any]


def known_dtype(source: str, name: str) -> np.dtype[Any]:
    """The dtype of this name; DTypeError for bfloat16 where ml_dtypes is missing."""
    dtype = named_dtype(name) if name == "bfloat16" else np.dtype(name)
    if dtype is None:
        raise DTypeError(f"{source} has bfloat16 tensors: pip install ml_dtypes to load it")
    return dtype


def as_tensor(source: str, array: Array, name: str = "") -> EagerTensor:
    """A tensor on the array; DTypeError for elements that tensors do not have."""
    if element_text(array.dtype) is None:
        raise DTypeError(
            f"{source} has a tensor of {array.dtype}{f' ({name})' * bool(name)}, which tensors do "
            "not have: load it with return_numpy=True"
        )
    return EagerTensor(array, name=name)


__all__ = ["Array", "as_tensor", "known_dtype"]
