"""Named arrays in one file, in the format of safetensors: read memory-mapped, written at once.

The safetensors library writes. Reading maps the file here: the library's NumPy face copies every
array, which takes twice the memory and, for large models, most of the time of loading.
"""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeGuard

import numpy as np
from safetensors.numpy import save_file

from dy2st_runtime.errors import ArgumentError, FormatError
from dy2st_runtime.ir.element_types import named_dtype

Array = np.ndarray[Any, Any]

_DTYPES = {
    "BOOL": "bool",
    "I8": "int8",
    "I16": "int16",
    "I32": "int32",
    "I64": "int64",
    "U8": "uint8",
    "U16": "uint16",
    "U32": "uint32",
    "U64": "uint64",
    "BF16": "bfloat16",
    "F16": "float16",
    "F32": "float32",
    "F64": "float64",
}
_STORED = frozenset(_DTYPES.values())
# The library's own limit.
_MAX_HEADER = 100_000_000
_MAX_AXES = 64
_LIMIT = 2**63
_METADATA = "__metadata__"
# The only key of the metadata, because the library writes several in no fixed order.
_SAME_AS = "same_as"


# -- writing ----------------------------------------------------------------------------------


def write_arrays(path: Path, arrays: Mapping[str, Array]) -> None:
    """Write arrays by name; the file is complete or not there, and depends on the arrays alone.

    An array that stands under several names is stored once. Raises ArgumentError for a dtype that
    the format does not have.
    """
    stored: dict[str, Array] = {}
    same_as: dict[str, str] = {}
    first: dict[int, str] = {}
    for name in sorted(arrays):
        array = arrays[name]
        if array.dtype.name not in _STORED or name == _METADATA:
            raise ArgumentError(f"{name!r} is an array of {array.dtype} and cannot be stored")
        if id(array) in first:
            same_as[name] = first[id(array)]
            continue
        first[id(array)] = name
        # The library stores arrays that are not contiguous wrongly, without a word.
        stored[name] = np.ascontiguousarray(array).reshape(array.shape)
    metadata = {_SAME_AS: json.dumps(same_as, sort_keys=True)} if same_as else None
    with replacing(path) as temporary:
        save_file(stored, temporary, metadata=metadata)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A name in the same folder to write to; when the `with` ends well it replaces `path`."""
    temporary = path.with_name(f".{path.name}.{os.urandom(8).hex()}")
    try:
        with temporary.open("xb") as file:
            mode = os.fstat(file.fileno()).st_mode
        yield temporary
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())  # the data must be on the disk before the name is
        temporary.chmod(mode)  # the library makes files that only their owner can read
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


# -- reading ----------------------------------------------------------------------------------


def read_arrays(path: Path) -> dict[str, Array]:
    """Arrays by name, read-only and mapped from the file: they are loaded as they are used.

    Raises FormatError if the file is damaged, truncated or of another kind.
    """
    data = _mapped(path)
    length = int.from_bytes(data[:8].tobytes(), "little")
    if length > min(len(data) - 8, _MAX_HEADER):
        raise _damaged(path, "it is truncated, or no safetensors file")
    header = _header(path, data[8 : 8 + length].tobytes())
    metadata = header.pop(_METADATA, {})
    entries = [_entry(path, name, header[name]) for name in header]
    arrays, covered = {}, 0
    body = data[8 + length :]
    for entry in sorted(entries, key=lambda entry: (entry.begin, entry.end)):
        if entry.begin != covered or entry.end > len(body):
            raise _damaged(path, f"the data of {entry.name!r} is missing, overlaps or leaves a gap")
        arrays[entry.name], covered = entry.array(body), entry.end
    if covered != len(body):
        raise _damaged(path, f"it has {len(body)} bytes of data and names {covered}")
    arrays.update(_shared(path, metadata, arrays))
    return {name: arrays[name] for name in sorted(arrays)}


def _mapped(path: Path) -> Array:
    size = path.stat().st_size
    if size < 8:
        raise _damaged(path, f"{size} bytes are too few for a safetensors file")
    return np.memmap(path, np.uint8, "r").view(np.ndarray)


def _damaged(path: Path, what: str) -> FormatError:
    return FormatError(f"{path}: {what}; save or copy the model again")


def _header(path: Path, text: bytes) -> dict[str, Any]:
    try:
        header = json.loads(text)
    except (ValueError, RecursionError):
        raise _damaged(path, "its header is damaged, or it is no safetensors file") from None
    if not isinstance(header, dict):
        raise _damaged(path, "its header is no table of arrays")
    return header


class _Entry(NamedTuple):
    """Where an array lies in the data of a file."""

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    begin: int
    end: int

    def array(self, body: Array) -> Array:
        """The array on the bytes of the file."""
        raw = body[self.begin : self.end]
        if raw.size and raw.ctypes.data % self.dtype.alignment:
            raw = raw.copy()  # other programs may write without alignment
            raw.flags.writeable = False
        array: Array = raw.view(self.dtype).reshape(self.shape)
        return array if sys.byteorder == "little" else array.byteswap()


def _entry(path: Path, name: str, facts: Any) -> _Entry:
    """The checked entry of one array."""
    facts = facts if isinstance(facts, dict) else {}
    kind, shape, place = facts.get("dtype"), facts.get("shape"), facts.get("data_offsets")
    if not (_are_counts(shape) and _are_counts(place) and len(place) == 2):
        raise _damaged(path, f"the entry of {name!r} is damaged")
    dtype = named_dtype(_DTYPES[kind]) if isinstance(kind, str) and kind in _DTYPES else None
    if dtype is None:
        hint = "; pip install ml_dtypes" if kind == "BF16" else ""
        raise FormatError(
            f"{path}: {name!r} has the element type {kind!r:.40}, not known here{hint}"
        )
    # NumPy wants this product to fit even where another size is 0.
    is_possible = len(shape) <= _MAX_AXES and math.prod(n or 1 for n in shape) < _LIMIT // 16
    if not is_possible or math.prod(shape) * dtype.itemsize != place[1] - place[0]:
        raise _damaged(path, f"the data of {name!r} does not fit its shape {shape!s:.80}")
    return _Entry(name, dtype, tuple(shape), place[0], place[1])


def _are_counts(value: Any) -> TypeGuard[list[int]]:
    return isinstance(value, list) and all(type(n) is int and 0 <= n < _LIMIT for n in value)


def _shared(path: Path, metadata: Any, arrays: Mapping[str, Array]) -> dict[str, Array]:
    """Arrays under their further names."""
    text = metadata.get(_SAME_AS, "{}") if isinstance(metadata, dict) else ""
    same_as = _header(path, text.encode()) if isinstance(text, str) else {}
    for name, other in same_as.items():
        if name in arrays or not isinstance(other, str) or other not in arrays:
            raise _damaged(
                path, f"{name!r} is said to be the same as another array that is not there"
            )
    return {name: arrays[other] for name, other in same_as.items()}


__all__ = ["read_arrays", "replacing", "write_arrays"]
