"""Runs converted functions with collectives, shows their operators, and checks gradients."""

import numpy as np

import dy2st
import dy2st.distributed as dist
from dy2st_runtime.ir import apply


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


def gradients():
    """Of the sum of the losses of both ranks, by what went into each collective."""
    rank, ranks = dist.get_rank(), (0, 1)
    calls = [
        ("all_reduce", {"op": "sum"}, lambda w: w.sum(0)),
        ("all_reduce", {"op": "avg"}, lambda w: w.mean(0)),
        ("all_gather", {}, lambda w: w.sum(0)[rank]),
        ("reduce_scatter", {"op": "sum"}, lambda w: w),
        ("reduce_scatter", {"op": "avg"}, lambda w: w / 2),
        ("all_to_all", {}, lambda w: w[:, rank]),
    ]
    for name, attributes, expected in calls:
        x = dy2st.ones([2, 3])
        x.stop_gradient = False
        y = apply(name, x, ranks=ranks, **attributes)
        weights = np.random.default_rng(3).standard_normal((2, *y.shape)).astype("float32")
        (y * dy2st.to_tensor(weights[rank])).sum().backward()
        assert np.allclose(x.grad.numpy(), expected(weights)), (name, attributes)


def inputs():
    rank = dist.get_rank()
    return [dy2st.to_tensor(np.arange(3, dtype="float32") + 10 * rank) * by for by in (1, 2)]


def main():
    dist.init_parallel_env()
    gradients()
    expected = [one.tolist() for one in between(*inputs())]
    for engine in ("numpy", "native"):
        f = dy2st.to_static(between, engine=engine)
        for _ in range(2):
            assert [one.tolist() for one in f(*inputs())] == expected
        names = [operator.name for operator in f.concrete_program.main_program.block.operators]
        print(*[name for name in names if "all" in name or "_from" in name or "scatter" in name])


if __name__ == "__main__":
    main()
