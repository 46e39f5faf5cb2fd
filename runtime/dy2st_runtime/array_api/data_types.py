"""Data types of the array API: which there are, what they hold, how they go together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from dy2st_runtime.errors import ArgumentError, DTypeError
from dy2st_runtime.ir import F, Tensor
from dy2st_runtime.ir.arguments import as_dtype
from dy2st_runtime.ops.creation import get_default_dtype

bool = np.dtype("bool")
int8, int16, int32, int64 = (np.dtype(f"int{bits}") for bits in (8, 16, 32, 64))
uint8, uint16, uint32, uint64 = (np.dtype(f"uint{bits}") for bits in (8, 16, 32, 64))
float32, float64 = np.dtype("float32"), np.dtype("float64")
complex64, complex128 = np.dtype("complex64"), np.dtype("complex128")

_SIGNED, _UNSIGNED = (int8, int16, int32, int64), (uint8, uint16, uint32, uint64)
_REAL, _COMPLEX = (float32, float64), (complex64, complex128)
# The kinds of dtypes that the standard names, by letters of NumPy.
KINDS = {
    "bool": "b",
    "signed integer": "i",
    "unsigned integer": "u",
    "integral": "iu",
    "real floating": "fV",
    "complex floating": "c",
    "numeric": "iufVc",
}


class finfo_object(NamedTuple):
    """What floats of a dtype can hold."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: Any


class iinfo_object(NamedTuple):
    """What integers of a dtype can hold."""

    bits: int
    max: int
    min: int
    dtype: Any


def _dtype_of(one: Any) -> np.dtype[Any]:
    return one.dtype if isinstance(one, Tensor) else as_dtype(one)


def finfo(type: Any, /) -> finfo_object:
    """The limits of floats, of a dtype or that of a tensor; of complex numbers those of a part.

    >>> dy2st.array_api.finfo("float32").bits, dy2st.array_api.finfo("complex128").eps
    (32, 2.220446049250313e-16)
    """
    found = np.finfo(_dtype_of(type))
    eps, most, least, smallest = map(
        float, (found.eps, found.max, found.min, found.smallest_normal)
    )
    return finfo_object(found.bits, eps, most, least, smallest, np.dtype(found.dtype))


def iinfo(type: Any, /) -> iinfo_object:
    """The limits of integers, of a dtype or that of a tensor.

    >>> dy2st.array_api.iinfo("uint8").max
    255
    """
    dtype = _dtype_of(type)
    found = np.iinfo(dtype)
    return iinfo_object(found.bits, int(found.max), int(found.min), dtype)


def isdtype(dtype: Any, kind: Any) -> Any:
    """Whether a dtype is of a kind ("bool", "integral", "real floating", ...) or is another one.

    Of a tuple one must hold. ArgumentError for a kind that the standard does not name.

    >>> xp = dy2st.array_api
    >>> xp.isdtype(xp.int8, "integral"), xp.isdtype(xp.int8, ("bool", "real floating"))
    (True, False)
    """
    if isinstance(kind, tuple):
        return any(isdtype(dtype, one) for one in kind)
    if not isinstance(kind, str):
        return np.dtype(dtype) == np.dtype(kind)
    if kind not in KINDS:
        raise ArgumentError(f"a kind of dtypes is one of {', '.join(KINDS)}, not {kind!r}")
    return np.dtype(dtype).kind in KINDS[kind]


def can_cast(from_: Any, to: Any, /) -> Any:
    """Whether all values of a dtype, or of that of a tensor, have their like in another one.

    >>> xp = dy2st.array_api
    >>> xp.can_cast(xp.int8, xp.int64), xp.can_cast(xp.int64, xp.int8)
    (True, False)
    """
    return np.can_cast(_dtype_of(from_), np.dtype(to))


def result_type(*arrays_and_dtypes: Any) -> Any:
    """The dtype that tensors and dtypes are brought to; numbers of Python yield to them.

    >>> xp = dy2st.array_api
    >>> xp.result_type(xp.int8, xp.uint8, 3)
    dtype('int16')
    """
    plain = (np.bool_, int, float, complex)
    return np.result_type(
        *(one if isinstance(one, plain) else _dtype_of(one) for one in arrays_and_dtypes)
    )


def astype(x: Any, dtype: Any, /, *, copy: Any = True, device: Any = None) -> Any:
    """x in another dtype: a copy, or x itself where it has the dtype and copy is False.

    DTypeError for complex numbers that would lose a part: `real(x)` or `imag(x)` takes one.

    >>> dy2st.array_api.astype(dy2st.to_tensor([1.5]), "int64").tolist()
    [1]
    """
    as_device(device)
    if x.dtype.kind == "c" and np.dtype(dtype).kind not in "cb":
        raise DTypeError(f"complex numbers are no {dtype}: take real(x), imag(x) or abs(x)")
    if np.dtype(dtype) == x.dtype:
        return F.clone(x) if copy else x
    return F.cast(x, dtype)


def as_device(device: Any) -> None:
    """Refuse all but the CPU, which None stands for too."""
    if device is not None and str(device) not in ("cpu", "Place(cpu)"):
        raise ArgumentError(f"tensors lie on the device 'cpu', not {device!r}")


class Info:
    """What `__array_namespace_info__` gives."""

    def capabilities(self) -> dict[str, Any]:
        """Masks and shapes that depend on data are there; an array has as many axes as NumPy's."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> str:
        """The CPU."""
        return "cpu"

    def devices(self) -> list[Any]:
        """The CPU alone."""
        return ["cpu"]

    def default_dtypes(self, *, device: Any = None) -> dict[str, Any]:
        """The dtypes of numbers of Python; floats have that of `set_default_dtype`."""
        as_device(device)
        real = np.dtype(get_default_dtype())
        return {
            "real floating": real,
            "complex floating": complex128 if real == float64 else complex64,
            "integral": int64,
            "indexing": int64,
        }

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, Any]:
        """By name, the dtypes of a kind or of a tuple of kinds; all by default."""
        as_device(device)
        known: Mapping[str, Any] = {
            one.name: one for one in (bool, *_SIGNED, *_UNSIGNED, *_REAL, *_COMPLEX)
        }
        return {name: one for name, one in known.items() if kind is None or isdtype(one, kind)}


def __array_namespace_info__() -> Info:
    """What this library has: capabilities, devices and dtypes."""
    return Info()
