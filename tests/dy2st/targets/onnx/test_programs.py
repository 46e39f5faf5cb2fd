"""Layers, training and random programs give by the engine `onnxruntime` what Python gives."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest

import dy2st
from dy2st import nn, to_static
from dy2st.errors import EngineError
from dy2st.static import InputSpec
from dy2st_runtime import engine
from tests.dy2st.jit import gradient_programs, shape_programs, state_programs, tensor_programs
from tests.dy2st.jit.trained import control, layers, objectives  # noqa: F401  they fill the table
from tests.dy2st.jit.trained.compare import MODELS, WAYS, check
from tests.dy2st.ordinary.driver import Way
from tests.dy2st.ordinary.driver import check as check_layer
from tests.dy2st.ordinary.layers import ROWS, Row
from tests.dy2st.static import bucket_programs
from tests.effort import effort
from tests.random_programs import random_program
from tests.runtime.engine.native.random_runs import check as check_random

pytest.importorskip("onnx", reason="ONNX needs onnx: pip install 'dy2st[onnx]'")
pytest.importorskip("onnxruntime", reason="ONNX needs the extra onnx")

from dy2st_runtime.engine.onnx.executable import Executable  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:(divide|invalid|overflow|underflow|Mean|Degrees)")
PROGRAMS: dict[str, Callable[[int], str]] = {
    "tensors": lambda seed: tensor_programs.compare(tensor_programs.program_of(seed)),
    "state": lambda seed: state_programs.compare(state_programs.program_of(seed)),
    "shapes": shape_programs.compare,
    "gradients": lambda seed: gradient_programs.compare(
        seed, gradient_programs.program_of(seed), f"<gradients {seed}>"
    ),
    "buckets": lambda seed: bucket_programs.compare(bucket_programs.program_of(seed)),
}
# Gradients near 0, which Adam divides by their own size, are rounding there.
BY_SGD = ("CausalAttention", "Decoder", "Encoder", "batch_norm_of_rows")
TRAINED = sorted(MODELS)[:: effort(12, 1)]
USES = [
    Way("onnxruntime", spec=True, edges=True),  # which are saved and loaded, too
    Way("onnxruntime", training=True, edges=True),
    *(Way("onnxruntime", True, True, dtype=dtype) for dtype in ("float64", "float16")),
]
LAYERS = [
    (row, way)
    for row in ROWS.values()
    for way in USES
    if way.dtype == "float32" or way.dtype in row.dtypes
]


# What the engine refuses, in words: onnxruntime lacks some kernels, most of them of float64.
REFUSED = (
    "it draws other random numbers than NumPy",
    "Could not find an implementation for ",
    "ONNX has no sums over all alignments",
)


@contextmanager
def or_refused():
    """What the engine cannot run is refused, with one of these reasons, and nothing else fails."""
    try:
        yield
    except (EngineError, AssertionError) as error:
        if "EngineError" not in repr(error) or not any(why in str(error) for why in REFUSED):
            raise


@pytest.fixture(autouse=True)
def on_onnxruntime(monkeypatch):
    monkeypatch.setenv("DY2ST_ENGINE", "onnxruntime")


@pytest.mark.parametrize("seed", range(effort(12, 300)))
def test_a_random_program_gives_what_numpy_gives(seed):
    with or_refused():
        check_random(random_program(seed, 10 + seed % 3 * 15), Executable)


@pytest.mark.filterwarnings("ignore:Out of bound index found:DeprecationWarning")
@pytest.mark.parametrize(
    ("kind", "seed"), [(kind, seed) for kind in PROGRAMS for seed in range(1, effort(2, 40))]
)
def test_a_random_function_gives_what_python_gives(kind, seed):
    found = PROGRAMS[kind](seed)
    assert found.startswith(("equal", "refused", "padded", "not ")), found


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", TRAINED)
def test_losses_and_state_are_those_of_eager_training(name, way):
    with or_refused():
        check(name, way, "SGD" if name in BY_SGD else "Adam", 4, 4)


@pytest.mark.parametrize(
    ("row", "way"),
    LAYERS[:: effort(60, 2)],
    ids=lambda one: one.name if isinstance(one, Row) else str(one),
)
def test_a_layer_gives_what_its_eager_calls_give(row, way):
    if way.dtype == "float16":  # onnxruntime rounds to 16 bits elsewhere
        row = replace(row, slopes=3 * row.slopes)
    with or_refused():
        check_layer(row, way)


def test_threads_call_one_layer_with_many_sizes():
    net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    static = to_static(deepcopy(net), input_spec=[InputSpec([None, 3])])
    batches = [dy2st.ones([1 + number % 5, 3]) * number for number in range(40)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(static, batches))
    for one, x in zip(found, batches, strict=True):
        np.testing.assert_allclose(one.numpy(), net(x).numpy(), rtol=1e-5, atol=1e-6)


def test_new_numbers_of_a_parameter_are_seen():
    net = nn.Linear(2, 2)
    static, x = to_static(net, [InputSpec(["n", 2])]), dy2st.ones([3, 2])
    for factor in (1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 0.0):
        net.weight.set_value(np.full((2, 2), factor, "float32"))
        for _ in range(3):
            with dy2st.no_grad():
                assert static(x).tolist() == [[2 * factor] * 2] * 3


def test_what_raises_says_what_numpy_says():
    def function(x, i):
        if x.sum() > 10:
            raise ValueError("too large")
        return x[i] // i

    static = to_static(function, engine="onnxruntime")
    x = dy2st.to_tensor([1, 2, 3])
    assert static(x, dy2st.to_tensor(1)).item() == 2
    with pytest.raises(IndexError, match="index 3 is out of bounds"):
        static(x, dy2st.to_tensor(3))
    with pytest.raises(ZeroDivisionError, match="an integer is divided by 0"):
        static(x, dy2st.to_tensor(0))
    with pytest.raises(ValueError, match="too large"):
        static(x * 9, dy2st.to_tensor(1))


def test_what_it_cannot_run_is_refused_with_the_lines():
    def function(x):
        print(x)
        return dy2st.linalg.inv(x) + dy2st.rand([2, 2])

    with pytest.raises(EngineError) as caught:
        to_static(function, engine="onnxruntime")(dy2st.eye(2))
    lines = str(caught.value).splitlines()
    assert "the engine 'onnxruntime' cannot run 'function'" in lines[0]
    assert [line.split(":")[0].strip() for line in lines[1:3]] == ["print", "uniform"]
    assert "test_programs.py" in lines[1]


def test_what_no_branch_has_changed_is_the_same_tensor():
    def function(x, y):
        if y.sum() > 0:
            x = x + 1
        return x

    static = to_static(function)
    x = dy2st.ones([2])
    assert static(x, dy2st.zeros([1])) is x and static(x, dy2st.ones([1])) is not x


def test_the_source_is_the_model():
    static = to_static(lambda x: x * 2, [InputSpec(["n"])])
    executable = engine.compile(static.main_program, "onnxruntime")
    assert "Mul (" in executable.source and "float[n]" in executable.source


def test_gradients_of_what_may_be_broadcast_have_the_sizes_of_the_call():
    spec = [InputSpec([None, 3], "float32")] * 2
    loss = to_static(nn.functional.mse_loss, engine="onnxruntime", input_spec=spec)
    for rows, others in ((2, 2), (2, 1), (1, 2), (3, 3), (1, 1)):
        x, y = (dy2st.rand([n, 3]) for n in (rows, others))
        x.stop_gradient = y.stop_gradient = False
        loss(x, y).backward()
        found = x.grad.numpy(), y.grad.numpy()
        x.clear_grad(), y.clear_grad()
        nn.functional.mse_loss(x, y).backward()
        for one, wanted in zip(found, (x.grad.numpy(), y.grad.numpy())):
            np.testing.assert_allclose(one, wanted, rtol=1e-5, strict=True)
