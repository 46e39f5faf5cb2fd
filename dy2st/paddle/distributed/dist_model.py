"""Trains a Layer whose tensors lie on a mesh of devices: one Program for each kind of step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from dy2st.amp import auto_cast
from dy2st.io import DataLoader, DistributedBatchSampler
from dy2st.jit import StaticFunction
from dy2st.jit import to_static as converted
from dy2st.paddle.distributed.collectives import all_gather
from dy2st.paddle.distributed.fleet.recomputing import recompute
from dy2st.paddle.distributed.mesh import (
    STAGES,
    Placement,
    ProcessMesh,
    Replicate,
    Shard,
    reshard,
    shard_optimizer,
    shard_tensor,
)
from dy2st.paddle.distributed.processes import get_world_size
from dy2st_runtime import ops
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.nn.layer import Layer
from dy2st_runtime.optimizer import Optimizer
from dy2st_runtime.tensor import EagerTensor

_SECTIONS: dict[str, dict[str, Any]] = {
    "sharding": {"enable": False, "stage": 1, "degree": -1},
    "gradient_merge": {"enable": False, "k_steps": 1, "avg": True},
    "amp": {"enable": False, "dtype": "float16", "level": "O1"},
    "recompute": {"enable": False},
    "pipeline": {
        "enable": False,
        "schedule_mode": "1F1B",
        "micro_batch_size": 1,
        "accumulate_steps": 1,
    },
    "fused_passes": {"enable": False},
}


class Strategy:
    """How a DistModel trains: `strategy.sharding.enable = True`, `strategy.gradient_merge.k_steps`.

    >>> Strategy({"sharding": {"enable": True, "stage": 2}}).sharding.stage
    2
    """

    sharding: SimpleNamespace
    gradient_merge: SimpleNamespace
    amp: SimpleNamespace
    recompute: SimpleNamespace
    pipeline: SimpleNamespace
    fused_passes: SimpleNamespace

    def __init__(self, config: Mapping[str, Any] | None = None):
        """The defaults, with the settings of `config` in their place."""
        given = dict(config or {})
        self.full_graph = given.pop("full_graph", True)
        for name, defaults in _SECTIONS.items():
            settings = dict(given.pop(name, {}))
            unknown = settings.keys() - defaults.keys()
            if unknown:
                raise ArgumentError(f"strategy.{name} has no setting {min(unknown)!r}")
            setattr(self, name, SimpleNamespace(**{**defaults, **settings}))
        if given:
            raise ArgumentError(f"a Strategy has {', '.join(_SECTIONS)}, not {min(given)!r}")


class ShardDataloader:
    """The batches of a DataLoader as tensors that lie on a mesh: see `shard_dataloader`.

    >>> mesh = dy2st.distributed.ProcessMesh([0], ["dp"])
    >>> loader = dy2st.io.DataLoader(dy2st.io.TensorDataset([dy2st.ones([4, 2])]), batch_size=2)
    >>> batches = dy2st.distributed.ShardDataloader(loader, mesh, shard_dims="dp")
    >>> len(batches)
    2
    """

    def __init__(
        self,
        dataloader: DataLoader[Any],
        meshes: ProcessMesh | Sequence[ProcessMesh],
        input_keys: Sequence[str] | None = None,
        shard_dims: Any = None,
        is_dataset_splitted: bool = False,
        dense_tensor_idx: Any = None,
    ):
        """As `shard_dataloader` has them."""
        several = [meshes] if isinstance(meshes, ProcessMesh) else [*meshes]
        if any(mesh != several[0] for mesh in several):
            raise ArgumentError("shard_dataloader() takes one mesh for all tensors of a batch")
        self._loader, self._mesh = dataloader, several[0]
        dims = shard_dims if isinstance(shard_dims, (str, int)) or shard_dims is None else None
        if dims is None and shard_dims is not None:
            if len(set(shard_dims)) != 1:
                raise ArgumentError("shard_dims is one axis of the mesh, for all tensors")
            dims = shard_dims[0]
        self._axis = None if dims is None else self._mesh.axis_of(dims)
        self._keys = None if input_keys is None else [*input_keys]
        self._is_split = is_dataset_splitted and get_world_size() > 1
        # A value on a mesh is all of it in every process: a part would be trained on unnoticed.
        sampler = getattr(dataloader, "batch_sampler", None)
        if (
            isinstance(sampler, DistributedBatchSampler)
            and sampler.nranks > 1
            and not self._is_split
        ):
            raise ArgumentError(
                f"shard_dataloader() of batches that are cut for {sampler.nranks} processes: say "
                "is_dataset_splitted=True, and they are put together, or let each process read "
                "all of them (BatchSampler)"
            )

    def __len__(self) -> int:
        """The number of batches."""
        return len(self._loader)

    def __iter__(self) -> Iterator[Any]:
        """Batches, nested as the DataLoader gives them."""
        for batch in self._loader:
            if self._keys is not None and isinstance(batch, dict):
                batch = {key: batch[key] for key in self._keys}
            yield self._shard(batch)

    __call__ = __iter__

    def _shard(self, batch: Any) -> Any:
        if isinstance(batch, (list, tuple)):
            return type(batch)(self._shard(entry) for entry in batch)
        if isinstance(batch, dict):
            return {key: self._shard(entry) for key, entry in batch.items()}
        if not isinstance(batch, EagerTensor):
            return batch
        if self._is_split:
            parts: list[Any] = []
            all_gather(parts, batch)
            batch = ops.concat(parts)
        placements: list[Placement] = [Replicate()] * self._mesh.ndim
        if self._axis is not None and batch.ndim:
            placements[self._axis] = Shard(0)
        return shard_tensor(batch, self._mesh, placements)


def shard_dataloader(
    dataloader: DataLoader[Any],
    meshes: ProcessMesh | Sequence[ProcessMesh],
    input_keys: Sequence[str] | None = None,
    shard_dims: Any = None,
    is_dataset_splitted: bool = False,
    dense_tensor_idx: Any = None,
) -> ShardDataloader:
    """The batches of a DataLoader, cut along their first axis on an axis of the mesh.

    Parameters
    ----------
    shard_dims
        the axis of the mesh, by name or number; without one every device has all.
    is_dataset_splitted
        whether each process reads a part of the data: the parts are put together. Else every
        process reads the same batches.

    Examples
    --------
    >>> mesh = dy2st.distributed.ProcessMesh([0], ["dp"])
    >>> loader = dy2st.io.DataLoader(dy2st.io.TensorDataset([dy2st.ones([4, 2])]), batch_size=2)
    >>> for (x,) in dy2st.distributed.shard_dataloader(loader, mesh, shard_dims="dp"):
    ...     print(x.shape, x.placements)
    [2, 2] [Shard(dim=0)]
    [2, 2] [Shard(dim=0)]
    """
    return ShardDataloader(
        dataloader, meshes, input_keys, shard_dims, is_dataset_splitted, dense_tensor_idx
    )


class DistModel:
    """A Layer, its loss and optimizer as Programs on a mesh: `to_static` makes it.

    `train()`, `eval()` and `predict()` choose what a call does: a step that gives the loss, the
    loss alone, or what the Layer gives.

    >>> mesh = dy2st.distributed.ProcessMesh([0], ["dp"])
    >>> net = dy2st.distributed.shard_layer(dy2st.nn.Linear(2, 1), mesh)
    >>> opt = dy2st.optimizer.SGD(0.1, net.parameters())
    >>> model = dy2st.distributed.to_static(net, None, dy2st.nn.MSELoss(), opt)
    >>> model.train()
    >>> model.eval()
    >>> model.predict()
    >>> sorted(model.state_dict("param"))
    ['bias', 'weight']
    >>> model.set_state_dict(model.state_dict())
    """

    def __init__(
        self,
        layer: Layer,
        loader: Any = None,
        loss: Any = None,
        optimizer: Optimizer | None = None,
        strategy: Strategy | None = None,
        metrics: Any = None,
        input_spec: Any = None,
    ):
        """Begin in the mode for which all is there: train, else eval, else predict."""
        self.network, self._loss, self._optimizer = layer, loss, optimizer
        self._strategy = Strategy() if strategy is None else strategy
        self._labels = (0 if loss is None else 1) if input_spec is None else len(input_spec[1])
        self._steps: dict[Any, StaticFunction] = {}
        self._merged = 0  # how many gradients have been summed up since the last step
        if self._strategy.pipeline.enable:
            raise ArgumentError(
                "strategy.pipeline: stages of a pipeline are not built; cut the layers along an "
                "axis of the mesh (shard_layer), which needs no schedule"
            )
        if optimizer is not None and self._strategy.sharding.enable:
            stage = self._strategy.sharding.stage
            if stage not in STAGES:
                raise ArgumentError(f"strategy.sharding.stage is 1, 2 or 3, not {stage!r}")
            shard_optimizer(optimizer, STAGES[stage](self._axis_of_data()))
        self._mode = "predict"
        if loss is not None:
            self._mode = "eval" if optimizer is None else "train"
        self._set_layer()

    def _axis_of_data(self) -> str:
        """The axis of the mesh along which batches are cut: `dp`, else the first one."""
        meshes = [p.process_mesh for p in self.network.parameters() if p.is_dist()]
        if not meshes:
            raise ArgumentError("strategy.sharding needs a model on a mesh: shard_layer(net, mesh)")
        names: list[str] = meshes[0].dim_names
        return "dp" if "dp" in names else names[0]

    # -- modes -------------------------------------------------------------------------------

    def train(self) -> None:
        """Let calls train; ArgumentError without a loss and an optimizer."""
        if self._loss is None or self._optimizer is None:
            raise ArgumentError(
                "train() needs a loss and an optimizer: to_static(layer, loader, loss, optimizer)"
            )
        self._mode = "train"
        self._set_layer()

    def eval(self) -> None:
        """Let calls give the loss; ArgumentError without one."""
        if self._loss is None:
            raise ArgumentError("eval() needs a loss: to_static(layer, loader, loss)")
        self._mode = "eval"
        self._set_layer()

    def predict(self) -> None:
        """Let calls give what the Layer gives."""
        self._mode = "predict"
        self._set_layer()

    def _set_layer(self) -> None:
        (self.network.train if self._mode == "train" else self.network.eval)()

    # -- calls -------------------------------------------------------------------------------

    def __call__(self, *args: Any) -> Any:
        """A step of the mode: inputs, then labels where there is a loss."""
        merge = self._strategy.gradient_merge
        is_last = True
        if self._mode == "train" and merge.enable:
            self._merged = (self._merged + 1) % merge.k_steps
            is_last = self._merged == 0
        placed = tuple(getattr(arg, "dist_attr", None) for arg in args)
        key = (self._mode, is_last, tuple(p and p.spec for p in placed))
        if key not in self._steps:
            self._steps[key] = converted(self._step(is_last, placed))
        return self._steps[key](*args)

    def _step(self, is_last: bool, placed: Sequence[Any]) -> Any:
        """The function that a mode converts."""
        mode, merge, amp = self._mode, self._strategy.gradient_merge, self._strategy.amp
        network, loss_of = self.network, self._loss
        optimizer: Any = self._optimizer
        is_recomputed = self._strategy.recompute.enable and mode == "train"
        factor = 1.0 / merge.k_steps if merge.enable and merge.avg else 1.0
        labels = 0 if mode == "predict" else self._labels

        def step(*args: Any) -> Any:
            batch = [
                arg if at is None else reshard(arg, at.mesh, at.placements)
                for arg, at in zip(args, placed)
            ]
            inputs = batch[: len(batch) - labels]
            with auto_cast(enable=amp.enable, dtype=amp.dtype, level=amp.level.upper()):
                outputs = recompute(network, *inputs) if is_recomputed else network(*inputs)
                if mode == "predict":
                    return outputs
                several = outputs if isinstance(outputs, (list, tuple)) else [outputs]
                loss = loss_of(*several, *batch[len(batch) - labels :])
            if mode == "train":
                (loss if factor == 1.0 else loss * factor).backward()
                if is_last:
                    optimizer.step()
                    optimizer.clear_grad(set_to_zero=False)  # zeros would stay on each device
            return loss

        return step

    # -- what there is -----------------------------------------------------------------------

    def dist_main_program(self, mode: str | None = None) -> Any:
        """The Program of a mode; ArgumentError before its first call.

        >>> mesh = dy2st.distributed.ProcessMesh([0], ["dp"])
        >>> net = dy2st.distributed.shard_layer(dy2st.nn.Linear(2, 1), mesh)
        >>> model = dy2st.distributed.to_static(net, None, dy2st.nn.MSELoss())
        >>> model.dist_main_program("eval")
        Traceback (most recent call last):
            ...
        dy2st_runtime.errors.ArgumentError: the Program of eval() is made at its first call
        """
        wanted = mode or self._mode
        for (known, _, _), function in self._steps.items():
            made = function.program_cache.last() if known == wanted else None
            if made is not None:
                return made.main_program
        raise ArgumentError(f"the Program of {wanted}() is made at its first call")

    serial_main_program = dist_main_program

    def state_dict(self, mode: str = "all", split_fusion: bool = True) -> dict[str, Any]:
        """Parameters and buffers (`param`), what the optimizer remembers (`opt`), or `all`.

        They are the tensors themselves, which training changes: nothing is copied or sent.
        """
        if mode not in ("all", "param", "opt"):
            raise ArgumentError(f"state_dict() takes 'all', 'param' or 'opt', not {mode!r}")
        found: dict[str, Any] = {} if mode == "opt" else dict(self.network.state_dict())
        if mode != "param" and self._optimizer is not None:
            found.update(self._optimizer.live_state_dict())
        return found

    def set_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Take what `state_dict` gave; the tensors themselves have been filled already."""
        held, own = self.network.state_dict(), self.state_dict()
        other = {key for key, value in state_dict.items() if not _is_same(value, own.get(key))}
        if other & held.keys():
            self.network.set_state_dict({k: v for k, v in state_dict.items() if k in held})
        rest = {key: state_dict[key] for key in state_dict if key in other - held.keys()}
        if self._optimizer is not None and rest:
            self._optimizer.set_state_dict(rest)


