"""Says before it runs what a step of training needs of each device of a mesh."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dy2st.paddle.distributed.dist_model import DistModel
from dy2st.paddle.distributed.partition import Partition, cuts_of, sizes_of
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir.functions import without_functions
from dy2st_runtime.ir.placement import REPLICATE
from dy2st_runtime.ir.program import Operator, Program, Variable

_FREE = {"constant", "full", "arange", "detach", "assign", "reshape", "broadcast_to", "reshard"}


@dataclass
class Plan:
    """What one device has and sends in a step, in bytes: `str()` gives a table.

    That is with DY2ST_XLA_REUSE=on: else new parameters and state lie beside the old ones.

    Attributes
    ----------
    parameters
        what is trained.
    optimizer
        the rest of the state: what the optimizer remembers, and buffers.
    temporaries
        the most that lives at once of what the step computes, gradients among it, in the order
        of the Program, and all that is gathered to be used; an estimate, since XLA joins and
        moves operators.
    collectives
        for each kind and axes of the mesh the bytes of all results on one device.
    unknown
        operators whose operands are counted as gathered, for want of a rule.

    Examples
    --------
    >>> plan = dy2st.distributed.Plan(parameters=8, optimizer=8, temporaries=4)
    >>> plan.memory
    20
    """

    parameters: int = 0
    optimizer: int = 0
    temporaries: int = 0
    collectives: dict[tuple[str, tuple[str, ...]], int] = field(default_factory=dict)
    unknown: list[str] = field(default_factory=list)

    @property
    def memory(self) -> int:
        """All of it."""
        return self.parameters + self.optimizer + self.temporaries

    def __str__(self) -> str:
        """A line for each figure."""
        lines = [
            f"{name:12} {getattr(self, name):>16,} bytes a device"
            for name in ("parameters", "optimizer", "temporaries", "memory")
        ]
        for (kind, axes), count in sorted(self.collectives.items()):
            lines.append(f"{kind:12} {count:>16,} bytes a step along {', '.join(axes)}")
        if self.unknown:
            lines.append(f"counted as gathering: {', '.join(self.unknown)}")
        return "\n".join(lines)


def plan(
    step: DistModel | Program, mesh: Mapping[str, int] | None = None, stage: int | None = None
) -> Plan:
    """What a step needs of each device; nothing is compiled, and no device is needed.

    The batch is that of the Program. ArgumentError without a mesh, or for an axis it has not.

    Parameters
    ----------
    step
        a DistModel that has been called once, or a Program whose state lies on a mesh.
    mesh
        other numbers of devices for axes of the mesh of the step, such as `{"dp": 512}`.
    stage
        0, or what ShardingStage1 to 3 do along `dp`, or else the first axis, in place of what
        the step does.

    Examples
    --------
    >>> from dy2st import nn, optimizer, rand
    >>> from dy2st.paddle import distributed as dist
    >>> mesh = dist.ProcessMesh([0], dim_names=["dp"])
    >>> net = dist.shard_layer(nn.Linear(4, 2, bias_attr=False), mesh)
    >>> sgd = optimizer.SGD(0.1, parameters=net.parameters())
    >>> model = dist.to_static(net, None, nn.MSELoss(), sgd)
    >>> x, y = (dist.shard_tensor(rand([8, n]), mesh, [dist.Shard(0)]) for n in (4, 2))
    >>> loss = model(x, y)
    >>> found = plan(model, {"dp": 2})
    >>> found.parameters, found.collectives
    (32, {('all-reduce', ('dp',)): 36})
    """
    program: Program = step.dist_main_program() if isinstance(step, DistModel) else step
    program = without_functions(program, "a plan")
    partition = Partition(_mesh_of(program, mesh or {}))
    if stage is not None and stage not in range(4):
        raise ArgumentError(f"stage is 0, 1, 2 or 3, not {stage!r}")
    for variable in program.inputs:
        partition.cuts[variable] = ((),) * len(sizes_of(variable))
    for name, variable in program.state.items():
        placed = program.placements.get(name)
        texts = {} if placed is None else dict(zip(partition.mesh, placed.placements, strict=True))
        if stage is not None and placed is not None:
            is_trained = program.trainable.get(name, False)
            texts = _at_stage(partition, variable, texts, stage > 2 * is_trained)
        partition.cuts[variable] = cuts_of(partition.mesh, texts, sizes_of(variable))
    needed = _needed(program)
    for operator in needed:
        partition.run(operator)
    gathered = sum(count for kind, _, count in partition.sent if kind == "all-gather")
    for name, new in zip(program.updates, _updated(program), strict=True):
        partition.become(new, partition.cuts[program.state[name]])
    for output in program.outputs:
        partition.become(output, ((),) * len(sizes_of(output)))
    found = Plan(temporaries=_most_alive(program, needed, partition) + gathered)
    for name, variable in program.state.items():
        if program.trainable.get(name, False):
            found.parameters += partition.local_bytes(variable)
        else:
            found.optimizer += partition.local_bytes(variable)
    for kind, axes, count in partition.sent:
        found.collectives[kind, axes] = found.collectives.get((kind, axes), 0) + count
    found.unknown = [*partition.unknown]
    return found


def _mesh_of(program: Program, given: Mapping[str, int]) -> dict[str, int]:
    """The mesh that the state of a Program lies on, with other numbers of devices."""
    meshes = {placement.mesh for placement in program.placements.values()}
    if len(meshes) != 1:
        raise ArgumentError(
            f"plan() takes a step whose state lies on one mesh, and this one's lies on "
            f"{len(meshes)}: dist.shard_layer(layer, mesh) puts it there"
        )
    mesh = dict(meshes.pop())
    for name, count in given.items():
        if name not in mesh or count < 1:
            raise ArgumentError(f"the mesh has the axes {[*mesh]}: {name!r} cannot have {count}")
    return {**mesh, **given}


def _at_stage(
    partition: Partition, variable: Variable, texts: dict[str, str], is_cut: bool
) -> dict[str, str]:
    """The placements with the axis for data cut, or not, in place of what they have for it."""
    along = "dp" if "dp" in partition.mesh else next(iter(partition.mesh))
    texts = {**texts, along: REPLICATE}
    if is_cut:
        cuts = cuts_of(partition.mesh, texts, sizes_of(variable))
        for axis, size in enumerate(sizes_of(variable)):
            if not cuts[axis] and size % partition.mesh[along] == 0:
                return {**texts, along: f"shard {axis}"}
    return texts


def _updated(program: Program) -> list[Variable]:
    return program.block.yields[len(program.outputs) :]


def _needed(program: Program) -> list[Operator]:
    """The operators on which what the Program gives depends, in order."""
    wanted = set(program.block.yields)
    found: list[Operator] = []
    for operator in reversed(program.operators):
        if wanted.intersection(operator.results):
            found.append(operator)
            wanted.update(operator.operands)
    return found[::-1]


def _most_alive(program: Program, operators: list[Operator], partition: Partition) -> int:
    """The most bytes on one device of results that are still read, or given back.

    What costs nothing to make anew, and what is read once where it is made, takes no memory.
    """
    reads: dict[Variable, int] = {}
    last: dict[Variable, int] = {}
    for place, operator in enumerate(operators):
        for operand in operator.operands:
            last[operand], reads[operand] = place, reads.get(operand, 0) + 1
    new = set(program.block.yields)
    ending: dict[int, int] = {}
    now = most = 0
    for place, operator in enumerate(operators):
        for result in operator.results if operator.name not in _FREE else ():
            is_joined = reads.get(result) == 1 and last[result] == place + 1
            # The new value of what is updated takes the place of the old one.
            if not is_joined and result not in new:
                count = partition.local_bytes(result)
                now += count
                ending[last.get(result, place)] = ending.get(last.get(result, place), 0) + count
        most = max(most, now)
        now -= ending.pop(place, 0)
    return most


__all__ = ["Plan", "plan"]
