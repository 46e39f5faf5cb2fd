"""Takes states from files of torch: its names become ours, and the weights of a Linear turn round.

A Layer says by `_names_in_torch` what torch calls its tensors: one name of ours, several for parts
of equal size, or none for what is not here; and by `_transposed_in_torch` what lies otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dy2st_runtime.errors import ShapeError
from dy2st_runtime.tensor import EagerTensor, Parameter
from dy2st_runtime.torch_arrays import is_of_torch, note_of_torch

State = Mapping[str, Any]


def is_from_torch(value: Any) -> bool:
    """Whether a value of a state is one of a file of torch: a parameter is its Layer's."""
    return not isinstance(value, Parameter) and is_of_torch(value)


def in_our_layout(
    layer: Any, own: Mapping[str, Any], state: Mapping[str, Any]
) -> Mapping[str, Any]:
    """A state as it is; one from a file of torch by our names, in our layout.

    ShapeError if a weight of it lies as ours do: then somebody has transposed it before.
    """
    if not any(map(is_from_torch, state.values())):
        return state
    made = dict(state)
    for path, inner in layer.named_sublayers(include_self=True):
        for theirs, ours in inner._names_in_torch.items():
            _rename(made, f"{path}." if path else "", theirs, ours)
    transposed = layer.transposed_in_torch()
    for name, tensor in own.items():
        value = made.get(name)
        if id(tensor) in transposed and value is not None and is_from_torch(value):
            array = value.array if isinstance(value, EagerTensor) else value
            if list(array.shape) == tensor.shape != list(array.T.shape):
                raise ShapeError(
                    f"{name!r} is from a file of torch, which keeps the weights of a Linear as "
                    f"[out, in], and lies as {tensor.shape}, [in, out]: it was transposed before, "
                    "and the file does not say which square ones were, too; copy what lies as it "
                    f"shall, state[{name!r}] = np.array(state[{name!r}])"
                )
            made[name] = np.ascontiguousarray(array.T)
    return made


def _rename(state: dict[str, Any], prefix: str, theirs: str, ours: tuple[str, ...]) -> None:
    """Put what has a name of torch, or what lies under it, under our names."""
    whole = prefix + theirs
    for name in [name for name in state if name == whole or name.startswith(f"{whole}.")]:
        if len(ours) == 1:
            new = prefix + ours[0] + name[len(whole) :]
            if new not in state:
                state[new] = state.pop(name)
            continue
        value = state.pop(name)
        array = value.array if isinstance(value, EagerTensor) else np.asarray(value)
        if ours and array.shape[0] % len(ours):
            raise ShapeError(f"{name!r} of shape {list(array.shape)} is not {len(ours)} parts")
        for new, part in zip(ours, np.split(array, len(ours)) if ours else (), strict=True):
            state[prefix + new] = part
            note_of_torch(part)
