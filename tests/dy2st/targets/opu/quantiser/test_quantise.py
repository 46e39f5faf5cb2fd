"""Quantising a Network: legal, never worse than the seed, all or nothing."""

import copy

import numpy as np
import pytest

from dy2st.targets.opu.float_network import run_float
from dy2st.targets.opu.interpreter import interpret
from dy2st.targets.opu.layer import Activation, LayerType, Order
from dy2st.targets.opu.machine import machine
from dy2st.targets.opu.quantiser import (
    MODES,
    calibrate,
    check_legal,
    constraint_groups,
    dequantised,
    input_fraclen,
    quantise,
    quantised,
    quantised_inputs,
)
from dy2st.targets.opu.quantiser.fraction_lengths import seed_rule, shift_bias, statistics
from dy2st.targets.opu.quantiser.quantise import Planner
from dy2st_runtime.errors import ArgumentError, ShapeError
from tests.dy2st.targets.opu.hand_networks import Builder
from tests.dy2st.targets.opu.random_layers import random_layer, random_network
from tests.effort import effort


def real(network, seed, scale=1.0):
    """The network with parameters of a usual size, and three inputs."""
    random = np.random.default_rng(seed)
    for index, weights in network.weights.items():
        fan = np.prod(weights.shape[:3]) ** 0.5
        network.weights[index] = random.standard_normal(weights.shape).astype(np.float32) / fan
        network.weights[index] *= np.float32(scale ** random.uniform(-1, 1))
        bias = random.standard_normal(weights.shape[-1]) * scale ** random.uniform(-1, 1)
        network.biases[index] = bias.astype(np.float32)
    size = scale ** random.uniform(-1, 1)
    sizes = [(1, *size[1:]) for size in network.input_sizes]
    inputs = [
        [(random.standard_normal(s) * size).astype(np.float32) for s in sizes] for _ in range(3)
    ]
    return network, inputs


def state(network):
    lengths = [
        (y.input_fraclen, y.weight_fraclen, y.bias_fraclen, y.output_fraclen)
        for y in network.layers
    ]
    integers = {i: w.tobytes() for i, w in network.int_weights.items()}
    return lengths, integers, {i: b.tobytes() for i, b in network.int_biases.items()}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("scale", [1.0, 1e4])
def test_fraction_lengths_are_legal_and_fit_each_other(mode, scale):
    for seed in range(effort(6, 14)):
        make = random_network if seed % 2 else random_layer
        network, inputs = real(make(seed), seed, scale)
        quantise(network, inputs, mode)
        for layer in network.layers:
            check_legal(layer)
        interpret(network, quantised_inputs(network, inputs[0]))  # refuses what does not fit


def test_a_network_of_usual_numbers_stays_close_to_its_floats():
    for seed in range(effort(10, 30)):
        network, inputs = real(random_network(seed), seed)
        report = quantise(network, inputs)
        assert min(layer.own_snr for layer in report.layers) > 20
        assert min(layer.snr for layer in report.layers) > 12


# -- against the seed ---------------------------------------------------------------------------


def chain(seed):
    """Convolutions, two of them joined, and outliers in what they read."""
    b = Builder((8, 8, 3), seed=seed)
    first = b.conv(0, 8, padding=1, activation_type=Activation.RELU)
    second = b.conv(first, 8, padding=1, scale=float(2.0 ** (seed % 5)))
    third = b.conv([first, second], 8, padding=1, activation_type=Activation.RELU)
    b.conv(third, 4)
    inputs = b.inputs(4)[0]
    inputs[0, 0, 0, 0] = 40.0
    return b.done(), inputs


@pytest.mark.parametrize("seed", range(10))
def test_a_groups_error_is_never_larger_than_with_the_seeds_rule(seed):
    network, images = chain(seed)
    values = {0: images, **run_float(network, images)}
    groups = constraint_groups(network)

    def errors(mode):
        quantise(network, images, mode, headroom=False)
        lengths = {0: input_fraclen(network, 0)}
        lengths |= {layer.index: layer.output_fraclen for layer in network.layers}
        totals = np.zeros(len(groups))
        for index, value in values.items():
            back = dequantised(quantised(value, lengths[index]), lengths[index])
            totals[groups.output(index)] += float(((back - value).astype(np.float64) ** 2).sum())
        return totals

    assert (errors("mse") <= errors("seed") * (1 + 1e-4)).all()


