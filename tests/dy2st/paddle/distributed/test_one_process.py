"""Training for several processes, run by one: rank 0 of 1, and nothing is changed."""

import sys
from importlib import import_module

import numpy as np
import pytest

import dy2st
import dy2st.paddle.distributed as dist
from dy2st.paddle.distributed import fleet
from dy2st.paddle.distributed.fleet import meta_parallel


def test_there_is_one_process():
    env = dist.ParallelEnv()
    assert (dist.get_rank(), dist.get_world_size(), env.rank, env.nranks) == (0, 1, 0, 1)
    assert dist.init_parallel_env().ranks == dist.new_group([0]).ranks == [0]
    assert dist.get_group().is_member() and dist.get_group().get_group_rank(1) == -1
    assert dist.barrier() is None and not dist.is_initialized()


def test_collectives_give_back_what_they_got():
    x = dy2st.to_tensor([1.0, 2.0])
    for task in (dist.all_reduce(x), dist.reduce(x, 0), dist.broadcast(x, src=0)):
        assert task.wait()
    assert x.tolist() == [1.0, 2.0]


def test_lists_get_copies_of_the_one_tensor():
    x, gathered, swapped, objects = dy2st.to_tensor([1.0]), ["old"], [], []
    dist.all_gather(gathered, x), dist.alltoall(swapped, [x])
    dist.all_gather_object(objects, {"a": 1})
    x[0] = 5.0
    assert [t.tolist() for t in gathered + swapped] == [[1.0], [1.0]] and objects == [{"a": 1}]


def test_scattered_tensors_come_from_this_rank():
    x, out = dy2st.zeros([2]), []
    dist.scatter(x, [dy2st.ones([2])], src=0)
    assert x.tolist() == [1.0, 1.0]
    dist.reduce_scatter(x, [dy2st.full([2], 3.0)])
    assert x.tolist() == [3.0, 3.0]
    dist.scatter_object_list(out, [7])
    assert out == [7]


@pytest.mark.parametrize(
    "call",
    [
        lambda x: dist.send(x, 1),
        lambda x: dist.recv(x, 1),
        lambda x: dist.broadcast(x, 1),
        lambda x: dist.new_group([0, 1]),
        lambda x: dist.scatter_object_list([], [1, 2]),
        lambda x: dist.reduce_scatter(x, [x, x]),
        lambda x: dist.all_reduce(x, op=7),
        lambda x: dist.all_reduce(x, group=[0]),
        lambda x: dist.get_group(3),
    ],
)
def test_other_processes_are_refused(call):
    with pytest.raises(dy2st.errors.ArgumentError):
        call(dy2st.ones([1]))


@pytest.mark.parametrize(
    "environment, message",
    [
        ({"PADDLE_TRAINER_ID": "2", "PADDLE_TRAINERS_NUM": "2"}, "PADDLE_TRAINER_ID=2"),
        ({"PADDLE_TRAINERS_NUM": "two"}, "PADDLE_TRAINERS_NUM='two'"),
    ],
)
def test_an_environment_that_is_wrong_is_refused(monkeypatch, environment, message):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(dy2st.errors.ArgumentError, match=message):
        dist.ParallelEnv()


def test_the_environment_says_who_this_is(monkeypatch):
    monkeypatch.setenv("PADDLE_TRAINER_ID", "1")
    monkeypatch.setenv("PADDLE_TRAINERS_NUM", "2")
    monkeypatch.setenv("PADDLE_TRAINER_ENDPOINTS", "a:1,b:2")
    monkeypatch.setenv("PADDLE_LOCAL_RANK", "0")
    env = dist.ParallelEnv()
    assert (env.rank, env.world_size, env.local_rank) == (1, 2, 0)
    assert env.current_endpoint == "b:2" and env.trainer_endpoints == ["a:1", "b:2"]
    sampler = dy2st.io.DistributedBatchSampler(range(5), 2)
    assert [*sampler] == [[2, 3], [0]] and dist.get_rank() == 1


def test_processes_that_are_not_connected_are_told_to_connect(monkeypatch):
    from dy2st_runtime.processes.group import Group

    with pytest.raises(dy2st.errors.ArgumentError, match="init_parallel_env"):
        dist.all_reduce(dy2st.ones([1]), group=Group([0, 1]))


def test_spawn_calls_once():
    calls = []
    dist.spawn(calls.append, args=("x",), nprocs=1).join()
    assert calls == ["x"]


def test_collectives_are_nothing_in_a_program():
    @dy2st.to_static
    def f(x):
        if dist.get_world_size() > 1:
            dist.all_reduce(x)
        dist.all_reduce(x)
        gathered = []
        dist.all_gather(gathered, x)
        return dy2st.concat(gathered)

    assert f(dy2st.ones([2])).tolist() == [1.0, 1.0]


