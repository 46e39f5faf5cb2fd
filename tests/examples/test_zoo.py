"""Seven well-known models, small: converted and optimised they compute what Python computes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import dy2st
from dy2st.passes import Module, pipeline, plan_memory, statistics
from examples.zoo.__main__ import compare, table
from examples.zoo.models import MODELS

ROOT = Path(__file__).parent.parent.parent
CONVOLUTIONAL = ("resnet50", "resnet18", "mobilenet_v2", "googlenet", "unet", "yolo_v3")


def outputs(result):
    return [result.numpy()] if isinstance(result, dy2st.Tensor) else [r.numpy() for r in result]


def close(found, expected, tolerance=1e-5):
    for left, right in zip(found, expected, strict=True):
        np.testing.assert_allclose(
            left, right, rtol=tolerance, atol=tolerance * np.abs(right).max()
        )


@pytest.mark.parametrize("strategy", [None, "inference"])
@pytest.mark.parametrize("name", MODELS)
def test_a_converted_model_computes_what_python_computes(name, strategy):
    model = MODELS[name]
    plain, net = model.tiny(), model.tiny()
    static = dy2st.to_static(net, model.tiny_specs, build_strategy=strategy)
    for batch in (1, 3):
        inputs = model.inputs(np.random.default_rng(batch), batch, True)
        tensors = [dy2st.to_tensor(array) for array in inputs]
        with dy2st.no_grad():
            close(outputs(static(*tensors)), outputs(plain(*tensors)))


@pytest.mark.parametrize("name", CONVOLUTIONAL)
def test_no_batch_norm_and_no_number_by_channel_is_left(name):
    comparison = compare(name, tiny=True)
    names = [operator.name for operator in comparison.before.block.walk()]
    assert "batch_norm" in names
    parameters = {id(variable) for variable in comparison.after.state.values()}
    for operator in comparison.after.block.walk():
        assert operator.name != "batch_norm"
        if operator.name in ("multiply", "add") and operator.results[0].ndim == 4:
            assert not any(id(operand) in parameters for operand in operator.operands)


@pytest.mark.parametrize("name", MODELS)
def test_planned_memory_is_at_most_half_of_memory_for_each_value(name):
    comparison = compare(name, tiny=True)
    plan = plan_memory(comparison.after, comparison.sizes)
    assert plan.arena <= 0.5 * plan.unplanned
    assert plan.arena == plan.peak


@pytest.mark.parametrize("name", MODELS)
def test_the_opu_pipeline_computes_the_same(name):
    comparison = compare(name, tiny=True)
    state = dict(zip(comparison.before.state, comparison.before_state, strict=True))
    module = pipeline("opu")(Module({"main": comparison.before}, state))
    comparison.after = module.programs["main"]
    comparison.after_state = module.state_of(comparison.after)
    assert comparison.difference() < 1e-5


def test_the_table_is_printed_for_the_models_that_are_named():
    command = [sys.executable, "-m", "examples.zoo", "lstm", "--tiny"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("| model | operators |") and "| lstm |" in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "macs"),  # millions, as published for 224 x 224 and, for YOLOv3, 416 x 416 pixels
    [("resnet50", 4089), ("resnet18", 1814), ("mobilenet_v2", 301), ("yolo_v3", 32930)],
)
def test_the_multiplications_are_those_that_were_published(name, macs):
    model = MODELS[name]
    net = dy2st.to_static(model.full(), model.full_specs)
    count = statistics(net.forward.main_program).macs / 1e6
    assert count == pytest.approx(macs, rel=1e-3)


@pytest.mark.slow
def test_the_page_shows_the_table_of_now():
    page = (ROOT / "docs" / "passes.md").read_text(encoding="utf-8")
    assert table(list(MODELS)) in page, "put there what `python -m examples.zoo` prints"
