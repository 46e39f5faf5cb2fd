"""Integers of layers: vectors worked by hand, loops over Python's integers, and what is refused."""

import dataclasses

import numpy as np
import pytest

from dy2st.targets.opu.interpreter import Saturation, interpret
from dy2st.targets.opu.layer import Layer
from dy2st.targets.opu.machine import machine
from dy2st.targets.opu.network import Network
from dy2st_runtime.errors import ArgumentError
from tests.dy2st.targets.opu.random_layers import (
    KINDS,
    random_inputs,
    random_layer,
    random_network,
)
from tests.dy2st.targets.opu.reference import element


def pointwise(features, weights, bias=0, *, output=1, **changes):
    """A layer of 1 x 1 pixels and as many channels as features; all fraction lengths as in 7.3."""
    count = len(features)
    settings = {"input_fraclen": 4, "weight_fraclen": 7, "bias_fraclen": 10, "output_fraclen": 4}
    layer = Layer(1, 1, [0], [-1], [1, 1, 1, count], [1, 1, 1, output], **settings | changes)
    network = Network([layer], input_sizes=[(1, 1, 1, count)], outputs=[1])
    network.int_weights[1] = np.array(weights, "int8").reshape(1, 1, count, output)
    network.int_biases[1] = np.full(output, bias, "int16")
    return network, [np.array(features, "int8").reshape(1, 1, 1, count)]


def value(network, inputs, **options):
    (made,) = interpret(network, inputs, **options).values()
    return made.reshape(-1).tolist()


def unweighted(x, **changes):
    """A layer without weights over one channel."""
    x = np.array(x, "int8")
    height, width = x.shape
    size = changes.pop("size", (height, width))
    layer = Layer(1, 3, [0], [-1], [1, height, width, 1], [1, *size, 1], **changes)
    return Network([layer], input_sizes=[(1, height, width, 1)]), [x[None, ..., None]]


# -- vectors worked by hand ------------------------------------------------------------------------


def test_a_dot_and_a_bias_become_a_rounded_output():
    # dot 136 << 11 = 278528, bias 100 << 12 = 409600: psum 672, 672 / 256 rounds to 3
    assert value(*pointwise([8, 8], [10, 7], 100)) == [3]


def test_a_negative_dot_and_bias_round_to_the_nearest():
    # -278528 - 413696 = -692224: psum -676, -676 / 256 = -2.64
    assert value(*pointwise([8, 8], [-10, -7], -101)) == [-3]


@pytest.mark.parametrize(
    ("bias", "rounded"), [(127, 0), (128, 1), (-128, 0), (-129, -1), (383, 1), (384, 2)]
)
def test_a_half_is_rounded_up(bias, rounded):
    # bias fraction length 12: shift 10, psum is the bias itself
    assert value(*pointwise([0], [0], bias, bias_fraclen=12)) == [rounded]


def test_every_pass_floors():
    # shift 1: two passes of a dot of 1 << 1 = 2 leave nothing, two of -1 leave -1 each
    features = np.ones(65)
    for weight, psum in [(1, 0), (-1, -2)]:
        weights = np.zeros(65)
        weights[[0, 64]] = weight
        # 127 + psum is below the half or not
        bias = 128 - psum if psum else 127
        network, inputs = pointwise(features, weights, bias, weight_fraclen=17, bias_fraclen=12)
        assert value(network, inputs) == [int(bool(psum))]
        network.int_biases[1] -= 1
        assert value(network, inputs) == [0]


def test_the_bias_is_added_in_front_of_the_first_floor():
    # dot 1 << 9 and bias 1 << 9 make 1 together; apart they are floored away
    limits = {"weight_fraclen": 9, "bias_fraclen": 13}
    bias = 255  # 255 << 9 is 127.5
    assert value(*pointwise([1], [1], bias, **limits)) == [1]
    late = np.zeros(65)
    late[64] = 1
    assert value(*pointwise(np.ones(65), late, bias, **limits)) == [0]


def test_the_accumulator_saturates_at_26_bits():
    # 64 * 127 * 127 << 11 is far beyond 2 ** 25 - 1: psum 32767, cut to 127
    assert value(*pointwise([127] * 64, [127] * 64)) == [127]
    assert value(*pointwise([127] * 64, [-127] * 64)) == [-128]