def _is_same(value: Any, own: Any) -> bool:
    """Whether an entry of a state dict holds the tensors that a model has, and its plain values."""
    if isinstance(value, Mapping) and isinstance(own, Mapping):
        return value.keys() == own.keys() and all(_is_same(value[k], own[k]) for k in value)
    return value is own or (not isinstance(value, EagerTensor) and bool(value == own))


def to_static(
    layer: Layer,
    loader: Any = None,
    loss: Any = None,
    optimizer: Optimizer | None = None,
    strategy: Strategy | None = None,
    input_spec: Any = None,
) -> DistModel:
    """The Layer, its loss and optimizer as Programs on the mesh that its tensors lie on.

    >>> from dy2st import nn, optimizer, rand
    >>> from dy2st.paddle.distributed.mesh import shard_layer
    >>> net = shard_layer(nn.Linear(2, 1), ProcessMesh([0], dim_names=["dp"]))
    >>> sgd = optimizer.SGD(0.1, parameters=net.parameters())
    >>> model = to_static(net, None, nn.MSELoss(), sgd)
    >>> model(rand([4, 2]), rand([4, 1])).shape
    []
    """
    return DistModel(layer, loader, loss, optimizer, strategy, None, input_spec)


__all__ = [
    "DistModel",
    "ShardDataloader",
    "Strategy",
    "shard_dataloader",
    "to_static",
]
