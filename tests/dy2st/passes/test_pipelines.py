"""Pipelines by name, and what they make of whole models."""

from __future__ import annotations

import numpy as np
import pytest

from dy2st import passes, to_static
from dy2st.passes import PIPELINES, Module, Pass, PassContext, Sequential, as_pass, pipeline
from dy2st.passes.pipelines import inference
from dy2st.static import InputSpec
from dy2st_runtime import nn
from dy2st_runtime.errors import ArgumentError


class Net(nn.Layer):
    """Convolution, normalisation, a residual connection and a dense head."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2D(3, 4, 3, padding=1)
        self.norm = nn.BatchNorm2D(4)
        self.second = nn.Conv2D(4, 4, 3, padding=1)
        self.head = nn.Linear(4 * 6 * 6, 5)

    def forward(self, x):
        y = nn.functional.relu(self.norm(self.first(x)))
        y = nn.functional.relu(self.second(y) + y)
        return self.head(y.reshape([x.shape[0], -1]))


@pytest.fixture(scope="module")
def net():
    """A Module, an input, and what the layer computes eagerly."""
    model = Net()
    rng = np.random.default_rng(0)
    for name, parameter in model.named_parameters():
        parameter.set_value(rng.standard_normal(parameter.shape).astype("float32") * 0.3)
    state = {name: rng.random(b.shape).astype("float32") + 0.5 for name, b in model.named_buffers()}
    for name, buffer in model.named_buffers():
        buffer.set_value(state[name])
    model.eval()
    x = rng.standard_normal((2, 3, 6, 6)).astype("float32")
    expected = model(x).numpy()
    state.update({name: p.numpy() for name, p in model.named_parameters()})
    program = to_static(model, [InputSpec(["n", 3, 6, 6])]).forward.main_program
    return Module({"main": program}, {k: np.array(v) for k, v in state.items()}), x, expected


@pytest.mark.parametrize("name", PIPELINES)
def test_a_pipeline_keeps_the_numbers_of_a_model(t, net, name):
    module, x, expected = net
    checks = [passes.CheckNumbers(rtol=1e-4), passes.VerifyAfter()]
    with PassContext(instruments=checks):
        after = pipeline(name)(module)
    assert checks[0].compared > 8
    np.testing.assert_allclose(
        t.run(after.programs["main"], [x], after.state)[0], expected, rtol=1e-3, atol=1e-4
    )


@pytest.mark.parametrize("name", PIPELINES)
def test_a_pipeline_changes_nothing_of_what_it_has_made(net, name):
    once = pipeline(name)(net[0])
    assert str(pipeline(name)(once).programs["main"]) == str(once.programs["main"])


@pytest.mark.parametrize("name", PIPELINES)
def test_a_pipeline_makes_no_program_larger(net, name):
    before = passes.statistics(net[0].programs["main"])
    after = passes.statistics(pipeline(name)(net[0]).programs["main"])
    assert after.operators <= before.operators and after.macs <= before.macs


def test_inference_puts_normalisation_and_biases_into_the_convolutions(t, net):
    found = t.names(pipeline("inference")(net[0]).programs["main"])
    assert found == ["conv", "relu", "conv", "add", "relu", "reshape", "matmul", "add"]


def test_training_keeps_every_parameter(net):
    program = net[0].programs["main"]
    after = pipeline("training")(net[0]).programs["main"]
    assert set(after.parameters) == set(program.parameters)
    assert after.trainable == program.trainable


@pytest.mark.parametrize("name", PIPELINES)
def test_every_pipeline_has_its_name_and_can_be_disabled(net, name):
    program = net[0].programs["main"]
    assert pipeline(name).info.name == name
    with PassContext(disabled_pass=[name]):
        assert str(pipeline(name)(net[0]).programs["main"]) == str(program)


def test_every_call_makes_new_passes():
    first, second = inference(), inference()
    assert [p.info for p in first] == [p.info for p in second]
    assert not set(map(id, first)) & set(map(id, second))


def test_an_unknown_pipeline_is_an_error_with_the_nearest_name():
    with pytest.raises(ArgumentError, match="no pipeline 'inferense'; did you mean 'inference'?"):
        pipeline("inferense")
    with pytest.raises(ArgumentError, match="there are inference, opu, training"):
        pipeline("zzz")


def test_a_pass_a_list_or_a_name_is_a_pipeline():
    one = passes.FoldConstant()
    assert as_pass(one) is one
    listed = as_pass([one, passes.EliminateDeadCode()])
    assert isinstance(listed, Sequential) and listed.passes[0] is one
    assert isinstance(as_pass("opu"), Pass) and as_pass("opu").info.name == "opu"


@pytest.mark.parametrize("wanted", [None, 3, passes.FoldConstant, {"inference"}])
def test_anything_else_is_no_pipeline(wanted):
    with pytest.raises(TypeError, match="a pipeline is a pass, a list of passes or a name, not"):
        as_pass(wanted)


def test_a_list_of_names_is_refused_with_what_it_is():
    with pytest.raises(TypeError, match="made of passes, not 'FoldConstant'"):
        as_pass(["FoldConstant"])