def test_partial_sums_saturate_in_their_order():
    up, down = [127] * 64, [-127] * 64
    # 32767 at most, then down by 32768: -1. The other way round: -32768, then up by 32767
    assert value(*pointwise([127] * 128, up + down, bias_fraclen=12)) == [0]
    # with a bias of 128 in front: it is lost when the sum is full, and kept when it is empty
    assert value(*pointwise([127] * 128, up + down, 129, bias_fraclen=12)) == [0]
    assert value(*pointwise([127] * 128, down + up, 129, bias_fraclen=12)) == [1]


def test_a_bias_saturates_at_26_bits():
    network, inputs = pointwise([-128] * 64, [1] * 64, 32767, bias_fraclen=-9)
    # bias 32767 << 31 is 2 ** 25 - 1; the dot is -8192 << 11 = -2 ** 24: psum 16383, 64
    assert value(network, inputs) == [64]


def test_parts_of_a_concat_have_tiles_of_their_own():
    # 1 and 1 channels: two passes, each floored; in one tile they make one
    limits = {"weight_fraclen": 9, "bias_fraclen": 12}
    joined, inputs = pointwise([1, 1], [1, 1], 127, **limits)
    assert value(joined, inputs) == [1]
    apart, _ = pointwise([1, 1], [1, 1], 127, **limits)
    apart.layers[0].input_layer = [0, -1]
    apart.input_sizes = [(1, 1, 1, 1)] * 2
    assert value(apart, [inputs[0][..., :1], inputs[0][..., 1:]]) == [0]


def test_taps_of_a_convolution_are_passes_and_an_enhanced_one_has_one():
    limits = {"weight_fraclen": 9, "bias_fraclen": 12, "ker_size": [1, 1, 2]}
    for enhanced, made in [(0, 0), (1, 1)]:
        layer = {"enhanced": enhanced, "output_fraclen": 4, "input_fraclen": 4, **limits}
        network = Network([Layer(1, 1, [0], [-1], [1, 1, 2, 1], [1, 1, 1, 1], **layer)])
        network.input_sizes = [(1, 1, 2, 1)]
        network.int_weights[1] = np.ones((1, 2, 1, 1), "int8")
        network.int_biases[1] = np.array([127], "int16")
        assert value(network, [np.ones((1, 1, 2, 1), "int8")]) == [made]


def test_a_depthwise_pass_takes_as_many_taps_as_the_machine_has():
    limits = {"input_fraclen": 4, "output_fraclen": 4, "weight_fraclen": 9, "bias_fraclen": 12}
    layer = Layer(1, 1, [0], [-1], [1, 1, 2, 2], [1, 1, 1, 2], [1, 1, 2], group=2, **limits)
    network = Network([layer], input_sizes=[(1, 1, 2, 2)])
    network.int_weights[1] = np.ones((1, 2, 1, 2), "int8")
    network.int_biases[1] = np.array([127, 126], "int16")
    inputs = [np.ones((1, 1, 2, 2), "int8")]
    assert value(network, inputs) == [1, 0]  # 16 taps a pass
    assert value(network, inputs, machine={"name": "small", "macs": 64}) == [0, 0]  # one


def test_features_without_weights_pass_as_they_are():
    assert value(*unweighted([[-128, -1, 0, 127]])) == [-128, -1, 0, 127]


def test_a_change_of_fraction_length_rounds_half_up_or_saturates():
    finer = unweighted([[-128, -3, 100]], output_fraclen=2)
    assert value(*finer) == [-128, -12, 127]
    coarser = unweighted([[-3, -2, -1, 1, 2, 3, 6]], input_fraclen=2)
    assert value(*coarser) == [-1, 0, 0, 0, 1, 1, 2]


def test_leaky_relu_rounds_an_eighth_half_up():
    made = value(*unweighted([[-128, -13, -12, -5, -4, -3, 0, 9]], activation_type=2))
    assert made == [-16, -2, -1, -1, 0, 0, 0, 9]


