"""On a mesh of eight devices: values, where state lies, and what the devices send each other."""

from __future__ import annotations

import re

import numpy as np
import pytest

import dy2st
from dy2st import nn, optimizer
from dy2st.jit import to_static
from dy2st.paddle import distributed as dist
from dy2st_runtime.engine.xla import executable
from dy2st_runtime.engine.xla.mesh import fetch, put
from dy2st_runtime.errors import Dy2stError

jax = pytest.importorskip("jax", reason="the engine xla needs jax: pip install 'dy2st[jax]'")
pytestmark = pytest.mark.skipif(jax.device_count() < 8, reason="jax was loaded with fewer devices")

STEPS, BATCH, CLASSES = 6, 16, 3
RNG = np.random.default_rng(3)
XS = RNG.standard_normal((STEPS, BATCH, 8)).astype("float32")
YS = RNG.integers(0, CLASSES, (STEPS, BATCH))


def perceptron():
    dy2st.seed(5)
    return nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, CLASSES))


def normalised():
    dy2st.seed(5)
    first = nn.Linear(8, 16, bias_attr=False)
    return nn.Sequential(first, nn.BatchNorm1D(16), nn.ReLU(), nn.Linear(16, CLASSES))


class Image(nn.Layer):
    def __init__(self):
        super().__init__()
        dy2st.seed(6)
        self.convolution = nn.Conv2D(1, 4, 3, padding=1, bias_attr=False)
        self.norm, self.head = nn.BatchNorm2D(4), nn.Linear(32, CLASSES)

    def forward(self, x):
        x = x.reshape([-1, 1, 2, 4])
        return self.head(nn.functional.relu(self.norm(self.convolution(x))).flatten(1))


class Attention(nn.Layer):
    def __init__(self):
        super().__init__()
        dy2st.seed(7)
        self.encoder = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0)
        self.head = nn.Linear(8, CLASSES)

    def forward(self, x):
        return self.head(self.encoder(x.reshape([-1, 2, 4]).tile([1, 1, 2])).mean(1))


MODELS = (perceptron, normalised, Image, Attention)


def trained_plainly(make, batches, merge=1):
    net = make()
    adam = optimizer.Adam(0.02, epsilon=1e-3, parameters=net.parameters())
    losses = []
    for number, (x, y) in enumerate(batches, 1):
        loss = nn.functional.cross_entropy(net(dy2st.to_tensor(x)), dy2st.to_tensor(y))
        (loss / merge).backward()
        if number % merge == 0:
            adam.step()
            adam.clear_grad()
        losses.append(float(loss))
    return losses, [p.numpy() for p in net.parameters()]


def cut(name, layer, mesh):
    """Columns of the first product and rows of the last one, along `mp`."""
    if isinstance(layer, nn.Linear) and "mp" in mesh.dim_names:
        axis = 1 if layer.weight.shape[0] == 8 and not layer.weight.shape[1] % 2 else 0
        dist.shard_tensor(layer.weight, mesh, [dist.Replicate(), dist.Shard(axis)])


def on_mesh(make, shape, strategy):
    names = ["dp", "mp"][: len(shape)]
    mesh = dist.ProcessMesh(np.arange(np.prod(shape)).reshape(shape), dim_names=names)
    net = dist.shard_layer(make(), mesh, cut)
    adam = optimizer.Adam(0.02, epsilon=1e-3, parameters=net.parameters())
    adam = dist.shard_optimizer(adam)
    return mesh, dist.to_static(net, None, nn.CrossEntropyLoss(), adam, dist.Strategy(strategy))


def steps(mesh, model, batches):
    return [
        float(
            model(
                dist.shard_tensor(x, mesh, [dist.Shard(0)]),
                dist.shard_tensor(y, mesh, [dist.Shard(0)]),
            )
        )
        for x, y in batches
    ]


PLANS = {
    "data parallel": ([8], {}),
    "tensor parallel": ([1, 8], {}),
    "both": ([4, 2], {}),
    "stage 1": ([8], {"sharding": {"enable": True, "stage": 1}}),
    "stage 2": ([8], {"sharding": {"enable": True, "stage": 2}}),
    "stage 3": ([8], {"sharding": {"enable": True, "stage": 3}}),
    "both, stage 3": ([4, 2], {"sharding": {"enable": True, "stage": 3}}),
}


