"""Squeeze-and-excitation and hard swishes: from what is written to words, with the same bits."""

from __future__ import annotations

from fractions import Fraction
from math import floor

import numpy as np
import pytest

import dy2st
from dy2st import nn, to_static
from dy2st.static import InputSpec
from dy2st.targets.opu.compiled import compile_network
from dy2st.targets.opu.gen_ir import gen_ir
from dy2st.targets.opu.interpreter import interpret
from dy2st.targets.opu.ir_file import read_ir
from dy2st.targets.opu.layer import Activation, LayerType
from dy2st.targets.opu.operations import FRACTION, Store
from dy2st.targets.opu.post_processing import hard_swish
from dy2st.targets.opu.quantiser import quantised_inputs
from dy2st.targets.opu.report.shapes import described
from dy2st.targets.opu.simulator import _activated
from dy2st.targets.opu.unmapped import UnmappedError
from dy2st_runtime.errors import ArgumentError, FormatError
from tests.dy2st.targets.opu.models import IMAGE, F, Model, conv, grouped, images, module_of, same

EVERY = np.arange(-128, 128).astype("int8")


# -- the rule -------------------------------------------------------------------------------------


@pytest.mark.parametrize("fraction", [-16, -3, -1, 0, 1, 4, 5, 7, 24, 31])
def test_a_hard_swish_is_rounded_to_the_nearest_integer(fraction: int) -> None:
    made = hard_swish(EVERY, fraction)
    for x, found in zip(EVERY.tolist(), made.tolist(), strict=True):
        real = x * Fraction(2) ** -fraction
        exact = x * min(max(real + 3, 0), 6) / 6
        assert abs(found - exact) <= Fraction(1, 2) + abs(exact) * Fraction(1, 30_000)


def test_a_hard_swish_by_hand() -> None:
    """16 is 1: 16 * 4 / 6 = 10.7, -16 * 2 / 6 = -5.3; 48 is 3, and all beyond stays or is 0."""
    x = np.array([16, -16, 48, 100, -48, -100, 0], "int8")
    assert hard_swish(x, 4).tolist() == [11, -5, 48, 100, 0, 0, 0]


def test_the_store_of_a_program_computes_the_same() -> None:
    for fraction in FRACTION:
        place = {"outputs": 1, "height": 1, "width": 256, "psum_row": 0, "address": 0, "pitch": 1}
        store = Store(**place, activation=int(Activation.HARD_SWISH), fraction=fraction)
        np.testing.assert_array_equal(_activated(store, EVERY), hard_swish(EVERY, fraction))


def test_a_sum_of_a_scale_by_hand() -> None:
    """5 / 16 * 100 / 128 in sixteenths: 3.9."""
    assert floor(Fraction(5 * 100, 128) + Fraction(1, 2)) == 4
    model = Model(lambda m, x: m.a(x) * m.s(x), a=conv(3, 4, 1, 0), s=conv(3, 4, 8, 0))
    network, _ = gen_ir(module_of(model, IMAGE), images(IMAGE))
    scale = next(y for y in network.layers if y.type == LayerType.SCALE)
    tensors = interpret(network, quantised_inputs(network, images(IMAGE)[0].transpose(0, 2, 3, 1)))
    x, s = (tensors[i].astype(int) for i in (*scale.input_layer, *scale.scale_source))
    shift = scale.output_fraclen - scale.input_fraclen - scale.weight_fraclen
    wanted = np.floor(np.floor(x * s * 2.0 ** (shift + 8)) / 256 + 0.5).clip(-128, 127)
    np.testing.assert_array_equal(tensors[scale.index], wanted)


# -- what is written ------------------------------------------------------------------------------

SWISHES = {
    "by name": F.hardswish,
    "of a hard sigmoid": lambda x: x * F.hardsigmoid(x),
    "the gate in front": lambda x: F.relu6(x + 3.0) * x / 6.0,
    "the gate divided": lambda x: x * (F.relu6(x + 3.0) / 6.0),
    "a multiple": lambda x: x * dy2st.clip(x + 3.0, 0.0, 6.0),
    "of a line": lambda x: F.hardswish(x * 0.5 - 1.0),
    "limits on their own": lambda x: x * dy2st.clip(F.relu(x + 3.0), max=6.0) / 6.0,
    "of joined maps": lambda x: F.hardswish(dy2st.concat([x, F.relu(x)], axis=1)),
    "of a larger map": lambda x: F.hardswish(F.interpolate(x, scale_factor=2)),
    "in front of a maximum": lambda x: F.max_pool2d(F.hardswish(x), 2, 2),
    "behind a maximum": lambda x: F.hardswish(F.max_pool2d(x, 2, 2)),
    "behind a sum": lambda x: F.hardswish(F.relu(x) + x),
}


