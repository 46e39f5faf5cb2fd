"""Named arrays in one file, in the format of safetensors: read memory-mapped, written at once.

The writer is the safetensors library's. The reader maps the file itself: the library's NumPy face
copies every array, and so needs twice the memory.
"""

from __future__ import annotations

import json
import os
import struct
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save as _serialize

from dy2st_runtime.errors import FormatError

Array = np.ndarray[Any, Any]

_DTYPES = {
    "F16": "float16",
    "F32": "float32",
    "F64": "float64",
    "I8": "int8",
    "I16": "int16",
    "I32": "int32",
    "I64": "int64",
    "U8": "uint8",
    "BOOL": "bool",
    "BF16": "bfloat16",
}
_MAX_HEADER = 100 << 20


def write_arrays(path: Path, arrays: Mapping[str, Array]) -> None:
    """Write arrays by name; the file is complete or not there."""
    # The library stores arrays that are not contiguous wrongly, without a word.
    contiguous = {name: np.ascontiguousarray(arrays[name]) for name in sorted(arrays)}
    shaped = {name: array.reshape(arrays[name].shape) for name, array in contiguous.items()}
    write_bytes(path, _serialize(shaped))


def write_bytes(path: Path, data: bytes) -> None:
    """Write under a temporary name in the same folder, then rename."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def read_arrays(path: Path) -> dict[str, Array]:
    """Arrays by name, read-only and mapped from the file: they are loaded as they are used.

    Raises FormatError if the file is damaged, truncated or of another kind.
    """
    size = path.stat().st_size
    if size < 8:
        raise FormatError(f"{path}: {size} bytes are too few for a safetensors file")
    mapped = np.memmap(path, np.uint8, "r")
    (length,) = struct.unpack("<Q", mapped[:8].tobytes())
    if length > min(size - 8, _MAX_HEADER):
        raise FormatError(f"{path}: it is truncated, or no safetensors file")
    try:
        header = json.loads(mapped[8 : 8 + length].tobytes())
    except (ValueError, RecursionError):
        raise FormatError(f"{path}: its header is damaged") from None
    if not isinstance(header, dict):
        raise FormatError(f"{path}: its header is damaged")
    data = mapped[8 + length :]
    arrays: dict[str, Array] = {}
    covered = 0
    for name, entry in sorted(header.items(), key=_by_offset):
        if name == "__metadata__":
            continue
        array, begin, end = _array(path, name, entry, data)
        if begin != covered:
            raise FormatError(f"{path}: the data of {name!r} overlaps or leaves a gap")
        arrays[name], covered = array, end
    if covered != len(data):
        raise FormatError(f"{path}: {len(data)} bytes of data, its header names {covered}")
    return dict(sorted(arrays.items()))


def _by_offset(item: tuple[str, Any]) -> tuple[int, int]:
    entry = item[1]
    offsets = entry.get("data_offsets") if isinstance(entry, dict) else None
    match offsets:
        case [int(begin), int(end)]:
            return begin, end
    return -1, -1


def _array(path: Path, name: str, entry: Any, data: Array) -> tuple[Array, int, int]:
    try:
        dtype = np.dtype(_DTYPES[entry["dtype"]])
        shape = [int(number) for number in entry["shape"]]
        begin, end = (int(number) for number in entry["data_offsets"])
    except (KeyError, TypeError, ValueError):
        raise FormatError(f"{path}: the entry of {name!r} is damaged") from None
    count = 1
    for number in shape:
        count *= number
    fits = 0 <= begin <= end <= len(data) and min(shape, default=0) >= 0
    if not fits or count * dtype.itemsize != end - begin:
        raise FormatError(f"{path}: the data of {name!r} does not fit its shape {shape}")
    raw = data[begin:end]
    if (raw.ctypes.data if end > begin else 0) % dtype.alignment:
        raw = raw.copy()
    array: Array = raw.view(dtype).reshape(shape)
    return array, begin, end
