"""Trains on a mesh of all processes as alone; says how far losses and parameters are apart."""

import sys

import numpy as np

import dy2st
import dy2st.distributed as dist
from dy2st import nn, optimizer

PLANS = {
    "data parallel": {},
    "stage 1": {"sharding": {"enable": True, "stage": 1}},
    "stage 2": {"sharding": {"enable": True, "stage": 2}},
    "stage 3": {"sharding": {"enable": True, "stage": 3}},
}
RNG = np.random.default_rng(3)
STEPS, CLASSES = 20, 3
XS = RNG.standard_normal((STEPS, 16, 8)).astype("float32")
YS = RNG.integers(0, CLASSES, (STEPS, 16))


def network():
    dy2st.seed(5)
    first = nn.Linear(8, 16, bias_attr=False)
    return nn.Sequential(first, nn.BatchNorm1D(16), nn.ReLU(), nn.Linear(16, CLASSES))


def alone(batches):
    net = network()
    adam = optimizer.Adam(0.02, epsilon=1e-3, parameters=net.parameters())
    losses = []
    for x, y in batches:
        loss = nn.functional.cross_entropy(net(dy2st.to_tensor(x)), dy2st.to_tensor(y))
        loss.backward()
        adam.step()
        adam.clear_grad()
        losses.append(float(loss))
    return losses, [p.numpy() for p in net.parameters()]


def together(batches, strategy, shape):
    names = ["dp", "mp"][: len(shape)]
    mesh = dist.ProcessMesh(np.arange(np.prod(shape)).reshape(shape), dim_names=names)

    def cut(name, layer, mesh):
        if len(shape) > 1 and isinstance(layer, nn.Linear):
            axis = 1 if layer.weight.shape[1] == 16 else 0
            dist.shard_tensor(layer.weight, mesh, [dist.Replicate(), dist.Shard(axis)])

    net = dist.shard_layer(network(), mesh, cut)
    adam = optimizer.Adam(0.02, epsilon=1e-3, parameters=net.parameters())
    adam = dist.shard_optimizer(adam)
    model = dist.to_static(net, None, nn.CrossEntropyLoss(), adam, dist.Strategy(strategy))
    cut_rows = [dist.Shard(0)]
    losses = [
        float(model(*(dist.shard_tensor(one, mesh, cut_rows) for one in batch)))
        for batch in batches
    ]
    return losses, [p.numpy() for p in net.parameters()]


def apart(one, other):
    return max(float(np.abs(np.asarray(a) - b).max()) for a, b in zip(one, other))


def main(shape, rows):
    batches = [(x[:rows], y[:rows]) for x, y in zip(XS, YS)]
    losses, parameters = alone(batches)
    for name, strategy in PLANS.items():
        found, own = together(batches, strategy, shape)
        print(name, apart([found], [losses]) < 1e-5 and apart(own, parameters) < 1e-5, flush=True)


if __name__ == "__main__":
    dist.init_parallel_env()
    main([int(size) for size in sys.argv[1].split("x")], int(sys.argv[2]))