@pytest.mark.parametrize("name", SWISHES)
def test_all_ways_to_write_a_hard_swish_are_one(name: str) -> None:
    network = same(Model(lambda m, x: SWISHES[name](m.a(x)), a=conv()), IMAGE)
    activations = [y.activation_type for y in network.layers]
    assert Activation.HARD_SWISH in activations
    assert not any(y.type == LayerType.SCALE for y in network.layers)


def test_a_hard_swish_joins_its_convolution() -> None:
    (layer,) = grouped(Model(lambda m, x: F.hardswish(m.a(x)), a=conv()), IMAGE).layers
    assert described(layer) == "conv 3x3 hard swish"


def squeezed(gate):
    """x times a gate of its mean, by two convolutions."""

    def forward(m, x):
        y = m.a(x)
        return y * gate(m.c(F.relu(m.b(F.adaptive_avg_pool2d(y, 1)))))

    return Model(forward, a=conv(), b=conv(4, 2, 1, 0), c=conv(2, 4, 1, 0))


def by_linear(m, x):
    y = m.a(x)
    return F.hardsigmoid(m.c(F.relu(m.b(y.mean([2, 3]))))).reshape([1, 4, 1, 1]) * y


def of_joined(m, x):
    y = dy2st.concat([m.a(x), m.d(x)], axis=1)
    return m.e(y * F.hardsigmoid(m.f(F.adaptive_avg_pool2d(y, 1))))


SCALES = {
    "a hard sigmoid": squeezed(F.hardsigmoid),
    "another slope": squeezed(lambda x: F.hardsigmoid(x, slope=0.2)),
    "relu6 by 6": squeezed(lambda x: F.relu6(x + 3.0) / 6.0),
    "nothing": squeezed(lambda x: x),
    "linear layers": Model(by_linear, a=conv(), b=nn.Linear(4, 2), c=nn.Linear(2, 4)),
    "of parts": Model(
        of_joined, a=conv(), d=conv(3, 70), e=conv(74, 4, 1, 0), f=conv(74, 74, 1, 0)
    ),
    "of whole words": Model(
        of_joined, a=conv(3, 64), d=conv(3, 70), e=conv(134, 4, 1, 0), f=conv(134, 134, 1, 0)
    ),
    "then a residual and relu": Model(
        lambda m, x: F.relu(m.a(x) * m.b(x) + m.c(x)), a=conv(), b=conv(3, 4, 8, 0), c=conv()
    ),
    "of a padded map": Model(
        lambda m, x: m.c(F.pad(m.a(x), [1, 2, 0, 1]) * m.b(x)),
        a=conv(), b=conv(3, 4, 8, 0), c=conv(4, 4),
    ),
    "of an input": Model(lambda m, x: x * m.b(x), b=conv(3, 3, 8, 0)),
    "of the result of one": Model(
        lambda m, x: m.a(x) * m.b(x) * m.c(x), a=conv(), b=conv(3, 4, 8, 0), c=conv(3, 4, 8, 0)
    ),
    "of a pixel": Model(lambda m, x: m.a(x) * m.b(x), a=conv(3, 4, 8, 0), b=conv(3, 4, 8, 0)),
}  # fmt: skip


@pytest.mark.parametrize("name", SCALES)
def test_channels_are_scaled_by_a_pixel_with_the_same_bits_everywhere(name: str) -> None:
    model = SCALES[name]
    network = same(model, IMAGE)
    assert any(y.type == LayerType.SCALE for y in network.layers)
    network, _ = gen_ir(module_of(model, IMAGE), [images(IMAGE, seed=i)[0] for i in range(2)])
    inputs = quantised_inputs(network, images(IMAGE)[0].transpose(0, 2, 3, 1))
    wanted = interpret(network, inputs)
    for mode in ("own", "compat"):
        for index, made in zip(
            network.outputs, compile_network(network, mode=mode).run(inputs), strict=True
        ):
            assert len(np.unique(made)) > 3
            np.testing.assert_array_equal(made, wanted[index])


def test_a_hard_sigmoid_is_a_relu_of_its_layer_up_to_1() -> None:
    network = grouped(SCALES["relu6 by 6"], IMAGE)
    assert [described(y) for y in network.layers] == [
        "conv 3x3", "pass average 8x8", "dense relu", "dense relu1", "scale",
    ]  # fmt: skip
    assert network.layers[3].activation_limit == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("operator", "reason", "function"),
    [
        ("multiply", "a single pixel for each channel", lambda m, x: m.a(x) * m.b(x)),
        ("multiply", "a single pixel", lambda m, x: m.a(x) * F.hardsigmoid(m.a(x), 0.2)),
        ("mean", "not channels", lambda m, x: m.a(x) * m.b(x).mean(1, keepdim=True)),
        ("divide", "never divided", lambda m, x: m.a(x) / m.b(x)),
        ("sigmoid", r"F\.hardsigmoid is one", lambda m, x: m.b2(F.sigmoid(m.a(x)))),
    ],
)
def test_other_products_are_refused(operator, reason, function) -> None:
    model = Model(function, a=conv(), b=conv(), b2=conv(4, 4))
    with pytest.raises(UnmappedError, match=reason) as caught:
        grouped(model, IMAGE)
    assert operator in [entry.operator for entry in caught.value.entries]


