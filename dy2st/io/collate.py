"""Samples into batches: fields are stacked, whatever they are nested in."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from dy2st_runtime import ops
from dy2st_runtime.errors import DTypeError, ShapeError
from dy2st_runtime.tensor import EagerTensor, from_numpy


def default_collate_fn(batch: Sequence[Any]) -> Any:
    """The samples as one batch: [(k,), (k,), ...] -> (n, k), field by field.

    Arrays become an array, tensors a tensor, numbers an array of int64, float64 or bool; texts a
    list; a dict or a list of fields a dict or a list of batches.

    >>> default_collate_fn([{"x": 1.5, "name": "a"}, {"x": 2.5, "name": "b"}])
    {'x': array([1.5, 2.5]), 'name': ['a', 'b']}
    """
    sample = batch[0]
    if isinstance(sample, np.ndarray):
        return _stack(np.stack, batch)
    if isinstance(sample, EagerTensor):
        return _stack(ops.stack, batch)
    if isinstance(sample, (numbers.Number, np.generic)):
        return np.array(batch)
    if isinstance(sample, (str, bytes)):
        return list(batch)
    if isinstance(sample, Mapping):
        return {key: default_collate_fn([entry[key] for entry in batch]) for key in sample}
    if isinstance(sample, Sequence):
        _refuse_other_lengths(batch)
        return [default_collate_fn(field) for field in zip(*batch)]
    raise DTypeError(
        f"samples with a {type(sample).__name__} make no batch: a field is an array, a tensor, a "
        "number, a text, or a dict, list or tuple of such; for others write a collate_fn"
    )


def _stack(stack: Callable[..., Any], batch: Sequence[Any]) -> Any:
    try:
        return stack(list(batch))
    except ValueError as error:
        shapes = [list(np.shape(entry)) for entry in batch]
        place = next((i for i, shape in enumerate(shapes) if shape != shapes[0]), None)
        if place is None:
            raise
        raise ShapeError(
            f"sample {place} of a batch has the shape {shapes[place]}, the first {shapes[0]}: "
            "make them alike in the dataset, or write a collate_fn"
        ) from error


def _refuse_other_lengths(batch: Sequence[Any]) -> None:
    lengths = [len(entry) for entry in batch]
    if len(set(lengths)) != 1:
        raise ShapeError(f"samples of a batch have as many fields each, not {lengths}")


def default_convert_fn(batch: Any) -> Any:
    """What a DataLoader does with a sample that is no batch: sequences become lists.

    >>> default_convert_fn((1, {"x": (2, 3)}))
    [1, {'x': [2, 3]}]
    """
    return map_leaves(lambda leaf: leaf, batch)


def map_leaves(change: Callable[[Any], Any], batch: Any) -> Any:
    """The batch with each leaf changed; sequences become lists, mappings dicts."""
    if isinstance(batch, (np.ndarray, EagerTensor, str, bytes)):
        return change(batch)
    if isinstance(batch, Mapping):
        return {key: map_leaves(change, field) for key, field in batch.items()}
    if isinstance(batch, Sequence):
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
