"""Passes through `to_static(build_strategy=...)` and `jit.save(pipeline=...)`."""

from __future__ import annotations

from contextlib import nullcontext
from copy import deepcopy

import numpy as np
import pytest

import dy2st
from dy2st import nn
from dy2st.errors import ArgumentError, PassError
from dy2st.passes import (
    FoldConstant,
    FreezeParameters,
    MutateOpsForTraining,
    SimplifyInference,
    SkipOutputSoftmax,
    function_pass,
)
from dy2st.passes.core import registry
from dy2st.static import InputSpec
from dy2st_runtime import exported_buffers


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2D(3, 4, 3, bias_attr=False)
        self.norm = nn.BatchNorm2D(4)
        self.norm._mean.set_value(np.float32([0.5, -1, 2, 0.25]))
        self.norm._variance.set_value(np.float32([0.5, 2, 1, 3]))
        self.fc = nn.Linear(4, 2)

    def forward(self, x):
        x = dy2st.ops.relu(self.norm(self.conv(x)))
        if x.mean() > 0:
            x = x * 2.0
        return self.fc(x.mean([2, 3]))


@pytest.fixture(autouse=True)
def own_registry(monkeypatch):
    """Passes that a test registers are forgotten after it."""
    monkeypatch.setattr(registry, "_made", dict(registry._made))


SPEC = [InputSpec(["batch", 3, 6, 6], "float32", "x")]


def image(batch=2):
    rng = np.random.default_rng(0)
    return dy2st.to_tensor(rng.standard_normal((batch, 3, 6, 6)).astype("float32"))


def names(program):
    return {operator.name for operator in program.block.walk()}


def converted(**options):
    dy2st.seed(0)
    net = Net()
    net.eval()
    return net, dy2st.to_static(net, SPEC, **options)


def close(found, expected):
    np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-5, atol=1e-6)


def test_a_pipeline_changes_the_program_and_not_the_numbers():
    plain, _ = converted()
    _, fast = converted(build_strategy="inference")
    with dy2st.no_grad():
        close(fast(image(3)), plain(image(3)))
    optimized = fast.forward.optimized_program
    assert "batch_norm" not in names(optimized) and "multiply" in names(optimized)
    assert "batch_norm" in names(fast.forward.main_program)


def test_a_changed_parameter_is_seen_at_the_next_call():
    _, fast = converted(build_strategy="inference")
    with dy2st.no_grad():
        before = fast(image())
        fast.norm.weight.set_value(np.float32([3, 3, 3, 3]))
        after = fast(image())
        plain, _ = converted()
        plain.norm.weight.set_value(np.float32([3, 3, 3, 3]))
        close(after, plain(image()))
    assert np.abs(after.numpy() - before.numpy()).max() > 0.1


def test_without_a_change_the_passes_run_once():
    _, fast = converted(build_strategy="inference")
    with dy2st.no_grad():
        fast(image())
        first = fast.forward.concrete_program.optimized
        fast(image())
    assert fast.forward.concrete_program.optimized is first


def test_gradients_flow_as_without_passes():
    gradients = []
    for strategy in (None, "inference", "training"):
        _, net = converted(build_strategy=strategy)
        net(image()).sum().backward()
        gradients.append(net.conv.weight.grad)
    close(gradients[1], gradients[0])
    close(gradients[2], gradients[0])


def test_a_parameter_that_a_pass_gives_other_numbers_is_built_in():
    @function_pass(opt_level=0, name="DoubleWeights")
    def doubled(program, module, context):
        module.state["fc.weight"] = module.state["fc.weight"] * np.float32(2)
        return program

    (plain, _), (_, fast) = converted(), converted(build_strategy=doubled)
    for factor in (1, 3):
        weight = np.float32([[1, 2], [3, 4], [5, 6], [7, 8]]) * factor
        fast.fc.weight.set_value(weight)
        with dy2st.no_grad():
            plain.fc.weight.set_value(2 * weight)
            close(fast(image()), plain.forward.dygraph_function(image()))
    fast(image()).sum().backward()
    assert fast.fc.weight.grad is not None