def test_a_data_parallel_model_is_the_model():
    model = dy2st.nn.Linear(2, 3)
    wrapped = dy2st.DataParallel(model)
    x = dy2st.ones([1, 2])
    assert wrapped(x).tolist() == model(x).tolist()
    assert list(wrapped.state_dict()) == ["weight", "bias"]
    with wrapped.no_sync():
        wrapped.scale_loss(wrapped(x).sum()).backward()
    wrapped.apply_collective_grads()
    assert model.weight.grad.tolist() == [[1.0] * 3] * 2
    wrapped.set_state_dict({k: v * 0 for k, v in model.state_dict().items()})
    assert dy2st.to_static(wrapped)(x).tolist() == [[0.0] * 3]
    assert len(wrapped.parameters()) == 2 and wrapped._layers is model


def test_fleet_leaves_all_as_it_is():
    fleet.init(is_collective=True, strategy=fleet.DistributedStrategy())
    model = dy2st.nn.Linear(2, 2)
    assert fleet.distributed_model(model) is fleet.distributed_optimizer(model) is model
    assert fleet.worker_num() == 1 and fleet.is_first_worker() and not fleet.is_server()
    group = fleet.get_hybrid_communicate_group()
    assert group.get_data_parallel_rank() == group.get_stage_id() == 0
    assert group.get_sharding_parallel_world_size() == 1
    assert group.get_model_parallel_group().nranks == 1
    with pytest.raises(AttributeError, match="get_something"):
        group.get_something()


def test_recompute_is_a_call_eager_and_converted():
    def block(x, by):
        return x * by if x.sum() > 0 else x - 1

    def f(x):
        return fleet.utils.recompute(block, x, 3.0, use_reentrant=False)

    for sign in (1.0, -1.0):
        x = dy2st.full([2], sign)
        assert dy2st.to_static(f)(x).tolist() == f(x).tolist() == block(x, 3.0).tolist()


def test_parallel_layers_have_all_of_their_parameters():
    x = dy2st.ones([2, 4])
    for layer in (
        meta_parallel.ColumnParallelLinear(4, 3, has_bias=True, gather_output=False),
        meta_parallel.RowParallelLinear(4, 3, input_is_parallel=True),
    ):
        expected = np.ones((2, 4)) @ layer.weight.numpy() + layer.bias.numpy()
        assert np.allclose(layer(x).numpy(), expected, atol=1e-6)
    assert meta_parallel.ColumnParallelLinear(4, 3).bias is None
    table = meta_parallel.VocabParallelEmbedding(5, 2)
    index = dy2st.to_tensor([4, 0])
    assert table(index).tolist() == table.weight.numpy()[[4, 0]].tolist()
    with meta_parallel.get_rng_state_tracker().rng_state("local"):
        dy2st.rand([1])


def test_parallel_cross_entropy_keeps_the_axis():
    logits = np.array([[1.0, 2.0], [0.0, 0.0]], "float32")
    loss = meta_parallel.ParallelCrossEntropy()(
        dy2st.to_tensor(logits), dy2st.to_tensor([[0], [1]])
    )
    expected = np.log(np.exp(logits).sum(1, keepdims=True)) - logits[[0, 1], [0, 1]][:, None]
    assert np.allclose(loss.numpy(), expected, atol=1e-6)


def test_gradients_and_sequences_stay_whole():
    from dy2st.paddle.distributed.fleet.utils import hybrid_parallel_util, sequence_parallel_utils
    from dy2st.paddle.distributed.parallel.parallel_helper import _is_parallel_ctx_initialized

    layer = sequence_parallel_utils.ColumnSequenceParallelLinear(2, 3, has_bias=True)
    layer(dy2st.ones([1, 2])).sum().backward()
    sequence_parallel_utils.mark_as_sequence_parallel_parameter(layer.weight)
    sequence_parallel_utils.register_sequence_parallel_allreduce_hooks(layer, 1, False)
    hybrid_parallel_util.fused_allreduce_gradients(layer.parameters(), None)
    assert layer.bias.grad.tolist() == [1.0, 1.0, 1.0]
    assert sequence_parallel_utils.ScatterOp.apply(layer.bias) is layer.bias
    assert not _is_parallel_ctx_initialized() and not isinstance(layer, fleet.Fleet)


def test_several_processes_without_jax_are_one_clear_line(monkeypatch):
    monkeypatch.setenv("PADDLE_TRAINERS_NUM", "2")
    monkeypatch.setattr("dy2st_runtime.processes.channel.find_spec", lambda name: None)
    with pytest.raises(dy2st.errors.ArgumentError, match=r"pip install 'dy2st\[jax\]'"):
        dist.init_parallel_env()


def test_launch_may_be_called_where_its_module_was_imported(monkeypatch, capsys):
    space = import_module("dy2st.paddle.distributed")
    monkeypatch.setattr(space, "launch", space.launch)  # the module takes its place: put it back
    import_module("dy2st.paddle.distributed.launch")
    monkeypatch.setattr(sys, "argv", ["launch", "--help"])
    with pytest.raises(SystemExit) as end:
        dist.launch()
    assert end.value.code == 0
    assert "--nproc_per_node" in capsys.readouterr().out
