"""Programs as machine code, against the same Programs in NumPy's engine."""

from __future__ import annotations

import time
from itertools import pairwise

import numpy as np
import pytest
from measuring import median_seconds, times

import dy2st
from dy2st import nn
from dy2st.jit import to_static
from dy2st.nn import functional as F
from dy2st.paddle.vision.models import resnet50
from dy2st.static import InputSpec
from dy2st_runtime import engine

CALLS = 200  # of what takes microseconds


def programs(function, *shapes):
    """The runs of both engines, which must agree."""
    specs = [InputSpec(shape, "float32", f"x{i}") for i, shape in enumerate(shapes)]
    concrete = to_static(function, input_spec=specs).concrete_program
    state = [tensor.array for tensor in concrete.state.values()]
    both = [engine.compile(concrete.main_program, name) for name in ("native", "numpy")]
    return [lambda *arrays, one=one: one.run(arrays, state)[0] for one in both]


def against_numpy(function, shapes, arrays, repeats=1):
    """How long machine code takes, as a part of what NumPy's engine takes."""
    native, numpy = programs(function, *shapes)
    np.testing.assert_allclose(native(*arrays), numpy(*arrays), rtol=1e-3, atol=1e-4)
    return times(
        lambda: [native(*arrays) for _ in range(repeats)],
        lambda: [numpy(*arrays) for _ in range(repeats)],
    )


def random(*shape):
    return np.random.default_rng(0).normal(size=shape).astype(np.float32)


def test_one_addition(figure):
    x = random(8)
    what = "native engine: one addition on (8,), against NumPy's engine"
    figure(what, lambda: against_numpy(lambda a, b: a + b, [[8], [8]], [x, x], CALLS), "times", 1.0)


def few(x):
    return (x * 2.0 + 1.0).exp()


def few_by(name):
    """Three operators on an engine, and what a call of them does."""
    specs = [InputSpec([64], "float32", "x")]
    executable = engine.compile(to_static(few, input_spec=specs).main_program, name)
    x = random(64)
    return executable, lambda: [executable.run([x], []) for _ in range(CALLS)]


def test_a_first_call_by_default(figure):
    program = to_static(few, input_spec=[InputSpec([64], "float32", "x")]).main_program
    x = random(64)
    first = [lambda n=n: engine.compile(program, n).run([x], []) for n in ("auto", "numpy")]
    what = "engine auto: compile three operators and call them once, against NumPy's engine"
    figure(what, lambda: times(*first), "times", 1.5)


def test_calls_by_default_before_there_is_code(figure):
    (_, best), (_, numpy) = few_by("auto"), few_by("numpy")
    what = "engine auto: three operators before there is code, against NumPy's engine"
    figure(what, lambda: times(best, numpy), "times", 1.2)


def test_calls_by_default_when_there_is_code(figure):
    (executable, best), (_, native) = few_by("auto"), few_by("native")
    assert executable.wait()
    what = "engine auto: three operators when there is code, against the engine native"
    figure(what, lambda: times(best, native), "times", 1.2)


def grow(x):
    while x.mean() < 50.0:
        x = x * 1.01 + 0.1
    return x


def test_a_loop(figure):
    what = "native engine: a `while` of 390 turns on (64,), against NumPy's engine"
    figure(what, lambda: against_numpy(grow, [[64]], [np.zeros(64, "float32")]), "times", 0.05)


def chain(x):
    for _ in range(6):
        x = dy2st.exp(dy2st.tanh(F.relu(x * 1.3 - 2.0)))
    return x


def test_a_chain_of_elementwise_operators(figure):
    what = "native engine: 30 elementwise operators on 1 M numbers, against NumPy's engine"
    x = random(1024, 1024)
    figure(what, lambda: against_numpy(chain, [[None, 1024]], [x]), "times", 0.7)


def norms(x):
    return F.softmax(F.gelu(F.layer_norm(x, [1024])))


def test_norm_gelu_softmax(figure):
    what = "native engine: layer_norm, gelu, softmax on (512, 1024), against NumPy's engine"
    x = random(512, 1024)
    figure(what, lambda: against_numpy(norms, [[None, 1024]], [x]), "times", 0.2)


