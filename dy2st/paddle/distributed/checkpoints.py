"""Checkpoints that processes write together, and that any number of them reads.

A checkpoint is a folder. Each process writes its part into a new folder inside, as safetensors;
when all have, the index is replaced, which says what stands where. Whoever is killed at whatever
moment: the index is the old one or the new one, and all that it names is there.

    path/index.json                 names, types, and for each tensor its parts
    path/0123456789abcdef/          the parts of one call of `save_state_dict`
        0.safetensors               those that rank 0 has written

What lies on the devices of several processes goes there in parts, and is read in parts: no process
has all of it.
"""

from __future__ import annotations

import json
import math
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dy2st.paddle.distributed.collectives import gathered, group_or_world
from dy2st_runtime.errors import ArgumentError, FileAccessError, FormatError, ParameterMismatch
from dy2st_runtime.files import named, naming, replacing
from dy2st_runtime.ir.types import named_dtype
from dy2st_runtime.processes.group import Group
from dy2st_runtime.resident import Parts, Resident
from dy2st_runtime.tensor import EagerTensor, form_of
from dy2st_runtime.tensor_file import check_stored, read_arrays, store_arrays

Array = np.ndarray[Any, Any]

_INDEX = "index.json"
_VERSION = 1
_PARTS = re.compile(r"[0-9a-f]{16}")
_PLAIN = (bool, int, float, str, type(None), list, tuple)


def save_state_dict(
    state_dict: Mapping[str, Any],
    path: str,
    process_group: Group | None = None,
    coordinator_rank: int = 0,
    unique_id: int | None = None,
    async_save: bool = False,
    safetensors: bool = True,
    save_replicas: bool = False,
) -> None:
    """Write tensors, and plain values, of all processes into the folder `path`, or leave it.

    A tensor that several processes have is written by the first of them; one that lies in parts on
    a mesh is not put together: each part is written by the first process that has it. All processes
    call it, and see the same folder. Raises FileAccessError, on all, if the disk refuses on one.

    Parameters
    ----------
    state_dict
        Tensors and plain values by name, also in dicts.
    path
        The folder.
    process_group
        Who writes; all processes, if it is not said.

    Examples
    --------
    >>> import tempfile
    >>> from dy2st_runtime.tensor import to_tensor
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_state_dict({"w": to_tensor([1.0, 2.0]), "step": 3}, folder)
    ...     state = {"w": to_tensor([0.0, 0.0]), "step": 0}
    ...     load_state_dict(state, folder)
    >>> state["w"].tolist(), state["step"]
    ([1.0, 2.0], 3)
    """
    if unique_id is not None or async_save or save_replicas:
        raise ArgumentError(
            "save_state_dict: unique_id, async_save and save_replicas are not here: give each "
            "checkpoint a path of its own; it is written when the call returns, each tensor once"
        )
    group, root = group_or_world(process_group), named(str(path))
    leaves = [*_leaves(state_dict)]
    values = {name: value for _, _, name, value in leaves}
    keys = {name: found for _, found, name, _ in leaves}
    parts: dict[str, Parts] = {}
    facts: dict[str, _Fact] = {}
    for name, value in values.items():
        if isinstance(value, EagerTensor):
            facts[name], parts[name] = _fact(name, value)
        elif not isinstance(value, _PLAIN):
            raise ArgumentError(f"save_state_dict: {name!r} is a {type(value).__name__}, no tensor")
    plain = {name: value for name, value in values.items() if name not in parts}
    entries = gathered((facts, plain, os.urandom(8).hex(), keys), group, "save_state_dict")
    if not entries:  # this process takes no part
        return
    writers = _writers([entry[0] for entry in entries])
    folder = entries[0][2]
    own = {
        _key(name, place): part
        for name, held in parts.items()
        if group.rank in writers[name]
        for place, (_, part) in enumerate(held)
    }
    _agree(group, lambda: _write(root / folder / f"{group.rank}.safetensors", own))
    index = {
        "version": _VERSION,
        "tensors": {
            name: _entry(name, {rank: entries[rank][0][name] for rank in ranks}, folder)
            for name, ranks in sorted(writers.items())
        },
        "values": {name: value for entry in reversed(entries) for name, value in entry[1].items()},
        "keys": {name: found for entry in reversed(entries) for name, found in entry[3].items()},
    }
    _agree(group, lambda: _finish(root, folder, index) if group.rank == 0 else None)


class _Fact(NamedTuple):
    """What a process says of a tensor; `parts` are offsets and shapes of its own, None for all."""

    dtype: str
    shape: list[int]
    parts: list[tuple[list[int], list[int]]] | None

    def __str__(self) -> str:
        return f"{self.dtype}{self.shape}"