@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("make", MODELS, ids=lambda make: make.__name__)
def test_training_gives_what_one_device_gives(make, plan):
    mesh, model = on_mesh(make, *PLANS[plan])
    batches = [*zip(XS, YS)]
    losses, parameters = trained_plainly(make, batches)
    np.testing.assert_allclose(steps(mesh, model, batches), losses, rtol=1e-5)
    for p, wanted in zip(model.network.parameters(), parameters):
        np.testing.assert_allclose(p.numpy(), wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("shape", [[8], [4, 2]], ids=str)
@pytest.mark.parametrize(("merge", "stage"), [(1, 3), (3, 0), (3, 2)])
def test_recomputed_blocks_and_merged_gradients_give_what_one_device_gives(merge, stage, shape):
    strategy = {
        "recompute": {"enable": True},
        "gradient_merge": {"enable": merge > 1, "k_steps": merge},
        "sharding": {"enable": stage > 0, "stage": stage},
    }
    mesh, model = on_mesh(Attention, shape, strategy)
    batches = [*zip(XS, YS)]
    losses, parameters = trained_plainly(Attention, batches, merge)
    np.testing.assert_allclose(steps(mesh, model, batches), losses, rtol=1e-5)
    for p, wanted in zip(model.network.parameters(), parameters):
        np.testing.assert_allclose(p.numpy(), wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("shape", [[8], [4, 2]], ids=str)
def test_mixed_precision_on_a_mesh_is_near_what_it_is_on_one_device(shape):
    """Products of bfloat16 have 8 bits."""
    amp = {"amp": {"enable": True, "dtype": "bfloat16", "level": "O1"}}
    batches = [*zip(XS, YS)]
    mesh, model = on_mesh(Attention, shape, amp)
    found = steps(mesh, model, batches)
    program = model.dist_main_program("train")
    products = [o for o in program.block.walk() if o.name in ("matmul", "linear")]
    assert products and {o.results[0].type.dtype.name for o in products} == {"bfloat16"}
    alone, lonely = on_mesh(Attention, [1], amp)
    np.testing.assert_allclose(found, steps(alone, lonely, batches), rtol=2**-8)
    np.testing.assert_allclose(found, trained_plainly(Attention, batches)[0], rtol=2**-5)


def test_a_batch_that_does_not_divide_gives_the_same():
    batches = [(x[:13], y[:13]) for x, y in zip(XS, YS)]
    mesh, model = on_mesh(normalised, [8], {})
    losses, _ = trained_plainly(normalised, batches)
    np.testing.assert_allclose(steps(mesh, model, batches), losses, rtol=1e-5)


def spec(tensor):
    value = tensor.as_resident().value
    return tuple(value.sharding.spec) if value is not None else None


def test_state_stays_where_it_lies():
    mesh, model = on_mesh(perceptron, [8], {"sharding": {"enable": True, "stage": 1}})
    steps(mesh, model, zip(XS, YS))
    weight = model.network[0].weight
    assert set(spec(weight)) <= {None}
    assert spec(model._optimizer.accumulators(weight)["moment1"])[0] == "dp"
    mesh, model = on_mesh(perceptron, [4, 2], {"sharding": {"enable": True, "stage": 3}})
    steps(mesh, model, zip(XS, YS))
    assert spec(model.network[0].weight) == ("dp", "mp")


def test_a_step_moves_no_state(monkeypatch):
    mesh, model = on_mesh(perceptron, [8], {})
    steps(mesh, model, zip(XS[:3], YS[:3]))
    moved = []
    monkeypatch.setattr(executable, "put", lambda a, w: moved.append(a.shape) or put(a, w))
    monkeypatch.setattr(executable, "fetch", lambda v: moved.append(v.shape) or fetch(v))
    steps(mesh, model, zip(XS[3:4], YS[3:4]))
    assert moved == [()]  # the loss


def test_a_learning_rate_is_moved_when_it_is_another(monkeypatch):
    moved = []
    monkeypatch.setattr(executable, "put", lambda a, w: moved.append(a.tolist()) or put(a, w))
    dy2st.seed(5)
    layer = nn.Linear(8, CLASSES)
    rate = dy2st.to_tensor(0.0, dtype="float32")

    def step(x):
        layer.weight.set_value(layer.weight - rate * x)
        return rate * 2

    static, x = to_static(step, engine="xla"), dy2st.to_tensor(np.ones((8, CLASSES), "float32"))
    with dy2st.no_grad():
        static(x)
        moved.clear()
        for value in (0.25, 0.25, 0.5, 0.5):
            rate.set_value(np.float32(value))
            assert float(static(x)) == 2 * value
    assert moved == [0.25, 0.5]


COLLECTIVES = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-permute")


def collectives_of(model):
    """What the compiled step sends, as pairs of a name and the shapes."""
    (function,) = model._steps.values()
    text = function.program_cache.last().executable.compiled_text()
    pattern = re.compile(rf"= (\(.*?\)|\S+) ({'|'.join(COLLECTIVES)})(?:-start)?\(")
    return [(name, re.findall(r"\w+\[[\d,]*\]", shapes)) for shapes, name in pattern.findall(text)]


def test_a_data_parallel_step_reduces_its_gradients_and_nothing_else():
    mesh, model = on_mesh(perceptron, [8], {})
    steps(mesh, model, zip(XS, YS))
    found = collectives_of(model)
    assert {name for name, _ in found} == {"all-reduce"}
    sent = [shape for _, shapes in found for shape in shapes if not shape.startswith("pred")]
    gradients = [f"f32[{','.join(map(str, p.shape))}]" for p in model.network.parameters()]
    assert sorted(sent) == sorted([*gradients, "f32[]"])  # and the loss


def test_new_values_have_the_memory_of_the_old_ones_where_that_is_asked(monkeypatch):
    monkeypatch.setenv("DY2ST_XLA_REUSE", "on")
    mesh, model = on_mesh(perceptron, [1], {})
    steps(mesh, model, zip(XS, YS))
    (function,) = model._steps.values()
    text = function.program_cache.last().executable.compiled_text()
    used_up = {int(n) for n in re.findall(r"%used_up_(\d+)_\S* = \S+ parameter\(", text)}
    aliases = re.findall(r"\{(\d+)\}: \((\d+), \{\}, \S+\)", text)
    first = min(int(parameter) for _, parameter in aliases)
    assert len(aliases) == len(used_up) > len(model.network.parameters())
    assert all(int(result) == int(parameter) - first for result, parameter in aliases)


def test_stage_1_gathers_what_was_updated():
    mesh, model = on_mesh(perceptron, [8], {"sharding": {"enable": True, "stage": 1}})
    steps(mesh, model, zip(XS, YS))
    gathered = [
        shape for name, shapes in collectives_of(model) for shape in shapes if "gather" in name
    ]
    cut = [p for p in model.network.parameters() if any(not size % 8 for size in p.shape)]
    assert sorted(gathered) == sorted(f"f32[{','.join(map(str, p.shape))}]" for p in cut)


def test_a_step_that_raises_leaves_the_state_as_it_was():
    mesh, model = on_mesh(perceptron, [8], {})
    batches = [*zip(XS, YS)]
    steps(mesh, model, batches[:3])
    with pytest.raises((IndexError, ValueError, Dy2stError)):
        steps(mesh, model, [(XS[3], np.full(BATCH, CLASSES + 4))])
    losses, _ = trained_plainly(perceptron, batches)
    np.testing.assert_allclose(steps(mesh, model, batches[3:]), losses[3:], rtol=1e-5)


def test_a_mesh_larger_than_jax_runs_on_one_device_and_says_so():
    mesh, model = on_mesh(perceptron, [1024], {})
    with pytest.warns(RuntimeWarning, match="has 1024 devices, and jax has"):
        found = steps(mesh, model, zip(XS, YS))
    losses, _ = trained_plainly(perceptron, zip(XS, YS))
    np.testing.assert_allclose(found, losses, rtol=1e-5)


def test_what_is_taken_along_an_axis_is_taken_where_it_lies():
    mesh = dist.ProcessMesh(np.arange(8), dim_names=["dp"])

    def f(x, i, v):
        x = dist.reshard(x, mesh, [dist.Shard(0)])
        return x.take_along_axis(i, 1), dy2st.put_along_axis(x, i, v, 1, reduce="add")

    static = to_static(f, engine="xla")
    x = dy2st.to_tensor(RNG.standard_normal((8, 5)).astype("float32"))
    i = dy2st.to_tensor(RNG.integers(-5, 5, (8, 2)))
    v = dy2st.to_tensor(RNG.standard_normal((8, 2)).astype("float32"))
    for found, wanted in zip(static(x, i, v), f(x, i, v)):
        np.testing.assert_allclose(found.numpy(), wanted.numpy(), rtol=1e-6)
