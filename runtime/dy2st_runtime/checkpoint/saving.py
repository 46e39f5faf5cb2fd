"""Checkpoints written: arrays in the format of safetensors, all else as JSON beside them."""

from __future__ import annotations

import io
from typing import Any

from dy2st_runtime.checkpoint.source import AnyFile, path_of
from dy2st_runtime.checkpoint.structure import Written
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.files import naming, replacing
from dy2st_runtime.tensor_file import bytes_of, store_arrays

_CONFIGS = ("use_binary_format", "pickle_protocol", "safetensors")


def save(obj: Any, path: AnyFile, protocol: int = 4, **configs: Any) -> None:
    """Write a state dict, a tensor, or nested containers of them, to be read by `load`.

    `obj` is made of tensors, NumPy arrays and numbers, Python numbers, texts, bytes, None, dicts,
    OrderedDicts, lists, tuples and sets; types, order and names of tensors come back as they were.
    `path` is a file, whose folder is made, or an `io.BytesIO`.

    Whatever the name of the file, `model.pdparams` or `adam.pdopt`, its content is in the format
    of safetensors: other libraries find the tensors under their names, those of nested dicts
    joined by dots, and no reader runs code. What is no tensor stands in its metadata as JSON.
    PaddlePaddle itself reads it by `paddle.load(path, safetensors=True)`. The same object gives the
    same bytes. The file is complete or as it was, even if the process is killed.

    `protocol`, `pickle_protocol` and `safetensors` are Paddle's, and change nothing. Raises
    ArgumentError for an object that is no data (a Layer: save its `state_dict()`), and
    FileAccessError if the disk refuses.

    >>> import io
    >>> from dy2st_runtime import nn
    >>> from dy2st_runtime.checkpoint import load
    >>> buffer = io.BytesIO()
    >>> save({"model": nn.Linear(2, 3).state_dict(), "epoch": 7}, buffer)
    >>> _ = buffer.seek(0)
    >>> state = load(buffer)
    >>> state["epoch"], state["model"]["weight"].shape
    (7, [2, 3])
    """
    _check(protocol, configs)
    written = Written(obj)
    if isinstance(path, io.BytesIO):
        path.write(bytes_of(written.arrays, written.tree))
        return
    file = path_of(path)
    with naming(file.parent):
        file.parent.mkdir(parents=True, exist_ok=True)
    with replacing(file) as (temporary,), naming(file):
        store_arrays(temporary, written.arrays, tree=written.tree)


def _check(protocol: Any, configs: dict[str, Any]) -> None:
    unknown = [name for name in configs if name not in _CONFIGS]
    if unknown:
        raise ArgumentError(f"save has no option {unknown[0]!r}; it has {', '.join(_CONFIGS)}")
    if configs.get("use_binary_format"):
        raise ArgumentError("save writes no use_binary_format of Paddle's; leave the option out")
    version = configs.get("pickle_protocol") or protocol
    if type(version) is not int or not 2 <= version <= 4:
        raise ArgumentError(f"protocol is 2, 3 or 4, as in Paddle, not {version!r}")


__all__ = ["save"]
