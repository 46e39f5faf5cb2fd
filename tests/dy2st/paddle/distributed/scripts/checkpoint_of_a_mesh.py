"""Trains on a mesh with ZeRO 3 and saves, or loads into another mesh and compares; one process too."""

import sys
from pathlib import Path

import numpy as np

import dy2st
import dy2st.distributed as dist
from dy2st import nn, optimizer

RNG = np.random.default_rng(3)
XS = RNG.standard_normal((6, 16, 8)).astype("float32")
YS = RNG.integers(0, 4, (6, 16))


def trainer(shape):
    """A model on a mesh, and what takes steps of it."""
    dy2st.seed(5)
    mesh = dist.ProcessMesh(np.arange(np.prod(shape)).reshape(shape), dim_names=["dp", "mp"])

    def cut(name, layer, mesh):
        if isinstance(layer, nn.Linear):
            dist.shard_tensor(layer.weight, mesh, [dist.Replicate(), dist.Shard(1)])

    with dy2st.utils.unique_name.guard():
        net = nn.Sequential(nn.Linear(8, 64), nn.Tanh(), nn.Linear(64, 4))
    net = dist.shard_layer(net, mesh, cut)
    rate = optimizer.lr.StepDecay(0.05, 2)
    adam = optimizer.Adam(rate, parameters=net.parameters())
    strategy = dist.Strategy({"sharding": {"enable": True, "stage": 3}})
    model = dist.to_static(net, None, nn.CrossEntropyLoss(), adam, strategy)

    def step(number):
        batch = XS[number], YS[number]
        loss = model(*(dist.shard_tensor(one, mesh, [dist.Shard(0)]) for one in batch))
        rate.step()
        return float(loss)

    return model, step


def main(task, shape, folder):
    model, step = trainer([int(size) for size in shape.split("x")])
    if task == "write":
        for number in range(3):
            step(number)
        if dist.get_rank() == 0:
            model.state_dict()  # asks nothing of the others
        dist.save_state_dict(model.state_dict(), folder)
        after = [step(number) for number in range(3, 6)]
        state = {k: v.numpy() for k, v in model.state_dict().items() if k != "LR_Scheduler"}
        if dist.get_rank() == 0:
            np.savez(Path(folder, "after.npz"), losses=after, **state)
        return
    state = model.state_dict()
    dist.load_state_dict(state, folder)
    model.set_state_dict(state)
    dist.save_state_dict(model.state_dict(), f"{folder}/copy")  # what is not on the devices yet
    wanted = np.load(Path(folder, "after.npz"))
    found = [step(number) for number in range(3, 6)]
    assert np.allclose(found, wanted["losses"], rtol=1e-5), (found, wanted["losses"])
    for key, value in model.state_dict().items():
        if key != "LR_Scheduler":
            assert np.allclose(value.numpy(), wanted[key], rtol=1e-4, atol=1e-6), key
    print("equal", flush=True)


if __name__ == "__main__":
    dist.init_parallel_env()
    main(*sys.argv[1:])
