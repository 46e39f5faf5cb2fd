"""Says on which devices of a mesh tensors, layers and optimizers lie.

The value of a tensor is all of it, wherever its parts lie: eagerly, on engines without a mesh, and
in every process. The engine `xla` puts the parts on the devices, and adds the communication.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir import Tensor, apply
from dy2st_runtime.ir.placement import REPLICATE
from dy2st_runtime.ir.placement import Placement as Spec
from dy2st_runtime.nn.layer import Layer
from dy2st_runtime.optimizer import Optimizer
from dy2st_runtime.tensor import EagerTensor, to_tensor


class ProcessMesh:
    """Devices in a rectangle of named axes; their numbers are 0, 1, 2, ... in this order.

    >>> mesh = dy2st.distributed.ProcessMesh([[0, 1, 2], [3, 4, 5]], ["dp", "mp"])
    >>> mesh.shape, mesh.ndim, mesh.dim_names, mesh.process_ids
    ([2, 3], 2, ['dp', 'mp'], [0, 1, 2, 3, 4, 5])
    >>> mesh.mesh.tolist(), mesh.axis_of("mp"), mesh.get_dim_size("mp"), mesh.spec
    ([[0, 1, 2], [3, 4, 5]], 1, 3, (('dp', 2), ('mp', 3)))
    """

    def __init__(
        self,
        mesh: Any = None,
        dim_names: Sequence[str] | None = None,
        shape: Sequence[int] | None = None,
        process_ids: Sequence[int] | None = None,
    ):
        """Of nested lists of numbers, or of a shape and numbers; axes are called d0, d1, ...

        ArgumentError if the numbers are others than 0, 1, 2, ..., or names are lacking.
        """
        if mesh is None and shape is None:
            raise ArgumentError("ProcessMesh() needs a mesh, such as [[0, 1], [2, 3]], or a shape")
        count = math.prod(shape or ())
        ids = np.array(mesh if mesh is not None else list(process_ids or range(count)))
        self._ids = ids if mesh is not None else ids.reshape(list(shape or ()))
        if self._ids.ndim == 0 or self._ids.ravel().tolist() != list(range(self._ids.size)):
            raise ArgumentError(
                f"a mesh of the processes {self._ids.tolist()}: it has all of them, in order, as "
                "[[0, 1], [2, 3]]; a part of them, as stages of a pipeline have, is no mesh here"
            )
        names = list(dim_names or (f"d{axis}" for axis in range(self._ids.ndim)))
        if len(names) != self._ids.ndim or len(set(names)) != len(names):
            raise ArgumentError(f"a mesh of {self._ids.ndim} axes cannot have the names {names}")
        if not all(isinstance(name, str) and name.isidentifier() for name in names):
            raise ArgumentError(f"the axes of a mesh have names like dp and mp, not {names}")
        self._names = names

    @property
    def mesh(self) -> np.ndarray[Any, Any]:
        """The numbers of the processes."""
        return self._ids

    @property
    def shape(self) -> list[int]:
        """How many devices there are along each axis."""
        return list(self._ids.shape)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return self._ids.ndim

    @property
    def dim_names(self) -> list[str]:
        """The names of the axes."""
        return self._names

    @property
    def process_ids(self) -> list[int]:
        """The numbers of the processes, one after the other."""
        found: list[int] = self._ids.ravel().tolist()
        return found

    @property
    def spec(self) -> tuple[tuple[str, int], ...]:
        """The mesh as a Program has it."""
        return tuple(zip(self._names, self.shape, strict=True))

    def get_dim_size(self, dim: str | int) -> int:
        """How many devices there are along an axis."""
        return self.shape[self.axis_of(dim)]

    def axis_of(self, dim: str | int) -> int:
        """The number of an axis by its name; ArgumentError if there is none."""
        names: list[str | int] = [*self._names]
        if isinstance(dim, int) and -self.ndim <= dim < self.ndim:
            return dim % self.ndim
        if dim not in names:
            raise ArgumentError(f"the mesh has the axes {names}, not {dim!r}")
        return names.index(dim)

    def __contains__(self, process: int) -> bool:
        """Whether a process takes part."""
        return process in self.process_ids

    def __eq__(self, other: object) -> bool:
        """Equal shapes and names."""
        return isinstance(other, ProcessMesh) and self.spec == other.spec

    def __hash__(self) -> int:
        """As `==` has it."""
        return hash(self.spec)

    def __repr__(self) -> str:
        """`ProcessMesh(shape=[2, 2], dim_names=['dp', 'mp'])`."""
        return f"ProcessMesh(shape={self.shape}, dim_names={self._names})"


class ReduceType(IntEnum):
    """How parts that still have to be put together become the value.

    >>> dy2st.distributed.ReduceType.kRedSum.name
    'kRedSum'
    """

    kRedSum, kRedMax, kRedMin, kRedProd, kRedAvg, kRedAny, kRedAll = range(7)


class Placement:
    """How a tensor lies along one axis of a mesh: Replicate(), Shard(dim) or Partial().

    >>> dist = dy2st.distributed
    >>> placements = dist.Replicate(), dist.Shard(0), dist.Partial()
    >>> [(one.is_replicated(), one.is_shard(), one.is_partial()) for one in placements]
    [(True, False, False), (False, True, False), (False, False, True)]
    >>> [one.spec(2) for one in placements]
    ['replicate', 'shard 0', 'partial sum']
    """

    def is_shard(self, dim: int | None = None) -> bool:
        """Whether the tensor is cut, along axis `dim` if one is given."""
        return False

    def is_replicated(self) -> bool:
        """Whether each device has all of it."""
        return False

    def is_partial(self) -> bool:
        """Whether the devices have parts of a sum."""
        return False

    def spec(self, rank: int) -> str:
        """What a Program has for it, of a tensor of that many axes."""
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        """Whether both say the same."""
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        """As `==` has it."""
        return hash((type(self), *vars(self).values()))

    def __repr__(self) -> str:
        """`Shard(dim=0)`."""
        settings = ", ".join(f"{name.strip('_')}={value!r}" for name, value in vars(self).items())
        return f"{type(self).__name__}({settings})"


class Replicate(Placement):
    """Each device has the whole tensor.

    >>> dy2st.distributed.Replicate().is_replicated()
    True
    """

    def is_replicated(self) -> bool:
        """True."""
        return True

    def spec(self, rank: int) -> str:
        """`replicate`."""
        return REPLICATE


class Shard(Placement):
    """The tensor is cut along an axis into as many equal parts as there are devices.

    >>> Shard(0), Shard(0) == Shard(1), Shard(-1).spec(rank=2)
    (Shard(dim=0), False, 'shard 1')
    """

    def __init__(self, dim: int):
        """Along axis `dim`, from the end if it is negative."""
        self._dim = int(dim)

    def get_dim(self) -> int:
        """The axis.

        >>> dy2st.distributed.Shard(1).get_dim()
        1
        """
        return self._dim

    def is_shard(self, dim: int | None = None) -> bool:
        """Whether it is this axis."""
        return dim is None or dim == self._dim

    def spec(self, rank: int) -> str:
        """`shard 0`; ArgumentError if the tensor has no such axis."""
        if not -rank <= self._dim < rank:
            raise ArgumentError(f"Shard({self._dim}) of a tensor of {rank} axes")
        return f"shard {self._dim % rank}"


_WRITTEN = {
    ReduceType.kRedSum: "sum",
    ReduceType.kRedAvg: "avg",
    ReduceType.kRedMax: "max",
    ReduceType.kRedMin: "min",
}


class Partial(Placement):
    """Each device has a part of what has to be added up: of results alone, as `reshard` takes.

    >>> part = dy2st.distributed.Partial(dy2st.distributed.ReduceType.kRedMax)
    >>> part.reduce_type().name
    'kRedMax'
    """

    def __init__(self, reduce_type: ReduceType = ReduceType.kRedSum):
        """How the parts become the value."""
        if reduce_type not in _WRITTEN:
            raise ArgumentError(f"Partial({reduce_type!r}): sum, avg, max or min")
        self._reduce_type = reduce_type

    def reduce_type(self) -> ReduceType:
        """How the parts become the value."""
        return self._reduce_type

    def is_partial(self) -> bool:
        """True."""
        return True

    def spec(self, rank: int) -> str:
        """`partial sum`."""
        return f"partial {_WRITTEN[self._reduce_type]}"


class DistAttr(NamedTuple):
    """Where a tensor lies, as `process_mesh` and `placements` give it and as Programs have it."""

    mesh: ProcessMesh
    placements: list[Placement]
    spec: Spec


def _dist_attr(mesh: ProcessMesh, placements: Sequence[Placement], rank: int) -> DistAttr:
    if not isinstance(mesh, ProcessMesh):
        raise ArgumentError(f"a ProcessMesh is expected, not {type(mesh).__name__}")
    given = [*placements]
    if len(given) > mesh.ndim or not all(isinstance(one, Placement) for one in given):
        raise ArgumentError(
            f"placements are {given!r:.80}: one for each axis of {mesh}, as [Shard(0), Replicate()]"
        )
    given += [Replicate()] * (mesh.ndim - len(given))
    return DistAttr(mesh, given, Spec(mesh.spec, tuple(one.spec(rank) for one in given)))


def shard_tensor(
    data: Any,
    mesh: ProcessMesh,
    placements: Sequence[Placement],
    dtype: Any = None,
    place: Any = None,
    stop_gradient: bool | None = None,
) -> Any:
    """The data as a tensor that lies so; a Parameter stays the one that it is.

    >>> mesh = ProcessMesh([0, 1], dim_names=["x"])
    >>> tensor = shard_tensor([[1.0, 2.0], [3.0, 4.0]], mesh, [Shard(0)])
    >>> tensor.placements, tensor.process_mesh, tensor.shape
    ([Shard(dim=0)], ProcessMesh(shape=[2], dim_names=['x']), [2, 2])
    """
    if isinstance(data, Tensor) and not isinstance(data, EagerTensor):
        return reshard(data, mesh, placements)
    is_other = not isinstance(data, EagerTensor) or (dtype is not None and data.dtype != dtype)
    tensor = to_tensor(data, dtype) if is_other else data
    tensor.dist_attr = _dist_attr(mesh, placements, tensor.ndim)
    if stop_gradient is not None:
        tensor.stop_gradient = stop_gradient
    elif is_other and isinstance(data, EagerTensor):
        tensor.stop_gradient = data.stop_gradient
    return tensor


def dtensor_from_fn(
    fn: Callable[..., Any],
    mesh: ProcessMesh,
    placements: Sequence[Placement],
    *args: Any,
    **kwargs: Any,
) -> Any:
    """What `fn(*args, **kwargs)` makes, as a tensor that lies so.

    >>> from dy2st import ones
    >>> dtensor_from_fn(ones, ProcessMesh([0, 1]), [Shard(0)], [4, 2]).placements
    [Shard(dim=0)]
    """
    return shard_tensor(fn(*args, **kwargs), mesh, placements)


def reshard(dist_tensor: Any, mesh: ProcessMesh, placements: Sequence[Placement]) -> Any:
    """The same value, lying as the placements say; gradients flow through.

    >>> from dy2st import ones
    >>> reshard(ones([4, 2]), ProcessMesh([0, 1]), [Replicate()]).placements
    [Replicate()]
    """
    placed = _dist_attr(mesh, placements, dist_tensor.ndim)
    mesh_spec, texts = placed.spec
    made = apply("reshard", dist_tensor, mesh=mesh_spec, placements=texts)
    if isinstance(made, EagerTensor):
        made.dist_attr = placed
    return made


def unshard_dtensor(dist_tensor: Any) -> Any:
    """The same value, all of it on each device.

    >>> mesh = dy2st.distributed.ProcessMesh([0], ["x"])
    >>> x = dy2st.distributed.shard_tensor(dy2st.ones([4]), mesh, [dy2st.distributed.Shard(0)])
    >>> dy2st.distributed.unshard_dtensor(x).placements
    [Replicate()]
    """
    if not dist_tensor.is_dist():
        return dist_tensor
    return reshard(dist_tensor, dist_tensor.process_mesh, [])


def shard_layer(
    layer: Layer,
    process_mesh: ProcessMesh,
    shard_fn: Callable[[str, Layer, ProcessMesh], Any] | None = None,
    input_fn: Callable[[Any, ProcessMesh], Any] | None = None,
    output_fn: Callable[[Any, ProcessMesh], Any] | None = None,
) -> Layer:
    """The layer, with all parameters and buffers on the mesh, as `shard_fn` says, else replicated.

    Parameters
    ----------
    shard_fn
        called with the name of each layer inside, the layer, and the mesh.
    input_fn
        what becomes of the inputs, a tuple, before they are used; output_fn of the results.

    Examples
    --------
    >>> mesh = dy2st.distributed.ProcessMesh([0], ["x"])
    >>> net = dy2st.distributed.shard_layer(dy2st.nn.Linear(2, 3), mesh)
    >>> net.weight.placements
    [Replicate()]
    """
    for name, inner in layer.named_sublayers(include_self=True):
        if shard_fn is not None:
            shard_fn(name, inner, process_mesh)
    for tensor in (*layer.parameters(), *layer.buffers()):
        if not tensor.is_dist():
            shard_tensor(tensor, process_mesh, [])
    if input_fn is not None:

        def placed_inputs(_: Layer, inputs: Any) -> Any:
            found = input_fn(inputs, process_mesh)
            return tuple(found) if isinstance(found, list) else found

        layer.register_forward_pre_hook(placed_inputs)
    if output_fn is not None:
        layer.register_forward_post_hook(lambda _, i, outputs: output_fn(outputs, process_mesh))
    return layer


class _ShardingStage:
    """Cuts what an optimizer remembers along an axis of the mesh: ZeRO (arXiv:1910.02054)."""

    cuts_parameters = False

    def __init__(self, sharding_mesh_dim: str | int, mesh: ProcessMesh | None = None):
        """Along that axis, of the mesh of each parameter unless one is given."""
        self.sharding_mesh_dim, self.mesh = sharding_mesh_dim, mesh

    def __call__(self, key: str, param: Any, accumulator: Any) -> Any:
        """The accumulator, cut along its first axis that the parameter leaves whole and that fits.

        What does not divide by the number of devices lies as the parameter does.
        """
        mesh = self.mesh or param.process_mesh
        if mesh is None:
            raise ArgumentError(
                f"{type(self).__name__}({self.sharding_mesh_dim!r}): the parameter {param.name!r} "
                "lies on no mesh; give one: mesh=ProcessMesh(...), or shard_layer(layer, mesh) "
                "first"
            )
        return shard_tensor(accumulator, mesh, self.cut(mesh, param, accumulator.shape))

    def cut(self, mesh: ProcessMesh, param: Any, shape: Sequence[int]) -> list[Placement]:
        """How something of this shape lies that belongs to the parameter."""
        along = mesh.axis_of(self.sharding_mesh_dim)
        is_alike = list(shape) == param.shape and param.process_mesh == mesh
        given: list[Placement] = [*param.placements] if is_alike else [Replicate()] * mesh.ndim
        taken = {one.get_dim() % len(shape) for one in given if isinstance(one, Shard)}
        for axis, size in enumerate(shape):
            if given[along].is_replicated() and axis not in taken and not size % mesh.shape[along]:
                given[along] = Shard(axis)
        return given


class ShardingStage1(_ShardingStage):
    """What the optimizer remembers is cut along an axis of the mesh.

    >>> mesh = dy2st.distributed.ProcessMesh([0], ["dp"])
    >>> net = dy2st.distributed.shard_layer(dy2st.nn.Linear(2, 3), mesh)
    >>> opt = dy2st.optimizer.Adam(parameters=net.parameters())
    >>> opt = dy2st.distributed.shard_optimizer(opt, dy2st.distributed.ShardingStage1("dp", mesh))
    """


class ShardingStage2(_ShardingStage):
    """As stage 1, and so are gradients: each device adds up those that it needs.

    >>> mesh = dy2st.distributed.ProcessMesh([0], ["dp"])
    >>> net = dy2st.distributed.shard_layer(dy2st.nn.Linear(2, 3), mesh)
    >>> opt = dy2st.optimizer.Adam(parameters=net.parameters())
    >>> opt = dy2st.distributed.shard_optimizer(opt, dy2st.distributed.ShardingStage2("dp", mesh))
    """


class ShardingStage3(_ShardingStage):
    """As stage 2, and so are the parameters themselves: they are gathered where they are used.

    >>> mesh = dy2st.distributed.ProcessMesh([0], ["dp"])
    >>> net = dy2st.distributed.shard_layer(dy2st.nn.Linear(2, 3), mesh)
    >>> opt = dy2st.optimizer.Adam(parameters=net.parameters())
    >>> opt = dy2st.distributed.shard_optimizer(opt, dy2st.distributed.ShardingStage3("dp", mesh))
    """

    cuts_parameters = True


STAGES: dict[int, type[_ShardingStage]] = {
    1: ShardingStage1,
    2: ShardingStage2,
    3: ShardingStage3,
}


def shard_optimizer(
    optimizer: Optimizer,
    shard_fn: Callable[[str, Any, Any], Any] | None = None,
    gradient_accumulation_steps: int = 1,
) -> Optimizer:
    """The optimizer; what it remembers lies as the parameter does, or as shard_fn says.

    Parameters
    ----------
    shard_fn
        called with the name of what is remembered, the parameter, and the tensor; one of
        ShardingStage1, ShardingStage2 and ShardingStage3, or a function that calls
        `shard_tensor`.

    Examples
    --------
    >>> mesh = dy2st.distributed.ProcessMesh([0], ["dp"])
    >>> net = dy2st.distributed.shard_layer(dy2st.nn.Linear(2, 3), mesh)
    >>> opt = dy2st.optimizer.Adam(parameters=net.parameters())
    >>> dy2st.distributed.shard_optimizer(opt) is opt
    True
    """
    if gradient_accumulation_steps != 1:
        raise ArgumentError(
            "shard_optimizer(gradient_accumulation_steps=...): call step() after as many "
            "backward() as you like, or set strategy.gradient_merge.k_steps"
        )
    for parameter in optimizer._parameters:
        if isinstance(shard_fn, _ShardingStage) and shard_fn.cuts_parameters:
            mesh = shard_fn.mesh or parameter.process_mesh
            if mesh is not None:
                shard_tensor(parameter, mesh, shard_fn.cut(mesh, parameter, parameter.shape))
        for key, tensor in optimizer.accumulators(parameter).items():
            if shard_fn is not None:
                shard_fn(key, parameter, tensor)
            elif parameter.is_dist() and tensor.shape == parameter.shape:
                shard_tensor(tensor, parameter.process_mesh, parameter.placements)
    return optimizer


__all__ = [
    "Partial",
    "Placement",
    "ProcessMesh",
    "ReduceType",
    "Replicate",
    "Shard",
    "ShardingStage1",
    "ShardingStage2",
    "ShardingStage3",
    "dtensor_from_fn",
    "reshard",
    "shard_layer",
    "shard_optimizer",
    "shard_tensor",
    "unshard_dtensor",
]
