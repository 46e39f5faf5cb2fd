"""Says how tensors lie on a mesh of devices, as a Program writes it down.

A mesh has named axes of devices, `(("dp", 4), ("mp", 2))`. A tensor has one text for each of them:
`"shard 0"` cuts its axis 0 into as many parts as there are devices along that axis of the mesh,
`"replicate"` puts all of it on each, and with `"partial sum"` the devices hold what still has to be
added up. To which device what belongs changes no value: an engine that knows no meshes runs the
Program as it is.

>>> mesh = (("dp", 4), ("mp", 2))
>>> misfit(mesh, ("shard 0", "replicate"), rank=2) is None
True
>>> misfit(mesh, ("shard 2", "replicate"), rank=2)
'shard 2 of a tensor of 2 axes'
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

Mesh = tuple[tuple[str, int], ...]
Placements = tuple[str, ...]


class Placement(NamedTuple):
    """A mesh, and how a tensor lies on each of its axes."""

    mesh: Mesh
    placements: Placements


REPLICATE = "replicate"
MAX_AXES = 16
_KINDS = re.compile(r"replicate|shard (?:0|[1-9][0-9]?)|partial (?:sum|avg|max|min)")


def is_mesh(value: Any) -> bool:
    """Whether it is a tuple of names, each once, with numbers of devices."""
    if type(value) is not tuple or len(value) > MAX_AXES:
        return False
    if not all(type(axis) is tuple and len(axis) == 2 for axis in value):
        return False
    names = [name for name, _ in value]
    return all(
        isinstance(name, str) and name.isidentifier() and type(count) is int and 0 < count < 2**31
        for name, count in value
    ) and len(set(names)) == len(names)


def are_placements(value: Any) -> bool:
    """Whether it is a tuple of texts of these forms."""
    return (
        type(value) is tuple
        and len(value) <= MAX_AXES
        and all(isinstance(text, str) and _KINDS.fullmatch(text) is not None for text in value)
    )


def sharded_axis(text: str) -> int | None:
    """The axis of the tensor that is cut, None if none is.

    >>> sharded_axis("shard 1"), sharded_axis("replicate")
    (1, None)
    """
    return int(text[len("shard ") :]) if text.startswith("shard ") else None


def misfit(mesh: Mesh, placements: Placements, rank: int) -> str | None:
    """Why a tensor of this rank cannot lie so, None if it can."""
    if len(placements) != len(mesh):
        return f"{len(placements)} placements on a mesh of {len(mesh)} axes"
    for text in placements:
        axis = sharded_axis(text)
        if axis is not None and axis >= rank:
            return f"{text} of a tensor of {rank} axes"
    return None


__all__ = [
    "MAX_AXES",
    "REPLICATE",
    "Mesh",
    "Placement",
    "Placements",
    "are_placements",
    "is_mesh",
    "misfit",
    "sharded_axis",
]
