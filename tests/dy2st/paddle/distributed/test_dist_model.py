"""A DistModel trains as the plain loop does, whatever lies where."""

from __future__ import annotations

import numpy as np
import pytest

import dy2st
from dy2st import nn, optimizer
from dy2st.errors import ArgumentError
from dy2st.io import DataLoader, DistributedBatchSampler, TensorDataset
from dy2st.paddle import distributed as dist

MESH = dist.ProcessMesh([[0, 1], [2, 3]], dim_names=["dp", "mp"])
STEPS, BATCH = 6, 8
RNG = np.random.default_rng(3)
XS = RNG.standard_normal((STEPS, BATCH, 4)).astype("float32")
YS = RNG.integers(0, 3, (STEPS, BATCH))


def network():
    dy2st.seed(5)
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))


def batches():
    return [(dy2st.to_tensor(x), dy2st.to_tensor(y)) for x, y in zip(XS, YS)]


def trained_plainly(merge=1, average=True):
    net = network()
    adam = optimizer.Adam(0.05, parameters=net.parameters())
    losses = []
    for number, (x, y) in enumerate(batches(), 1):
        loss = nn.functional.cross_entropy(net(x), y)
        (loss / merge if average else loss).backward()
        if number % merge == 0:
            adam.step()
            adam.clear_grad()
        losses.append(float(loss))
    return losses, [p.numpy() for p in net.parameters()]


def cut_by_columns(name, layer, mesh):
    if isinstance(layer, nn.Linear):
        dist.shard_tensor(layer.weight, mesh, [dist.Replicate(), dist.Shard(1)])


def on_mesh(strategy=None):
    net = dist.shard_layer(network(), MESH, cut_by_columns)
    adam = dist.shard_optimizer(optimizer.Adam(0.05, parameters=net.parameters()))
    return dist.to_static(net, None, nn.CrossEntropyLoss(), adam, dist.Strategy(strategy))


@pytest.mark.parametrize(
    "strategy",
    [
        {},
        {"sharding": {"enable": True, "stage": 1}},
        {"sharding": {"enable": True, "stage": 2}},
        {"sharding": {"enable": True, "stage": 3}},
        {"recompute": {"enable": True}},
    ],
    ids=str,
)
def test_training_gives_what_the_plain_loop_gives(strategy):
    model = on_mesh(strategy)
    losses, parameters = trained_plainly()
    found = [float(model(x, y)) for x, y in batches()]
    np.testing.assert_allclose(found, losses, rtol=1e-6)
    for p, wanted in zip(model.network.parameters(), parameters):
        np.testing.assert_allclose(p.numpy(), wanted, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("average", [True, False])
def test_gradients_of_several_batches_are_merged(average):
    model = on_mesh({"gradient_merge": {"enable": True, "k_steps": 3, "avg": average}})
    losses, parameters = trained_plainly(3, average)
    np.testing.assert_allclose([float(model(x, y)) for x, y in batches()], losses, rtol=1e-6)
    for p, wanted in zip(model.network.parameters(), parameters):
        np.testing.assert_allclose(p.numpy(), wanted, rtol=1e-5, atol=1e-7)


def test_modes_give_the_loss_and_the_results():
    model = on_mesh()
    x, y = batches()[0]
    model.predict()
    outputs = model(x)
    np.testing.assert_array_equal(outputs.numpy(), model.network(x).numpy())
    model.eval()
    wanted = nn.functional.cross_entropy(outputs, y)
    np.testing.assert_allclose(float(model(x, y)), float(wanted), rtol=1e-6)
    assert model.network.training is False
    model.train()
    assert model.network.training is True


def test_the_program_of_a_mode_has_the_placements_of_its_batch():
    model = on_mesh()
    with pytest.raises(ArgumentError, match="made at its first call"):
        model.dist_main_program()
    x, y = (dist.shard_tensor(one, MESH, [dist.Shard(0)]) for one in batches()[0])
    model(x, y)
    lying = [o for o in model.dist_main_program("train").operators if o.name == "reshard"]
    assert [o.attributes["placements"] for o in lying[:2]] == [("shard 0", "replicate")] * 2


def test_a_state_goes_into_another_model():
    model, other = on_mesh(), on_mesh()
    for x, y in batches()[:3]:
        model(x, y)
    other.set_state_dict(model.state_dict())
    for x, y in batches()[3:]:
        assert float(model(x, y)) == float(other(x, y))
    assert {*model.state_dict("param")} == {*model.network.state_dict()}
    assert not {*model.state_dict("opt")} & {*model.state_dict("param")}


def test_a_loader_cuts_its_batches_along_the_mesh():
    data = TensorDataset([dy2st.to_tensor(XS[0]), dy2st.to_tensor(YS[0])])
    loader = dist.shard_dataloader(DataLoader(data, batch_size=4), MESH, shard_dims="dp")
    assert len(loader) == 2
    found = [*loader]
    assert [one.placements for one in found[0]] == [[dist.Shard(0), dist.Replicate()]] * 2
    np.testing.assert_array_equal(found[1][0].numpy(), XS[0][4:])


def test_batches_that_are_cut_for_processes_are_put_together_or_refused():
    data = TensorDataset([dy2st.to_tensor(XS[0]), dy2st.to_tensor(YS[0])])
    sampler = DistributedBatchSampler(data, 2, num_replicas=2, rank=0)
    with pytest.raises(ArgumentError, match="is_dataset_splitted=True"):
        dist.shard_dataloader(DataLoader(data, batch_sampler=sampler), MESH, shard_dims="dp")


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: dist.Strategy({"shard": {}}), "not 'shard'"),
        (lambda: dist.Strategy({"amp": {"enabled": True}}), "no setting 'enabled'"),
        (lambda: on_mesh({"pipeline": {"enable": True}}), "stages of a pipeline"),
        (lambda: on_mesh({"sharding": {"enable": True, "stage": 4}}), "1, 2 or 3"),
        (lambda: dist.to_static(network()).train(), "needs a loss and an optimizer"),
        (lambda: dist.to_static(network()).eval(), "needs a loss"),
        (lambda: on_mesh().state_dict("weights"), "'all', 'param' or 'opt'"),
    ],
)
def test_what_cannot_be_is_refused_in_words(make, said):
    with pytest.raises(ArgumentError, match=said):
        make()
