"""Fleet for one process: the model, the optimizer and the loss are what they were."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dy2st.paddle.distributed.fleet import meta_parallel, utils
from dy2st.paddle.distributed.fleet.meta_parallel import HybridCommunicateGroup
from dy2st.paddle.distributed.fleet.utils import recompute
from dy2st.paddle.mirrors import names_of
from dy2st.paddle.private_modules import private_modules


class DistributedStrategy:
    """Wishes about how processes share work; they are kept, and one process shares nothing."""

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
    """Begin: there is nobody to connect to."""


def distributed_model(model: Any) -> Any:
    """The model as each process has it: itself."""
    return model


def distributed_optimizer(optimizer: Any, strategy: Any = None) -> Any:
    """The optimizer for all processes: itself."""
    return optimizer


def distributed_scaler(scaler: Any) -> Any:
    """The scaler for all processes: itself."""
    return scaler


def get_hybrid_communicate_group() -> HybridCommunicateGroup:
    """How the processes are arranged."""
    return HybridCommunicateGroup()


def is_first_worker() -> bool:
    """Whether this is the first process: True."""
    return True


def is_worker() -> bool:
    """Whether this process trains: True."""
    return True


def is_server() -> bool:
    """Whether this process keeps parameters for others: False."""
    return False


def worker_num() -> int:
    """How many processes train: 1."""
    return 1


def worker_index() -> int:
    """The number of this process: 0."""
    return 0


local_rank, rank_in_node, world_size = worker_index, worker_index, worker_num


def barrier_worker() -> None:
    """Wait for all processes: this one is here."""


init_worker = stop_worker = barrier_worker

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