@pytest.mark.parametrize(
    ("limit", "largest"), [(6.0, 96), (0.15625, 3), (0.14, 2), (100.0, 127), (-1.0, 0)]
)
def test_a_limit_is_rounded_away_from_zero(limit, largest):
    lengths = {"input_fraclen": 4, "output_fraclen": 4, "activation_limit": limit}
    assert value(*unweighted([[-5, 1, 127]], activation_type=1, **lengths)) == [
        0,
        min(1, largest),
        largest,
    ]


def test_an_average_is_a_product_with_a_rounded_reciprocal():
    pool = {"pooling_type": 2, "pooling_size": [1, 1, 3], "pooling_stride": [1, 1, 3]}
    # 65536 / 3 rounds to 21845: 4 / 3 to 1, 5 / 3 to 2, and 381 / 3 to 127
    made = value(*unweighted([[1, 1, 2, 1, 2, 2, 127, 127, 127]], **pool, size=(1, 3)))
    assert made == [1, 2, 127]
    # 3 * 1 / 2 rounds half up on both sides
    pool = {"pooling_type": 2, "pooling_size": [1, 1, 2], "pooling_stride": [1, 1, 2]}
    assert value(*unweighted([[1, 2, -1, -2]], **pool, size=(1, 2))) == [2, -1]


def test_an_average_counts_padding_and_a_maximum_does_not():
    pool = {"pooling_size": [1, 1, 2], "pooling_stride": [1, 1, 2]}
    pool |= {"pool_padding_size": [0, 0, 1, 1], "size": (1, 2)}
    assert value(*unweighted([[-10, -20]], pooling_type=1, **pool)) == [-10, -20]
    assert value(*unweighted([[-10, -20]], pooling_type=2, **pool)) == [-5, -10]


@pytest.mark.parametrize(("order", "made"), [(0, [30]), (1, [50]), (2, [90])])
def test_a_residual_is_added_where_its_order_says(order, made):
    x = [[-50, 20]]  # relu, an average of two, and a residual
    pool = {"pooling_type": 2, "pooling_size": [1, 1, 2], "pooling_stride": [1, 1, 2]}
    layer = {"residual": 1, "residual_source": [-1], "res_position": order, "activation_type": 1}
    network, inputs = unweighted(x, **pool, **layer, size=(1, 1))
    residual = [[[40], [40]]] if order < 2 else [[[80]]]
    network.input_sizes.append((1, *np.shape(residual)))
    assert value(network, [*inputs, np.array([residual], "int8")]) == made


def test_a_residual_saturates_at_8_bits():
    layer = {"residual": 1, "residual_source": [-1], "res_position": 0}
    network, inputs = unweighted([[100, -100]], **layer)
    network.input_sizes.append((1, 1, 2, 1))
    assert value(network, inputs * 2) == [127, -128]


def test_upsampling_repeats_pixels():
    network, inputs = unweighted([[1, 2]], upsample=2, size=(2, 4))
    assert value(network, inputs) == [1, 1, 2, 2, 1, 1, 2, 2]


def test_a_transposed_convolution_spreads_its_input():
    lengths = {"input_fraclen": 4, "output_fraclen": 4, "weight_fraclen": 0, "bias_fraclen": 0}
    layer = Layer(1, 2, [0], [-1], [1, 1, 3, 1], [1, 1, 7, 1], [1, 1, 3], [1, 1, 2], **lengths)
    network = Network([layer], input_sizes=[(1, 1, 3, 1)])
    network.int_weights[1] = np.array([1, 2, 3], "int8").reshape(1, 3, 1, 1)
    network.int_biases[1] = np.zeros(1, "int16")
    inputs = [np.array([1, 10, 5], "int8").reshape(1, 1, 3, 1)]
    assert value(network, inputs) == [1, 2, 3 + 10, 20, 30 + 5, 10, 15]
    layer.padding_size, layer.output_size = [0, 0, 1, -1], [1, 1, 7, 1]
    assert value(network, inputs) == [2, 3 + 10, 20, 30 + 5, 10, 15, 0]


