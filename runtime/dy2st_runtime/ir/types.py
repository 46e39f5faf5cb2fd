"""Defines types of values, what is known before a run, and the names that element types have."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterable
from typing import Any, Literal

import numpy as np

from dy2st_runtime.dims import Size, same_shape
from dy2st_runtime.errors import DTypeError, nearest

DType = np.dtype[Any]
Shape = tuple[Size, ...]
DTypeName = Literal[
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "bfloat16", "float32", "float64", "complex64", "complex128",
]  # fmt: skip
DTypeLike = DTypeName | np.dtype[Any] | type[Any]
"""What a user may write for an element type."""


class TensorType:
    """An element type and a shape whose sizes are ints or Dims.

    >>> from dy2st_runtime.ir import TensorType
    >>> type = TensorType("float32", (2, 3))
    >>> type, type.rank, type.is_floating, type.is_differentiable
    (float32[2, 3], 2, True, True)
    >>> type.with_shape([4]), type.with_dtype("int64")
    (float32[4], int64[2, 3])
    """

    __slots__ = ("dtype", "shape")

    def __init__(self, dtype: Any, shape: Iterable[Size]):
        """Take anything that names a NumPy dtype, and the sizes in order."""
        self.dtype: DType = np.dtype(dtype)
        self.shape: Shape = tuple(shape)

    @property
    def rank(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def is_floating(self) -> bool:
        """Whether the elements are floats; complex numbers are not."""
        return is_floating(self.dtype)

    @property
    def is_differentiable(self) -> bool:
        """Whether gradients can flow through such a value."""
        return is_differentiable(self.dtype)

    def with_shape(self, shape: Iterable[Size]) -> TensorType:
        """The same element type with other sizes."""
        return TensorType(self.dtype, shape)

    def with_dtype(self, dtype: Any) -> TensorType:
        """The same sizes with another element type."""
        return TensorType(dtype, self.shape)

    def __eq__(self, other: object) -> bool:
        """Equal when it is proved: the same element type and the same sizes."""
        if not isinstance(other, TensorType):
            return NotImplemented
        return self.dtype == other.dtype and same_shape(self.shape, other.shape) is True

    def __hash__(self) -> int:
        """Agree with equality: Dims are hash-consed."""
        return hash((self.dtype, self.shape))

    def __repr__(self) -> str:
        """`float32[2, batch]`, for messages; the text form of Programs is elsewhere."""
        return f"{self.dtype}[{', '.join(map(str, self.shape))}]"


class ArrayType:
    """A list of tensors, or of lists, that grows while a Program runs; its elements fit one type.

    The element type is None while nothing has been put into the list.

    >>> from dy2st_runtime.ir import ArrayType, TensorType
    >>> type = ArrayType(ArrayType(TensorType("float32", (2,))))
    >>> type, type.depth, type.tensor
    (list of list of float32[2], 2, float32[2])
    """

    __slots__ = ("element",)

    def __init__(self, element: ValueType | None):
        """Take the type that every element fits."""
        self.element = element

    @property
    def tensor(self) -> TensorType | None:
        """The type of the tensors, in lists of lists of the innermost; None if none is known."""
        inner: ValueType | None = self.element
        while isinstance(inner, ArrayType):
            inner = inner.element
        return inner

    @property
    def depth(self) -> int:
        """How deep lists are nested: 1 for a list of tensors."""
        depth, inner = 1, self.element
        while isinstance(inner, ArrayType):
            depth, inner = depth + 1, inner.element
        return depth

    def __eq__(self, other: object) -> bool:
        """Equal when the elements' types are."""
        return isinstance(other, ArrayType) and self.element == other.element

    def __hash__(self) -> int:
        """Agree with equality."""
        return hash(("array", self.element))

    def __repr__(self) -> str:
        """`list of float32[2]`, for messages."""
        return f"list of {'?' if self.element is None else self.element}"


ValueType = TensorType | ArrayType

MAX_LIST_DEPTH = 64
"""How deep lists may be nested in lists."""


def is_floating(dtype: DType) -> bool:
    """Whether a dtype is a float: bfloat16 is (NumPy calls its kind 'V'), none of 8 bits is.

    >>> from dy2st_runtime.ir import is_floating
    >>> is_floating(np.dtype("float16")), is_floating(np.dtype("complex64"))
    (True, False)
    """
    kind = dtype.kind
    return (kind == "f" and dtype.itemsize > 1) or (kind == "V" and dtype.name == "bfloat16")


def is_differentiable(dtype: DType) -> bool:
    """Whether gradients can flow through elements of a dtype: floats and complex numbers.

    >>> from dy2st_runtime.ir import is_differentiable
    >>> is_differentiable(np.dtype("complex64")), is_differentiable(np.dtype("int64"))
    (True, False)
    """
    return dtype.kind == "c" or is_floating(dtype)


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
    "float8_e4m3fn": "f8E4M3FN",
    "float8_e4m3fnuz": "f8E4M3FNUZ",
    "float8_e5m2": "f8E5M2",
    "float8_e5m2fnuz": "f8E5M2FNUZ",
    "float8_e8m0fnu": "f8E8M0FNU",
    "float4_e2m1fn": "f4E2M1FN",
    "int4": "i4",
    "uint4": "ui4",
    "int2": "i2",
    "uint2": "ui2",
}
OF_ML_DTYPES = frozenset(["bfloat16", *[*_TEXT_OF_DTYPE][-10:]])
"""Elements that the package ml_dtypes has. Those but bfloat16 are stored, moved and cast alone."""
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
    """The dtype of `f32`, None if the text names none, or one of ml_dtypes, which is missing."""
    dtype = _known.get(text)
    if dtype is None and text in _DTYPE_OF_TEXT:
        dtype = named_dtype(_DTYPE_OF_TEXT[text])
        if dtype is not None:
            _known[text] = dtype
    return dtype


def named_dtype(name: str) -> DType | None:
    """The dtype of this name; None for bfloat16 and shorter ones where ml_dtypes lacks it."""
    if name in OF_ML_DTYPES:
        # NumPy knows the name only after this extra package is imported.
        if importlib.util.find_spec("ml_dtypes") is None:
            return None
        if not hasattr(importlib.import_module("ml_dtypes"), name):
            return None
    dtype: DType = np.dtype(name)
    return dtype


def given_dtype(dtype: Any) -> DType:
    """The dtype that a user names: as NumPy, and those of ml_dtypes before anybody imported it.

    TypeError where there is none of that name; DTypeError for bfloat16 without ml_dtypes.
    """
    if isinstance(dtype, str) and dtype in OF_ML_DTYPES:
        found = named_dtype(dtype)
        if found is None:
            raise DTypeError(f"{dtype} needs the package ml_dtypes: pip install 'dy2st[bf16]'")
        return found
    try:
        wanted: DType = np.dtype(dtype)
    except TypeError as error:
        near = nearest(str(dtype), _TEXT_OF_DTYPE)
        meant = f"; did you mean {near!r}?" if near else ""
        raise TypeError(f"{dtype!r} is no dtype: {error}{meant}") from None
    return wanted


def own_dtype(dtype: DType) -> DType:
    """NumPy's own object of a dtype, by which code knows it.

    Arrays that were pickled, as by processes that load data, have a copy of it.
    """
    is_numpys = dtype.kind in "biufc" and dtype.isbuiltin != 2  # one of ml_dtypes says "f", too
    return np.dtype(dtype.str) if is_numpys else dtype


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
