"""Reads files of `torch.save`: a pickle that describes tensors, and storages with their data.

Today's files are zip archives, stored without compression: `name/data.pkl` beside `name/data/0`,
`name/data/1`, ... Older ones are five pickles in a row (a magic number, a version, facts about the
machine, the object, the names of the storages), and then each storage with its length before it.
"""

from __future__ import annotations

import math
import struct
import zipfile
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from dy2st_runtime.checkpoint.array_rules import BUILDS, RULES, PickledArray, are_counts
from dy2st_runtime.checkpoint.pickle_machine import Builds, Global, Machine, Rules, described
from dy2st_runtime.checkpoint.source import Source
from dy2st_runtime.checkpoint.tensors import Array, as_tensor, known_dtype
from dy2st_runtime.checkpoint.tree import Unfolded
from dy2st_runtime.errors import FormatError
from dy2st_runtime.torch_arrays import note_of_torch

MAGIC = 0x1950A86A20F9469CFC6C
_VERSION = 1001
# A view may show an element several times (torch's `expand`), but not make much of little.
_MOST_REPEATED = 1 << 20
# What the zipfile of Python raises for archives that are damaged.
_DAMAGE = (
    zipfile.BadZipFile,
    EOFError,
    NotImplementedError,
    OSError,
    OverflowError,
    RuntimeError,
    ValueError,
    struct.error,
)
_DTYPES = {
    "Bool": "bool", "Char": "int8", "Short": "int16", "Int": "int32", "Long": "int64",
    "Byte": "uint8", "Half": "float16", "BFloat16": "bfloat16", "Float": "float32",
    "Double": "float64", "ComplexFloat": "complex64", "ComplexDouble": "complex128",
}  # fmt: skip
_STORAGES = {Global("torch", f"{name}Storage"): dtype for name, dtype in _DTYPES.items()}
_UNTYPED = Global("torch.storage", "UntypedStorage")
_NAMED = {Global("torch", name): name for name in (*_DTYPES.values(), "uint16", "uint32", "uint64")}


@dataclass(frozen=True, slots=True)
class _Storage:
    """Data of the file by its key, and the name of the dtype; "" if the tensor has it."""

    key: str
    dtype: str


@dataclass(frozen=True, slots=True)
class _View:
    """A tensor: where it lies in a storage."""

    storage: _Storage
    dtype: str
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


# -- what a pickle of torch may ask for -------------------------------------------------------


def _storage(machine: Machine, name: Any) -> _Storage:
    """`("storage", torch.FloatStorage, key, device, size)`."""
    if type(name) is not tuple or len(name) not in (5, 6) or name[0] != "storage":
        machine.fail("it has a storage that is damaged")
    kind, key = name[1], name[2]
    if type(kind) is not Global or not (kind in _STORAGES or kind == _UNTYPED):
        machine.fail(f"it has a storage of {described(kind)}, which is not read")
    if type(key) is not str or name[5:] not in ((), (None,)):
        machine.fail("it has a storage that is damaged, or a part of another one")
    return _Storage(key, _STORAGES.get(kind, ""))


def _tensor(machine: Machine, arguments: tuple[Any, ...]) -> _View:
    """`_rebuild_tensor_v2(storage, offset, shape, strides, requires_grad, hooks)`."""
    return _view(machine, arguments[:4], "")


def _tensor_with_dtype(machine: Machine, arguments: tuple[Any, ...]) -> _View:
    """`_rebuild_tensor_v3`: with the dtype as seventh."""
    dtype = arguments[6] if len(arguments) > 6 else None
    if type(dtype) is not Global or dtype not in _NAMED:
        machine.fail(f"it has a tensor of {described(dtype)}, which is not read")
    return _view(machine, arguments[:4], _NAMED[dtype])


def _view(machine: Machine, arguments: tuple[Any, ...], dtype: str) -> _View:
    if len(arguments) != 4 or type(arguments[0]) is not _Storage:
        machine.fail("it has a tensor that is damaged")
    storage, offset, shape, strides = arguments
    fits = are_counts((offset,)) and are_counts(shape) and type(strides) is tuple
    if not fits or len(shape) != len(strides) or not all(are_counts((n,)) for n in strides):
        machine.fail("it has a tensor whose place, shape or strides are impossible")
    if not (dtype or storage.dtype):
        machine.fail("it has a tensor without a dtype")
    return _View(storage, dtype or storage.dtype, offset, shape, strides)


