"""Lets a saved model compute what it gives for a dataset, in all processes together."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dy2st.io import default_collate_fn
from dy2st.jit.save_load import load
from dy2st.paddle.distributed.collectives import (
    group_or_world,
    recv_object_list,
    send_object_list,
)
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.files import named, naming
from dy2st_runtime.ir.grad_mode import no_grad
from dy2st_runtime.processes.group import Group
from dy2st_runtime.tensor import EagerTensor
from dy2st_runtime.tensor_file import write_arrays


def predict(
    model: Any,
    dataset: Any,
    batch_size: int = 32,
    *,
    collate_fn: Callable[[Sequence[Any]], Any] | None = None,
    output_dir: str | None = None,
    engine: str | None = None,
    group: Group | None = None,
) -> Any:
    """What a model gives for all samples of a dataset, in their order: on rank 0, None elsewhere.

    Results are nested as those of the model, with NumPy arrays. The last batch is filled up with
    its last sample, so that there is one size, and what comes of that is cut off. Raises
    ArgumentError for a dataset without a length or samples, or results that have no row for each
    sample; FileAccessError if the disk refuses.

    Parameters
    ----------
    model
        the path of `jit.save`, or what `jit.load` gave; a Layer or function as well. Each
        sample has one row of each result, which depends on no other sample: a Layer with
        BatchNorm or Dropout is in the mode `eval()`, and was when it was saved.
    dataset
        what has a length and numbered samples, which are what the model takes: a tuple for
        several inputs. Each process reads its part alone.
    output_dir
        a folder of all processes: each writes its results there, as safetensors, and rank 0
        gets the paths in the order of the samples.
    engine
        what runs a model that is given by its path.

    Examples
    --------
    >>> from dy2st import nn
    >>> predict(nn.Softmax(), np.zeros([5, 2], "float32"), batch_size=2).tolist()
    [[0.5, 0.5], [0.5, 0.5], [0.5, 0.5], [0.5, 0.5], [0.5, 0.5]]
    """
    group, count = group_or_world(group), _count(dataset)
    if batch_size < 1:
        raise ArgumentError(f"predict(batch_size={batch_size!r}): it is 1 or more")
    if not group.is_member():
        return None
    if isinstance(model, (str, os.PathLike)):
        model = load(os.fspath(model), engine=engine)
    part = range(group.rank * count // group.nranks, (group.rank + 1) * count // group.nranks)
    collate = collate_fn or default_collate_fn
    batches = []
    with no_grad():
        for first in range(part.start, part.stop, batch_size):
            numbers = range(first, min(first + batch_size, part.stop))
            samples = [dataset[number] for number in numbers]
            samples += samples[-1:] * (batch_size - len(samples))
            batches.append(_rows(_called(model, collate(samples)), batch_size, len(numbers)))
    found = [_joined(batches)] if batches else []
    if output_dir is not None:
        found = _written(named(output_dir), group, found)
    if group.rank:
        send_object_list(found, dst=group.ranks[0])
        return None
    for other in group.ranks[1:]:
        received: list[Any] = []
        recv_object_list(received, src=other)
        found += received
    return found if output_dir is not None else _joined(found)


def _count(dataset: Any) -> int:
    try:
        count = len(dataset)
    except TypeError:
        raise ArgumentError(
            f"predict() needs a dataset with a length, of which each process takes its part; "
            f"{type(dataset).__name__} has none: number its samples, or make a list of them"
        ) from None
    if count == 0:
        raise ArgumentError("predict() needs a dataset with samples, and this one has none")
    return count


def _called(model: Any, batch: Any) -> Any:
    """The model of a batch: each entry of a tuple or list is an input."""
    inputs = batch if isinstance(batch, (tuple, list)) else (batch,)
    return model(*(one if isinstance(one, EagerTensor) else EagerTensor(one) for one in inputs))


def _rows(results: Any, size: int, count: int) -> Any:
    """The first rows of all results of a batch, as arrays."""
    if isinstance(results, Mapping):
        return {key: _rows(entry, size, count) for key, entry in results.items()}
    if isinstance(results, (tuple, list)):
        return tuple(_rows(entry, size, count) for entry in results)
    array = np.asarray(results)
    if array.shape[:1] != (size,):
        raise ArgumentError(
            f"predict(): of {size} samples the model gives an array of shape {list(array.shape)}; "
            "it has one row for each sample, along the first axis"
        )
    return array[:count]


def _joined(parts: Sequence[Any]) -> Any:
    """The rows of all parts, one after the other."""
    first = parts[0]
    if isinstance(first, dict):
        return {key: _joined([part[key] for part in parts]) for key in first}
    if isinstance(first, tuple):
        return tuple(_joined(entries) for entries in zip(*parts, strict=True))
    return np.concatenate(parts)


def _written(folder: Path, group: Group, found: Sequence[Any]) -> list[str]:
    """Write what this process has, if anything; the path of the file."""
    if not found:
        return []
    with naming(folder):
        folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"results-{group.rank:05}-of-{group.nranks:05}.safetensors"
    write_arrays(path, dict(_named(found[0])))
    return [str(path)]


def _named(results: Any, name: str = "") -> list[tuple[str, Any]]:
    """Results by the keys or numbers that lead to them; `result`, if there is one."""
    if not isinstance(results, (dict, tuple)):
        return [(name or "result", results)]
    entries = results.items() if isinstance(results, dict) else enumerate(results)
    above = f"{name}." if name else ""
    return [pair for key, entry in entries for pair in _named(entry, f"{above}{key}")]


__all__ = ["predict"]
