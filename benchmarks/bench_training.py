"""Steps of training: against NumPy by hand, against eager training, and what is kept for gradients.

python benchmarks/bench_training.py    # each model that the tests train, converted against eager
"""

from __future__ import annotations

import itertools
import statistics
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from measuring import median_seconds, times

import dy2st
from dy2st import nn, optimizer, to_static
from dy2st.nn import functional as F
from dy2st.static import InputSpec
from dy2st_runtime.autodiff.halves import Halves

sys.path.insert(0, str(Path(__file__).parent.parent))

from examples.digits import DigitNet
from tests.dy2st.jit.trained import control, layers, objectives  # noqa: F401  fill the table
from tests.dy2st.jit.trained.compare import MODELS, OPTIMIZERS, batch, loss_of

RATE, EPSILON, MEANS = np.float32(0.001), np.float32(1e-8), (0.9, 0.999)
RANDOM = np.random.default_rng(0)


def normal(*shape):
    return RANDOM.normal(size=shape).astype("float32")


def classes(count):
    return RANDOM.integers(0, 10, count)


class WithLoss(nn.Layer):
    """A classifier and its loss."""

    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, x, y):
        return F.cross_entropy(self.net(x), y)


def step_of(net, how, arrays, made=optimizer.Adam):
    """A step of training on one batch; `how`: eager, the converted Layer, or a converted step."""
    best = made(RATE, parameters=net.parameters())
    called = to_static(net) if how == "layer" else net

    def step(x, y):
        loss = called(x, y)
        loss.backward()
        best.step()
        best.clear_grad()
        return loss

    run = to_static(step) if how == "step" else step
    tensors = [dy2st.to_tensor(array) for array in arrays]
    for _ in range(3):  # the first makes state, the second the Programs of the gradients
        run(*tensors)
    return lambda: run(*tensors)


# -- a perceptron, against NumPy by hand -------------------------------------------------------

WIDTHS = (784, 512, 512, 10)


class ByHand:
    """Steps of a perceptron with cross entropy."""

    def __init__(self, parameters, has_means):
        self.parameters, self.turn = parameters, 0
        self.means = [np.zeros_like(p) for p in parameters] if has_means else []
        self.squares = [np.zeros_like(p) for p in parameters]

    def __call__(self, x, y):
        loss, gradients = self.gradients(x, y)
        if self.means:
            self.adam(gradients)
        else:
            for parameter, gradient in zip(self.parameters, gradients, strict=True):
                parameter -= RATE * gradient
        return loss

    def gradients(self, x, y):
        w0, b0, w1, b1, w2, b2 = self.parameters
        h0 = x @ w0 + b0
        a0 = np.maximum(h0, 0)
        h1 = a0 @ w1 + b1
        a1 = np.maximum(h1, 0)
        z = a1 @ w2 + b2
        e = np.exp(z - z.max(-1, keepdims=True))
        q, rows = e / e.sum(-1, keepdims=True), np.arange(len(y))
        loss = -np.log(q[rows, y]).mean()
        q[rows, y] -= 1
        q /= len(y)
        g1 = (q @ w2.T) * (h1 > 0)
        g0 = (g1 @ w1.T) * (h0 > 0)
        return loss, [x.T @ g0, g0.sum(0), a0.T @ g1, g1.sum(0), a1.T @ q, q.sum(0)]

    def adam(self, gradients):
        self.turn += 1
        (first, second), one = MEANS, np.float32(1)
        rate = RATE * np.float32(np.sqrt(1 - second**self.turn) / (1 - first**self.turn))
        end = EPSILON * np.float32(np.sqrt(1 - second**self.turn))
        first, second = np.float32(first), np.float32(second)
        state = zip(self.parameters, gradients, self.means, self.squares, strict=True)
        for parameter, gradient, mean, square in state:
            mean *= first
            mean += (one - first) * gradient
            square *= second
            square += (one - second) * (gradient * gradient)
            parameter -= rate * mean / (np.sqrt(square) + end)


def perceptron():
    parts = [nn.Linear(a, b) for a, b in itertools.pairwise(WIDTHS)]
    return WithLoss(nn.Sequential(parts[0], nn.ReLU(), parts[1], nn.ReLU(), parts[2]))


@pytest.mark.parametrize("way", ["SGD", "Adam"])
def test_step_of_a_perceptron(figure, way):
    x, y, net = normal(64, 784), classes(64), perceptron()
    by_hand = ByHand([p.numpy().copy() for p in net.parameters()], way == "Adam")
    static = step_of(net, "step", (x, y), getattr(optimizer, way))
    for _ in range(3):
        by_hand(x, y)
    for _ in range(5):
        np.testing.assert_allclose(static().item(), by_hand(x, y), rtol=1e-3)
    what = f"step of a perceptron 784-512-512-10 ({way}, batch 64), against NumPy by hand"
    figure(what, lambda: times(static, lambda: by_hand(x, y), 61), "times", 1.3)


# -- against eager training --------------------------------------------------------------------


class LastOfLstm(nn.Layer):
    """Classes of sequences, by the last output."""

    def __init__(self):
        super().__init__()
        self.lstm, self.out = nn.LSTM(32, 64), nn.Linear(64, 10)

    def forward(self, x):
        return self.out(self.lstm(x)[0][:, -1])


class OwnLoop(nn.Layer):
    """The same with a loop that a tensor decides."""

    def __init__(self):
        super().__init__()
        self.cell, self.out = nn.LSTMCell(32, 64), nn.Linear(64, 10)

    def forward(self, x):
        state, turn = (dy2st.zeros([16, 64]), dy2st.zeros([16, 64])), dy2st.to_tensor(0)
        while turn < 16:
            _, state = self.cell(x[:, turn], state)
            turn = turn + 1
        return self.out(state[0])


