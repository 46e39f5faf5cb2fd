"""Training in several processes, and in one: rank 0 of 1, to which collectives give what it gave.

`launch` or `spawn` starts the processes, `init_parallel_env` connects them (by jax).
"""

from typing import TYPE_CHECKING

from dy2st.paddle.distributed import fleet
from dy2st.paddle.distributed.checkpoints import load_state_dict, save_state_dict
from dy2st.paddle.distributed.collectives import (
    P2POp,
    ReduceOp,
    all_gather,
    all_gather_object,
    all_reduce,
    alltoall,
    alltoall_single,
    barrier,
    batch_isend_irecv,
    broadcast,
    broadcast_object_list,
    gather,
    irecv,
    isend,
    recv,
    recv_object_list,
    reduce,
    reduce_scatter,
    scatter,
    scatter_object_list,
    send,
    send_object_list,
    wait,
)
from dy2st.paddle.distributed.data_parallel import DataParallel
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
from dy2st.paddle.distributed.planning import Plan, plan
from dy2st.paddle.distributed.predicting import predict
from dy2st.paddle.distributed.processes import (
    ParallelEnv,
    destroy_process_group,
    get_backend,
    get_group,
    get_rank,
    get_world_size,
    init_parallel_env,
    is_available,
    is_initialized,
    new_group,
)
from dy2st.paddle.distributed.spawning import launch, spawn
from dy2st.paddle.mirrors import names_of
from dy2st.paddle.private_modules import private_modules
from dy2st_runtime.lazy import public_dir
from dy2st_runtime.processes.group import Group

__all__ = [
    "DataParallel",
    "DistModel",
    "Group",
    "P2POp",
    "ParallelEnv",
    "Partial",
    "Placement",
    "Plan",
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
    "batch_isend_irecv",
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
    "load_state_dict",
    "new_group",
    "plan",
    "predict",
    "recv",
    "recv_object_list",
    "reduce",
    "reduce_scatter",
    "reshard",
    "save_state_dict",
    "scatter",
    "scatter_object_list",
    "send",
    "send_object_list",
    "shard_dataloader",
    "shard_layer",
    "shard_optimizer",
    "shard_tensor",
    "spawn",
    "to_static",
    "unshard_dtensor",
    "wait",
]
__dir__ = public_dir(__name__)

if not TYPE_CHECKING:
    __getattr__ = names_of(__name__, [])

private_modules(__name__)
