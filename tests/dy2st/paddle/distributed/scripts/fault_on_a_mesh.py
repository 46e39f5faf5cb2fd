"""Trains on a mesh of all processes until the last one does something else than the others."""

import os
import signal
import sys
import time

import numpy as np

import dy2st
import dy2st.distributed as dist
from dy2st import nn, optimizer

STEPS, FATAL, CLASSES = 20, 6, 4


def network(fault):
    dy2st.seed(6 if fault == "seed" else 5)
    layers = [nn.Linear(8, CLASSES), nn.Dropout(0.1)]
    return nn.Sequential(*layers, *([nn.ReLU()] if fault == "program" else []))


def fail(fault, net):
    if fault == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if fault == "raises":
        raise ValueError("this rank has had enough")
    if fault == "hangs":
        time.sleep(600)
    if fault == "draws":
        dy2st.rand([1])
    if fault == "looks":
        print(net[0].weight.numpy())


def main(fault):
    dist.init_parallel_env()
    is_last = dist.get_rank() == dist.get_world_size() - 1
    fault = fault if is_last else ""
    mesh = dist.ProcessMesh(np.arange(dist.get_world_size()), dim_names=["dp"])
    net = network(fault)
    dist.shard_tensor(net[0].weight, mesh, [dist.Shard(0)])
    dist.shard_layer(net, mesh)
    adam = dist.shard_optimizer(optimizer.Adam(0.05, parameters=net.parameters()))
    model = dist.to_static(net, None, nn.CrossEntropyLoss(), adam)
    rng = np.random.default_rng(3)
    for step in range(STEPS):
        x, y = rng.standard_normal((16, 8)).astype("float32"), rng.integers(0, CLASSES, 16)
        if step == FATAL:
            fail(fault, net)
            x[3, 3] += fault == "batch"
            x, y = (x[:12], y[:12]) if fault == "rows" else (x, y)
        cut = [dist.shard_tensor(one, mesh, [dist.Shard(0)]) for one in (x, y)]
        float(model(*cut))
    print("trained", flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
