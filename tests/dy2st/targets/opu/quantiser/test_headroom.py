"""Partial sums: the passes add up to the layer, clamping and rounding down are what they are."""

import itertools

import numpy as np
import pytest

from dy2st.targets.opu.float_network import layer_stages, run_float
from dy2st.targets.opu.interpreter import interpret
from dy2st.targets.opu.layer import Activation, LayerType
from dy2st.targets.opu.machine import machine
from dy2st.targets.opu.quantiser.fraction_lengths import dequantised, shift_features
from dy2st.targets.opu.quantiser.headroom import (
    clamping_errors,
    floor_loss,
    may_clamp,
    pass_count,
    passes,
)
from dy2st.targets.opu.quantiser.quantise import quantise
from dy2st.targets.opu.quantiser.report import quantised_inputs
from tests.dy2st.targets.opu.hand_networks import Builder
from tests.dy2st.targets.opu.random_layers import KINDS, PLAIN, random_layer

OPU = machine("opu1024")


def real_inputs(network, seed=0):
    random = np.random.default_rng(seed)
    sizes = network.input_sizes
    arrays = [random.standard_normal((1, *size[1:])).astype(np.float32) for size in sizes]
    return {-i: array for i, array in enumerate(arrays)}


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in PLAIN])
def test_the_passes_of_a_layer_add_up_to_it(kind):
    for seed in range(6):
        network = random_layer(seed, kind)
        (layer,) = network.layers
        network.weights[1] = np.random.default_rng(seed).standard_normal(network.weights[1].shape)
        values = real_inputs(network)
        total = sum(passes(network, layer, values, OPU)) + network.biases[1]
        wanted = layer_stages(network, layer, values)[0][1]
        np.testing.assert_allclose(total, wanted, rtol=1e-3, atol=1e-3)


def test_a_pass_is_a_tap_of_64_channels_of_a_part():
    b = Builder((5, 5, 70), (5, 5, 3))
    b.conv([0, -1], 4)
    network = b.done()
    values, weights = real_inputs(network), network.weights[1]
    found = list(passes(network, network.layer(1), values, OPU))
    tiles = [(0, slice(0, 64), slice(0, 64)), (0, slice(64, 70), slice(64, 70))]
    tiles.append((-1, slice(0, 3), slice(70, 73)))
    wanted = [
        values[part][:, r : r + 3, s : s + 3, inside] @ weights[r, s, among]
        for part, inside, among in tiles
        for r, s in itertools.product(range(3), range(3))
    ]
    assert len(found) == len(wanted) == pass_count(network, network.layer(1), OPU) == 27
    for got, want in zip(found, wanted):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("taps", "wanted"), [(3, 1), (4, 1), (5, 2), (7, 4)])
def test_a_depthwise_pass_has_sixteen_taps(taps, wanted):
    b = Builder((8, 8, 5))
    b.conv(0, 5, kernel=taps, group=5)
    network = b.done()
    layer = network.layer(1)
    assert len(list(passes(network, layer, real_inputs(network), OPU))) == wanted
    assert pass_count(network, layer, OPU) == wanted
    assert pass_count(network, layer, machine("opu1024").but(macs=4096)) == 1


def with_sums(*terms, bias=0.0, **facts):
    """One output pixel of 64 channels a pass: the passes are the terms."""
    b = Builder((1, 1, 64 * len(terms)))
    b.conv(0, 1, kernel=1, **facts)
    network = b.done()
    network.weights[1] = np.zeros((1, 1, 64 * len(terms), 1), np.float32)
    network.weights[1][0, 0, ::64, 0] = terms
    network.biases[1] = np.array([bias], np.float32)
    return network, {0: np.ones((1, 1, 1, 64 * len(terms)), np.float32)}


HIGHEST = 128 - 2.0**-8


@pytest.mark.parametrize(
    ("terms", "bias", "off"),
    [
        ((120.0, -20.0), 5.0, 0.0),
        ((100.0, 100.0, -120.0), 0.0, 80.0 - (HIGHEST - 120)),
        ((100.0, 100.0, -120.0), -100.0, 0.0),
        ((-100.0, -100.0, 120.0), 0.0, -80.0 - (-128 + 120)),
        ((200.0, -120.0), 0.0, 80.0 - (HIGHEST - 120)),
        ((100.0, -150.0), 0.0, 22.0),
    ],
)
def test_clamping_costs_the_difference_of_the_outputs(terms, bias, off):
    network, values = with_sums(*terms, bias=bias)
    here, lower = clamping_errors(network, network.layer(1), values, [0, -1], OPU)
    assert here == pytest.approx(off**2, rel=1e-3)
    assert lower == 0
    assert may_clamp(network, network.layer(1), values, 0)
    assert not may_clamp(network, network.layer(1), values, -3)


