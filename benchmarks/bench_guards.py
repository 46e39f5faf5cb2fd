"""What a call asks of the outside before it runs: the guards of a Program, when nothing changed."""

from __future__ import annotations

from measuring import median_seconds

import dy2st
from dy2st.jit import to_static
from dy2st.nn import Layer, Linear, Sequential

CALLS = 200  # of what takes microseconds


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
    holds = static.forward.concrete_program.guards.holds
    assert holds()
    return lambda: [holds() for _ in range(CALLS)]


def test_two_hundred_linear(figure):
    layers = Sequential(*[Linear(2, 2) for _ in range(200)])
    measure = lambda: median_seconds(asking(layers)) / CALLS * 1e6  # noqa: E731
    figure("guards of a Sequential of 200 Linear", measure, "us", 12)


def test_large_dict(figure):
    measure = lambda: median_seconds(asking(Entry(10_000))) / CALLS * 1e6  # noqa: E731
    figure("guards of one entry of a dict of 10,000", measure, "us", 2)


class Scaling(Layer):
    """A Layer of a user's, who may set its number past it."""

    def __init__(self):
        super().__init__()
        self.by = 1.5

    def forward(self, x):
        return x * self.by


def test_two_hundred_layers_of_the_users(figure):
    layers = Sequential(*[Scaling() for _ in range(200)])
    measure = lambda: median_seconds(asking(layers)) / CALLS * 1e6  # noqa: E731
    figure("guards of a Sequential of 200 Layers of the user's", measure, "us", 12)
