"""What a call costs above what it computes: finding its Program, taking and giving tensors."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from measuring import in_turns

import dy2st
from dy2st import nn
from dy2st.jit import to_static
from dy2st.static import InputSpec

SOME = 20  # of what takes microseconds
ENGINES = ["numpy", "native"]
X, ROW = dy2st.ones([8]), dy2st.ones([1, 4])


def add_one(x):
    return x + 1.0


def added(x, y, factor=1.0):
    return x + y * factor


def inner(x, held):
    return x + held[0] + held[1]["y"]


def halved(x):
    while x.sum() > 100.0:
        x = x * 0.5
    return x


class Row(nn.Layer):
    def __init__(self):
        super().__init__()
        self.linear, self.scale = nn.Linear(4, 4), 2.0

    def forward(self, x):
        return self.linear(x) * self.scale


def microseconds_above(subject, floor, rounds=400) -> float:
    """The best of each: what disturbs so short a run only ever makes it slower."""
    calls = lambda: [subject() for _ in range(SOME)]  # noqa: E731
    floors = lambda: [floor() for _ in range(SOME)]  # noqa: E731
    found = in_turns(calls, floors, rounds)
    return (min(a for a, _ in found) - min(b for _, b in found)) / SOME * 1e6


def nothing() -> None:
    """What a call is held against that is measured as a whole."""


CALLS = {
    "x + 1": (add_one, lambda f: f(X)),
    "two tensors by name, and a default": (added, lambda f: f(x=X, y=X)),
    "two tensors and a number": (added, lambda f: f(X, X, 3.0)),
    "tensors in a list and a dict": (inner, lambda f: f(X, [X, {"y": X}])),
    "a loop that gives its argument back": (halved, lambda f: f(X)),
}


def test_call_above_its_kernel(figure):
    static, array, one = to_static(add_one, engine="numpy"), X.numpy(), np.float32(1)
    measure = lambda: microseconds_above(lambda: static(X), lambda: np.add(array, one))  # noqa: E731
    figure("call of a converted function (x + 1), above the kernel", measure, "us", 5)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", CALLS)
def test_call(figure, name, engine):
    function, call = CALLS[name]
    static = to_static(function, engine=engine)
    goal = (1.5 if name == "x + 1" else 6) if engine == "native" else 12
    measure = lambda: microseconds_above(lambda: call(static), nothing)  # noqa: E731
    figure(f"call in all ({name}), {engine}", measure, "us", goal)


@pytest.mark.parametrize("is_taped", [False, True])
def test_layer(figure, is_taped):
    layer = to_static(Row(), engine="native")

    def call():
        with dy2st.set_grad_enabled(is_taped):
            return layer(ROW)

    what = "with gradients" if is_taped else "without"
    measure = lambda: microseconds_above(call, nothing)  # noqa: E731
    figure(f"call of a Layer in all ({what}), native", measure, "us", 20 if is_taped else 8)


def test_loaded_model(figure, tmp_path):
    layer = to_static(Row(), input_spec=[InputSpec([None, 4])])
    dy2st.jit.save(layer, str(tmp_path / "row"))
    loaded = dy2st.jit.load(str(tmp_path / "row"), engine="native")
    measure = lambda: microseconds_above(partial(loaded, ROW), nothing)  # noqa: E731
    figure("call of a loaded model in all, native", measure, "us", 6)


def test_step(figure):
    net = nn.Sequential(*[nn.Linear(4, 4) for _ in range(20)])
    optimizer = dy2st.optimizer.Adam(learning_rate=1e-3, parameters=net.parameters())

    def step(x):
        loss = (net(x) ** 2).mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return loss

    static = to_static(step, engine="numpy")
    for _ in range(3):
        static(ROW)
    program = static.concrete_program
    state = [tensor.array for tensor in program.state.values()]
    run = lambda: program.executable.run([ROW.array], state)  # noqa: E731
    measure = lambda: microseconds_above(lambda: static(ROW), run, 20) / len(net.parameters())  # noqa: E731
    figure("a whole step of Adam, above its Program, a parameter", measure, "us", 20)
