"""The OPU: how fast its layers are interpreted with integers."""

from __future__ import annotations

import numpy as np
import pytest
from measuring import median_seconds

from dy2st.targets.opu.interpreter import interpret
from dy2st.targets.opu.layer import Layer
from dy2st.targets.opu.network import Network

LENGTHS = {"input_fraclen": 4, "weight_fraclen": 9, "bias_fraclen": 10, "output_fraclen": 4}


def convolution(edge, channels, outputs, kernel, group=1):
    """One layer over a square map, whose size it keeps, and its input."""
    padding = [kernel // 2] * 4
    sizes = [1, edge, edge, channels], [1, edge, edge, outputs], [1, kernel, kernel]
    layer = Layer(1, 1, [0], [-1], *sizes, padding_size=padding, group=group, **LENGTHS)
    rng = np.random.default_rng(0)
    shape = (kernel, kernel, channels // group, outputs)
    network = Network([layer], input_sizes=[(1, edge, edge, channels)], outputs=[1])
    network.int_weights[1] = rng.integers(-60, 61, shape).astype("int8")
    network.int_biases[1] = rng.integers(-999, 1000, outputs).astype("int16")
    return network, [rng.integers(-60, 61, (1, edge, edge, channels)).astype("int8")]


@pytest.mark.parametrize(
    ("what", "sizes"),
    [
        ("3 x 3, 224 x 224 x 64 to 64", (224, 64, 64, 3)),
        ("3 x 3, 56 x 56 x 256 to 256", (56, 256, 256, 3)),
        ("3 x 3, 14 x 14 x 512 to 512", (14, 512, 512, 3)),
        ("1 x 1, 56 x 56 x 256 to 64", (56, 256, 64, 1)),
        ("3 x 3 depthwise, 112 x 112 x 64", (112, 64, 64, 3, 64)),
    ],
)
def test_interpretation(figure, what, sizes):
    network, inputs = convolution(*sizes)
    billions = inputs[0][0, ..., 0].size * network.int_weights[1].size / 1e9

    def measure():
        return median_seconds(lambda: interpret(network, inputs), 5) * 1e3 / billions

    figure(f"OPU layer interpreted, a GMAC of {what}", measure, "ms", 1000)
