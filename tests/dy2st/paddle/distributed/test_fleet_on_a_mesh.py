"""On the mesh of fleet.init training gives what it gives on one device."""

from importlib.util import find_spec

import numpy as np
import pytest

import dy2st
from dy2st.distributed import fleet
from dy2st.distributed.fleet import meta_parallel as parallel
from dy2st.errors import ArgumentError
from dy2st.io import DistributedBatchSampler
from tests.dy2st.paddle.distributed.several import run


@pytest.fixture
def begin():
    def init(stage=1, **degrees):
        strategy = fleet.DistributedStrategy()
        strategy.hybrid_configs = {f"{name}_degree": degree for name, degree in degrees.items()}
        strategy.sharding_configs = {"stage": stage}
        fleet.init(is_collective=True, strategy=strategy)

    yield init
    fleet.init()


def devices(count):
    return {"XLA_FLAGS": f"--xla_force_host_platform_device_count={count}"}


@pytest.mark.skipif(find_spec("jax") is None, reason="a mesh of devices needs jax")
@pytest.mark.slow
@pytest.mark.parametrize(
    ("processes", "own", "plan", "parts"),
    [
        (1, 8, (2, 2, 2, 1), "(16, 32) (8, 32)"),
        (1, 8, (-1, 1, 2, 1), "(16, 32) (16, 32)"),
        (1, 8, (1, 4, 2, 3), "(4, 32) (4, 32)"),
        (1, 8, (8, 1, 1, 1), "(16, 64) (16, 64)"),
        (2, 1, (1, 1, 2, 1), "(16, 32) (16, 32)"),
        (2, 2, (2, 1, 2, 1), "(16, 32) (16, 32)"),
        (4, 1, (1, 2, 2, 2), "(16, 32) (8, 32)"),
        (4, 1, (1, 4, 1, 3), "(4, 64) (4, 64)"),
    ],
    ids=str,
)
def test_a_transformer_learns_what_it_learns_on_one_device(processes, own, plan, parts):
    out = run("fleet_on_a_mesh.py", *plan, processes=processes, env=devices(own))
    lines = [f"[{rank}] equal True" for rank in range(processes)]
    lines += [f"[{rank}] parts {parts}" for rank in range(processes)]
    assert sorted(out.splitlines()) == sorted(lines)


def test_layers_are_cut_along_mp_and_shapes_are_of_the_whole(begin):
    begin(dp=2, mp=2)
    column = parallel.ColumnParallelLinear(4, 6, has_bias=True)
    row, table = parallel.RowParallelLinear(6, 4), parallel.VocabParallelEmbedding(8, 4)
    cut = {
        name: [one.get_dim() if one.is_shard() else None for one in tensor.placements]
        for name, tensor in {
            "columns": column.weight,
            "their bias": column.bias,
            "rows": row.weight,
            "table": table.weight,
        }.items()
    }
    assert cut == {
        "columns": [None, None, 1],
        "their bias": [None, None, 0],
        "rows": [None, None, 0],
        "table": [None, None, 0],
    }
    assert not row.bias.is_dist()
    assert column.weight.shape == [4, 6] and column.weight.process_mesh.shape == [2, 1, 2]


def test_each_process_reads_whole_batches_and_has_whole_values(begin, monkeypatch):
    monkeypatch.setenv("PADDLE_TRAINERS_NUM", "1")
    begin(dp=2, mp=2)
    assert [*DistributedBatchSampler(range(4), 2)] == [[0, 1], [2, 3]]
    with pytest.raises(ArgumentError, match="leave num_replicas and rank away"):
        DistributedBatchSampler(range(4), 2, num_replicas=2, rank=0)
    group = fleet.get_hybrid_communicate_group()
    assert group.get_data_parallel_world_size() == group.get_model_parallel_world_size() == 1
    fleet.init()
    assert len(DistributedBatchSampler(range(4), 1, num_replicas=2, rank=0)) == 2


def test_an_eager_step_on_a_mesh_is_that_of_one_device(begin):
    def grown():
        dy2st.seed(3)
        model = fleet.distributed_model(parallel.ColumnParallelLinear(4, 6, has_bias=True))
        sgd = dy2st.optimizer.Momentum(0.1, parameters=model.parameters())
        sgd = fleet.distributed_optimizer(sgd)
        for _ in range(3):
            model(dy2st.ones([2, 4])).square().mean().backward()
            fleet.utils.fused_allreduce_gradients(model.parameters())
            sgd.step()
            sgd.clear_grad()
        return model.weight.numpy()

    alone = grown()
    begin(sharding=2, mp=2)
    np.testing.assert_array_equal(grown(), alone)


@pytest.mark.parametrize(
    ("degrees", "why"),
    [
        ({"pp": 2}, "pp_degree=2: stages of a pipeline are other Programs on other devices"),
        ({"sep": 2}, "sequences are not cut between devices"),
        ({"mp": 2.0}, r"mp_degree is a whole number from 1, not 2.0"),
        ({"mp": -1}, r"mp_degree is a whole number from 1, not -1"),
        ({"mp": 2, "stage": 4}, "the stage of sharding is 1, 2 or 3, not 4"),
    ],
    ids=str,
)
def test_degrees_that_are_not_built_are_refused(begin, degrees, why):
    with pytest.raises(ArgumentError, match=why):
        begin(**degrees)


def test_sizes_that_mp_does_not_divide_are_refused(begin):
    begin(mp=4)
    with pytest.raises(ArgumentError, match="out_features=6 cannot be cut into mp_degree=4 equal"):
        parallel.ColumnParallelLinear(4, 6)
    with pytest.raises(ArgumentError, match="in_features=6 cannot be cut into mp_degree=4 equal"):
        parallel.RowParallelLinear(6, 4)
    with pytest.raises(ArgumentError, match="num_embeddings=7 cannot be cut into mp_degree=4"):
        parallel.VocabParallelEmbedding(7, 4)


@pytest.mark.skipif(find_spec("jax") is None, reason="it asks jax for its devices")
@pytest.mark.parametrize("degrees", [{"mp": 3}, {"mp": 2, "sharding": 3}], ids=str)
def test_degrees_that_do_not_divide_the_devices_are_refused(begin, degrees, monkeypatch):
    monkeypatch.setattr("dy2st.paddle.distributed.fleet.hybrid.jax.device_count", lambda: 8)
    with pytest.raises(ArgumentError, match="the product of the degrees is the number of devices"):
        begin(**degrees)
