"""Puts tensors on the devices of a mesh, as the placements of a Program say."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from dy2st_runtime.engine.xla.agreement import are_several, meet
from dy2st_runtime.engine.xla.library import jax, lax, sharding
from dy2st_runtime.engine.xla.table import rows
from dy2st_runtime.ir.placement import Mesh, Placement, sharded_axis
from dy2st_runtime.lazy import once
from dy2st_runtime.resident import InParts, Parts

Array = np.ndarray[Any, Any]


@once
def devices_of(mesh: Mesh) -> Any:
    """The first devices of jax as a mesh; None, with a warning, if it has too few.

    A mesh of one device is none: what jax compiles for one device is faster.
    """
    counts = [count for _, count in mesh]
    wanted, found = int(np.prod(counts)), jax.devices()
    if wanted > len(found):
        warnings.warn(
            f"the mesh {dict(mesh)} has {wanted} devices, and jax has {len(found)}: the Program "
            "runs on one device, with the same values",
            RuntimeWarning,
            stacklevel=2,
        )
    if wanted > len(found) or wanted == 1:
        return None
    names = tuple(name for name, _ in mesh)
    return sharding.Mesh(np.array(found[:wanted]).reshape(counts), names)


def layout(placement: Placement, shape: Sequence[int]) -> Any:
    """Where the parts of a tensor of this shape lie; None without a mesh.

    An axis that its devices do not divide stays whole.
    """
    devices = devices_of(placement.mesh)
    if devices is None:
        return None
    cuts: list[list[str]] = [[] for _ in shape]
    left = [*shape]
    for (name, count), text in zip(placement.mesh, placement.placements, strict=True):
        axis = sharded_axis(text)
        if axis is not None and left[axis] % count == 0:
            left[axis] //= count
            cuts[axis].append(name)
    spec = sharding.PartitionSpec(*[tuple(names) if names else None for names in cuts])
    return sharding.NamedSharding(devices, spec)


def replicated_layout(mesh: Mesh | None, shape: Sequence[int]) -> Any:
    """The layout in which each device has all; None without a mesh."""
    return None if mesh is None else layout(Placement(mesh, ("replicate",) * len(mesh)), shape)


def put(held: Array | InParts, where: Any) -> Any:
    """An array on the devices; without a layout on the first one.

    Every process puts the parts of its own devices there, and asks for no others.
    """
    part = held.__getitem__ if isinstance(held, np.ndarray) else held.part
    if where is None:
        return jax.device_put(part((slice(None),) * len(held.shape)))
    return jax.make_array_from_callback(held.shape, where, part)


def own_parts(value: Any) -> Parts:
    """The parts of a value that this process is to write: the first copy of each."""
    return [
        ([cut.start or 0 for cut in shard.index], np.asarray(shard.data))
        for shard in value.addressable_shards
        if shard.replica_id == 0
    ]


def constrain(value: Any, where: Any) -> Any:
    """A value of a trace with that layout."""
    return value if where is None else lax.with_sharding_constraint(value, where)


def fetch(value: Any) -> Array:
    """All of a value as an array of NumPy's, in memory of its own; of several processes all ask."""
    if not value.is_fully_addressable and not value.is_fully_replicated:
        if are_several():
            meet(f"all of a {value.dtype}{[*value.shape]} that lies in parts")
        everywhere = sharding.NamedSharding(value.sharding.mesh, sharding.PartitionSpec())
        value = jax.jit(lambda x: x, out_shardings=everywhere)(value)
    return np.array(value)


rows(
    {
        "reshard": lambda x, mesh, placements: constrain(
            x, layout(Placement(mesh, placements), x.shape)
        )
    }
)

__all__ = [
    "constrain",
    "devices_of",
    "fetch",
    "layout",
    "own_parts",
    "put",
    "replicated_layout",
]