@pytest.mark.parametrize("seed", range(12))
def test_the_sum_over_members_is_the_least_of_all_candidates(seed):
    network, inputs = real(random_network(seed), seed)
    found = calibrate(network, inputs)
    planner = Planner(network, found, "mse", machine())
    for group, length in enumerate(planner.lengths):
        members = planner.members(group)
        for other in range(-10, 25):
            total = sum(stats.error(other) for stats in members)
            assert sum(stats.error(length) for stats in members) <= total


def test_the_first_value_of_a_group_wins_in_the_seeds_mode():
    network, images = chain(4)  # the second layer's output is 16 times as large as the first's
    values = {0: images, **run_float(network, images)}
    rule = {index: seed_rule(statistics(value)) for index, value in values.items()}
    assert rule[2] < rule[1]
    quantise(network, images, "seed")
    got = [(layer.input_fraclen, layer.output_fraclen) for layer in network.layers]
    joined, end = rule[1], rule[4]  # written first by layer 2, which reads layer 1 alone
    assert got == [(rule[0], joined), (joined, joined), (joined, rule[3]), (rule[3], end)]
    quantise(network, images, "mse")
    assert network.layer(2).output_fraclen < joined


def test_a_residual_lowers_the_input_in_the_seeds_mode():
    b = Builder((6, 6, 4))
    large = b.conv(0, 4, padding=1, scale=64.0)
    small = b.conv(0, 4, padding=1)
    facts = {"residual_source": [large], "res_position": Order.RESIDUAL_ACTIVATION_POOLING}
    last = b.conv(small, 4, padding=1, **facts)
    network, images = b.done(), b.inputs(2)[0]
    quantise(network, images, "seed")
    assert network.layer(last).input_fraclen == network.layer(last).output_fraclen
    quantise(network, images)
    assert network.layer(last).input_fraclen > network.layer(last).output_fraclen


def test_the_largest_value_is_not_clamped_in_the_mode_max():
    network, images = chain(3)
    values = {0: images, **run_float(network, images)}
    quantise(network, images, "max")
    assert np.abs(images).max() <= 127.5 * 2.0 ** -network.layer(1).input_fraclen
    for layer in network.layers:
        assert np.abs(values[layer.index]).max() <= 128 * 2.0**-layer.output_fraclen
        assert np.abs(network.weights[layer.index]).max() <= 128 * 2.0**-layer.weight_fraclen


# -- what the known tool chain does wrong -------------------------------------------------------


@pytest.mark.parametrize("mode", MODES)
def test_weights_of_zeros_are_quantised(mode):
    b = Builder((5, 5, 3))
    first = b.conv(0, 4)
    b.conv(first, 4, residual_source=[b.conv(first, 4)], res_position=0)
    network = b.done()
    for index in network.weights:
        network.weights[index] *= 0
        network.biases[index] *= 0
    report = quantise(network, b.inputs(1)[0], mode)
    assert all(not w.any() for w in network.int_weights.values())
    assert {layer.cosine for layer in report.layers} == {1.0}
    assert [layer.output_fraclen for layer in network.layers] == [7, 7, 7]


@pytest.mark.parametrize("mode", MODES)
def test_weights_of_one_number_a_channel_have_eight_bits_and_biases_sixteen(mode):
    b = Builder((4, 4, 1))
    b.conv(0, 6, kernel=1)  # 1 x 1 x 1 x 6: its largest size is its size, as of a bias
    network = b.done()
    quantise(network, b.inputs(2)[0], mode)
    weights, biases = network.int_weights[1], network.int_biases[1]
    assert (weights.dtype, biases.dtype) == (np.int8, np.int16)
    layer = network.layer(1)
    step = 2.0**-layer.weight_fraclen
    np.testing.assert_allclose(
        dequantised(weights, layer.weight_fraclen), network.weights[1], atol=step
    )
    assert np.abs(network.biases[1]).max() * 2.0**layer.bias_fraclen > 2**8


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("weights", "biases"), [(2.0**-30, 1.0), (2.0**20, 2.0**-30), (1.0, 2.0**-40)]
)
def test_fraction_lengths_of_parameters_are_moved_into_the_legal_range(mode, weights, biases):
    b = Builder((4, 4, 3))
    b.conv(0, 6, activation_type=Activation.RELU)
    network, images = b.done(), b.inputs(2)[0]
    network.weights[1] *= np.float32(weights)
    network.biases[1] = np.full(6, biases, np.float32)
    report = quantise(network, images, mode)
    check_legal(network.layer(1))
    assert report.layers[0].own_snr > 20


