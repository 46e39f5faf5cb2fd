"""Counts in a tensor that lies in parts, and saves it after each step; or reads what is there."""

import sys

import numpy as np

import dy2st
import dy2st.distributed as dist
from dy2st import nn

SHAPE = [64, 500]


def count(folder):
    mesh = dist.ProcessMesh(np.arange(dist.get_world_size()), dim_names=["dp"])
    layer = nn.Linear(*SHAPE, bias_attr=False)
    layer.weight.set_value(dy2st.zeros(SHAPE))
    dist.shard_tensor(layer.weight, mesh, [dist.Shard(0)])

    @dy2st.to_static
    def step(by):
        layer.weight.set_value(layer.weight + by)

    for value in range(1, 2000):
        with dy2st.no_grad():
            step(dy2st.ones([]))
        dist.save_state_dict({"w": layer.weight, "value": value}, folder)
        if dist.get_rank() == 0:
            print("saved", value, flush=True)


def read(folder):
    found = {"w": dy2st.zeros(SHAPE), "value": 0}
    dist.load_state_dict(found, folder)
    assert np.unique(found["w"].numpy()).tolist() == [float(found["value"])]
    print("read", found["value"], flush=True)


if __name__ == "__main__":
    dist.init_parallel_env()
    {"count": count, "read": read}[sys.argv[1]](sys.argv[2])