def test_clamping_counts_behind_the_activation():
    def cost(*terms):
        network, values = with_sums(*terms, activation_type=Activation.RELU)
        return clamping_errors(network, network.layer(1), values, [0], OPU)[0]

    assert cost(-100.0, -100.0, 120.0) == 0
    assert cost(-100.0, -100.0, 120.0, 60.0) == pytest.approx(52.0**2, rel=1e-3)


def cancelling():
    """The second half of the channels takes away what the first half adds."""
    b = Builder((6, 6, 128))
    b.conv(0, 8, kernel=1, scale=4.0)
    network = b.done()
    network.weights[1][0, 0, 64:] = -network.weights[1][0, 0, :64]
    inputs = [b.inputs()[0] for _ in range(4)]
    for x in inputs:
        x[..., 64:] = x[..., :64] + 0.05 * x[..., 64:]
    return network, inputs


def test_headroom_saves_outputs_whose_sums_cancel():
    network, inputs = cancelling()
    without = quantise(network, inputs, headroom=False)
    with_room = quantise(network, inputs)
    assert without.layers[0].partial_sum > 0
    assert with_room.layers[0].output_fraclen < without.layers[0].output_fraclen
    assert with_room.layers[0].own_snr > without.layers[0].own_snr + 6


def test_headroom_changes_nothing_where_no_sum_is_clamped():
    b = Builder((6, 6, 16))
    b.conv(0, 8, padding=1)
    network, inputs = b.done(), b.inputs(3)[0]
    assert quantise(network, inputs) == quantise(network, inputs, headroom=False)


def many_passes(seed):
    b = Builder((5, 5, 300), seed=seed)
    b.conv(0, 16, kernel=3, scale=1.5)
    return b.done(), b.inputs(4)[0]


def mean_error(network, images):
    (integers,) = quantised_inputs(network, images)
    got = dequantised(interpret(network, [integers])[1], network.layer(1).output_fraclen)
    real = {0: dequantised(integers, network.layer(1).input_fraclen)}
    network.weights[1] = dequantised(network.int_weights[1], network.layer(1).weight_fraclen)
    return float((got - layer_stages(network, network.layer(1), real)[-1][1]).mean())


def test_rounding_down_loses_what_is_said_and_the_bias_makes_it_good():
    plain, corrected, said = [], [], []
    for seed in range(6):
        network, images = many_passes(seed)
        quantise(network, images, correct_bias=False)
        assert shift_features(network.layer(1)) < 10
        said.append(floor_loss(network, network.layer(1), OPU))
        plain.append(mean_error(network, images))
        network, images = many_passes(seed)
        quantise(network, images)
        corrected.append(mean_error(network, images))
    assert np.mean(plain) == pytest.approx(-np.mean(said), rel=0.25)
    assert abs(np.mean(corrected)) < abs(np.mean(plain)) / 3


def test_nothing_is_lost_from_a_shift_of_ten_on():
    network, images = many_passes(0)
    quantise(network, images)
    layer = network.layer(1)
    assert floor_loss(network, layer, OPU) > 0
    layer.weight_fraclen -= 10 - shift_features(layer)
    assert shift_features(layer) == 10
    assert floor_loss(network, layer, OPU) == 0


def test_a_transposed_convolution_takes_a_share_of_its_taps():
    b = Builder((4, 4, 3))
    index = b.add(0, (9, 9, 2), LayerType.TRANSPOSED, ker_size=[1, 3, 3], ker_stride=[1, 2, 2])
    b.parameters(index, (3, 3, 3, 2), 0.3)
    network = b.done()
    assert run_float(network, b.inputs())[1].shape == (1, 9, 9, 2)
    assert pass_count(network, network.layer(1), OPU) == 4


def test_clamping_costs_less_behind_a_mean():
    b = Builder((2, 2, 64))
    mean = {"pooling_type": 2, "pooling_size": [1, 2, 2], "pooling_stride": [1, 2, 2]}
    b.conv(0, 1, kernel=1, **mean)
    network = b.done()
    network.weights[1] = np.zeros((1, 1, 64, 1), np.float32)
    network.weights[1][0, 0, :2, 0] = 100.0
    network.biases[1] = np.array([-120.0], np.float32)
    values = {0: np.zeros((1, 2, 2, 64), np.float32)}
    values[0][0, 0, 0, :2] = 1.0  # one of four pixels: 200, clamped to 128, less 120
    cost = clamping_errors(network, network.layer(1), values, [0], OPU)[0]
    assert cost == pytest.approx((72.0 / 4) ** 2, rel=1e-3)