@pytest.mark.parametrize("mode", ["mse", "max"])
def test_a_bias_is_whole_partial_sums_so_that_it_may_be_added_apart(mode):
    for seed in range(6):
        network, inputs = real(random_network(seed), seed)
        for index in network.biases:
            network.biases[index] = network.biases[index] / np.float32(1000)
        quantise(network, inputs, mode)
        for layer in (y for y in network.layers if y.has_weights):
            shifted = network.int_biases[layer.index].astype(int) << shift_bias(layer)
            assert not (shifted % 1024).any()


@pytest.mark.parametrize("mode", MODES)
def test_an_output_far_finer_than_its_products_is_made_coarser(mode):
    b = Builder((3, 3, 1))
    b.conv(0, 2, kernel=1)
    network = b.done()
    network.weights[1][...] = 100.0
    network.biases[1][...] = np.float32(-1000.0) + np.float32(2.0**-10)
    image = np.full((3, 3, 1), 10.0, np.float32)
    image[0, 0] += np.float32(2.0**-18)
    quantise(network, [image], mode)
    check_legal(network.layer(1))
    assert abs(int(network.int_weights[1][0, 0, 0, 0])) < 127  # not clamped to be legal
    (integers,) = quantised_inputs(network, np.full((1, 3, 3, 1), 10.0, np.float32))
    assert not interpret(network, [integers])[1].any()


def test_all_calibration_inputs_count_not_only_the_first():
    b = Builder((6, 6, 3))
    b.conv(0, 4)
    network, images = b.done(), b.inputs(5)[0]
    images[4] *= 64
    quantise(network, images)
    one = network.layer(1).output_fraclen
    quantise(network, images[:4])
    assert one < network.layer(1).output_fraclen


def test_the_clip_of_a_relu_is_kept():
    b = Builder((6, 6, 3))
    b.conv(0, 4, scale=8.0, activation_type=Activation.RELU, activation_limit=6.0)
    network, images = b.done(), b.inputs(2)[0]
    report = quantise(network, images)
    (integers,) = quantised_inputs(network, images)
    made = interpret(network, [integers])[1]
    assert made.max() * 2.0 ** -network.layer(1).output_fraclen == 6.0
    assert report.layers[0].own_snr > 25


def test_a_layer_that_only_pools_keeps_its_fraction_length():
    b = Builder((6, 6, 3))
    pool = {"pooling_type": 2, "pooling_size": [1, 6, 6], "pooling_stride": [1, 6, 6]}
    b.add(b.conv(0, 4, padding=1), (1, 1, 4), LayerType.NONE, **pool)
    network, images = b.done(), b.inputs(3)[0]
    report = quantise(network, images)
    layer = network.layer(2)
    assert layer.input_fraclen == layer.output_fraclen
    assert report.layers[1].partial_sum == 0
    quantise(network, images, "seed")
    assert layer.output_fraclen > layer.input_fraclen  # and its sums are clamped
    assert quantise(network, images, "seed").layers[1].partial_sum > 0


# -- all or nothing -----------------------------------------------------------------------------


def test_an_error_leaves_the_network_as_it_was():
    network, images = chain(0)
    quantise(network, images)
    before = state(network)
    broken = images * 3
    broken[3, 1, 1, 1] = np.nan
    with pytest.raises(ArgumentError, match="calibration input 3 has nan"):
        quantise(network, broken)
    with pytest.raises(ShapeError):
        quantise(network, [images[0], images[1][:3]])
    with pytest.raises(ArgumentError, match="no mode 'best'; there are mse, max, seed"):
        quantise(network, images * 3, "best")
    assert state(network) == before


def test_an_error_of_the_report_leaves_the_network_as_it_was(monkeypatch):
    network, images = chain(0)
    before = state(network)

    def fails(*args, **options):
        raise ArgumentError("no report")

    monkeypatch.setattr("dy2st.targets.opu.quantiser.report.interpret", fails)
    with pytest.raises(ArgumentError, match="no report"):
        quantise(network, images)
    assert state(network) == before


def test_the_float_parameters_and_the_inputs_are_not_changed():
    network, images = chain(1)
    weights, biases = copy.deepcopy((network.weights, network.biases))
    kept = images.copy()
    quantise(network, images)
    np.testing.assert_array_equal(images, kept)
    for index in weights:
        np.testing.assert_array_equal(network.weights[index], weights[index])
        np.testing.assert_array_equal(network.biases[index], biases[index])


def test_the_same_inputs_give_the_same_integers():
    results = []
    for _ in range(2):
        network, images = chain(2)
        report = quantise(network, iter(images))
        results.append((state(network), report.as_dict()))
    assert results[0] == results[1]
