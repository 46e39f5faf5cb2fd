"""Trains on a mesh of all processes until the last one is killed, or raises."""

import os
import signal
import sys

import numpy as np

import dy2st
import dy2st.distributed as dist
from dy2st import nn, optimizer

STEPS, FATAL, CLASSES = 60, 6, 3


def main(fault):
    dist.init_parallel_env()
    mesh = dist.ProcessMesh(np.arange(dist.get_world_size()), dim_names=["dp"])
    dy2st.seed(5)
    net = dist.shard_layer(nn.Linear(8, CLASSES), mesh)
    adam = dist.shard_optimizer(optimizer.Adam(0.05, parameters=net.parameters()))
    model = dist.to_static(net, None, nn.CrossEntropyLoss(), adam)
    rng = np.random.default_rng(3)
    for step in range(STEPS):
        if step == FATAL and dist.get_rank() == dist.get_world_size() - 1:
            if fault == "killed":
                os.kill(os.getpid(), signal.SIGKILL)
            raise ValueError("this rank has had enough")
        x, y = rng.standard_normal((16, 8)).astype("float32"), rng.integers(0, CLASSES, 16)
        cut = [dist.shard_tensor(one, mesh, [dist.Shard(0)]) for one in (x, y)]
        float(model(*cut))


if __name__ == "__main__":
    main(sys.argv[1])
