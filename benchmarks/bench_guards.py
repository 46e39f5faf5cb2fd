"""What a call asks of the outside before it runs: the guards of a Program, when nothing changed."""

from __future__ import annotations

import numpy as np
from measuring import in_turns, median_seconds

import dy2st
from dy2st.jit import to_static
from dy2st.nn import Layer, Linear, Sequential

CALLS, SOME = 200, 20  # of what takes microseconds


class Entry(Layer):
    """Reads one entry of a dict that it holds."""

    def __init__(self, size):
        super().__init__()
        self.entries = {n: n for n in range(size)}

    def forward(self, x):
        return x * self.entries[7]


def asking(layer: Layer):
    """Asks all guards of a Layer's Program many times."""
    static = to_static(layer)
    static(dy2st.ones([1, 2]))
    program = static.forward.concrete_program
    assert program.is_current()
    return lambda: [program.is_current() for _ in range(CALLS)]


def test_two_hundred_linear(figure):
    layers = Sequential(*[Linear(2, 2) for _ in range(200)])
    measure = lambda: median_seconds(asking(layers)) / CALLS * 1e6  # noqa: E731
    figure("guards of a Sequential of 200 Linear", measure, "us", 12)


def test_large_dict(figure):
    measure = lambda: median_seconds(asking(Entry(10_000))) / CALLS * 1e6  # noqa: E731
    figure("guards of one entry of a dict of 10,000", measure, "us", 2)


def add_one(x):
    return x + 1.0


def test_call_above_its_kernel(figure):
    static, x, one = to_static(add_one), dy2st.ones([8]), np.float32(1)
    array = x.numpy()

    def measure():
        calls = lambda: [static(x) for _ in range(SOME)]  # noqa: E731
        kernels = lambda: [np.add(array, one) for _ in range(SOME)]  # noqa: E731
        rounds = in_turns(calls, kernels, rounds=400)
        # The best of each: what disturbs so short a run only ever makes it slower.
        return (min(a for a, _ in rounds) - min(b for _, b in rounds)) / SOME * 1e6

    figure("call of a converted function (x + 1), above the kernel", measure, "us", 6)
