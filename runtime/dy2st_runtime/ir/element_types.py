"""Element types by the names that MLIR has for them."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

import numpy as np

from dy2st_runtime.errors import DTypeError
from dy2st_runtime.lazy import Lazy

DType = np.dtype[Any]
_difflib = Lazy("difflib")

_TEXT_OF_DTYPE = {
    "bool": "i1",
    "int8": "i8",
    "int16": "i16",
    "int32": "i32",
    "int64": "i64",
    "uint8": "ui8",
    "uint16": "ui16",
    "uint32": "ui32",
    "uint64": "ui64",
    "bfloat16": "bf16",
    "float16": "f16",
    "float32": "f32",
    "float64": "f64",
    "complex64": "complex<f32>",
    "complex128": "complex<f64>",
}
_DTYPE_OF_TEXT = {text: name for name, text in _TEXT_OF_DTYPE.items()}
_known: dict[str, DType] = {}
_texts: dict[DType, str] = {}  # NumPy makes the name of a dtype anew every time


def element_text(dtype: DType) -> str | None:
    """`f32` of float32, None for a dtype that Programs do not have.

    >>> element_text(np.dtype("uint8"))
    'ui8'
    """
    text = _texts.get(dtype)
    if text is None and dtype.name in _TEXT_OF_DTYPE:
        text = _texts[dtype] = _TEXT_OF_DTYPE[dtype.name]
    return text


def element_dtype(text: str) -> DType | None:
    """The dtype of `f32`, None if the text names none, or bfloat16 without ml_dtypes."""
    dtype = _known.get(text)
    if dtype is None and text in _DTYPE_OF_TEXT:
        dtype = named_dtype(_DTYPE_OF_TEXT[text])
        if dtype is not None:
            _known[text] = dtype
    return dtype


def named_dtype(name: str) -> DType | None:
    """The dtype of this name; None for bfloat16 where ml_dtypes is not installed."""
    if name == "bfloat16":
        # NumPy knows the name only after this extra package is imported.
        if importlib.util.find_spec("ml_dtypes") is None:
            return None
        importlib.import_module("ml_dtypes")
    dtype: DType = np.dtype(name)
    return dtype


def given_dtype(dtype: Any) -> DType:
    """The dtype that a user names: as NumPy, and bfloat16 before anybody has imported ml_dtypes.

    TypeError where there is none of that name; DTypeError for bfloat16 without ml_dtypes.
    """
    if isinstance(dtype, str) and dtype == "bfloat16":
        found = named_dtype(dtype)
        if found is None:
            raise DTypeError("bfloat16 needs the package ml_dtypes: pip install 'dy2st[bf16]'")
        return found
    try:
        wanted: DType = np.dtype(dtype)
    except TypeError as error:
        near = _difflib.get_close_matches(str(dtype), _TEXT_OF_DTYPE, n=1)
        meant = f"; did you mean {near[0]!r}?" if near else ""
        raise TypeError(f"{dtype!r} is no dtype: {error}{meant}") from None
    return wanted


def largest(dtype: DType) -> float:
    """The largest finite number of a float dtype.

    >>> largest(np.dtype("float16"))
    65504.0
    """
    if dtype.kind == "f":
        return float(np.finfo(dtype).max)
    return float.fromhex("0x1.fep127")  # bfloat16, of which NumPy knows nothing


def is_element_text(text: str) -> bool:
    """Whether the text names an element type, available or not."""
    return text in _DTYPE_OF_TEXT
