"""The OPU: how fast layers are compiled, interpreted and simulated, and the programs' cycles."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from measuring import median_seconds, seconds

from dy2st import to_static
from dy2st.targets.opu.compiled import CompiledModel, compile_network
from dy2st.targets.opu.gen_ir import gen_ir
from dy2st.targets.opu.host import as_images
from dy2st.targets.opu.interpreter import interpret
from dy2st.targets.opu.layer import Layer
from dy2st.targets.opu.machine import machine
from dy2st.targets.opu.network import Network
from dy2st.targets.opu.quantiser import quantised_inputs

sys.path.insert(0, str(Path(__file__).parent.parent))

from examples.networks.models import MODELS
from examples.networks.statistics import settle
from examples.networks.vgg import VGG16

CONVOLUTIONS = "vgg16 without its classifier"
IDLE = {"tiny_yolo": 6, CONVOLUTIONS: 0.2, "resnet50": 7, "yolo_v2": 1, "yolo_v3": 1}
"""Per cent of the multiplications that are possible in its time, and not made, at most."""

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


@cache
def quantised(name: str) -> Network:
    """The layers of a known network of its published size, calibrated with one image."""
    model = MODELS[name.split()[0]]
    net = settle(VGG16(classes=0), model.shape, 1) if name == CONVOLUTIONS else model.make()
    images = model.inputs(np.random.default_rng(0))
    return gen_ir(to_static(net, model.specs()), images).network


@cache
def compiled(name: str, on: str = "opu1024", mode: str = "own") -> CompiledModel:
    return compile_network(quantised(name), on, mode)


def idle(name: str, on: str = "opu1024") -> float:
    """How much of the multipliers' time is not used, in per cent."""
    model = compiled(name, on)
    return 100 * (1 - model.macs / model.machine.macs / model.prepared.timeline.cycles)


@pytest.mark.parametrize(("name", "goal"), IDLE.items())
def test_idle_multipliers(figure, name, goal):
    figure(f"OPU multipliers idle, {name}", lambda: idle(name), "%", goal)


@pytest.mark.parametrize(
    ("name", "goal"), [("tiny_yolo", 7.2), (CONVOLUTIONS, 1.6), ("resnet50", 6)]
)
def test_idle_multipliers_that_wait_for_sums(figure, name, goal):
    def measure():
        on = machine("opu1024").but(psum_waits=1)
        model = compile_network(quantised(name), on)
        return 100 * (1 - model.macs / on.macs / model.prepared.timeline.cycles)

    figure(f"OPU multipliers idle, a tile waits for its bank of sums, {name}", measure, "%", goal)


def test_idle_multipliers_with_latencies(figure):
    def measure():
        return float(np.mean([idle(name, "opu1024-realistic") for name in IDLE]))

    what = "OPU multipliers idle with latencies (memory 20, pass 30), mean of these"
    figure(what, measure, "%", 6)


@pytest.mark.parametrize(("name", "cycles"), [("tiny_yolo", 3_791_199), (CONVOLUTIONS, 15_162_977)])
def test_public_cycles(figure, name, cycles):
    def measure():
        return 100 * abs(compiled(name, mode="compat").prepared.timeline.cycles / cycles - 1)

    figure(f"OPU cycles away from the {cycles:,} of the public tools, {name}", measure, "%", 0.1)


@pytest.mark.parametrize(("name", "goal"), [("vgg16", 20), ("resnet50", 30)])
def test_compilation(figure, name, goal):
    network = quantised(name)

    def measure():
        return seconds(lambda: compile_network(network))

    figure(f"OPU program compiled, {name}", measure, "s", goal)


@pytest.mark.parametrize("name", [CONVOLUTIONS, "resnet50"])
def test_simulation(figure, name):
    model = compiled(name)
    images = MODELS[name.split()[0]].inputs(np.random.default_rng(1))
    inputs = quantised_inputs(model.network, as_images(model.network, images))

    def measure():
        return median_seconds(lambda: model.run(inputs), 3) * 1e12 / model.macs

    figure(f"OPU program simulated, a GMAC of {name}", measure, "ms", None)
