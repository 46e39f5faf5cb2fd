"""Makes a mesh of the degrees in `hybrid_configs`, and puts layers and optimizers on it.

Values stay whole on a mesh, in every process: each reads whole batches, and the engine cuts them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from dy2st.paddle.distributed.data_parallel import take_over
from dy2st.paddle.distributed.mesh import (
    STAGES,
    Placement,
    ProcessMesh,
    Replicate,
    Shard,
    reshard,
    shard_layer,
    shard_optimizer,
    shard_tensor,
)
from dy2st_runtime import engine
from dy2st_runtime.engine.xla.library import jax
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir import Tensor
from dy2st_runtime.ir.structure import flatten, rebuild
from dy2st_runtime.nn.layer import Layer
from dy2st_runtime.optimizer import Optimizer
from dy2st_runtime.processes import let_all_read_all
from dy2st_runtime.processes.group import world

AXES = ("dp", "sharding", "mp")
_REFUSED = {
    "pp": "stages of a pipeline are other Programs on other devices, and a mesh has one Program "
    "for all of them; cut the layers along mp, or what the optimizer remembers along sharding",
    "sep": "sequences are not cut between devices; cut the layers along mp",
    "cp": "sequences are not cut between devices; cut the layers along mp",
    "ep": "experts are not spread over devices; cut the layers along mp",
}


class _State:
    mesh: ProcessMesh | None = None
    stage = 1


_STATE = _State()


def mesh() -> ProcessMesh | None:
    """The mesh that `fleet.init` has made, None where processes share the data alone."""
    return _STATE.mesh


def degrees_of(configs: Mapping[str, Any]) -> dict[str, int]:
    """The degree of each axis; -1 is as many as there are devices for.

    Raises ArgumentError for what is no degree, and for ways to share work that are not built.
    """
    found = dict.fromkeys(AXES, 1) | {"dp": -1}
    for key, degree in configs.items():
        name = key.removesuffix("_degree")
        if name == key:
            continue
        is_whole = isinstance(degree, (int, np.integer)) and not isinstance(degree, bool)
        if not is_whole or degree < -1 or (degree == -1 and name != "dp"):
            raise ArgumentError(f"fleet.init: {key} is a whole number from 1, not {degree!r}")
        if degree > 1 and name in _REFUSED:
            raise ArgumentError(f"fleet.init: {key}={degree}: {_REFUSED[name]}")
        if name in found and degree:
            found[name] = int(degree)
    return found


def begin(degrees: Mapping[str, int], stage: int) -> None:
    """Let the mesh be that of these degrees; none, where they say no more than processes do.

    Raises ArgumentError where they do not divide the devices, or leave some of a process out.
    """
    inner = degrees["sharding"] * degrees["mp"]
    processes, dp = world().nranks, degrees["dp"]
    is_mesh = inner > 1 or dp not in (-1, 1, processes)
    _STATE.mesh, _STATE.stage = None, stage
    let_all_read_all(is_mesh)
    if not is_mesh:
        return
    devices = jax.device_count() if engine.is_installed("xla") else 1
    sizes = {**degrees, "dp": max(1, devices // inner) if dp == -1 else dp}
    count = math.prod(sizes.values())
    if count != devices and (processes > 1 or (dp == -1 and devices > inner)):
        asked = ", ".join(f"{name}_degree={size}" for name, size in sizes.items())
        raise ArgumentError(
            f"fleet.init: {asked} are {count} devices, and {processes} processes have {devices}: "
            "the product of the degrees is the number of devices"
        )
    ids = np.arange(count).reshape([sizes[name] for name in AXES])
    _STATE.mesh = ProcessMesh(ids, dim_names=AXES)


def along(axis: int, *names: str) -> list[Placement]:
    """Placements that cut an axis of a tensor along these axes of the mesh."""
    return [Shard(axis) if name in names else Replicate() for name in AXES]


def cut_parameter(tensor: Any, axis: int, what: str) -> None:
    """Cut an axis of a parameter along `mp`; ArgumentError, saying what it is, if it has a rest."""
    if _STATE.mesh is None or tensor is None:
        return
    degree, size = _STATE.mesh.get_dim_size("mp"), tensor.shape[axis]
    if size % degree:
        raise ArgumentError(
            f"{what}={size} cannot be cut into mp_degree={degree} equal parts: give it a multiple"
        )
    shard_tensor(tensor, _STATE.mesh, along(axis, "mp"))


def place_model(model: Layer, on: ProcessMesh) -> Layer:
    """The model on the mesh, with the values of rank 0; its inputs are cut as batches are."""
    if world().nranks > 1:
        take_over(world(), [*model.parameters(), *model.buffers()])
    return shard_layer(model, on, input_fn=_cut_batches)


def place_optimizer(optimizer: Optimizer, on: ProcessMesh) -> Optimizer:
    """The optimizer, with what it remembers cut along `sharding`."""
    is_cut = on.get_dim_size("sharding") > 1
    return shard_optimizer(optimizer, STAGES[_STATE.stage]("sharding", on) if is_cut else None)


def _cut_batches(inputs: Any, on: ProcessMesh) -> Any:
    tensors, structure = flatten(inputs, lambda one: isinstance(one, Tensor) and one.ndim > 0)
    return rebuild(structure, [reshard(one, on, along(0, "dp", "sharding")) for one in tensors])


__all__ = ["begin", "cut_parameter", "degrees_of", "mesh", "place_model", "place_optimizer"]
