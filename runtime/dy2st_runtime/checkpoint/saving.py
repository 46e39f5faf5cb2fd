"""Writes checkpoints: arrays in the format of safetensors, all else as JSON beside them.

What has an ending of PaddlePaddle's is written as PaddlePaddle writes it.
"""

from __future__ import annotations

import io
from typing import Any

from dy2st_runtime.checkpoint.paddle_writer import write_paddle
from dy2st_runtime.checkpoint.source import AnyFile, path_of
from dy2st_runtime.checkpoint.structure import Written
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.files import naming, replacing
from dy2st_runtime.ir.location import without_own_frames
from dy2st_runtime.tensor_file import bytes_of, check_stored, store_arrays

_OF_PADDLE = (".pdparams", ".pdopt")
_CONFIGS = ("use_binary_format", "pickle_protocol", "safetensors")


@without_own_frames
def save(obj: Any, path: AnyFile, protocol: int = 4, **configs: Any) -> None:
    """Write a state dict, a tensor, or nested containers of them, to be read by `load`.

    `obj` is made of tensors, NumPy arrays and numbers, Python numbers, texts, bytes, None, dicts,
    OrderedDicts, lists, tuples and sets; types, order and names of tensors come back as they were.
    `path` is a file, whose folder is made, or an `io.BytesIO`.

    A name that ends in `.pdparams` or `.pdopt` gives a file of PaddlePaddle's: `paddle.load` reads
    it, and in a state dict arrays stand under their names. As there, arrays come back as tensors
    where the object has no tensor, and an OrderedDict of tensors as a dict.

    All other names give a file of safetensors: other libraries find the tensors under their names,
    those of nested dicts joined by dots, and no reader runs code. What is no tensor stands in its
    metadata as JSON. PaddlePaddle itself reads it by `paddle.load(path, safetensors=True)`. The
    same object gives the same bytes. Either file is complete or as it was, even if the process is
    killed.

    `safetensors=True` gives one of safetensors under any name; `protocol` and `pickle_protocol` are
    Paddle's, and change nothing. Raises ArgumentError for an object that is no data (a Layer: save
    its `state_dict()`), and FileAccessError if the disk refuses.

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
    unknown = [name for name in configs if name not in _CONFIGS]
    if unknown:
        raise ArgumentError(f"save has no option {unknown[0]!r}; it has {', '.join(_CONFIGS)}")
    if configs.get("use_binary_format"):
        raise ArgumentError("save writes no use_binary_format of Paddle's; leave the option out")
    version = configs.get("pickle_protocol") or protocol
    if type(version) is not int or not 2 <= version <= 4:
        raise ArgumentError(f"protocol is 2, 3 or 4, as in Paddle, not {version!r}")
    written = Written(obj)
    if isinstance(path, io.BytesIO):
        path.write(bytes_of(written.arrays, written.tree))
        return
    file = path_of(path)
    with naming(file.parent):
        file.parent.mkdir(parents=True, exist_ok=True)
    is_paddles = file.suffix in _OF_PADDLE and not configs.get("safetensors")
    with replacing(file) as (temporary,), naming(file):
        if is_paddles:
            for name, array in written.arrays.items():
                check_stored(name, array.dtype)
            with temporary.open("xb") as opened:
                write_paddle(obj, opened)
        else:
            store_arrays(temporary, written.arrays, tree=written.tree)


__all__ = ["save"]
