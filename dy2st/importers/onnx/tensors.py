"""Tensors of a model as arrays: their lengths are checked before memory is taken."""

from __future__ import annotations

import math
import os
import stat
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from dy2st.importers.onnx.package import onnx
from dy2st_runtime.errors import DTypeError, FormatError, MissingFile
from dy2st_runtime.files import naming
from dy2st_runtime.ir.types import given_dtype

Array = np.ndarray[Any, Any]

DTYPES = {
    "FLOAT": "float32", "UINT8": "uint8", "INT8": "int8", "UINT16": "uint16", "INT16": "int16",
    "INT32": "int32", "INT64": "int64", "BOOL": "bool", "FLOAT16": "float16",
    "DOUBLE": "float64", "UINT32": "uint32", "UINT64": "uint64", "COMPLEX64": "complex64",
    "COMPLEX128": "complex128", "BFLOAT16": "bfloat16", "FLOAT8E4M3FN": "float8_e4m3fn",
    "FLOAT8E4M3FNUZ": "float8_e4m3fnuz", "FLOAT8E5M2": "float8_e5m2",
    "FLOAT8E5M2FNUZ": "float8_e5m2fnuz", "FLOAT8E8M0": "float8_e8m0fnu",
    "FLOAT4E2M1": "float4_e2m1fn", "UINT4": "uint4", "INT4": "int4", "UINT2": "uint2",
    "INT2": "int2",
}  # fmt: skip
"""NumPy's names of the element types, by ONNX's."""

_PER_BYTE = {"UINT4": 2, "INT4": 2, "FLOAT4E2M1": 2, "UINT2": 4, "INT2": 4}
_FIELDS = {
    "FLOAT": "float_data", "COMPLEX64": "float_data", "INT64": "int64_data",
    "DOUBLE": "double_data", "COMPLEX128": "double_data", "UINT32": "uint64_data",
    "UINT64": "uint64_data",
}  # fmt: skip
_MOST_SPARSE = 1 << 24


@cache
def _names() -> dict[int, str]:
    return {number: name for name, number in onnx().TensorProto.DataType.items()}


@cache
def dtype_of(number: int) -> np.dtype[Any]:
    """The dtype of ONNX's number of an element type; DTypeError if Programs have none such."""
    name = _names().get(number, str(number))
    if name not in DTYPES:
        raise DTypeError(f"a Program has no elements of ONNX's type {name}")
    return given_dtype(DTYPES[name])


@cache
def number_of(dtype: np.dtype[Any]) -> int:
    """ONNX's number of a dtype.

    >>> number_of(np.dtype("float32"))
    1
    """
    for name, own in DTYPES.items():
        if own == dtype.name:
            return int(onnx().TensorProto.DataType.Value(name))
    raise DTypeError(f"ONNX has no element type {dtype}")


