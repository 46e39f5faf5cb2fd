"""What a step is said to need, against what XLA has compiled for eight devices."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

import dy2st
from dy2st import nn, optimizer
from dy2st.paddle import distributed as dist
from dy2st_runtime.errors import ArgumentError

RNG = np.random.default_rng(4)
BATCH, WIDTH = 32, 64


class Blocks(nn.Layer):
    """Two products behind a norm, twice, each added to what came in."""

    def __init__(self):
        super().__init__()
        dy2st.seed(3)
        self.norms = nn.LayerList([nn.LayerNorm(WIDTH) for _ in range(2)])
        self.ups = nn.LayerList([nn.Linear(WIDTH, 4 * WIDTH) for _ in range(2)])
        self.downs = nn.LayerList([nn.Linear(4 * WIDTH, WIDTH) for _ in range(2)])

    def forward(self, x):
        for norm, up, down in zip(self.norms, self.ups, self.downs):
            x = x + down(nn.functional.gelu(up(norm(x))))
        return x


def perceptron():
    dy2st.seed(3)
    return nn.Sequential(nn.Linear(WIDTH, 128), nn.ReLU(), nn.Linear(128, WIDTH))


def cut(name, layer, mesh):
    if isinstance(layer, nn.Linear) and "mp" in mesh.dim_names:
        axis = int(layer.weight.shape[1] > WIDTH)
        whole = dist.Replicate()
        dist.shard_tensor(layer.weight, mesh, [whole, dist.Shard(axis)])
        dist.shard_tensor(layer.bias, mesh, [whole, dist.Shard(0) if axis else whole])


def stepped(make, shape, stage=0):
    mesh = dist.ProcessMesh(np.arange(math.prod(shape)).reshape(shape), ["dp", "mp"][: len(shape)])
    net = dist.shard_layer(make(), mesh, cut)
    adam = dist.shard_optimizer(optimizer.Adam(0.01, parameters=net.parameters()))
    config = {"sharding": {"enable": True, "stage": stage}} if stage else {}
    model = dist.to_static(net, None, nn.MSELoss(), adam, dist.Strategy(config))
    x, y = (RNG.standard_normal((BATCH, WIDTH)).astype("float32") for _ in range(2))
    for _ in range(2):  # the first step makes what Adam remembers
        model(*[dist.shard_tensor(one, mesh, [dist.Shard(0)]) for one in (x, y)])
    return model


def bytes_of(shapes):
    found = re.findall(r"f(\d+)\[([\d,]*)\]", shapes)
    return sum(
        int(bits) // 8 * math.prod(map(int, filter(None, s.split(",")))) for bits, s in found
    )


def compiled(model):
    """What goes in on one device, what lives between, and what collectives give, in bytes."""
    (function,) = model._steps.values()
    (made,) = function.program_cache.last().executable.compiled()
    sent = {}
    for shapes, kind in re.findall(r"= (\(.*?\)|\S+) (all-[a-z]+)(?:-start)?\(", made.as_text()):
        sent[kind] = sent.get(kind, 0) + bytes_of(shapes)
    memory = made.memory_analysis()
    return memory.argument_size_in_bytes, memory.temp_size_in_bytes, sent


def sums(found):
    sent = {}
    for (kind, _), count in found.collectives.items():
        sent[kind] = sent.get(kind, 0) + count
    return sent


PLANS = {
    "data": ([8], 0),
    "data and tensors": ([4, 2], 0),
    "stage 1": ([8], 1),
    "stage 3": ([8], 3),
}


@pytest.mark.parametrize("name", PLANS)
@pytest.mark.parametrize("make", [perceptron, Blocks], ids=lambda make: make.__name__)
def test_a_plan_says_what_is_compiled(make, name, monkeypatch):
    monkeypatch.setenv("DY2ST_XLA_REUSE", "on")  # else new values lie beside the old ones
    jax = pytest.importorskip("jax", reason="the engine xla needs jax: pip install 'dy2st[jax]'")
    if jax.device_count() < 8:
        pytest.skip("jax was loaded with fewer devices")
    model = stepped(make, *PLANS[name])
    found, (held, between, sent) = dist.plan(model), compiled(model)
    batch = 2 * BATCH * WIDTH * 4 // PLANS[name][0][0]
    assert found.parameters + found.optimizer + batch == held
    assert 0.4 < found.temporaries / between < 2
    assert found.unknown == []
    said = sums(found)
    if PLANS[name][1] < 3:
        assert said == sent
    else:  # XLA gathers parameters or moves results, as it finds cheaper
        assert said.pop("all-reduce") == pytest.approx(sent.pop("all-reduce"), rel=0.1)
        assert sum(said.values()) == pytest.approx(sum(sent.values()), rel=0.25)


def test_other_meshes_and_stages_follow_from_one_step():
    model = stepped(perceptron, [8])
    of_stage = [dist.plan(model, stage=stage) for stage in range(4)]
    whole = 4 * sum(p.size for p in model.network.parameters())
    assert [one.parameters for one in of_stage] == [whole] * 3 + [whole // 8]
    assert of_stage[0].optimizer > 7 * of_stage[1].optimizer
    assert of_stage[1].collectives["all-gather", ("dp",)] == whole
    larger = dist.plan(model, {"dp": 16}, stage=3)
    assert larger.parameters == whole // 16
    assert dist.plan(model, {"dp": 1}).collectives == {}
    assert "all-reduce" in str(of_stage[0]) and "bytes a device" in str(of_stage[0])


def test_a_step_on_no_mesh_or_a_wrong_axis_is_refused():
    model = stepped(perceptron, [2])
    with pytest.raises(ArgumentError, match=r"the axes \['dp'\]: 'mp' cannot have 2"):
        dist.plan(model, {"mp": 2})
    with pytest.raises(ArgumentError, match="stage is 0, 1, 2 or 3, not 4"):
        dist.plan(model, stage=4)
    plain = dist.to_static(nn.Linear(2, 2))
    plain(dy2st.rand([2, 2]))
    with pytest.raises(ArgumentError, match="shard_layer"):
        dist.plan(plain)
