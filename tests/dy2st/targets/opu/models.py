"""Models that tests of the front end share: from a function to a Module, and the comparison."""

from __future__ import annotations

import numpy as np

import dy2st
from dy2st import nn, to_static
from dy2st.passes import Module, pipeline
from dy2st.static import InputSpec
from dy2st.targets.opu.canonical import post_padding, skip_pool_padding
from dy2st.targets.opu.float_network import run_float
from dy2st.targets.opu.grouping import group
from dy2st.targets.opu.host import as_images, run_tail
from dy2st.targets.opu.validate import check

F = nn.functional


class Model(nn.Layer):
    """A function of the layers `parts` and an image; parameters and statistics are random."""

    def __init__(self, function, seed=0, **parts):
        super().__init__()
        self.function = function
        for name, part in parts.items():
            setattr(self, name, part)
        generator = np.random.default_rng(seed)
        for value in self.parameters():
            value.set_value(generator.standard_normal(value.shape).astype("float32") * 0.5)
        for value in self.buffers():
            value.set_value((generator.random(value.shape) + 0.5).astype("float32"))
        self.eval()

    def forward(self, x):
        return self.function(self, x)


class TwoInputs(Model):
    """The same of two images."""

    def forward(self, x, y):
        return self.function(self, x, y)


def conv(inputs=3, outputs=4, kernel=3, padding=1, **how):
    """A convolution that keeps the size."""
    return nn.Conv2D(inputs, outputs, kernel, padding=padding, **how)


def module_of(model, *shapes):
    """The model as a Module, before any pass."""
    specs = [InputSpec(list(shape), "float32", f"x{i}") for i, shape in enumerate(shapes)]
    traced = to_static(model, specs).forward.concrete_program
    state = {name: np.array(tensor.array) for name, tensor in traced.state.items()}
    return Module({traced.main_program.name: traced.main_program}, state)


def grouped(model, *shapes, **how):
    """The Network of a model."""
    return group(pipeline("opu")(module_of(model, *shapes)), **how)


def images(*shapes, seed=1):
    """Random inputs."""
    generator = np.random.default_rng(seed)
    return [generator.standard_normal(shape).astype("float32") for shape in shapes]


def expected(model, inputs):
    """What the model computes eagerly, as a list of arrays."""
    results = model(*[dy2st.to_tensor(x) for x in inputs])
    results = results if isinstance(results, (list, tuple)) else [results]
    return [result.numpy() for result in results]


def computed(network, inputs):
    """The same by the layers in real numbers, and the host."""
    made = run_float(network, as_images(network, inputs))
    return run_tail(network, [made[index] for index in network.outputs], inputs)


def same(model, *shapes, tolerance=1e-4, **how):
    """The Network, after a comparison with the eager model before and after post padding."""
    network = grouped(model, *shapes, **how)
    inputs = images(*shapes)
    wanted = expected(model, inputs)
    for step in (lambda _: None, skip_pool_padding, post_padding):
        step(network)
        check(network)
        for got, value in zip(computed(network, inputs), wanted, strict=True):
            assert got.dtype == value.dtype
            np.testing.assert_allclose(got, value, rtol=tolerance, atol=tolerance)
    return network


IMAGE = (1, 3, 8, 8)
"""What most models take."""
