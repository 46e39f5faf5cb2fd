"""Named arrays in one file, in the format of safetensors: read memory-mapped, written at once.

The safetensors library writes. Reading maps the file here: the library's NumPy face copies every
array, which takes twice the memory and, for large models, most of the time of loading.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeGuard

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import save, save_file

from dy2st_runtime.errors import ArgumentError, FormatError
from dy2st_runtime.files import naming, replacing
from dy2st_runtime.ir.types import named_dtype

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
# The format has no complex numbers: their parts stand along a last axis, their names beside.
_PARTS = {"complex64": "float32", "complex128": "float64"}
# The library's own limit.
_MAX_HEADER = 100_000_000
_MAX_AXES = 64
_LIMIT = 2**63
_METADATA = "__metadata__"
# The only key of the metadata, because the library writes several in no fixed order: JSON of the
# digest, of the containers that the arrays stood in, and of names with the name under which the
# same array is stored. Older files have the latter alone, under a key of its own.
_OURS = "dy2st"
_SAME_AS = "same_as"
_DIGEST = "digest"
_TREE = "tree"
_COMPLEX = "complex"
_OS_ERROR = re.compile(r"\(os error ([0-9]+)\)")


# -- writing ----------------------------------------------------------------------------------


def write_arrays(path: Path, arrays: Mapping[str, Array]) -> None:
    """Write arrays by name; the file is complete or not there, and depends on the arrays alone.

    An array that stands under several names is stored once. Raises ArgumentError for a dtype that
    the format does not have, FileAccessError if the disk refuses.
    """
    with replacing(path) as (temporary,), naming(path):
        store_arrays(temporary, arrays)


def store_arrays(
    path: Path, arrays: Mapping[str, Array], digest: str = "", tree: Any = None
) -> None:
    """Write arrays to a new file, with the digest that a text beside it has too.

    `tree` is JSON of the containers that the arrays stood in.
    """
    stored, metadata = _content(arrays, digest, tree)
    try:
        save_file(stored, path, metadata=metadata)
    except SafetensorError as error:
        number = _OS_ERROR.search(str(error))
        if number is None:
            raise
        raise OSError(int(number[1]), os.strerror(int(number[1]))) from error


def bytes_of(arrays: Mapping[str, Array], tree: Any = None) -> bytes:
    """What `store_arrays` writes, in memory."""
    stored, metadata = _content(arrays, "", tree)
    return bytes(save(stored, metadata=metadata))


def _content(
    arrays: Mapping[str, Array], digest: str, tree: Any
) -> tuple[dict[str, Array], dict[str, str] | None]:
    """Arrays and metadata for the library."""
    for name in arrays:
        try:
            name.encode()
        except UnicodeEncodeError:
            raise ArgumentError(
                f"a tensor cannot be stored under the name {name!r}: half of a surrogate pair is "
                "no text of UTF-8; give it another name"
            ) from None
    stored, same_as = _once_each(arrays)
    given = {
        _DIGEST: digest,
        _SAME_AS: same_as,
        _TREE: tree,
        _COMPLEX: _complex_names(arrays, stored),
    }
    facts = {name: value for name, value in given.items() if value}
    if not facts:
        return stored, None
    text = json.dumps(facts, sort_keys=True)
    if len(text) > _MAX_HEADER // 3:  # it stands in JSON once more, and beside the names
        raise ArgumentError(
            f"{len(text)} bytes of names, texts and numbers are too many beside the arrays: make "
            "tensors of long lists of numbers"
        )
    return stored, {_OURS: text}


def check_stored(name: str, dtype: np.dtype[Any]) -> None:
    """ArgumentError for elements, or a name, that no file has."""
    if dtype.name not in (*_STORED, *_PARTS) or name == _METADATA:
        raise ArgumentError(f"{name!r} is an array of {dtype} and cannot be stored")


def digest_of(arrays: Mapping[str, Array]) -> str:
    """32 hexadecimal digits that identify these names and arrays."""
    stored, same_as = _once_each(arrays)
    found = hashlib.blake2b(json.dumps(same_as, sort_keys=True).encode(), digest_size=16)
    found.update("".join(map(json.dumps, _complex_names(arrays, stored))).encode())
    for name, array in stored.items():
        found.update(json.dumps([name, array.dtype.name, array.shape]).encode())
        found.update(array.reshape(-1).view(np.uint8).data)
    return found.hexdigest()


def _complex_names(arrays: Mapping[str, Array], stored: Mapping[str, Array]) -> list[str]:
    return [name for name in stored if arrays[name].dtype.kind == "c"]


def _once_each(arrays: Mapping[str, Array]) -> tuple[dict[str, Array], dict[str, str]]:
    """The arrays as they are stored, and further names of the same ones."""
    stored: dict[str, Array] = {}
    same_as: dict[str, str] = {}
    first: dict[int, str] = {}
    for name in sorted(arrays):
        array = arrays[name]
        check_stored(name, array.dtype)
        if id(array) in first:
            same_as[name] = first[id(array)]
            continue
        first[id(array)] = name
        if array.dtype.byteorder == ">":
            array = array.astype(array.dtype.newbyteorder("<"))
        # The library stores arrays that are not contiguous wrongly, without a word.
        array = np.ascontiguousarray(array).reshape(array.shape)
        if array.dtype.name in _PARTS:
            array = np.stack([array.real, array.imag], -1)
        stored[name] = array
    return stored, same_as


# -- reading ----------------------------------------------------------------------------------


class StoredArrays(NamedTuple):
    """What a file holds: arrays by name, and the digest of them, "" in older files.

    `tree` is JSON of the containers that the arrays stood in, None where there is none; `size` is
    the number of bytes of all this; `of_torch` says that a model of torch was stored.
    """

    digest: str
    arrays: dict[str, Array]
    tree: Any = None
    size: int = 0
    of_torch: bool = False


def read_arrays(path: Path, mmap: bool = True) -> dict[str, Array]:
    """Arrays by name, read-only and mapped from the file: they are loaded as they are used.

    A file that somebody cuts while it is mapped ends the process with SIGBUS, as the operating
    system has it; without `mmap` all is read at once. Raises FormatError if the file is damaged,
    truncated or of another kind, FileAccessError if the disk refuses.
    """
    return read_stored(path, mmap).arrays


def read_stored(path: Path, mmap: bool = True) -> StoredArrays:
    """What `read_arrays` reads, with the digest."""
    with naming(path):
        size = path.stat().st_size
        if size < 8:
            raise _damaged(path, f"{size} bytes are too few for a safetensors file")
        if mmap:
            bytes_of = np.memmap(path, np.uint8, "r").view(np.ndarray)
        else:
            bytes_of = np.frombuffer(path.read_bytes(), np.uint8)
    return stored_in(path, bytes_of)


def is_stored(data: Array) -> bool:
    """Whether the bytes begin as a safetensors file does."""
    head = data[:9].tobytes()
    return head[8:] == b"{" and int.from_bytes(head[:8], "little") <= _MAX_HEADER


def stored_in(path: Any, data: Array, more_may_follow: bool = False) -> StoredArrays:
    """What the bytes of a safetensors file hold; `path` names them in errors.

    The arrays are views of the bytes. Raises FormatError as `read_arrays`.
    """
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
    if covered != len(body) and not more_may_follow:
        raise _damaged(path, f"it has {len(body)} bytes of data and names {covered}")
    facts = _facts(path, metadata if isinstance(metadata, dict) else {})
    # The complex numbers whose parts are stored.
    names = facts.get(_COMPLEX, [])
    found = {}
    for name in names if isinstance(names, list) else ():
        parts = arrays.get(name) if isinstance(name, str) else None
        if parts is None or parts.dtype.name not in _PARTS.values() or parts.shape[-1:] != (2,):
            raise _damaged(path, f"{name!r:.80} is said to be complex and has no two parts")
        dtype = "complex64" if parts.dtype.name == "float32" else "complex128"
        found[name] = np.ascontiguousarray(parts).view(dtype)[..., 0]
    arrays.update(found)
    # Arrays under their further names.
    same_as = facts.get(_SAME_AS, {})
    found = {}
    for name, other in same_as.items() if isinstance(same_as, dict) else ():
        if name in arrays or not isinstance(other, str) or other not in arrays:
            raise _damaged(
                path, f"{name!r} is said to be the same as another array that is not there"
            )
        found[name] = arrays[other]
    arrays.update(found)
    in_order = {name: arrays[name] for name in sorted(arrays)}
    size = 8 + length + covered
    of_torch = isinstance(metadata, dict) and metadata.get("format") == "pt"
    return StoredArrays(str(facts.get(_DIGEST, "")), in_order, facts.get(_TREE), size, of_torch)


def _damaged(path: Any, what: str) -> FormatError:
    return FormatError(f"{path}: {what}; save or copy the model again")


def _header(path: Any, text: bytes) -> dict[str, Any]:
    try:
        header = json.loads(text.decode("utf-8"))  # of bytes it would guess the encoding
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


def _entry(path: Any, name: str, facts: Any) -> _Entry:
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


def _facts(path: Any, metadata: dict[str, Any]) -> dict[str, Any]:
    """What we have written into the metadata."""
    text = metadata.get(_OURS)
    if isinstance(text, str):
        return _header(path, text.encode())
    text = metadata.get(_SAME_AS)
    return {_SAME_AS: _header(path, text.encode())} if isinstance(text, str) else {}


__all__ = [
    "StoredArrays",
    "bytes_of",
    "digest_of",
    "is_stored",
    "read_arrays",
    "read_stored",
    "store_arrays",
    "stored_in",
    "write_arrays",
]