def test_a_border_that_is_stored_pads_those_who_read_it():
    layers = [
        Layer(1, 3, [0], [2], [1, 1, 1, 1], [1, 2, 3, 1], post_padding_size=[1, 0, 1, 1]),
        Layer(2, 3, [1], [-1], [1, 2, 3, 1], [1, 1, 2, 1], pre_remove_padding_size=[1, 0, 0, 1]),
    ]
    made = interpret(
        Network(layers, input_sizes=[(1, 1, 1, 1)]), [np.full((1, 1, 1, 1), 7, "int8")]
    )
    assert made[1].tolist() == [[[[7]]]]  # without its own border
    assert made[2].tolist() == [[[[0], [7]]]]


def test_what_reads_the_networks_input_keeps_its_padding_and_skips_that_of_others():
    layers = [
        Layer(1, 3, [0], [-1], [1, 3, 1, 1], [1, 2, 1, 1], padding_size=[1, 0, 0, 0]),
        Layer(2, 3, [0], [-1], [1, 3, 1, 1], [1, 2, 1, 1], padding_size=[0, 1, 0, 0]),
    ]
    for layer, removed in zip(layers, ([0, 1, 0, 0], [1, 0, 0, 0])):
        layer.extra_pre_padding, layer.pre_remove_padding_size = 1, removed
    made = interpret(
        Network(layers, input_sizes=[(1, 1, 1, 1)]), [np.full((1, 1, 1, 1), 7, "int8")]
    )
    assert [made[index].reshape(-1).tolist() for index in (1, 2)] == [[0, 7], [7, 0]]


def test_an_input_that_no_layer_reads_may_be_any():
    network, inputs = unweighted([[5]])
    network.input_sizes.append((0, 0, 0, 0))
    assert value(network, [*inputs, np.zeros(3)]) == [5]


# -- loops over Python's integers ------------------------------------------------------------------


def compare(network, seed, **options):
    inputs = random_inputs(network, seed, batch=2)
    made = interpret(network, inputs, **options)
    tensors = {**made, **{-i: x for i, x in enumerate(inputs)}}
    rng = np.random.default_rng(seed)
    taps = options["machine"].macs // 64 if options else 16
    for layer in network.layers:
        shape = made[layer.index].shape
        ends = [(0, 0, 0, 0), tuple(n - 1 for n in shape)]
        places = [*ends, *(tuple(int(rng.integers(n)) for n in shape) for _ in range(4))]
        wanted = [element(network, layer, tensors, place, taps) for place in places]
        assert [int(made[layer.index][place]) for place in places] == wanted, layer


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(12))
def test_a_layer_is_what_loops_over_integers_make(kind, seed):
    compare(random_layer(seed, kind), seed)


@pytest.mark.parametrize("seed", range(30))
def test_a_network_is_what_loops_over_integers_make(seed):
    compare(random_network(seed), seed)


@pytest.mark.parametrize("seed", range(4))
def test_another_machine_has_other_depthwise_passes(seed):
    opu = {"name": "two", "macs": 128}
    compare(random_layer(seed, "depthwise"), seed, machine=machine(opu))


@pytest.mark.parametrize("seed", range(4))
def test_blocks_of_pixels_change_nothing(seed, monkeypatch):
    networks = [random_layer(seed, kind) for kind in KINDS]
    whole = [interpret(net, random_inputs(net, seed, 3))[1] for net in networks]
    monkeypatch.setattr("dy2st.targets.opu.interpreter.BLOCK", 100)
    for network, made in zip(networks, whole):
        assert np.array_equal(interpret(network, random_inputs(network, seed, 3))[1], made)


# -- how often values do not fit -------------------------------------------------------------------


def test_saturation_is_counted_where_it_happens():
    counts = {}
    interpret(*pointwise([127] * 128, [127] * 64 + [1] * 64), saturation=counts)
    # 64 * 127 * 127 << 11 overflows; 64 * 127 << 11 does not: 32767 + 16256 does, and the cut of 32767
    wanted = Saturation(accumulator=1, partial_sum=1, passes=2, cut=1, values=1, peak=32767 + 16256)
    assert counts == {1: wanted}