# -- files and networks ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def excited(tmp_path_factory):
    """The layers of one model, and their folder."""
    folder = tmp_path_factory.mktemp("gates")
    calibration = [images(IMAGE, seed=i)[0] for i in range(2)]
    module = module_of(SCALES["a hard sigmoid"], IMAGE)
    return gen_ir(module, calibration, folder=folder).network, folder


def test_layers_that_scale_are_read_back(excited) -> None:
    network, folder = excited
    again = read_ir(folder)
    assert again.layers == network.layers
    words = compile_network(network).words
    np.testing.assert_array_equal(compile_network(again).words, words)


def test_what_scales_another_size_or_length_is_refused(excited) -> None:
    network = read_ir(excited[1])
    layer = next(y for y in network.layers if y.type == LayerType.SCALE)
    layer.weight_fraclen += 1
    with pytest.raises(ArgumentError, match="with fraction length"):
        compile_network(network)
    layer.scale_source, layer.weight_fraclen = [1], network.layer(1).output_fraclen
    with pytest.raises(ArgumentError, match=r"multiplies by maps of \[\(8, 8, 4\)\]"):
        compile_network(network)
    text = (excited[1] / "OPU_IR.json").read_text()
    (excited[1] / "OPU_IR.json").write_text(
        text.replace('"scale_source": [4]', '"scale_source": [1]')
    )
    with pytest.raises(FormatError, match="scale_source is .1., it makes"):
        read_ir(excited[1])
    (excited[1] / "OPU_IR.json").write_text(text)


class Block(nn.Layer):
    """Widen, filter, squeeze and excite, narrow: as in MobileNetV3."""

    def __init__(self, inputs, middle, outputs, kernel, stride, activation):
        super().__init__()
        self.widen, self.narrow = nn.Conv2D(inputs, middle, 1), nn.Conv2D(middle, outputs, 1)
        self.filter = nn.Conv2D(middle, middle, kernel, stride, kernel // 2, groups=middle)
        self.norms = nn.LayerList([nn.BatchNorm2D(n) for n in (middle, middle, outputs)])
        self.down, self.up = nn.Conv2D(middle, middle // 4, 1), nn.Conv2D(middle // 4, middle, 1)
        self.activation, self.is_added = activation, stride == 1 and inputs == outputs

    def forward(self, x):
        y = self.activation(self.norms[0](self.widen(x)))
        y = self.activation(self.norms[1](self.filter(y)))
        y = y * F.hardsigmoid(self.up(F.relu(self.down(F.adaptive_avg_pool2d(y, 1)))))
        y = self.norms[2](self.narrow(y))
        return x + y if self.is_added else y


class Small(nn.Layer):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2D(3, 16, 3, stride=2, padding=1)
        self.blocks = nn.Sequential(
            Block(16, 32, 16, 3, 1, F.relu),
            Block(16, 72, 24, 5, 2, F.hardswish),
            Block(24, 88, 24, 5, 1, F.hardswish),
        )
        self.last, self.head = nn.Conv2D(24, 96, 1), nn.Linear(96, 10)

    def forward(self, x):
        x = F.hardswish(self.last(self.blocks(F.hardswish(self.stem(x)))))
        return self.head(F.adaptive_avg_pool2d(x, 1).flatten(1))


def test_a_network_of_gates_runs_with_the_same_bits_and_little_noise() -> None:
    dy2st.seed(0)
    model = Small()
    for value in model.buffers():
        value.set_value(np.random.default_rng(1).uniform(0.5, 1.5, value.shape).astype("float32"))
    traced = to_static(model.eval(), [InputSpec([1, 3, 32, 32])])
    calibration = [images((1, 3, 32, 32), seed=i)[0] for i in range(4)]
    network, report = gen_ir(traced, calibration)
    assert [y.activation_type for y in network.layers].count(Activation.HARD_SWISH) == 6
    assert [y.type for y in network.layers].count(LayerType.SCALE) == 3
    inputs = quantised_inputs(network, images((1, 3, 32, 32), seed=9)[0].transpose(0, 2, 3, 1))
    wanted = interpret(network, inputs)[network.outputs[0]]
    np.testing.assert_array_equal(compile_network(network).run(inputs)[0], wanted)
    assert report.layers[-1].snr > 25 and report.layers[-1].cosine > 0.99
