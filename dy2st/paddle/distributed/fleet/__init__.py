"""Fleet: processes that share the data, or a mesh; with one process all is what it was."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dy2st.paddle.distributed.collectives import barrier
from dy2st.paddle.distributed.data_parallel import DataParallel
from dy2st.paddle.distributed.fleet import hybrid, meta_parallel, utils
from dy2st.paddle.distributed.fleet.meta_parallel import HybridCommunicateGroup
from dy2st.paddle.distributed.fleet.utils import recompute
from dy2st.paddle.distributed.mesh import STAGES
from dy2st.paddle.mirrors import names_of
from dy2st.paddle.private_modules import private_modules
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.lazy import public_dir
from dy2st_runtime.processes import environment
from dy2st_runtime.processes.group import join, world


class DistributedStrategy:
    """How work is shared: `hybrid_configs` has the degrees, `sharding_configs` the stage.

    >>> strategy = DistributedStrategy()
    >>> strategy.hybrid_configs = {"dp_degree": 2, "mp_degree": 2, "sharding_degree": 2}
    >>> strategy.sharding_configs = {"stage": 2}
    """

    def __init__(self) -> None:
        """No wishes."""
        self.hybrid_configs: dict[str, Any] = {}
        self.sharding_configs: dict[str, Any] = {}


class Fleet:
    """All processes; models and optimizers are none of this class here.

    >>> isinstance(dy2st.nn.Linear(2, 3), dy2st.distributed.fleet.Fleet)
    False
    """


class PaddleCloudRoleMaker:
    """Says who does what: this process does it all.

    >>> role = dy2st.distributed.fleet.PaddleCloudRoleMaker(is_collective=True)
    >>> dy2st.distributed.fleet.init(role)
    """

    def __init__(self, is_collective: bool = False, **_: Any) -> None:
        """Take whether all processes do the same."""


UserDefinedRoleMaker = PaddleCloudRoleMaker


def init(
    role_maker: Any = None,
    is_collective: bool = False,
    strategy: DistributedStrategy | None = None,
    log_level: int | str = "INFO",
) -> None:
    """Connect the processes, as `init_parallel_env`, and make a mesh of the degrees.

    Without degrees of `mp` and `sharding`, and with a `dp_degree` that is the number of processes,
    there is none: processes share the data. Raises ArgumentError for degrees that do not fit the
    devices, and for stages of a pipeline.

    >>> dy2st.distributed.fleet.init(is_collective=True)
    >>> dy2st.distributed.fleet.worker_num()
    1
    """
    strategy = strategy or DistributedStrategy()
    degrees = hybrid.degrees_of(strategy.hybrid_configs)
    stage = strategy.sharding_configs.get("stage", 1)
    if stage not in STAGES:
        raise ArgumentError(f"fleet.init: the stage of sharding is 1, 2 or 3, not {stage!r}")
    join()
    hybrid.begin(degrees, stage)


def distributed_model(model: Any) -> Any:
    """The model, on the mesh that `init` made; else a DataParallel, if there are several processes.

    On a mesh all processes begin with the values of rank 0, and batches are cut along their first
    axis.

    >>> net = dy2st.distributed.fleet.distributed_model(dy2st.nn.Linear(2, 3))
    >>> net(dy2st.ones([1, 2])).shape
    [1, 3]
    """
    mesh = hybrid.mesh()
    if mesh is not None:
        return hybrid.place_model(model, mesh)
    return model if world().nranks == 1 else DataParallel(model)


def distributed_optimizer(optimizer: Any, strategy: Any = None) -> Any:
    """The optimizer itself: gradients are the same everywhere.

    On a mesh what it remembers is cut along `sharding`, as the stage says.

    >>> opt = dy2st.optimizer.SGD(0.1, dy2st.nn.Linear(2, 3).parameters())
    >>> dy2st.distributed.fleet.distributed_optimizer(opt) is opt
    True
    """
    mesh = hybrid.mesh()
    return optimizer if mesh is None else hybrid.place_optimizer(optimizer, mesh)


def distributed_scaler(scaler: Any) -> Any:
    """The scaler for all processes: itself, as gradients are the same on all of them.

    >>> scaler = dy2st.amp.GradScaler()
    >>> dy2st.distributed.fleet.distributed_scaler(scaler) is scaler
    True
    """
    return scaler


def get_hybrid_communicate_group() -> HybridCommunicateGroup:
    """How the processes are arranged.

    >>> dy2st.distributed.fleet.get_hybrid_communicate_group().get_model_parallel_world_size()
    1
    """
    return HybridCommunicateGroup()


def is_first_worker() -> bool:
    """Whether this is the first process.

    >>> dy2st.distributed.fleet.is_first_worker()
    True
    """
    return worker_index() == 0


def is_worker() -> bool:
    """Whether this process trains: True.

    >>> dy2st.distributed.fleet.is_worker()
    True
    """
    return True


def is_server() -> bool:
    """Whether this process keeps parameters for others: False.

    >>> dy2st.distributed.fleet.is_server()
    False
    """
    return False


def worker_num() -> int:
    """How many processes train.

    >>> dy2st.distributed.fleet.worker_num()
    1
    """
    return world().nranks


def worker_index() -> int:
    """The rank of this process.

    >>> dy2st.distributed.fleet.worker_index()
    0
    """
    return world().rank


def local_rank() -> int:
    """The number of this process on its machine."""
    return environment().local_rank


rank_in_node, world_size = local_rank, worker_num


def barrier_worker() -> None:
    """Wait until all processes have come here.

    >>> dy2st.distributed.fleet.barrier_worker()
    """
    barrier()


def init_worker() -> None:
    """Begin: all is there after `init`.

    >>> dy2st.distributed.fleet.init_worker()
    """


def stop_worker() -> None:
    """End: nothing is left to be done.

    >>> dy2st.distributed.fleet.stop_worker()
    """


__all__ = [
    "DistributedStrategy",
    "Fleet",
    "HybridCommunicateGroup",
    "PaddleCloudRoleMaker",
    "UserDefinedRoleMaker",
    "barrier_worker",
    "distributed_model",
    "distributed_optimizer",
    "distributed_scaler",
    "get_hybrid_communicate_group",
    "init",
    "init_worker",
    "is_first_worker",
    "is_server",
    "is_worker",
    "meta_parallel",
    "recompute",
    "stop_worker",
    "utils",
    "worker_index",
    "worker_num",
]
__dir__ = public_dir(__name__)

if not TYPE_CHECKING:
    __getattr__ = names_of(__name__, [])

private_modules(__name__)