def _parameter(machine: Machine, arguments: tuple[Any, ...]) -> _View:
    """`_rebuild_parameter(tensor, requires_grad, hooks)`."""
    if not arguments or type(arguments[0]) is not _View:
        machine.fail("it has a parameter that is no tensor")
    view: _View = arguments[0]
    return view


def _size(machine: Machine, arguments: tuple[Any, ...]) -> tuple[int, ...]:
    """`torch.Size((2, 3))`."""
    if len(arguments) != 1 or not are_counts(arguments[0]):
        machine.fail("it has a size that is none")
    found: tuple[int, ...] = arguments[0]
    return found


def _set_metadata(machine: Machine, value: Any, state: Any) -> None:
    """State dicts carry versions of Layers as an attribute, which only torch's own Layers need."""
    if type(state) is not dict or list(state) != ["_metadata"]:
        machine.fail("it sets attributes of an OrderedDict")


_RULES: Rules = {
    **RULES,
    Global("torch._utils", "_rebuild_tensor"): _tensor,
    Global("torch._utils", "_rebuild_tensor_v2"): _tensor,
    Global("torch._utils", "_rebuild_tensor_v3"): _tensor_with_dtype,
    Global("torch._utils", "_rebuild_parameter"): _parameter,
    Global("torch", "Size"): _size,
}
_BUILDS: Builds = {**BUILDS, OrderedDict: _set_metadata}


# -- the two kinds of files -------------------------------------------------------------------


def read_zip(source: Source, return_numpy: bool) -> Any:
    """The object of a zip archive of torch."""
    with source.open() as file:
        with _naming_damage(source):
            archive = zipfile.ZipFile(file)
        # What reads each entry, once it is sure that all of them fit into the file.
        entries = {info.filename: info for info in archive.infolist()}
        if len(entries) != len(archive.infolist()):
            raise FormatError(f"{source.name}: two entries of its zip archive have one name")
        for name, info in entries.items():
            is_stored = info.compress_type == zipfile.ZIP_STORED and not info.flag_bits & 1
            if not is_stored or info.file_size != info.compress_size:
                raise FormatError(
                    f"{source.name}: {name!r:.80} is compressed or encrypted, "
                    "as torch.save never does"
                )
        if sum(info.file_size for info in entries.values()) > len(source.data):
            raise FormatError(f"{source.name}: its zip archive claims to hold more than it is long")

        def reads(info: zipfile.ZipInfo) -> Callable[[], bytes]:
            def read() -> bytes:
                with _naming_damage(source):
                    return archive.read(info)

            return read

        checked = {name: reads(info) for name, info in entries.items()}
        folders = [name[: -len("data.pkl")] for name in checked if name.endswith("/data.pkl")]
        if len(folders) != 1 or f"{folders[0]}constants.pkl" in checked:
            raise FormatError(
                f"{source.name} is a zip archive, but no checkpoint of torch.save"
                + (": it holds a TorchScript program" if folders else "")
            )
        folder = folders[0]

        def read(name: str) -> bytes:
            if f"{folder}{name}" not in checked:
                raise FormatError(
                    f"{source.name}: there is no {folder + name!r:.80} in its archive"
                )
            return checked[f"{folder}{name}"]()

        machine = Machine(source.name, memoryview(read("data.pkl")), _RULES, _BUILDS, _storage)
        tree = machine.load()
        is_big = f"{folder}byteorder" in checked and read("byteorder") == b"big"
        found = _Storages(source, lambda key: read(f"data/{key}"), is_big).put_into(
            tree, return_numpy
        )
    source.end_at(len(source.data))
    return found


@contextmanager
def _naming_damage(source: Source) -> Iterator[None]:
    """What zipfile raises for archives that are damaged becomes a FormatError."""
    try:
        yield
    except _DAMAGE as error:
        raise FormatError(f"{source.name}: its zip archive is damaged: {error!s:.200}") from None


