"""Describes CPython's and NumPy's objects in memory, and the functions of theirs that code calls.

Sources: CPython's documented C API; `numpy/ndarraytypes.h` (PyArrayObject_fields) and the numbers
of functions in NumPy's C API, which are part of its promise of a stable binary interface.
"""

from __future__ import annotations

import ctypes
import sys
from typing import Any

import numpy as np

from dy2st_runtime.engine.native.text.lanes import NATIVE
from dy2st_runtime.lazy import once

DATA, RANK, SIZES, STRIDES, TYPE, FLAGS = 16, 24, 32, 40, 56, 64
"""Offsets of the fields of an array."""

LENGTH, ITEMS = 16, 24
"""Offsets of a list: how many entries it has, and where they are; in a tuple they are there."""

USABLE = 0x1 | 0x100
"""The flags of an array that lies row by row, without gaps, where its elements may lie."""

_PYTHON = (
    "PyObject_VectorcallDict",
    "PyList_New",
    "PyList_Append",
    "PyList_GetSlice",
    "PyList_Insert",
    "PyList_SetItem",
    "PyList_SetSlice",
    "PyLong_FromLongLong",
    "PySequence_Repeat",
    "PyEval_SaveThread",
    "PyEval_RestoreThread",
    "Py_IncRef",
    "Py_DecRef",
    "PyErr_NoMemory",
)
"""What every Python that we support exports: 3.10 knows PyObject_Vectorcall as a macro alone."""

_NUMPY = {"PyArray_New": 93, "PyDataMem_SetHandler": 304}
_ARRAY_TYPE = 2

DECLARED = """\
declare ptr @PyObject_VectorcallDict(ptr, ptr, i64, ptr)
declare ptr @PyList_New(i64)
declare i32 @PyList_Append(ptr, ptr)
declare ptr @PyList_GetSlice(ptr, i64, i64)
declare i32 @PyList_Insert(ptr, i64, ptr)
declare ptr @PySequence_Repeat(ptr, i64)
declare i32 @PyList_SetItem(ptr, i64, ptr)
declare i32 @PyList_SetSlice(ptr, i64, i64, ptr)
declare ptr @PyLong_FromLongLong(i64)
declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)
declare void @Py_IncRef(ptr)
declare void @Py_DecRef(ptr)
declare ptr @PyArray_New(ptr, i32, ptr, i32, ptr, ptr, i32, i32, ptr)
declare ptr @PyErr_NoMemory()
declare i32 @has_left()
declare ptr @aligned_alloc(i64, i64)
declare ptr @malloc(i64)
declare void @free(ptr)
@array_type = external global i8
@none = external global i8
"""


@once
def symbols() -> dict[str, int]:
    """The addresses of what `DECLARED` names."""
    found = {name: _address(getattr(ctypes.pythonapi, name)) for name in _PYTHON}
    from_capsule = ctypes.pythonapi.PyCapsule_GetPointer
    from_capsule.restype, from_capsule.argtypes = (
        ctypes.c_void_p,
        (ctypes.py_object, ctypes.c_char_p),
    )
    address = from_capsule(np._core._multiarray_umath._ARRAY_API, None)  # type: ignore[attr-defined]
    # NumPy exports its C functions in a table, as its own header reads them.
    table: Any = (ctypes.c_void_p * 400).from_address(address)
    found |= {name: table[number] for name, number in _NUMPY.items()}
    libc = ctypes.CDLL(None)
    found |= {name: _address(getattr(libc, name)) for name in ("aligned_alloc", "malloc", "free")}
    return {**found, "array_type": table[_ARRAY_TYPE], "none": id(None)}


def is_native(dtype: np.dtype[Any]) -> bool:
    """Whether code computes with elements of this type."""
    return dtype in NATIVE


@once
def is_known() -> bool:
    """Whether the objects of this process lie as the offsets say: of other builds they do not.

    On Windows code is not made either: it calls functions of POSIX, and LLVM ends the process where
    it does not find one.
    """
    if sys.platform == "win32":
        return False
    array = np.arange(6.0, dtype=np.float32).reshape(2, 3)
    fields = {
        DATA: array.ctypes.data,
        RANK: array.ndim,
        TYPE: id(array.dtype),
        8: id(np.ndarray),
    }
    if any(_read(id(array) + place, ctypes.c_int64) != want for place, want in fields.items()):
        return False
    entries = [array]
    first = _read(id(entries) + ITEMS, ctypes.c_int64)
    if _read(id(entries) + LENGTH, ctypes.c_int64) != 1 or _read(first, ctypes.c_int64) != id(
        array
    ):
        return False
    sizes = _read(id(array) + SIZES, ctypes.c_int64)
    flags = _read(id(array) + FLAGS, ctypes.c_int32)
    return bool(_read(sizes + 8, ctypes.c_int64) == 3 and flags & USABLE == USABLE)


def function_object(address: int, owner: Any) -> Any:
    """A function of Python for machine code that takes (self, arguments, their number).

    The definition that CPython reads at each call is kept by `owner`, a list.
    """
    definition = _MethodDef(b"run", address, 0x80, None)
    owner.append(definition)
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype, make.argtypes = ctypes.py_object, (ctypes.c_void_p,) * 3
    return make(ctypes.addressof(definition), None, None)


class _MethodDef(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


def _read(address: int, type: Any) -> Any:
    return type.from_address(address).value


def _address(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0


__all__ = [
    "DATA",
    "DECLARED",
    "FLAGS",
    "ITEMS",
    "LENGTH",
    "RANK",
    "SIZES",
    "TYPE",
    "USABLE",
    "function_object",
    "is_known",
    "is_native",
    "symbols",
]