class TensorReader:
    """Makes arrays of a model's tensors; external data lie in the folder of the model."""

    def __init__(self, folder: Path | None):
        """`folder` may hold external data; None where the model is no file."""
        self._folder = folder
        self._mapped: dict[str, Array] = {}

    def array(self, tensor: Any, what: str) -> Array:
        """The array of a TensorProto, called `what` in messages."""
        dtype, dims = dtype_of(tensor.data_type), tuple(tensor.dims)
        if any(size < 0 for size in dims):
            raise FormatError(f"{what} has the sizes {list(dims)}")
        count = math.prod(dims)
        name = _names()[tensor.data_type]
        size = -(-count // _PER_BYTE.get(name, 1)) * dtype.itemsize
        if tensor.data_location == onnx().TensorProto.EXTERNAL:
            data = self._external(tensor, size, what)
            if name not in _PER_BYTE:
                return _viewed(data, dtype, dims)
            tensor = onnx().TensorProto(data_type=tensor.data_type, dims=dims)
            tensor.raw_data = data.tobytes()
        elif tensor.HasField("raw_data"):
            raw = tensor.raw_data
            if len(raw) != size:
                raise _misfit(what, dims, len(raw), size, "bytes")
            if name not in _PER_BYTE:
                return _viewed(np.frombuffer(raw, np.uint8), dtype, dims)
        else:
            have = len(getattr(tensor, _FIELDS.get(name, "int32_data")))
            parts = 2 if name.startswith("COMPLEX") else 1
            # Four-bit elements may lie packed here or, in older files, one by one.
            if have != count * parts and not (name in _PER_BYTE and have == size):
                raise _misfit(what, dims, have, count * parts, "elements")
        try:
            found: Array = np.asarray(onnx().numpy_helper.to_array(tensor))
            return found.astype(dtype, copy=False).reshape(dims)
        except (ValueError, TypeError, OverflowError) as error:
            raise FormatError(f"{what} cannot be read: {error}") from None

    def dense(self, sparse: Any, what: str) -> Array:
        """The array of a SparseTensorProto."""
        values = self.array(sparse.values, what).reshape(-1)
        places = self.array(sparse.indices, f"the places of {what}")
        dims = tuple(sparse.dims)
        if any(size < 0 for size in dims) or math.prod(dims) > _MOST_SPARSE:
            raise FormatError(f"{what}, a sparse tensor, has the sizes {list(dims)}")
        found = np.zeros(math.prod(dims), values.dtype)
        if places.ndim == 2 and len(dims) == places.shape[1]:
            is_inside = bool((places >= 0).all() and (places < np.array(dims)).all())
            places = np.ravel_multi_index(tuple(places.T), dims) if is_inside else places[:0, 0] - 1
        places = places.reshape(-1)
        if len(places) != len(values) or not ((places >= 0) & (places < found.size)).all():
            raise FormatError(f"{what} has places outside of {list(dims)}")
        found[places] = values
        return found.reshape(dims)

    def _external(self, tensor: Any, size: int, what: str) -> Array:
        """The bytes of a tensor that lie in another file of the model's folder."""
        entries = {entry.key: entry.value for entry in tensor.external_data}
        mapped = self._file(entries.get("location", ""), what)
        offset = _number(entries, "offset", 0, what)
        length = _number(entries, "length", size, what)
        if length != size:
            raise _misfit(what, tuple(tensor.dims), length, size, "bytes")
        if offset + length > len(mapped):
            raise FormatError(
                f"{what} takes bytes {offset} to {offset + length} of {entries['location']}, which "
                f"has {len(mapped)}: the file is cut, or of another model"
            )
        return mapped[offset : offset + length]

    def _file(self, location: str, what: str) -> Array:
        if location in self._mapped:
            return self._mapped[location]
        if self._folder is None:
            raise FormatError(f"{what} lies in {location!r}, and a model in memory has no folder")
        base = os.path.realpath(self._folder)
        path = os.path.realpath(os.path.join(base, location))
        is_plain = location and "\0" not in location and not os.path.isabs(location)
        if not is_plain or os.path.commonpath([base, path]) != base or path == base:
            raise FormatError(
                f"{what} lies in {location!r}, outside of the model's folder {self._folder}: "
                "nothing else is opened; put the file beside the model"
            )
        with naming(Path(path)):
            if not os.path.exists(path):
                raise MissingFile(f"{what} lies in {path}, which is not there")
            if not stat.S_ISREG(os.stat(path).st_mode):
                raise FormatError(f"{what} lies in {path}, which is no file")
            is_empty = os.path.getsize(path) == 0
            empty: Array = np.zeros(0, np.uint8)
            mapped = empty if is_empty else np.asarray(np.memmap(path, np.uint8, "r"))
        self._mapped[location] = mapped
        return mapped


def _viewed(data: Array, dtype: np.dtype[Any], dims: tuple[int, ...]) -> Array:
    """Bytes as elements, without a copy where they lie as the machine wants them."""
    if dtype.kind == "b":
        truths: Array = (data != 0).reshape(dims)
        return truths
    if data.ctypes.data % max(dtype.alignment, 1):
        data = data.copy()
    found = data.view(dtype.newbyteorder("<") if dtype.kind in "iufc" else dtype)
    made: Array = found.astype(dtype, copy=False).reshape(dims)
    return made


def _number(entries: Mapping[str, str], key: str, default: int, what: str) -> int:
    text = entries.get(key, str(default))
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        raise FormatError(f"{what}: the {key} of its external data is {text!r:.40}, no number")
    return int(text)


def _misfit(what: str, dims: tuple[int, ...], have: int, want: int, unit: str) -> FormatError:
    return FormatError(f"{what} has the sizes {list(dims)}, so {want} {unit}, and {have} are there")