def _fact(name: str, tensor: EagerTensor) -> tuple[_Fact, Parts]:
    """What to say of a tensor, and the parts that this process may have to write."""
    parts = tensor.as_resident().parts
    dtype, shape = form_of(tensor)
    check_stored(name, dtype)
    if parts is None:
        return _Fact(dtype.name, [*shape], None), [([0] * len(shape), tensor.array)]
    places = [(offset, [*part.shape]) for offset, part in parts]
    return _Fact(dtype.name, [*shape], places), parts


def _key(name: str, place: int) -> str:
    """Under which name the file of a process has one of its parts of a tensor."""
    return f"{name}#{place}" if place or "#" in name else name


def _entry(name: str, facts: dict[int, _Fact], folder: str) -> dict[str, Any]:
    """What the index says of a tensor: its parts, which may be several, and where each begins."""
    dtype, shape, _ = next(iter(facts.values()))
    parts = [
        {
            "file": f"{folder}/{rank}.safetensors",
            "key": _key(name, place),
            "offset": offset,
            "shape": size,
        }
        for rank, fact in facts.items()
        for place, (offset, size) in enumerate(fact.parts or [([0] * len(shape), shape)])
    ]
    return {"dtype": dtype, "shape": shape, "parts": parts}


def _leaves(
    state: Any, above: tuple[str, ...] = ()
) -> Iterator[tuple[Any, tuple[str, ...], str, Any]]:
    """Each value in nested dicts: its dict, the keys that lead to it, its name, and the value."""
    for name, value in state.items():
        if not isinstance(name, str):
            raise ArgumentError(f"a state dict has names for keys, not {name!r:.80}")
        if isinstance(value, Mapping):
            yield from _leaves(value, (*above, name))
        else:
            yield state, (*above, name), ".".join((*above, name)), value


def _writers(facts: list[dict[str, _Fact]]) -> dict[str, list[int]]:
    """Who writes a tensor: the first process that has all of it, or those that have its parts."""
    writers: dict[str, list[int]] = {}
    for name in dict.fromkeys(name for own in facts for name in own):
        having = {rank: own[name] for rank, own in enumerate(facts) if name in own}
        first = next(iter(having.values()))
        for found in having.values():
            if found[:2] != first[:2]:
                raise ArgumentError(
                    f"save_state_dict: {name!r} is {first} in one process, and {found} in another: "
                    "give them two names"
                )
        whole = [rank for rank, fact in having.items() if fact.parts is None]
        writers[name] = whole[:1] or [rank for rank, fact in having.items() if fact.parts]
        parts = [part for fact in having.values() for part in fact.parts or ()]
        if not whole and sum(math.prod(size) for _, size in parts) != math.prod(first.shape):
            raise ArgumentError(
                f"save_state_dict: parts of {name!r} lie in processes that do not save it: all "
                "processes of its mesh save it together"
            )
    return writers


def _agree(group: Group, act: Any) -> None:
    """Do something in every process; if one fails all raise its error."""
    try:
        act()
        failure = ""
    except FileAccessError as error:
        failure = f"{error}"
    entries = gathered(failure, group, "save_state_dict")
    for rank, text in enumerate(entries):
        if text:
            raise FileAccessError(0, f"rank {group.ranks[rank]} cannot save: {text}")


