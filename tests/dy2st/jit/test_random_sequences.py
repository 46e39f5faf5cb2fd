"""A converted layer with passes beside an eager one, through the same random life."""

from __future__ import annotations

import numpy as np
import pytest

import dy2st
from dy2st import nn
from dy2st.static import InputSpec

SPEC = [InputSpec(["batch", 3, 6, 6], "float32", "x")]


class Net(nn.Layer):
    """Statistics, dropout, a branch and a loop that the data decide, and plain attributes."""

    def __init__(self, rate):
        super().__init__()
        self.conv = nn.Conv2D(3, 4, 3, bias_attr=False)
        self.norm = nn.BatchNorm2D(4)
        self.drop = nn.Dropout(rate)
        self.fc = nn.Linear(4, 3)
        self.register_buffer("shift", dy2st.to_tensor(np.float32([0.1, -0.2, 0.3])))
        self.factor = 1.5

    def forward(self, x):
        x = nn.functional.relu(self.norm(self.conv(x)) * self.factor)
        if x.mean() > 0.5:
            x = self.drop(x) * 2.0
        y = self.fc(x.mean([2, 3])) + self.shift
        i = dy2st.to_tensor(0)
        while y.abs().mean() > 1.0 and i < 4:
            y = y * 0.5 + self.shift
            i = i + 1
        return y, self.fc.weight.sum()


class Life:
    """One layer and its optimizer; every event does to it what it does to others."""

    def __init__(self, strategy, with_spec, optimizer, rate):
        dy2st.seed(3)
        self.net = Net(rate)
        if strategy != "eager":
            dy2st.to_static(self.net, SPEC if with_spec else None, build_strategy=strategy)
        self.optimizer = optimizer(0.05, parameters=self.net.parameters())
        self.saved = self.snapshot()

    def snapshot(self):
        return {name: t.numpy().copy() for name, t in self.net.state_dict().items()}

    def call(self, rng):
        dy2st.seed(int(rng.integers(1000)))
        x = rng.standard_normal((int(rng.integers(1, 5)), 3, 6, 6)).astype("float32")
        with dy2st.no_grad():
            return [
                t.numpy() for t in self.net(dy2st.to_tensor(x * np.float32(rng.choice([0.5, 3.0]))))
            ]

    call_again = call

    def step(self, rng):
        dy2st.seed(int(rng.integers(1000)))
        x = dy2st.to_tensor(rng.standard_normal((3, 3, 6, 6)).astype("float32"))
        y, total = self.net(x)
        (y.square().mean() + total * 0.01).backward()
        self.optimizer.step()
        self.optimizer.clear_grad()
        return [y.numpy()]

    def set_parameter(self, rng):
        _, tensor = sorted(self.net.named_parameters())[int(rng.integers(5))]
        tensor.set_value(rng.standard_normal(tensor.shape).astype("float32"))

    def set_buffer(self, rng):
        _, tensor = sorted(self.net.named_buffers())[int(rng.integers(3))]
        tensor.set_value(rng.random(tensor.shape).astype("float32") + 0.5)

    def change_in_place(self, rng):
        with dy2st.no_grad():
            self.net.fc.weight[0] = float(rng.standard_normal())

    def change_mode(self, rng):
        self.net.train() if rng.random() < 0.5 else self.net.eval()

    def keep(self, rng):
        self.saved = self.snapshot()

    def load(self, rng):
        self.net.set_state_dict({name: dy2st.to_tensor(a) for name, a in self.saved.items()})

    def new_number(self, rng):
        self.net.factor = float(rng.choice([0.5, 1.5, -1.0]))

    def freeze(self, rng):
        self.net.conv.weight.stop_gradient = bool(rng.random() < 0.5)

    def new_buffer(self, rng):
        self.net.shift = dy2st.to_tensor(rng.standard_normal(3).astype("float32"))


EVENTS = (
    *("call", "call_again", "step", "set_parameter", "set_buffer", "change_in_place"),
    *("change_mode", "keep", "load", "new_number", "freeze", "new_buffer", "call", "step"),
)


def close(found, expected, what):
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-4, err_msg=what)


def check(seed, strategy, events=14):
    """Results and state are the same after every event."""
    rng = np.random.default_rng(seed)
    with_spec = bool(rng.integers(2))
    optimizer = [dy2st.optimizer.SGD, dy2st.optimizer.Adam][rng.integers(2)]
    rate = 0.0 if strategy == "inference" else 0.3  # that pipeline takes dropout away
    lives = [Life(kind, with_spec, optimizer, rate) for kind in ("eager", strategy)]
    history = []
    for _ in range(events):
        event, number = EVENTS[rng.integers(len(EVENTS))], int(rng.integers(1 << 30))
        history.append(event)
        eager, static = (getattr(life, event)(np.random.default_rng(number)) for life in lives)
        for left, right in zip(static or (), eager or (), strict=True):
            close(left, right, str(history))
        states = [life.snapshot() for life in lives]
        assert states[0].keys() == states[1].keys()
        for name, array in states[0].items():
            close(states[1][name], array, f"{name} {history}")
    return history


@pytest.mark.parametrize("strategy", [None, "inference", "training"])
def test_every_change_is_seen_by_the_next_call(strategy):
    seen = [event for seed in range(8) for event in check(seed, strategy)]
    assert set(seen) == set(EVENTS)
