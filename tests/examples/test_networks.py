"""The networks for the OPU: converted they compute what Python does, and have their sizes."""

from __future__ import annotations

import numpy as np
import pytest

import dy2st
from dy2st import nn
from dy2st.passes import Module, pipeline, statistics
from dy2st_runtime import engine
from examples.networks.models import MODELS
from examples.networks.yolo_v2 import Reorganise


def outputs(result):
    return [result.numpy()] if isinstance(result, dy2st.Tensor) else [r.numpy() for r in result]


def close(found, expected):
    for left, right in zip(found, expected, strict=True):
        np.testing.assert_allclose(left, right, rtol=1e-4, atol=1e-4 * np.abs(right).max())


@pytest.mark.parametrize("name", MODELS)
def test_a_converted_network_computes_what_python_computes(name):
    model = MODELS[name]
    plain = model.make(small=True)
    static = dy2st.to_static(model.make(small=True), model.specs(small=True))
    image = dy2st.to_tensor(model.inputs(np.random.default_rng(1), small=True)[0])
    with dy2st.no_grad():
        close(outputs(static(image)), outputs(plain(image)))


@pytest.mark.parametrize("name", MODELS)
def test_the_passes_for_the_opu_leave_the_results_and_no_batch_norm(name):
    model = MODELS[name]
    net = model.make(small=True)
    inputs = model.inputs(np.random.default_rng(2), small=True)
    concrete = dy2st.to_static(net, model.specs(small=True)).forward.concrete_program
    program = concrete.main_program
    state = {key: tensor.array for key, tensor in concrete.state.items()}
    module = pipeline("opu")(Module({"main": program}, state))
    after = module.programs["main"]
    assert "batch_norm" not in {operator.name for operator in after.block.walk()}
    expected = engine.compile(program).run(inputs, [state[key] for key in program.state])
    close(engine.compile(after).run(inputs, module.state_of(after)), expected)


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_the_published_size_has_the_published_multiplications(name):
    model = MODELS[name]
    static = dy2st.to_static(model.build().eval(), model.specs())
    assert statistics(static.forward.main_program).macs == pytest.approx(model.macs, rel=1e-3)


@pytest.mark.parametrize("name", MODELS)
def test_results_are_of_the_order_of_one(name):
    model = MODELS[name]
    image = dy2st.to_tensor(model.inputs(np.random.default_rng(3), small=True)[0])
    with dy2st.no_grad():
        for result in outputs(model.make(small=True)(image)):
            assert 0.05 < result.std() < 10


def test_the_same_parameters_come_at_every_call():
    first, second = (MODELS["resnet20"].make(small=True).state_dict() for _ in range(2))
    assert all(np.array_equal(first[key].numpy(), second[key].numpy()) for key in first)


@pytest.mark.parametrize("name", ["tiny_yolo", "yolo_v2", "yolo_v3"])
def test_leaky_relus_have_a_slope_that_is_a_shift(name):
    layers = MODELS[name].make(small=True).sublayers()
    leaky = [layer for layer in layers if isinstance(layer, nn.LeakyReLU)]
    slopes = [-layer(dy2st.to_tensor([-1.0])).item() for layer in leaky]
    assert slopes and set(slopes) == {0.125}


def test_reorganising_puts_the_pixels_of_a_square_into_channels():
    x = np.arange(2 * 4 * 6, dtype="float32").reshape(1, 2, 4, 6)
    found = Reorganise(2).eval()(dy2st.to_tensor(x)).numpy()
    expected = [x[:, :, row::2, column::2] for row in (0, 1) for column in (0, 1)]
    np.testing.assert_array_equal(found, np.concatenate(expected, axis=1))