def _write(path: Path, arrays: Mapping[str, Any]) -> None:
    with naming(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        store_arrays(path, arrays)
        with path.open("rb+") as file:
            os.fsync(file.fileno())


def _finish(root: Path, folder: str, index: dict[str, Any]) -> None:
    """The first process: put the index in its place, and remove what it no longer names."""
    for entry in index["tensors"].values():
        for part in entry["parts"]:
            with naming(root / part["file"]):  # it is not there if the folder is not shared
                (root / part["file"]).stat()
    with replacing(root / _INDEX) as (temporary,), naming(root):
        temporary.write_text(json.dumps(index, indent=1))
    for other in root.iterdir():
        if _PARTS.fullmatch(other.name) and other.name != folder:
            shutil.rmtree(other, ignore_errors=True)


def load_state_dict(
    state_dict: dict[str, Any],
    path: str,
    process_group: Group | None = None,
    coordinator_rank: int = 0,
    **options: Any,
) -> None:
    """Give the tensors and plain values of `state_dict` what a checkpoint has under their names.

    Each process reads what it asks for; the number of processes need not be that of those who have
    written it. A tensor on a mesh is read when it is put there, and no more of it than the parts
    for the devices of this process. A dict inside gets all that the checkpoint has in it: so an
    optimizer that has not taken a step gets its moments. Raises ParameterMismatch for a name that
    the checkpoint has not, FormatError for another shape or dtype, or if it is damaged.

    >>> import tempfile
    >>> one, other = dy2st.nn.Linear(2, 3), dy2st.nn.Linear(2, 3)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     dy2st.distributed.save_state_dict(one.state_dict(), folder)
    ...     dy2st.distributed.load_state_dict(other.state_dict(), folder)
    >>> bool((one.weight == other.weight).all())
    True
    """
    root = named(str(path))
    with naming(root / _INDEX):
        text = (root / _INDEX).read_text()
    index = _parsed(root, text)
    files: dict[str, dict[str, Any]] = {}
    asked = [*_leaves(state_dict)]
    for holder, keys, name, value in asked:
        known = index["tensors" if isinstance(value, EagerTensor) else "values"]
        if name not in known:
            raise ParameterMismatch(f"{root}: the checkpoint has no {name!r}")
        if not isinstance(value, EagerTensor):
            holder[keys[-1]] = known[name]
            continue
        entry = known[name]
        dtype, shape = form_of(value)
        if (entry["dtype"], entry["shape"]) != (dtype.name, [*shape]):
            raise FormatError(
                f"{root}: {name!r} is {entry['dtype']}{entry['shape']}, and "
                f"{dtype}{[*shape]} is to be filled"
            )
        stored = _Stored(root, name, entry, files)
        if value.is_dist() and value.node is None:
            value.keep(Resident(None, stored, stored.as_array))
        else:
            value.set_value(stored.whole())
    for name in index["keys"].keys() - {name for _, _, name, _ in asked}:
        *above, last = index["keys"][name]
        inner = state_dict.get(above[0]) if above else None
        for key in above[1:]:
            inner = inner.setdefault(key, {}) if isinstance(inner, dict) else None
        if isinstance(inner, dict):
            entry = index["tensors"].get(name)
            plain = index["values"].get(name)
            if entry is not None:
                plain = EagerTensor(_Stored(root, name, entry, files).whole())
            inner[last] = plain


def _parsed(root: Path, text: str) -> dict[str, Any]:
    try:
        index: dict[str, Any] = json.loads(text)
        version = index["version"]
        is_whole = all(isinstance(index[part], dict) for part in ("tensors", "values", "keys"))
    except (ValueError, KeyError, TypeError):
        is_whole, version = False, _VERSION
    if not is_whole:
        raise FormatError(f"{root / _INDEX}: it is damaged, or no index of a checkpoint")
    if version != _VERSION:
        raise FormatError(f"{root / _INDEX}: version {version!r:.20}; this dy2st reads {_VERSION}")
    return index


class _Stored:
    """A tensor in a checkpoint, of which a part can be read. Files are opened once, and mapped."""

    def __init__(
        self, root: Path, name: str, entry: dict[str, Any], files: dict[str, dict[str, Array]]
    ) -> None:
        """Find the parts; FormatError unless all are there."""
        self.dtype, self.shape = named_dtype(entry["dtype"]), tuple(entry["shape"])
        self._parts: Parts = []
        for part in entry["parts"]:
            file = part["file"]
            if file not in files:
                files[file] = read_arrays(root / file)
            array = files[file].get(part["key"])
            if array is None or [*array.shape] != part["shape"]:
                raise FormatError(f"{root / file}: it has no {name!r}; the checkpoint is damaged")
            self._parts.append((part["offset"], array))
        if sum(array.size for _, array in self._parts) != math.prod(self.shape):
            raise FormatError(f"{root}: parts of {name!r} lack; the checkpoint is damaged")

    def part(self, index: tuple[slice, ...]) -> Array:
        """The elements in a window, of the parts that have some of them."""
        cuts = [cut.indices(size)[:2] for cut, size in zip(index, self.shape, strict=True)]
        found = np.empty([stop - start for start, stop in cuts], self.dtype)
        for offset, array in self._parts:
            both = [
                (max(start, first), min(stop, first + size))
                for (start, stop), first, size in zip(cuts, offset, array.shape, strict=True)
            ]
            if all(start < stop for start, stop in both):
                there = tuple(slice(s - cut[0], e - cut[0]) for (s, e), cut in zip(both, cuts))
                here = tuple(slice(s - first, e - first) for (s, e), first in zip(both, offset))
                found[there] = array[here]
        return found

    def whole(self) -> Array:
        """All of it."""
        return self.part((slice(None),) * len(self.shape))

    def as_array(self, _: Any) -> Array:
        """All of it, whatever an engine has made of it."""
        return self.whole()
