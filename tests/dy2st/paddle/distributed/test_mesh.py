"""Tensors, layers and optimizers on a mesh: where they lie, and that values stay what they are."""

from __future__ import annotations

import numpy as np
import pytest

import dy2st
from dy2st import nn, optimizer
from dy2st.errors import ArgumentError
from dy2st.jit import to_static
from dy2st.paddle import distributed as dist

MESH = dist.ProcessMesh([[0, 1], [2, 3]], dim_names=["dp", "mp"])


def test_a_mesh_of_lists_and_one_of_a_shape_are_equal():
    other = dist.ProcessMesh(shape=[2, 2], process_ids=[0, 1, 2, 3], dim_names=["dp", "mp"])
    assert other == MESH and hash(other) == hash(MESH)
    assert dist.ProcessMesh([0, 1]).dim_names == ["d0"]
    assert 3 in MESH and 4 not in MESH
    assert (MESH.ndim, MESH.shape, MESH.get_dim_size("dp")) == (2, [2, 2], 2)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"mesh": [[1, 0]]}, "in order"),
        ({"mesh": [2, 3]}, "a part of them"),
        ({"mesh": [0, 1], "dim_names": ["x", "y"]}, "cannot have the names"),
        ({"mesh": [[0, 1]], "dim_names": ["x", "x"]}, "cannot have the names"),
        ({"mesh": [0, 1], "dim_names": ["a b"]}, "names like dp and mp"),
        ({}, "needs a mesh"),
    ],
)
def test_what_is_no_mesh_is_refused(arguments, said):
    with pytest.raises(ArgumentError, match=said):
        dist.ProcessMesh(**arguments)


def test_a_sharded_tensor_has_all_of_its_value():
    array = np.arange(8.0, dtype="float32").reshape(4, 2)
    tensor = dist.shard_tensor(array, MESH, [dist.Shard(0), dist.Replicate()])
    np.testing.assert_array_equal(tensor.numpy(), array)
    assert tensor.is_dist() and tensor.placements[0].is_shard(0)
    assert not dy2st.to_tensor(array).is_dist()
    assert dy2st.to_tensor(array).placements is None


def test_a_parameter_stays_the_one_that_optimizers_know():
    layer = nn.Linear(4, 2)
    weight = layer.weight
    layer.weight = dist.shard_tensor(layer.weight, MESH, [dist.Replicate(), dist.Shard(1)])
    assert layer.weight is weight and weight.process_mesh == MESH
    assert not weight.stop_gradient


@pytest.mark.parametrize(
    ("placements", "said"),
    [
        ([dist.Shard(2)], r"Shard\(2\) of a tensor of 2 axes"),
        ([dist.Shard(0)] * 3, "one for each axis"),
        (["shard"], "one for each axis"),
    ],
)
def test_placements_that_do_not_fit_are_refused(placements, said):
    with pytest.raises(ArgumentError, match=said):
        dist.shard_tensor(np.ones((4, 2)), MESH, placements)


def test_gradients_flow_through_reshard():
    x = dy2st.to_tensor(np.ones((4, 2), "float32"), stop_gradient=False)
    (dist.reshard(x, MESH, [dist.Shard(0)]) * 3).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), np.full((4, 2), 3, "float32"))


def test_unshard_gives_the_value_on_every_device():
    tensor = dist.shard_tensor(np.ones((4, 2)), MESH, [dist.Shard(0)])
    assert all(one.is_replicated() for one in dist.unshard_dtensor(tensor).placements)


def test_a_converted_function_has_the_placements_in_its_program():
    weight = dist.shard_tensor(nn.Linear(4, 2).weight, MESH, [dist.Replicate(), dist.Shard(1)])

    def f(x):
        return dist.reshard(x @ weight, MESH, [dist.Shard(0), dist.Replicate()])

    static, x = to_static(f), dy2st.rand([4, 4])
    np.testing.assert_array_equal(static(x).numpy(), f(x).numpy())
    program = static.main_program
    (placement,) = program.placements.values()
    assert placement == ((("dp", 2), ("mp", 2)), ("replicate", "shard 1"))
    (operator,) = [one for one in program.operators if one.name == "reshard"]
    assert operator.attributes["placements"] == ("shard 0", "replicate")