AGAINST_EAGER = {
    "LSTM of 16 turns": (LastOfLstm, (16, 16, 32), 2.6),  # eagerly all turns are one operation
    "LSTM cell in a `while` of 16 turns": (OwnLoop, (16, 16, 32), 0.35),
    "convolutions of examples/digits.py": (DigitNet, (64, 1, 8, 8), 0.7),
}


@pytest.mark.parametrize("name", AGAINST_EAGER)
def test_step_against_eager(figure, name):
    make, shape, goal = AGAINST_EAGER[name]
    arrays = np.abs(normal(*shape)), classes(shape[0])
    static, eager = (step_of(WithLoss(make()), how, arrays) for how in ("step", "eager"))
    figure(
        f"step of training, {name}, against eager", lambda: times(static, eager, 31), "times", goal
    )


def of_model(entry, way):
    """Six steps of a model of the tests, and how long one call of them takes."""
    dy2st.seed(5)
    net = entry.make().to(dtype="float64")
    best = OPTIMIZERS["Adam"](net.parameters())
    called = to_static(net) if way == "layer" else net

    def step(x):
        loss = loss_of(called(x))
        loss.backward()
        best.step()
        best.clear_grad()

    run, batches = to_static(step) if way == "step" else step, [batch(entry, t) for t in range(6)]

    def steps():
        for x in batches:
            run(x)

    for _ in range(3):
        steps()
    return steps


def ratio_of_model(name, way):
    """How long a step takes where the Layer, or the whole step, is converted, against eagerly.

    By the fastest rounds in time of this thread: the largest of 67 medians is a disturbed one.
    """
    subjects = of_model(MODELS[name], way), of_model(MODELS[name], "")
    rounds = [[thread_seconds(subject) for subject in subjects] for _ in range(15)]
    static, eager = map(min, zip(*rounds, strict=True))
    return static / eager


def thread_seconds(function):
    start = time.thread_time()
    function()
    return time.thread_time() - start


@pytest.mark.parametrize("way", ["layer", "step"])
def test_models_of_the_tests_against_eager(figure, way):
    what = f"training of {len(MODELS)} small models, converted {way} against eager, the slowest"
    figure(what, lambda: max(ratio_of_model(name, way) for name in MODELS), "times", 1.0)


# -- gradients ---------------------------------------------------------------------------------


def encoder(dropout=0.0):
    return nn.TransformerEncoderLayer(128, 4, 512, dropout=dropout, activation="gelu")


GRADIENTS = {
    "perceptron": lambda: (perceptron(), normal(64, 784), classes(64)),
    "encoder layer": lambda: (encoder(), normal(8, 32, 128)),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_backward_against_forward(figure, name):
    net, *arrays = GRADIENTS[name]()
    call, tensors = to_static(net), [dy2st.to_tensor(array) for array in arrays]

    def ratio():
        start = time.perf_counter()
        result = call(*tensors)
        middle = time.perf_counter()
        result.backward(dy2st.ones_like(result))
        return (time.perf_counter() - middle) / (middle - start)

    for _ in range(3):
        ratio()
    what = f"gradients of a converted {name}, against its results"
    figure(what, lambda: statistics.median(ratio() for _ in range(61)), "times", 2.5)


# What torch 2.13 keeps for its layer of these sizes on (8, 32, 128): the storages that
# torch.autograd.graph.saved_tensors_hooks sees, each once, without parameters.
KEPT_BY_TORCH = {0.0: 2_105_344, 0.1: 3_543_040}


@pytest.mark.parametrize("dropout", KEPT_BY_TORCH)
def test_bytes_kept(figure, dropout):
    call, x = to_static(encoder(dropout)), dy2st.to_tensor(normal(8, 32, 128))
    for _ in range(2):
        call(x).sum().backward()

    def kept():
        return (call(x).grad_fn.kept_bytes + x.numpy().nbytes) / KEPT_BY_TORCH[dropout]

    what = f"bytes kept for the gradients of an encoder layer (dropout {dropout:g}), against torch"
    figure(what, kept, "times", 1.0)


def chain(count):
    """A Program of so many operators: x + 1.0 and x * w are three."""

    def f(x, w):
        for _ in range(count // 3):
            x = (x + 1.0) * w
        return x

    f.__dy2st_ignore__ = True
    specs = [InputSpec(shape, "float32", name) for name, shape in (("x", [None, 8]), ("w", [8]))]
    return to_static(f, input_spec=specs).concrete_program.main_program


def differentiating(count):
    """Microseconds an operator of the Program."""
    program = chain(count)
    return median_seconds(lambda: Halves(program, [0, 1]), 5) / count * 1e6


def test_differentiating_10000_operators(figure):
    what = "differentiate an operator (of 10,000)"
    figure(what, lambda: differentiating(10_000), "us", None)


def test_differentiating_is_linear(figure):
    what = "the same, an operator of 10,000 against one of 1,000"
    figure(what, lambda: differentiating(10_000) / differentiating(1_000), "times", 1.2)


def main():
    """Print the ratio of each model, the slowest first."""
    rows = [(*(ratio_of_model(name, way) for way in ("layer", "step")), name) for name in MODELS]
    for of_layer, of_step, name in sorted(rows, key=lambda row: -max(row[:2])):
        print(f"{name:26s} Layer {of_layer:.2f}  step {of_step:.2f} times")


if __name__ == "__main__":
    main()
