"""Reads checkpoints: what a file is, its content decides."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from dy2st_runtime.checkpoint.paddle_file import read_paddle
from dy2st_runtime.checkpoint.source import AnyFile, Source, path_of
from dy2st_runtime.checkpoint.structure import read_tree
from dy2st_runtime.checkpoint.tensors import as_tensor
from dy2st_runtime.checkpoint.torch_file import MAGIC, read_legacy, read_zip
from dy2st_runtime.checkpoint.tree import Unfolded
from dy2st_runtime.errors import ArgumentError, FormatError, MissingFile
from dy2st_runtime.ir.location import without_own_frames
from dy2st_runtime.tensor import EagerTensor
from dy2st_runtime.tensor_file import is_stored, stored_in
from dy2st_runtime.torch_arrays import note_of_torch

_CONFIGS = ("model_filename", "params_filename", "keep_name_table", "return_numpy", "safetensors")
_MOST_INDEX = 100_000_000
# The first object of a legacy file of torch: LONG1 of ten bytes, and its end.
_LEGACY = b"\x8a\x0a" + MAGIC.to_bytes(10, "little") + b"."


@without_own_frames
def load(path: AnyFile, **configs: Any) -> Any:
    """What `save` has written; also checkpoints of PaddlePaddle, torch and Hugging Face.

    The content decides what a file is, not its name: our own, any safetensors file (a dict of
    tensors), a `.pdparams` or `.pdopt` of Paddle 2 and 3, a `.pt`, `.pth` or `.bin` of torch (zip,
    and the older kind), an index of shards (`model.safetensors.index.json`). An `io.BytesIO` is
    read from where it stands, and is left after the object.

    torch keeps the weight of a Linear as [out, in], Paddle and we as [in, out]. Tensors of a file
    of torch are marked, and `set_state_dict` transposes what is marked; it knows torch's names.

    No code of a file is ever run: pickles are read by a machine that makes tensors, arrays, plain
    containers, numbers and texts, and refuses all else. Nothing of the file stays in use: it may be
    replaced at once.

    `return_numpy=True` gives arrays in place of tensors, read-only where several share their data;
    `keep_name_table=True` keeps the table of names in a state dict of Paddle. bfloat16 needs the
    package ml_dtypes. Raises FormatError for a file that is damaged, foreign or asks for more than
    data, MissingFile, FileAccessError, and DTypeError for elements that tensors do not have.

    >>> import io
    >>> from dy2st_runtime.checkpoint import save
    >>> buffer = io.BytesIO()
    >>> save([1, {"a": (2.5, None)}], buffer)
    >>> _ = buffer.seek(0)
    >>> load(buffer)
    [1, {'a': (2.5, None)}]
    """
    unknown = [name for name in configs if name not in _CONFIGS]
    if unknown:
        raise ArgumentError(f"load has no option {unknown[0]!r}; it has {', '.join(_CONFIGS)}")
    for name in ("model_filename", "params_filename"):
        if configs.get(name) is not None:
            raise ArgumentError(
                f"{name} is for models of Paddle 1, which are not read: save the state dict with "
                "Paddle 2 or 3, and give the path of that file"
            )
    if not isinstance(path, io.BytesIO):
        _refuse_models(path_of(path))
    source = Source(path)
    text = bytes(source.data[:64]).lstrip()
    if text.startswith(b"{") and source.path is not None:
        # The tensors of all files that an index names.
        path = source.path
        places = _places(source)
        found: dict[str, Any] = {}
        for file in sorted(set(places.values())):
            shard = _read(Source(path.parent / file), configs)  # never one more index
            wanted = [name for name, place in places.items() if place == file]
            missing = [name for name in wanted if not isinstance(shard, dict) or name not in shard]
            if missing:
                raise FormatError(f"{path.parent / file} has no {missing[0]!r:.80}, as {path} says")
            found.update({name: shard[name] for name in wanted})
        return {name: found[name] for name in places}
    return _read(source, configs)


def _read(source: Source, configs: dict[str, Any]) -> Any:
    """What one file holds."""
    as_numpy = bool(configs.get("return_numpy"))
    if is_stored(np.frombuffer(source.data, np.uint8)):
        data = np.frombuffer(source.data, np.uint8)
        stored = stored_in(source.name, data, more_may_follow=source.path is None)
        source.end_at(stored.size)
        once = {id(array): np.array(array) for array in stored.arrays.values()}
        arrays = {name: once[id(array)] for name, array in stored.arrays.items()}
        for array in arrays.values() if stored.of_torch else ():
            note_of_torch(array)
        if stored.tree is None:
            return arrays if as_numpy else {n: as_tensor(source.name, a) for n, a in arrays.items()}
        tree = read_tree(source.name, stored.tree, arrays)
        return _with_arrays(source, tree) if as_numpy else tree
    head = bytes(source.data[:64])
    if head.startswith(b"PK\x03\x04"):
        return read_zip(source, as_numpy)
    if _LEGACY in head[:32]:  # protocols 4 and 5 have a frame before it
        return read_legacy(source, as_numpy)
    if head.startswith(b"\x80"):
        return read_paddle(source, bool(configs.get("keep_name_table")), as_numpy)
    raise FormatError(
        f"{source.name} is no checkpoint: neither safetensors, nor a pickle of Paddle (protocol 2 "
        "or later), nor a file of torch.save; or it is damaged"
    )


def _refuse_models(path: Path) -> None:
    """Say what to call for the path of a saved Program, or of nothing."""
    is_model = path.suffix in (".mlir", ".pdmodel", ".pdiparams")
    if path.exists() and not is_model:
        return
    stem = os.fspath(path.with_suffix("") if is_model else path)
    if Path(f"{stem}.mlir").is_file():
        raise ArgumentError(
            f"{stem} was saved by jit.save: jit.load({stem!r}) gives the model, and "
            f"load({stem + '.safetensors'!r}) its parameters alone"
        )
    if Path(f"{stem}.pdiparams").is_file() or Path(f"{stem}.pdmodel").is_file():
        raise FormatError(
            f"{stem} was saved by Paddle's jit.save: jit.load({stem!r}) gives the model, whose "
            "state_dict() has the parameters"
        )
    endings = (".pdparams", ".pdopt", ".safetensors", ".pt")
    found = [f"{path}{ending}" for ending in endings if Path(f"{path}{ending}").is_file()]
    if found:
        raise MissingFile(f"there is no {path}; give the whole name, {found[0]}")


def _with_arrays(source: Source, tree: Any) -> Any:
    """The tree with arrays in place of its tensors."""

    def convert(node: Any) -> Any:
        return node.array if isinstance(node, EagerTensor) else node

    def fail(what: str) -> NoReturn:
        raise FormatError(f"{source.name}: {what}")

    return Unfolded(convert, fail)(tree)


# -- checkpoints in several files -------------------------------------------------------------


def _places(source: Source) -> dict[str, str]:
    """The file of each tensor: in the folder of the index, and nowhere else."""
    try:
        index = json.loads(bytes(source.data[:_MOST_INDEX]).decode("utf-8"))
        places = index["weight_map"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise FormatError(
            f"{source.name} is a text, and no index of shards with a weight_map"
        ) from None
    # Names of files that stay in the folder.
    if type(places) is not dict or not all(
        type(name) is str
        and name not in ("", ".", "..")
        and not any(sign in name for sign in "/\\:\0")
        for name in places.values()
    ):
        raise FormatError(
            f"{source.name}: its weight_map names files outside of its folder, or none"
        )
    return places


__all__ = ["load"]
