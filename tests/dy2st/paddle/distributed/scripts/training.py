"""Trains models data-parallel for 20 steps; rank 0 stores parameters and statistics."""

import pickle
import sys
from pathlib import Path

import numpy as np

import dy2st
import dy2st.distributed as dist
from dy2st import nn

STEPS, BATCH = 20, 8


def mlp():
    return nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3)), (6,)


def cnn():
    """Its norm is over the batches of all processes."""
    model, shape = own_cnn()
    return nn.SyncBatchNorm.convert_sync_batchnorm(model), shape


def own_cnn():
    """Its norm is over the batch of a process."""
    model = nn.Sequential(
        nn.Conv2D(2, 4, 3, padding=1, bias_attr=False),  # its gradient would be 0
        nn.BatchNorm2D(4),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(4 * 5 * 5, 3),
    )
    return model, (2, 5, 5)


def train(make, is_static, turns=1):
    """What a model has learnt after the steps, on this process' part of each batch.

    In several turns one process takes the parts of as many.
    """
    rank, count = dist.get_rank(), dist.get_world_size() * turns
    dy2st.seed(rank)  # rank 0's parameters are those that all begin with
    model, shape = make()
    state = dict(model.state_dict())
    model = dist.DataParallel(model)
    optimizer = dy2st.optimizer.Adam(0.01, parameters=model.parameters())

    def step(*batch):
        for x, y in zip(batch[::2], batch[1::2]):
            (nn.functional.cross_entropy(model(x), y) / turns).backward()
        optimizer.step()
        optimizer.clear_grad()

    step = dy2st.to_static(step) if is_static else step
    rng = np.random.default_rng(5)
    mine = [slice(n * BATCH // count, (n + 1) * BATCH // count) for n in range(rank, rank + turns)]
    for _ in range(STEPS):
        x = rng.standard_normal((BATCH, *shape)).astype("float32")
        y = rng.integers(0, 3, BATCH)
        step(*[dy2st.to_tensor(one[part]) for part in mine for one in (x, y)])
    if is_static and make is mlp:  # the gradients of all parameters go at once
        operators = step.concrete_program.main_program.block.operators
        assert [one.name for one in operators].count("all_reduce") == 1
    return {name: tensor.numpy() for name, tensor in state.items()}


def summed(is_static):
    """Gradients of three batches, of which the first two stay in the process."""
    model = dist.DataParallel(nn.Linear(2, 1, bias_attr=False))

    def back(x, is_last):
        if is_last:
            model(x).sum().backward()
        else:
            with model.no_sync():
                model(x).sum().backward()

    back = dy2st.to_static(back) if is_static else back
    for is_last in (False, False, True, True):
        back(dy2st.full([1, 2], float(dist.get_rank() + 1)), is_last)
    return model._layers.weight.grad.tolist()


def one_of_two():
    """Gradients of parameters that one process alone has used, and of one that none has."""

    class Layers(nn.Layer):
        def __init__(self):
            super().__init__()
            self.layers = nn.LayerList([nn.Linear(1, 1, bias_attr=False) for _ in range(3)])

        def forward(self, x):
            return self.layers[dist.get_rank()](x)

    model = dist.DataParallel(Layers())
    model(dy2st.ones([1, 1])).sum().backward()
    return [None if one.grad is None else one.grad.item() for one in model.parameters()]


def main(folder):
    dist.init_parallel_env()
    print("summed", summed(False), summed(True), "one of two", one_of_two())
    for make in (mlp, cnn, own_cnn):
        for is_static in (False, True):
            found = train(make, is_static)
            rank = dist.get_rank()
            path = Path(folder, f"{make.__name__}-{is_static}-{rank}.pickle")
            path.write_bytes(pickle.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1])
