"""Pipelines on random networks: the same numbers, and nothing left to do for a second run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from dy2st.passes import PIPELINES, Module, pipeline
from dy2st_runtime.ir.checks.verifier import verify
from dy2st_runtime.ir.interpret import interpret
from dy2st_runtime.tensor import EagerTensor
from examples.zoo.__main__ import compare
from examples.zoo.models import MODELS
from tests.dy2st.passes.random_networks import random_network
from tests.effort import effort

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
ROOT = Path(__file__).parent.parent.parent.parent
TOLERANCE = {"float16": 2e-2, "float32": 2e-4, "float64": 1e-9}


def after(name, net):
    """What a pipeline makes of a network: Program, arrays, and its text after a second run."""
    once = pipeline(name)(Module({"main": net.program}, dict(net.state)))
    program = verify(once.programs["main"])
    return program, once.state_of(program), str(pipeline(name)(once).programs["main"])


def run(t, program, inputs, state):
    with np.errstate(all="ignore"):
        return t.run(program, inputs, dict(zip(program.state, state, strict=True)))


def check(t, name, net):
    """Numbers before and after, within what rounding explains; integers to the bit."""
    program, state, again = after(name, net)
    assert again == str(program), "a second run changes the Program"
    expected = run(t, net.program, net.inputs, net.state.values())
    found = run(t, program, net.inputs, state)
    for have, want in zip(found, expected, strict=True):
        assert (have.dtype, have.shape) == (want.dtype, want.shape)
        if want.dtype.kind != "f":
            np.testing.assert_array_equal(have, want)
            continue
        rtol = TOLERANCE[want.dtype.name]
        size = np.abs(want[np.isfinite(want)]).max(initial=0.0).astype(np.float64)
        np.testing.assert_allclose(
            have.astype(np.float64), want.astype(np.float64), rtol=rtol, atol=rtol * size
        )


@pytest.mark.parametrize("name", PIPELINES)
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int8"])
@pytest.mark.parametrize("wild", [False, True])
def test_pipelines_keep_the_numbers_of_random_networks(t, name, dtype, wild):
    for seed in range(effort(3, 9)):
        check(t, name, random_network(seed, dtype, wild))


def gradients(program, inputs, state, names):
    """Of a fixed mixture of all float outputs, for the inputs and the parameters of these names."""
    given = [EagerTensor(a, stop_gradient=False) for a in inputs]
    tensors = {name: EagerTensor(a, stop_gradient=False) for name, a in state.items()}
    outputs, _ = interpret(program, given, tensors)
    rng, total = np.random.default_rng(7), None
    for output in outputs:
        part = (output * EagerTensor(rng.standard_normal(output.shape))).sum()
        total = part if total is None else total + part
    total.backward()
    found = [*given, *(tensors[name] for name in names)]
    return [None if tensor.grad is None else tensor.grad.numpy() for tensor in found]


@pytest.mark.parametrize("block", range(effort(1, 4)))
def test_training_keeps_the_gradients(block):
    known = 0
    for seed in range(block * 20, block * 20 + 20):
        net = random_network(seed, "float64")
        program, state, _ = after("training", net)
        arrays = dict(zip(program.state, state, strict=True))
        assert list(program.parameters) == list(net.program.parameters)
        expected = gradients(net.program, net.inputs, net.state, net.program.parameters)
        found = gradients(program, net.inputs, arrays, net.program.parameters)
        for have, want in zip(found, expected, strict=True):
            have, want = (np.zeros(()) if g is None else g for g in (have, want))
            size = np.abs(want).max(initial=0.0)
            np.testing.assert_allclose(have, np.broadcast_to(want, have.shape), 1e-9, 1e-9 * size)
            known += bool(want.any())
    assert known > 20


TEXTS = """
import hashlib, warnings
import numpy as np
from dy2st.passes import PIPELINES, Module, pipeline
from examples.zoo.__main__ import compare
from tests.dy2st.passes.random_networks import random_network

warnings.simplefilter("ignore")
networks = [random_network(seed) for seed in range(3)]
programs = [(net.program, net.state) for net in networks]
for name in ("resnet18", "lstm"):
    model = compare(name, tiny=True)
    programs.append((model.before, dict(zip(model.before.state, model.before_state))))
for program, state in programs:
    print(hashlib.sha256(str(program).encode()).hexdigest())
    for name in PIPELINES:
        module = pipeline(name)(Module({program.name: program}, dict(state)))
        arrays = [(key, array.tobytes()) for key, array in module.state.items()]
        text = str(module.programs[program.name]) + repr(arrays)
        print(name, hashlib.sha256(text.encode()).hexdigest())
"""


def test_the_text_is_the_same_in_every_process_and_folder(tmp_path):
    path = os.pathsep.join((str(ROOT), str(ROOT / "runtime"), os.environ.get("PYTHONPATH", "")))
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", TEXTS],
            cwd=ROOT if seed == "0" else tmp_path,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": path},
            stdout=subprocess.PIPE,
            text=True,
        )
        for seed in ("0", "1")
    ]
    texts = [run.communicate(timeout=300)[0] for run in runs]
    assert all(run.returncode == 0 for run in runs)
    assert texts[0].count("\n") == 20
    assert texts[0] == texts[1]


@pytest.mark.parametrize("name", PIPELINES)
@pytest.mark.parametrize("model", MODELS)
def test_a_second_run_leaves_the_models_of_the_zoo(model, name):
    comparison = compare(model, tiny=True)
    program = comparison.before
    state = dict(zip(program.state, comparison.before_state, strict=True))
    once = pipeline(name)(Module({program.name: program}, state))
    twice = pipeline(name)(once)
    assert str(twice.programs[program.name]) == str(once.programs[program.name])