def test_what_is_too_large_by_one_is_counted_for_every_output():
    counts = {}
    interpret(*pointwise([-128], [-128, -127], output=2), saturation=counts)
    # 16384 << 11 is 2 ** 25, one too large; 16256 << 11 is not, psum 32512, 127
    assert counts[1] == Saturation(1, 0, passes=2, cut=1, values=2, peak=32767)
    weights = np.zeros((65, 2))
    weights[[0, 64]] = [-64, -63]
    interpret(*pointwise([-128] * 65, weights, output=2), saturation=(counts := {}))
    # twice 8192 << 11 is 2 ** 25, a partial sum of 32768
    assert counts[1] == Saturation(0, 1, passes=4, cut=1, values=2, peak=32768)


def test_a_bias_and_a_residual_that_do_not_fit_are_counted():
    layer = {"residual": 1, "residual_source": [-1], "res_position": 0, "bias_fraclen": -9}
    network, inputs = pointwise([0], [0], 1, **layer)
    network.input_sizes.append((1, 1, 1, 1))
    counts = {}
    interpret(network, [inputs[0], np.ones((1, 1, 1, 1), "int8")], saturation=counts)
    wanted = Saturation(accumulator=1, passes=1, cut=1, residual=1, values=1, peak=32767)
    assert counts == {1: wanted}


def test_counting_changes_no_result():
    for seed in range(20):
        network = random_network(seed)
        inputs = random_inputs(network, seed)
        counted = interpret(network, inputs, saturation={})
        for index, made in interpret(network, inputs).items():
            assert np.array_equal(counted[index], made)


# -- what is refused -------------------------------------------------------------------------------


def refused(changes, message, **of_network):
    network, inputs = pointwise([1, 2], [3, 4])
    network.layers[0] = dataclasses.replace(network.layers[0], **changes)
    for name, given in of_network.items():
        setattr(network, name, given)
    with pytest.raises(ArgumentError, match=message):
        interpret(network, inputs)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"weight_fraclen": 18}, r"layer 1: it shifts features by 0 \(1 to 31\)"),
        ({"weight_fraclen": -14}, "shifts features by 32"),
        ({"bias_fraclen": 23}, "biases by -1"),
        ({"output_size": [1, 2, 1, 1]}, r"makes \(1, 1, 1\)"),
        ({"channel_shuffle": 3}, "shuffles channels"),
        ({"residual": 1}, "half a residual"),
        ({"residual": 1, "residual_source": [0, 0]}, "several residuals"),
        ({"enhanced": 1, "group": 2}, "weights are int8|enhanced"),
        ({"padding_size": [-1, 1, 0, 0]}, "padding of"),
        ({"ker_size": [1, 2, 1], "padding_size": [1, 0, 0, 0]}, "its weights are int8"),
        ({"pooling_type": 1, "pool_padding_size": [1, 0, 0, 0], "output_size": [1, 2, 1, 1]}, "lies in the padding"),
        ({"pooling_type": 1, "pool_padding_size": [0, 1, 0, 0], "output_size": [1, 2, 1, 1]}, "lies in the padding"),
        ({"residual": 1, "residual_source": [0]}, "the residual is"),
    ],
)  # fmt: skip
def test_a_layer_that_is_not_legal_is_refused(changes, message):
    refused(changes, message)


def test_a_network_that_is_not_quantised_is_refused():
    refused({}, "has no integer weights: quantise", int_weights={})


def test_inputs_of_another_size_or_type_are_refused():
    network, (x,) = pointwise([1, 2], [3, 4])
    for given in ([], [x, x], [x[..., :1]], [x.astype("int16")]):
        with pytest.raises(ArgumentError, match="the network reads int8"):
            interpret(network, given)


def test_a_producer_of_another_fraction_length_is_refused():
    layers = [
        Layer(1, 3, [0], [2], [1, 1, 1, 1], [1, 1, 1, 1], output_fraclen=1, input_fraclen=1),
        Layer(2, 3, [1], [-1], [1, 1, 1, 1], [1, 1, 1, 1], output_fraclen=2, input_fraclen=2),
    ]
    with pytest.raises(ArgumentError, match=r"layer 2: it reads \[1\] with fraction length 2"):
        interpret(Network(layers, input_sizes=[(1, 1, 1, 1)]), [np.zeros((1, 1, 1, 1), "int8")])
