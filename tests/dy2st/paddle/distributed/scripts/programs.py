"""Runs converted functions with collectives, and shows what their Programs have."""

import numpy as np

import dy2st
import dy2st.distributed as dist


def between(x, y):
    """Every collective that a Program has."""
    x, y = x.clone(), y.clone()
    dist.all_reduce(x)
    dist.broadcast(y, src=1)
    gathered, swapped, mine = [], [], dy2st.zeros([3])
    dist.all_gather(gathered, x)
    dist.alltoall(swapped, [y, y + 1])
    dist.reduce_scatter(mine, [x, y], op=dist.ReduceOp.MAX)
    return x, y, dy2st.concat(gathered), dy2st.concat(swapped), mine


def inputs():
    rank = dist.get_rank()
    return [dy2st.to_tensor(np.arange(3, dtype="float32") + 10 * rank) * by for by in (1, 2)]


def main():
    dist.init_parallel_env()
    expected = [one.tolist() for one in between(*inputs())]
    for engine in ("numpy", "native"):
        f = dy2st.to_static(between, engine=engine)
        for _ in range(2):
            assert [one.tolist() for one in f(*inputs())] == expected
        names = [operator.name for operator in f.concrete_program.main_program.block.operators]
        print(*[name for name in names if "all" in name or "_from" in name or "scatter" in name])


if __name__ == "__main__":
    main()
