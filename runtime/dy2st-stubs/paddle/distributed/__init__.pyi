"""Training in several processes, and in one: rank 0 of 1, to which collectives give what it gave."""

from dy2st.paddle.distributed import fleet as fleet
from dy2st.paddle.distributed.checkpoints import (
    load_state_dict as load_state_dict,
    save_state_dict as save_state_dict,
)
from dy2st.paddle.distributed.collectives import (
    P2POp as P2POp,
    ReduceOp as ReduceOp,
    all_gather as all_gather,
    all_gather_object as all_gather_object,
    all_reduce as all_reduce,
    alltoall as alltoall,
    alltoall_single as alltoall_single,
    barrier as barrier,
    batch_isend_irecv as batch_isend_irecv,
    broadcast as broadcast,
    broadcast_object_list as broadcast_object_list,
    gather as gather,
    irecv as irecv,
    isend as isend,
    recv as recv,
    recv_object_list as recv_object_list,
    reduce as reduce,
    reduce_scatter as reduce_scatter,
    scatter as scatter,
    scatter_object_list as scatter_object_list,
    send as send,
    send_object_list as send_object_list,
    wait as wait,
)
from dy2st.paddle.distributed.data_parallel import DataParallel as DataParallel
from dy2st.paddle.distributed.dist_model import (
    DistModel as DistModel,
    ShardDataloader as ShardDataloader,
    Strategy as Strategy,
    shard_dataloader as shard_dataloader,
    to_static as to_static,
)
from dy2st.paddle.distributed.mesh import (
    Partial as Partial,
    Placement as Placement,
    ProcessMesh as ProcessMesh,
    ReduceType as ReduceType,
    Replicate as Replicate,
    Shard as Shard,
    ShardingStage1 as ShardingStage1,
    ShardingStage2 as ShardingStage2,
    ShardingStage3 as ShardingStage3,
    dtensor_from_fn as dtensor_from_fn,
    reshard as reshard,
    shard_layer as shard_layer,
    shard_optimizer as shard_optimizer,
    shard_tensor as shard_tensor,
    unshard_dtensor as unshard_dtensor,
)
from dy2st.paddle.distributed.planning import Plan as Plan, plan as plan
from dy2st.paddle.distributed.predicting import predict as predict
from dy2st.paddle.distributed.processes import (
    ParallelEnv as ParallelEnv,
    destroy_process_group as destroy_process_group,
    get_backend as get_backend,
    get_group as get_group,
    get_rank as get_rank,
    get_world_size as get_world_size,
    init_parallel_env as init_parallel_env,
    is_available as is_available,
    is_initialized as is_initialized,
    new_group as new_group,
)
from dy2st.paddle.distributed.spawning import launch as launch, spawn as spawn
from dy2st_runtime.processes.group import Group as Group

