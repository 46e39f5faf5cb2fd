"""Writes checkpoints as `paddle.save` does, for `paddle.load` and for `load`.

The pickles hold data alone: dicts, lists, numbers, texts, and NumPy's arrays.
"""

from __future__ import annotations

import pickle
from collections import OrderedDict
from typing import Any, BinaryIO, NoReturn

import numpy as np

from dy2st_runtime.checkpoint.paddle_file import NAMES
from dy2st_runtime.checkpoint.tree import Unfolded
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.tensor import EagerTensor


def write_paddle(obj: Any, file: BinaryIO) -> None:
    """Write an object that `Written` takes; ArgumentError for what would come back as another."""
    tree = Unfolded(_named, _fail)(_as_state_dict(obj))
    pickler = pickle.Pickler(file, protocol=4)
    pickler.fast = True  # the same bytes, whichever texts and numbers are one object
    pickler.dump(tree)


def _fail(what: str) -> NoReturn:
    raise ArgumentError(f"save: {what}")


def _as_state_dict(obj: Any) -> Any:
    """A dict whose tensors are all values of its own, with arrays and a table of names."""
    if type(obj) not in (dict, OrderedDict):
        return obj
    tensors = {key: value for key, value in obj.items() if isinstance(value, EagerTensor)}
    others = [value for key, value in obj.items() if key not in tensors]
    if not tensors or any(map(_has_tensors, others)):
        return obj
    arrays = {key: _array(tensors[key]) if key in tensors else obj[key] for key in obj}
    return {**arrays, NAMES: {key: tensor.name for key, tensor in tensors.items()}}


def _has_tensors(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_has_tensors, value.values()))
    if isinstance(value, (list, tuple)):
        return any(map(_has_tensors, value))
    return isinstance(value, EagerTensor)


def _named(node: Any) -> Any:
    """A tensor as Paddle has it elsewhere: a tuple of its name and its array."""
    if isinstance(node, EagerTensor):
        return node.name, _array(node)
    is_pair = type(node) is tuple and len(node) == 2 and type(node[0]) is str
    if is_pair and isinstance(node[1], np.ndarray):
        _fail(
            "a tuple of a text and an array means a tensor in a file of Paddle's: make it a list, "
            "or name the file .safetensors"
        )
    return node


def _array(tensor: EagerTensor) -> Any:
    """The array of a tensor; Paddle has bfloat16 as uint16, which is no other element type."""
    array = tensor.array
    if array.dtype == np.uint16:
        _fail("a file of Paddle's has no tensor of uint16: cast it, or name the file .safetensors")
    return array.view("uint16") if array.dtype.name == "bfloat16" else array


__all__ = ["write_paddle"]