def read_legacy(source: Source, return_numpy: bool) -> Any:
    """The object of a file of torch before 1.6."""
    machine = Machine(source.name, source.data, _RULES, _BUILDS, _storage)
    if machine.load() != MAGIC or machine.load() != _VERSION:
        raise FormatError(f"{source.name} is no checkpoint of torch, or of an unknown version")
    facts, tree, keys = machine.load(), machine.load(), machine.load()
    # The size of an element of each storage.
    sizes: dict[str, int] = {}

    def note(node: Any) -> Any:
        if type(node) is _View:
            sizes[node.storage.key] = (
                2
                if node.storage.dtype == "bfloat16"
                else np.dtype(node.storage.dtype or "uint8").itemsize
            )
            return None
        return None if type(node) is PickledArray else node

    Unfolded(note, machine.fail, 1_000_000 + len(machine.data))(tree)
    if type(keys) is not list or any(type(key) is not str for key in keys):
        machine.fail("its list of storages is damaged")
    if len(set(keys)) != len(keys) or set(keys) != set(sizes):
        machine.fail("its list of storages is not that of its tensors")
    data: dict[str, bytes] = {}
    for key in keys:
        data[key] = bytes(machine.take(machine.number(8) * sizes[key]))
    source.end_at(machine.position)
    is_big = type(facts) is dict and facts.get("little_endian") is False
    return _Storages(source, data.__getitem__, is_big).put_into(tree, return_numpy)


class _Storages:
    """The data of a file, each read once, and the tensors that lie in it."""

    def __init__(self, source: Source, read: Callable[[str], bytes], is_big_endian: bool):
        self._source, self._read, self._is_big = source, read, is_big_endian
        self._data: dict[str, bytes] = {}
        self._swapped: dict[tuple[str, np.dtype[Any]], bytes] = {}

    def put_into(self, tree: Any, return_numpy: bool) -> Any:
        """The object with its tensors."""

        def convert(node: Any) -> Any:
            if type(node) is PickledArray:
                return node.array if node.array is not None else self._fail("an array has no data")
            if type(node) is not _View:
                return node
            array = self._array(node)
            note_of_torch(array)
            return array if return_numpy else as_tensor(self._source.name, array)

        return Unfolded(convert, self._fail, 1_000_000 + len(self._source.data))(tree)

    def _fail(self, what: str) -> NoReturn:
        raise FormatError(f"{self._source.name}: {what}")

    def _array(self, view: _View) -> Array:
        """A view of the data; it never reaches outside."""
        dtype = known_dtype(self._source.name, view.dtype)
        data = self._elements(view.storage.key, dtype)
        if 0 in view.shape:
            return np.empty(view.shape, dtype)
        last = view.offset + sum((n - 1) * step for n, step in zip(view.shape, view.strides))
        if (last + 1) * dtype.itemsize > len(data):
            self._fail(f"a tensor of shape {view.shape!s:.80} reaches outside of its storage")
        if math.prod(view.shape) > max(len(data) // dtype.itemsize, _MOST_REPEATED):
            self._fail(f"a tensor of shape {view.shape!s:.80} repeats a much smaller storage")
        strides = [step * dtype.itemsize for step in view.strides]
        array: Array = np.ndarray(view.shape, dtype, data, view.offset * dtype.itemsize, strides)
        return array

    def _elements(self, key: str, dtype: np.dtype[Any]) -> bytes:
        """The data of a storage in the order of this machine, which all views of it share.

        A file may have a million views of a storage: a copy of each would be much of little.
        """
        data = self._data.get(key)
        if data is None:
            data = self._data[key] = self._read(key)
        if not self._is_big or dtype.itemsize == 1:
            return data
        swapped = self._swapped.get((key, dtype))
        if swapped is None:
            whole = len(data) - len(data) % dtype.itemsize
            swapped = np.frombuffer(data[:whole], dtype).byteswap().tobytes()
            self._swapped[key, dtype] = swapped
        return swapped


__all__ = ["MAGIC", "read_legacy", "read_zip"]