def test_calls_that_want_gradients_do_not_run_the_passes_for_every_step():
    runs = []

    @function_pass(opt_level=0, name="CountRuns")
    def counted(program, module, context):
        runs.append(program.name)
        return program

    _, net = converted(build_strategy=[FreezeParameters(), counted])
    for _ in range(3):
        net(image()).sum().backward()
        net.fc.weight.set_value(net.fc.weight.numpy() * 0.5)
    assert len(runs) == 1


def test_buffers_that_a_pass_lets_the_program_update_are_updated():
    _, net = converted(build_strategy=MutateOpsForTraining())
    expected = Net()
    expected.set_state_dict(net.state_dict())
    for step in range(2):
        context = dy2st.no_grad() if step else nullcontext()
        with context:
            close(net(image()), expected(image()))
        close(net.norm._mean, expected.norm._mean)
        close(net.norm._variance, expected.norm._variance)


def test_training_mode_updates_running_statistics_through_passes():
    states = []
    for strategy in (None, "inference", "training"):
        _, net = converted(build_strategy=strategy)
        net.train()
        with dy2st.no_grad():
            net(image())
            net(image(3))
        states.append(net.norm._mean)
    close(states[1], states[0])
    close(states[2], states[0])


def test_a_list_of_passes_and_a_single_pass_will_do():
    for strategy in (SimplifyInference(), [SimplifyInference(), FoldConstant()]):
        _, net = converted(build_strategy=strategy)
        with dy2st.no_grad():
            net(image())
        assert "batch_norm" not in names(net.forward.optimized_program)


def test_the_decorator_takes_a_strategy_too():
    @dy2st.to_static(build_strategy="inference")
    def function(x):
        return x * 1.0 + (x - x)

    x = dy2st.to_tensor([1.0, 2.0])
    np.testing.assert_array_equal(function(x).numpy(), [1.0, 2.0])
    assert names(function.main_program) > names(function.optimized_program)


def test_methods_keep_the_strategy_of_their_class():
    class Scaled(nn.Layer):
        @dy2st.to_static(build_strategy="inference")
        def forward(self, x):
            return x * 1.0

    net = Scaled()
    net(dy2st.to_tensor([1.0]))
    assert names(net.forward.optimized_program) == set()


@pytest.mark.parametrize(
    ("wrong", "error", "text"),
    [
        ("inferenze", ArgumentError, "inference"),
        (3, TypeError, "a pipeline is"),
        (["x"], TypeError, "made of passes"),
    ],
)
def test_a_wrong_strategy_is_refused_at_once(wrong, error, text):
    with pytest.raises(error, match=text):
        dy2st.to_static(lambda x: x, build_strategy=wrong)


def test_passes_that_leave_work_to_the_host_are_refused():
    @dy2st.to_static(build_strategy=SkipOutputSoftmax())
    def function(x):
        return nn.functional.softmax(x)

    with pytest.raises(ArgumentError, match="softmax"):
        function(dy2st.to_tensor([1.0, 2.0]))


def test_a_saved_pipeline_computes_the_same_with_fewer_operators(tmp_path):
    net, static = converted()
    dy2st.jit.save(static, str(tmp_path / "plain"))
    dy2st.jit.save(static, str(tmp_path / "fast"), pipeline="inference")
    plain = dy2st.jit.load(str(tmp_path / "plain"))
    fast = dy2st.jit.load(str(tmp_path / "fast"))
    close(fast(image(5)), plain(image(5)))
    text = (tmp_path / "fast.mlir").read_text()
    assert "batch_norm" not in text and "batch_norm" in (tmp_path / "plain.mlir").read_text()
    assert not fast.parameters() or all(p.stop_gradient for p in fast.parameters())