class Recurrent(nn.Layer):
    """An LSTM by hand, over steps whose number is not known."""

    def __init__(self):
        super().__init__()
        self.cell = nn.LSTMCell(128, 128)

    def forward(self, xs):
        h = c = dy2st.zeros([xs.shape[1], 128])
        for t in range(xs.shape[0]):
            _, (h, c) = self.cell(xs[t], (h, c))
        return h


def test_an_lstm(figure):
    what = "native engine: LSTM of 64 steps, batch 1, against NumPy's engine"
    net, x = Recurrent(), random(64, 1, 128)
    net.eval()
    figure(what, lambda: against_numpy(net.forward, [[None, None, 128]], [x]), "times", 0.3)


def perceptron():
    sizes = (784, 512, 512, 10)
    layers = [layer for a, b in pairwise(sizes) for layer in (nn.Linear(a, b), nn.ReLU())]
    return nn.Sequential(*layers[:-1]).eval()


def test_a_perceptron(figure):
    what = "native engine: MLP 784-512-512-10, batch 64, against NumPy's engine"
    net = perceptron()
    figure(what, lambda: against_numpy(net.forward, [[None, 784]], [random(64, 784)]), "times", 1.0)


def ten(x):
    for i in range(5):
        x = dy2st.tanh(x) * (i + 1.5)
    return x


def compiling(program, monkeypatch, folder=None):
    """The milliseconds of this thread that a Program takes: the least of some, or from disk."""
    monkeypatch.setenv("DY2ST_NATIVE_BACKGROUND", "off")
    monkeypatch.setenv("DY2ST_CACHE", "off" if folder is None else "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    engine.compile(program, "native")

    def compiled():
        start = time.thread_time()
        engine.compile(program, "native")
        return time.thread_time() - start

    return lambda: 1e3 * min(compiled() for _ in range(5))


@pytest.fixture(scope="module")
def ten_operators():
    concrete = to_static(ten, input_spec=[InputSpec([None], "float32")]).concrete_program
    return concrete.main_program


def test_compiling_ten_operators(figure, ten_operators, monkeypatch):
    measure = compiling(ten_operators, monkeypatch)
    figure("native engine: compile ten operators", measure, "ms", 120)


def test_ten_operators_from_disk(figure, ten_operators, monkeypatch, tmp_path):
    measure = compiling(ten_operators, monkeypatch, tmp_path)
    figure("native engine: ten operators from disk", measure, "ms", 15)


@pytest.fixture(scope="module")
def residual_network():
    net = resnet50()
    net.eval()
    specs = [InputSpec([None, 3, 224, 224], "float32")]
    return to_static(net, input_spec=specs).forward.concrete_program.main_program


def test_compiling_a_residual_network(figure, residual_network, monkeypatch):
    measure = compiling(residual_network, monkeypatch)
    figure("native engine: compile ResNet-50", measure, "ms", 2500)


def test_a_residual_network_from_disk(figure, residual_network, monkeypatch, tmp_path):
    measure = compiling(residual_network, monkeypatch, tmp_path)
    figure("native engine: ResNet-50 from disk", measure, "ms", 200)


def thousands(x):
    y = x
    for number in range(700):
        y = dy2st.tanh(y) * (1 + number) - F.relu(x + number)
    return y


def test_compiling_5000_operators(figure, monkeypatch):
    concrete = to_static(thousands, input_spec=[InputSpec([None], "float32")]).concrete_program
    measure = compiling(concrete.main_program, monkeypatch)
    figure("native engine: compile 5,000 elementwise operators", measure, "ms", 5000)


def test_a_call(figure):
    x = random(8)
    native, _ = programs(lambda a, b: a + b, [8], [8])
    what = "native engine: run a Program of one addition"
    seconds = lambda: median_seconds(lambda: [native(x, x) for _ in range(CALLS)])  # noqa: E731
    figure(what, lambda: 1e6 * seconds() / CALLS, "us", 4)
