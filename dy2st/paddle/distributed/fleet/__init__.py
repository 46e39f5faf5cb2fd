"""Fleet: processes that share the data; of one process, all is what it was."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dy2st.paddle.distributed.collectives import barrier
from dy2st.paddle.distributed.data_parallel import DataParallel
from dy2st.paddle.distributed.fleet import meta_parallel, utils
from dy2st.paddle.distributed.fleet.meta_parallel import HybridCommunicateGroup
from dy2st.paddle.distributed.fleet.utils import recompute
from dy2st.paddle.mirrors import names_of
from dy2st.paddle.private_modules import private_modules
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.processes import environment
from dy2st_runtime.processes.group import join, world


class DistributedStrategy:
    """Wishes about how processes share work; they are kept, and the data alone is shared."""

    def __init__(self) -> None:
        """No wishes."""
        self.hybrid_configs: dict[str, Any] = {}


class Fleet:
    """All processes; models and optimizers are none of this class here."""


class PaddleCloudRoleMaker:
    """Says who does what: this process does it all."""

    def __init__(self, is_collective: bool = False, **_: Any) -> None:
        """Take whether all processes do the same."""


UserDefinedRoleMaker = PaddleCloudRoleMaker


def init(
    role_maker: Any = None,
    is_collective: bool = False,
    strategy: DistributedStrategy | None = None,
    log_level: int | str = "INFO",
) -> None:
    """Connect the processes, as `init_parallel_env`.

    Raises ArgumentError for `hybrid_configs` that share more than the data among several processes.
    """
    configs = {} if strategy is None else strategy.hybrid_configs
    for name, degree in configs.items():
        if name.endswith("_degree") and name != "dp_degree" and degree not in (0, 1, -1):
            raise ArgumentError(
                f"fleet.init: {name}={degree}: processes share the data alone; leave it away, or "
                "set it to 1"
            )
    join()


def distributed_model(model: Any) -> Any:
    """The model: a DataParallel, if there are several processes."""
    return model if world().nranks == 1 else DataParallel(model)


def distributed_optimizer(optimizer: Any, strategy: Any = None) -> Any:
    """The optimizer for all processes: itself, as gradients are the same on all of them."""
    return optimizer


def distributed_scaler(scaler: Any) -> Any:
    """The scaler for all processes: itself, as gradients are the same on all of them."""
    return scaler


def get_hybrid_communicate_group() -> HybridCommunicateGroup:
    """How the processes are arranged."""
    return HybridCommunicateGroup()


def is_first_worker() -> bool:
    """Whether this is the first process."""
    return worker_index() == 0


def is_worker() -> bool:
    """Whether this process trains: True."""
    return True


def is_server() -> bool:
    """Whether this process keeps parameters for others: False."""
    return False


def worker_num() -> int:
    """How many processes train."""
    return world().nranks


def worker_index() -> int:
    """The rank of this process."""
    return world().rank


def local_rank() -> int:
    """The number of this process on its machine."""
    return environment().local_rank


rank_in_node, world_size = local_rank, worker_num


def barrier_worker() -> None:
    """Wait until all processes have come here."""
    barrier()


def init_worker() -> None:
    """Begin: all is there after `init`."""


def stop_worker() -> None:
    """End: nothing is left to be done."""


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

if not TYPE_CHECKING:
    __getattr__ = names_of(__name__, [])

private_modules(__name__)