def test_nothing_is_written_when_a_pipeline_fails(tmp_path):
    _, static = converted()
    with pytest.raises(ArgumentError):
        dy2st.jit.save(static, str(tmp_path / "model"), pipeline="fast")
    assert list(tmp_path.iterdir()) == []


def test_a_pass_that_breaks_the_program_is_named(tmp_path):
    @function_pass(opt_level=0, name="LoseOne")
    def lossy(program, module, context):
        del program.block.operators[0]
        return program

    net = converted(build_strategy=[FoldConstant(), lossy])[1]
    with pytest.raises(PassError, match="the pass passes breaks the Program.*VerifyAfter"):
        net(image())
    with pytest.raises(PassError, match="the pass LoseOne breaks the Program"):
        dy2st.jit.save(converted()[1], str(tmp_path / "net"), pipeline=lossy)
    assert not list(tmp_path.iterdir())


def test_the_everyday_call_runs_what_the_passes_made_until_a_parameter_changes():
    net = nn.Sequential(nn.Linear(3, 3), nn.ReLU()).eval()
    fast = dy2st.to_static(deepcopy(net), build_strategy="inference")
    x = dy2st.rand([2, 3])
    for value in (0.5, -0.25):
        with dy2st.no_grad():
            for _ in range(3):
                np.testing.assert_allclose(fast(x).numpy(), net(x).numpy(), rtol=1e-6)
        assert next(iter(fast.forward.program_cache.concrete_programs())).straight is not None
        for one in (net, fast):
            one[0].bias.set_value(np.full(3, value, "float32"))
    y = fast(x)  # gradients are wanted
    y.sum().backward()
    assert fast[0].weight.grad is not None


def test_buffers_that_the_passes_leave_are_read_at_each_call():
    class Counting(nn.Layer):
        def __init__(self):
            super().__init__()
            self.register_buffer("scale", dy2st.ones([2]))

        def forward(self, x):
            return x * self.scale

    net = Counting()
    dy2st.to_static(net, build_strategy="inference")
    x = dy2st.ones([2])
    for value in (1.0, 2.0, 3.0):
        net.scale = dy2st.full([2], value)
        for _ in range(3):
            assert net(x).tolist() == [value, value]


@pytest.mark.parametrize("name", ["inference", "training"])
def test_what_a_loop_hands_on_is_the_same_with_passes(name):
    def halve(x):
        while x.sum() > 1:
            x = x / 2
        return x

    fast = dy2st.to_static(halve, build_strategy=name)
    for value in (0.25, 4.0, 0.25, 4.0):
        x = dy2st.full([2], value)
        np.testing.assert_array_equal(fast(x).numpy(), halve(x).numpy())


def test_steps_that_share_a_weight_share_what_is_folded_of_it():
    class Steps(nn.Layer):
        def __init__(self):
            super().__init__()
            self.w = self.create_parameter([8, 8])

        def forward(self, x):
            for _ in range(4):
                x = dy2st.tanh(dy2st.matmul(x, self.w, transpose_y=True)) @ self.w.t()
            return x

    fast = dy2st.to_static(Steps(), build_strategy="inference")
    fast(dy2st.rand([2, 8]))
    state = fast.forward.optimized_program.state
    assert len([one for one in state.values() if one.shape == [8, 8]]) <= 2


@pytest.mark.parametrize("engine", ["numpy", "native"])
def test_arrays_that_passes_make_are_their_own(engine):
    net = nn.Sequential(nn.Conv2D(3, 4, 3), nn.BatchNorm2D(4), nn.Flatten(), nn.Linear(16, 5))
    fast = dy2st.to_static(net.eval(), [InputSpec([None, 3, 4, 4])], "inference", engine=engine)
    with dy2st.no_grad():
        fast(dy2st.rand([2, 3, 4, 4]))
    better = fast.forward.concrete_program.optimized
    assert all(exported_buffers.is_constant(tensor.array) for tensor in better.state.values())
