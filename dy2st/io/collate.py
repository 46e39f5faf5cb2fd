"""Collates samples to batches: fields are stacked, whatever they are nested in."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from dy2st_runtime import ops
from dy2st_runtime.errors import DTypeError, ShapeError
from dy2st_runtime.ir.location import without_own_frames_in
from dy2st_runtime.tensor import EagerTensor, from_numpy


def default_collate_fn(batch: Sequence[Any]) -> Any:
    """The samples as one batch: [(k,), (k,), ...] -> (n, k), field by field.

    Arrays become an array, tensors a tensor, numbers an array of int64, float64 or bool; texts a
    list; a dict or a list of fields a dict or a list of batches.

    >>> default_collate_fn([{"x": 1.5, "name": "a"}, {"x": 2.5, "name": "b"}])
    {'x': array([1.5, 2.5]), 'name': ['a', 'b']}
    """
    return _COLLATE[_kind_of[type(batch[0])]](batch)


_KINDS: dict[str, tuple[type, ...]] = {
    "array": (np.ndarray,),
    "tensor": (EagerTensor,),
    "number": (numbers.Number, np.generic),
    "text": (str, bytes),
    "mapping": (Mapping,),
    "sequence": (Sequence,),
}


class _KindOf(dict[type, str]):
    """The kind of each type; it is kept, for abstract classes take their time to answer."""

    def __missing__(self, type: type) -> str:
        found = (kind for kind, types in _KINDS.items() if issubclass(type, types))
        self[type] = kind = next(found, "other")
        return kind


_kind_of = _KindOf()


def _collate_sequence(batch: Sequence[Any]) -> Any:
    try:
        fields = list(zip(*batch, strict=True))
    except ValueError as error:
        lengths = [len(entry) for entry in batch]
        raise ShapeError(f"samples of a batch have as many fields each, not {lengths}") from error
    return [default_collate_fn(field) for field in fields]


def _refuse(batch: Sequence[Any]) -> Any:
    raise DTypeError(
        f"samples with a {type(batch[0]).__name__} make no batch: a field is an array, a tensor, "
        "a number, a text, or a dict, list or tuple of such; for others write a collate_fn"
    )


def _stack(stack: Callable[..., Any], batch: Sequence[Any]) -> Any:
    try:
        return stack(batch)
    except ValueError as error:
        shapes = [list(np.shape(entry)) for entry in batch]
        place = next((i for i, shape in enumerate(shapes) if shape != shapes[0]), None)
        if place is None:
            raise
        raise ShapeError(
            f"sample {place} of a batch has the shape {shapes[place]}, the first {shapes[0]}: "
            "make them alike in the dataset, or write a collate_fn"
        ) from error


_COLLATE: dict[str, Callable[[Sequence[Any]], Any]] = {
    "array": lambda batch: _stack(np.stack, batch),
    "tensor": lambda batch: _stack(ops.stack, batch),
    "number": np.array,
    "text": list,
    "mapping": lambda batch: {
        key: default_collate_fn([entry[key] for entry in batch]) for key in batch[0]
    },
    "sequence": _collate_sequence,
    "other": _refuse,
}


def default_convert_fn(batch: Any) -> Any:
    """What a DataLoader does with a sample that is no batch: sequences become lists.

    >>> default_convert_fn((1, {"x": (2, 3)}))
    [1, {'x': [2, 3]}]
    """
    return map_leaves(lambda leaf: leaf, batch)


def map_leaves(change: Callable[[Any], Any], batch: Any) -> Any:
    """The batch with each leaf changed; sequences become lists, mappings dicts."""
    kind = _kind_of[type(batch)]
    if kind == "mapping":
        return {key: map_leaves(change, field) for key, field in batch.items()}
    if kind == "sequence":
        return [map_leaves(change, field) for field in batch]
    return change(batch)


def as_arrays(batch: Any) -> Any:
    """Tensors as their arrays: so a batch goes from one process to another."""
    return map_leaves(lambda leaf: leaf.array if isinstance(leaf, EagerTensor) else leaf, batch)


def as_tensors(batch: Any) -> Any:
    """Arrays as tensors on the same memory; tensors without their history."""
    return map_leaves(_as_tensor, batch)


def as_new_tensors(batch: Any) -> Any:
    """Arrays as tensors on memory of their own: a dataset may change its array afterwards."""
    own = map_leaves(lambda leaf: leaf.copy() if isinstance(leaf, np.ndarray) else leaf, batch)
    return as_tensors(own)


def _as_tensor(leaf: Any) -> Any:
    if isinstance(leaf, EagerTensor):
        return EagerTensor(leaf.array)
    return from_numpy(leaf) if isinstance(leaf, np.ndarray) else leaf


__all__ = ["default_collate_fn", "default_convert_fn"]
# Before anybody imports them: what is sent to a process must be what its module has by that name.
without_own_frames_in(__name__)
