"""Training in several processes, for a process that is alone: rank 0 of 1.

Collectives give back what they got; sending to another process is refused.
"""

from typing import TYPE_CHECKING

from dy2st.paddle.distributed import fleet
from dy2st.paddle.distributed.collectives import (
    ReduceOp,
    all_gather,
    all_gather_object,
    all_reduce,
    alltoall,
    alltoall_single,
    broadcast,
    broadcast_object_list,
    gather,
    irecv,
    isend,
    recv,
    reduce,
    reduce_scatter,
    scatter,
    scatter_object_list,
    send,
    wait,
)
from dy2st.paddle.distributed.dist_model import (
    DistModel,
    ShardDataloader,
    Strategy,
    shard_dataloader,
    to_static,
)
from dy2st.paddle.distributed.mesh import (
    Partial,
    Placement,
    ProcessMesh,
    ReduceType,
    Replicate,
    Shard,
    ShardingStage1,
    ShardingStage2,
    ShardingStage3,
    dtensor_from_fn,
    reshard,
    shard_layer,
    shard_optimizer,
    shard_tensor,
    unshard_dtensor,
)
from dy2st.paddle.distributed.single_process import (
    DataParallel,
    Group,
    ParallelEnv,
    barrier,
    destroy_process_group,
    get_backend,
    get_group,
    get_rank,
    get_world_size,
    init_parallel_env,
    is_available,
    is_initialized,
    launch,
    new_group,
    spawn,
)
from dy2st.paddle.mirrors import names_of
from dy2st.paddle.private_modules import private_modules

__all__ = [
    "DataParallel",
    "DistModel",
    "Group",
    "ParallelEnv",
    "Partial",
    "Placement",
    "ProcessMesh",
    "ReduceOp",
    "ReduceType",
    "Replicate",
    "Shard",
    "ShardDataloader",
    "ShardingStage1",
    "ShardingStage2",
    "ShardingStage3",
    "Strategy",
    "all_gather",
    "all_gather_object",
    "all_reduce",
    "alltoall",
    "alltoall_single",
    "barrier",
    "broadcast",
    "broadcast_object_list",
    "destroy_process_group",
    "dtensor_from_fn",
    "fleet",
    "gather",
    "get_backend",
    "get_group",
    "get_rank",
    "get_world_size",
    "init_parallel_env",
    "irecv",
    "is_available",
    "is_initialized",
    "isend",
    "launch",
    "new_group",
    "recv",
    "reduce",
    "reduce_scatter",
    "reshard",
    "scatter",
    "scatter_object_list",
    "send",
    "shard_dataloader",
    "shard_layer",
    "shard_optimizer",
    "shard_tensor",
    "spawn",
    "to_static",
    "unshard_dtensor",
    "wait",
]

if not TYPE_CHECKING:
    __getattr__ = names_of(__name__, [])

private_modules(__name__)