def test_a_layer_is_replicated_but_for_what_the_function_says():
    def shard(name, layer, mesh):
        if name == "0":
            dist.shard_tensor(layer.weight, mesh, [dist.Replicate(), dist.Shard(1)])

    net = dist.shard_layer(nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1D(6)), MESH, shard)
    lying = {name: p.dist_attr.spec.placements for name, p in net.named_parameters()}
    assert lying.pop("0.weight") == ("replicate", "shard 1")
    assert set(lying.values()) == {("replicate", "replicate")}
    assert all(buffer.is_dist() for buffer in net.buffers())


def test_inputs_and_outputs_of_a_layer_go_through_its_functions():
    seen = []
    net = dist.shard_layer(
        nn.Linear(2, 2),
        MESH,
        input_fn=lambda inputs, mesh: [dist.shard_tensor(inputs[0], mesh, [dist.Shard(0)])],
        output_fn=lambda outputs, mesh: seen.append(mesh) or outputs,
    )
    assert net(dy2st.ones([2, 2])).shape == [2, 2] and seen == [MESH]


STAGES = {
    dist.ShardingStage1: (("replicate", "shard 1"), ("shard 0", "shard 1")),
    dist.ShardingStage2: (("replicate", "shard 1"), ("shard 0", "shard 1")),
    dist.ShardingStage3: (("shard 0", "shard 1"), ("shard 0", "shard 1")),
}


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.__name__)
def test_a_stage_cuts_what_the_optimizer_remembers(stage):
    layer = dist.shard_layer(
        nn.Linear(4, 6),
        MESH,
        lambda _, own, mesh: dist.shard_tensor(own.weight, mesh, [dist.Replicate(), dist.Shard(1)]),
    )
    adam = optimizer.Adam(0.1, parameters=layer.parameters())
    assert dist.shard_optimizer(adam, stage("dp")) is adam
    weight, moment = STAGES[stage]
    assert layer.weight.dist_attr.spec.placements == weight
    assert adam.accumulators(layer.weight)["moment1"].dist_attr.spec.placements == moment


def test_what_does_not_divide_lies_as_the_parameter():
    layer = dist.shard_layer(nn.Linear(3, 5), MESH)
    adam = dist.shard_optimizer(
        optimizer.Adam(0.1, parameters=layer.parameters()), dist.ShardingStage1("dp")
    )
    moment = adam.accumulators(layer.weight)["moment1"]
    assert moment.dist_attr.spec.placements == ("replicate", "replicate")


def test_the_optimizer_of_a_model_on_no_mesh_needs_one():
    layer = nn.Linear(2, 2)
    adam = optimizer.Adam(0.1, parameters=layer.parameters())
    with pytest.raises(ArgumentError, match="lies on no mesh"):
        dist.shard_optimizer(adam, dist.ShardingStage1("dp"))
    with pytest.raises(ArgumentError, match="the mesh has the axes"):
        dist.shard_optimizer(adam, dist.ShardingStage1("zz", MESH))


def test_a_saved_program_keeps_its_placements(tmp_path):
    net = dist.shard_layer(nn.Linear(4, 2), MESH)
    static = to_static(net, input_spec=[dy2st.static.InputSpec([None, 4])])
    dy2st.jit.save(static, str(tmp_path / "net"))
    x = dy2st.rand([3, 4])
    loaded = dy2st.jit.load(str(tmp_path / "net"))
    np.testing.assert_array_equal(loaded(x).numpy(), net(x).numpy())
    assert {*loaded.programs["forward"].placements} == {"weight", "bias"}
