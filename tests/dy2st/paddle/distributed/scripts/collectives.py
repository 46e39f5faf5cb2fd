"""Makes every collective once, and stores what this rank got."""

import pickle
import sys
from pathlib import Path

import numpy as np

import dy2st
import dy2st.distributed as dist
from dy2st.distributed import ReduceOp

DTYPES = ("float32", "float64", "float16", "int32", "int64", "uint8")


def value(rank, dtype="float32", size=6):
    return np.random.default_rng(rank).integers(0, 9, size).astype(dtype)


def tensor(rank, *facts):
    return dy2st.to_tensor(value(rank, *facts))


def main(folder):
    dist.init_parallel_env()
    rank, count = dist.get_rank(), dist.get_world_size()
    found = {"who": (rank, count, dist.is_initialized(), dist.get_backend())}
    for op in ("SUM", "MAX", "MIN", "PROD", "AVG"):
        for dtype in DTYPES:
            for size in (6, 3001):
                x = tensor(rank, dtype, size)
                assert dist.all_reduce(x, op=getattr(ReduceOp, op)).is_completed()
                found["all_reduce", op, dtype, size] = x.numpy()
    x = tensor(rank)
    task = dist.all_reduce(x, sync_op=False)
    task.wait()
    found["async"] = x.numpy()
    x = tensor(rank)
    dist.reduce(x, dst=1)
    found["reduce"] = x.numpy()
    x = tensor(rank, "float64", 3001)
    dist.broadcast(x, src=1)
    found["broadcast"] = x.numpy()
    gathered = []
    dist.all_gather(gathered, tensor(rank))
    found["all_gather"] = [t.numpy() for t in gathered]
    held = [dy2st.zeros([6]) for _ in range(count)]
    kept = [*held]
    dist.all_gather(held, tensor(rank))
    found["all_gather into"] = [t.numpy() for t in kept]
    gathered = []
    dist.gather(tensor(rank), gathered, dst=1)
    found["gather"] = [t.numpy() for t in gathered]
    x = dy2st.zeros([6])
    dist.scatter(x, [tensor(10 + i) for i in range(count)] if rank == 1 else None, src=1)
    found["scatter"] = x.numpy()
    x = dy2st.zeros([6])
    dist.reduce_scatter(x, [tensor(10 * rank + i) for i in range(count)])
    found["reduce_scatter"] = x.numpy()
    swapped = []
    dist.alltoall(swapped, [tensor(10 * rank + i) for i in range(count)])
    found["alltoall"] = [t.numpy() for t in swapped]
    x = dy2st.zeros([count, 2])
    dist.alltoall_single(x, dy2st.full([count, 2], float(rank)))
    found["alltoall_single"] = x.numpy()
    sizes = [rank + 1] * count
    x = dy2st.zeros([sum(range(1, count + 1))])
    dist.alltoall_single(x, dy2st.full([sum(sizes)], float(rank)), sizes)
    found["alltoall_single of parts"] = x.numpy()
    objects = []
    dist.all_gather_object(objects, {"rank": rank, "text": "x" * rank * 1000})
    found["all_gather_object"] = objects
    objects = [rank, "two"]
    dist.broadcast_object_list(objects, src=1)
    found["broadcast_object_list"] = objects
    out = []
    dist.scatter_object_list(out, [f"for {i}" for i in range(count)], src=0)
    found["scatter_object_list"] = out
    to, source = (rank + 1) % count, (rank - 1) % count
    x = dy2st.zeros([6])
    tasks = dist.batch_isend_irecv(
        [dist.P2POp(dist.isend, tensor(rank), to), dist.P2POp(dist.irecv, x, source)]
    )
    for task in tasks:
        task.wait()
    found["ring"] = x.numpy()
    if rank == 0:
        dist.send(tensor(7), dst=1)
        dist.send_object_list(["an", "object"], dst=1)
    if rank == 1:
        x = dy2st.zeros([6])
        dist.recv(x, src=0)
        words = []
        dist.recv_object_list(words, src=0)
        found["recv"] = x.numpy(), words
    group = dist.new_group([0, count - 1])
    x = tensor(rank)
    dist.all_reduce(x, group=group)
    found["group"] = x.numpy(), group.rank, dist.get_world_size(group)
    dist.barrier()
    with Path(folder, f"{rank}.pickle").open("wb") as file:
        pickle.dump(found, file)


if __name__ == "__main__":
    main(sys.argv[1])
