"""What the public tool chain gets wrong, one test for each fault: ours passes them.

Values that are expected are worked out by hand or by a few lines of integers in this file.
"""

from __future__ import annotations

import numpy as np
import pytest

import dy2st
from dy2st import nn
from dy2st.targets.opu.compiled import CompiledModel, compile_network
from dy2st.targets.opu.gen_ir import gen_ir
from dy2st.targets.opu.host import as_images
from dy2st.targets.opu.interpreter import interpret
from dy2st.targets.opu.layer import Layer, LayerType
from dy2st.targets.opu.machine import machine
from dy2st.targets.opu.network import Network
from dy2st.targets.opu.operations import Kind, Load, Store
from dy2st.targets.opu.quantiser import dequantised, quantise, quantised_inputs
from dy2st.targets.opu.words import decode, encode
from dy2st_runtime.errors import ArgumentError
from tests.dy2st.targets.opu.conv_networks import Builder
from tests.dy2st.targets.opu.models import F, Model, conv, module_of

OPU = machine("opu1024")


def clamp(bits, values):
    return np.clip(values, -(1 << bits - 1), (1 << bits - 1) - 1)


def convolved(x, weights, biases, stride=1, sides=(1, 1, 1, 1), shifts=(11, 8)):
    """int8 (h, w, o) without an activation, pass by pass."""
    top, bottom, left, right = sides
    x = np.pad(x.astype(np.int64), ((top, bottom), (left, right), (0, 0)))
    kernel = weights.shape[0]
    rows, columns = x.shape[0] - kernel + 1, x.shape[1] - kernel + 1
    sums = None
    for c in range(0, x.shape[2], 64):
        for r, s in np.ndindex(kernel, kernel):
            window = x[r : r + rows : stride, s : s + columns : stride, c : c + 64]
            dot = clamp(26, (window @ weights[r, s, c : c + 64].astype(np.int64)) << shifts[0])
            other = clamp(26, biases.astype(np.int64) << shifts[1]) if sums is None else sums << 10
            sums = clamp(16, (dot + other) >> 10)
    return clamp(8, (sums + 128) >> 8)


def pooled(x, size, stride):
    windows = np.lib.stride_tricks.sliding_window_view(x, (size, size), (0, 1))
    return windows[::stride, ::stride].max((-2, -1))


def check(
    edge, channels, outputs, kernel, stride=1, pool=None, opu=OPU, mode="own"
) -> CompiledModel:
    """A convolution with a relu by its words, beside the integers above."""
    build = Builder(edge, channels, seed=edge)
    build.conv(0, outputs, kernel, stride, pool=(*pool, 0) if pool else None)
    network = build.done()
    network.layers[0].enhanced = 0
    x = np.random.default_rng(1).integers(-60, 61, (edge, edge, channels)).astype("int8")
    sides = (kernel // 2,) * 4
    wanted = convolved(x, network.int_weights[1], network.int_biases[1], stride, sides)
    wanted = np.maximum(wanted, 0)
    wanted = pooled(wanted, *pool) if pool else wanted
    model = compile_network(network, opu, mode)
    (made,) = model.run([x[None]])
    assert len(np.unique(wanted)) > 5
    np.testing.assert_array_equal(made[0], wanted)
    return model


def tiles(model: CompiledModel) -> int:
    """Into how many pieces the map is cut."""
    stores = [o for o in model.operations if isinstance(o, Store)]
    outputs = -(-model.network.layers[0].output_size[3] // 64)
    return len(stores) // outputs


# -- schedule --------------------------------------------------------------------------------------
@pytest.mark.parametrize("mode", ["own", "compat"])
def test_weights_come_again_once_their_bank_has_held_others(mode) -> None:
    model = check(44, 20, 192, 3, mode=mode)
    weights = [o for o in model.operations if isinstance(o, Load) and o.kind == Kind.WEIGHTS]
    assert tiles(model) > 1 and len({load.address for load in weights}) == 3


@pytest.mark.parametrize("edge, channels, kernel", [(90, 24, 3), (91, 24, 3), (80, 70, 1)])
def test_a_stride_is_exact_in_several_tiles(edge, channels, kernel) -> None:
    assert tiles(check(edge, channels, 24, kernel, 2)) > 1


@pytest.mark.parametrize("mode", ["own", "compat"])
@pytest.mark.parametrize("kernel", [1, 3])
def test_a_stride_makes_no_layer_faster_than_its_multipliers(kernel, mode) -> None:
    build = Builder(56, 128)
    build.conv(0, 128, kernel, 2)
    model = compile_network(build.done(), OPU, mode)
    assert model.macs == 28 * 28 * 128 * 128 * kernel**2
    assert model.time().cycles >= model.macs / 1024


@pytest.mark.parametrize("channels", [1, 3, 15, 16, 17, 36, 48, 63, 65, 100, 130])
@pytest.mark.parametrize("outputs", [33, 40])
def test_any_number_of_channels_is_exact(channels, outputs) -> None:
    check(12, channels, outputs, 3)


@pytest.mark.parametrize("outputs", [1, 8, 20, 36, 48, 100])
def test_any_number_of_outputs_is_exact(outputs) -> None:
    check(12, 16, outputs, 3)


@pytest.mark.parametrize("kernel", [5, 7])
def test_more_weights_than_a_bank_has_rows_are_loaded_in_parts(kernel) -> None:
    assert kernel**2 * 64 * 64 > OPU.weight_rows * OPU.macs
    model = check(16, 64, 64, kernel)
    loads = [o for o in model.operations if isinstance(o, Load) and o.kind == Kind.WEIGHTS]
    assert max(load.words for load in loads) <= OPU.weight_rows * OPU.macs // 64


@pytest.mark.parametrize("pool", [(2, 2), (3, 2), (3, 3)])
def test_tiles_end_where_pooling_windows_do(pool) -> None:
    assert tiles(check(80, 20, 24, 3, pool=pool)) > 1


def test_tiles_have_no_more_partial_sums_than_their_buffer() -> None:
    small = OPU.but(name="small", psum_rows=300)
    model = check(40, 8, 130, 1, opu=small)
    x = np.zeros((1, 40, 40, 8), "int8")
    assert 0 < model.execute([x]).peaks["psum"] <= 300


# -- layers that the back end has not ---------------------------------------------------------------
def compiled_as_python(model, shape=(1, 3, 12, 12)) -> Network:
    """A model's words beside its floats; returns the layers."""
    rng = np.random.default_rng(0)
    images = [rng.standard_normal(shape).astype("float32") for _ in range(3)]
    network = gen_ir(module_of(model, shape), images).network
    made = compile_network(network).run(quantised_inputs(network, as_images(network, images[:1])))
    with dy2st.no_grad():
        real = model(dy2st.to_tensor(images[0])).numpy()
    index = network.outputs[0]
    found = dequantised(made[0], network.layer(index).output_fraclen)
    found = found.transpose(0, 3, 1, 2).reshape(real.shape)
    assert np.linalg.norm(found - real) < 0.08 * np.linalg.norm(real)
    return network


def test_fully_connected_layers_run() -> None:
    model = Model(
        lambda m, x: m.b(F.relu(m.a(x.flatten(1)))), a=nn.Linear(48, 20), b=nn.Linear(20, 7)
    )
    network = compiled_as_python(model, (1, 3, 4, 4))
    assert [layer.type for layer in network.layers] == [LayerType.FULLY_CONNECTED] * 2


def test_pooling_alone_runs() -> None:
    network = compiled_as_python(
        Model(lambda m, x: F.max_pool2d(m.a(x), 2) + F.avg_pool2d(m.a(x), 2), a=conv())
    )
    assert LayerType.NONE in [layer.type for layer in network.layers]


def test_depthwise_convolutions_run() -> None:
    network = compiled_as_python(
        Model(lambda m, x: m.b(m.a(x)), a=conv(3, 70), b=conv(70, 70, groups=70))
    )
    assert network.layers[1].group == 70


def test_residuals_run() -> None:
    network = compiled_as_python(
        Model(lambda m, x: F.relu(m.b(m.a(x)) + m.a(x)), a=conv(), b=conv(4, 4))
    )
    assert sum(layer.residual for layer in network.layers) == 1


def test_enlargements_run() -> None:
    model = Model(lambda m, x: m.b(F.interpolate(m.a(x), scale_factor=2)), a=conv(), b=conv(4, 4))
    assert compiled_as_python(model).layers[0].upsample == 2


def test_padding_of_a_pool_runs() -> None:
    network = compiled_as_python(Model(lambda m, x: F.max_pool2d(m.a(x), 3, 2, 1), a=conv()))
    assert any(network.layers[0].pool_padding_size)


# -- instructions ----------------------------------------------------------------------------------
def test_compiling_twice_gives_the_words_once() -> None:
    build = Builder(20, 3, seed=1)
    build.conv(0, 20, 3)
    network = build.done()
    first, second = compile_network(network).words, compile_network(network).words
    np.testing.assert_array_equal(first, second)


def test_sizes_of_more_than_10_bits_come_back_from_their_words() -> None:
    for width in (1023, 1024, 2047, 2048, 4095):
        load = Load(kind=Kind.FEATURES, bank=0, row=0, address=0, width=1, height=2, pitch=width)
        (found,) = decode(encode([load], OPU), OPU)
        assert isinstance(found, Load) and found.pitch == width


@pytest.mark.parametrize(
    "change", [{"row": -1}, {"address": -1}, {"pitch": -1}, {"pitch": 1 << 25}]
)
def test_a_field_that_does_not_fit_is_an_error(change) -> None:
    facts = {"bank": 0, "row": 0, "address": 0, "width": 1, "height": 2, "pitch": 1, **change}
    with pytest.raises(ArgumentError, match="fit"):
        encode([Load(kind=Kind.FEATURES, **facts)], OPU)


# -- integers --------------------------------------------------------------------------------------
def one_product(x, weight, bias=0, activation=0, limit=None, lengths=(4, 7, 10, 4)) -> int:
    """x * weight + bias by the words and by the interpreter: one pixel, one channel."""
    layer = Layer(
        1, 1, [0], [-1], [1, 1, 1, 1], [1, 1, 1, 1], activation_type=activation,
        activation_limit=limit, input_channels=[1],
    )  # fmt: skip
    layer.input_fraclen, layer.weight_fraclen, layer.bias_fraclen, layer.output_fraclen = lengths
    network = Network([layer], input_sizes=[(1, 1, 1, 1)], outputs=[1])
    network.int_weights[1] = np.full((1, 1, 1, 1), weight, "int8")
    network.int_biases[1] = np.full(1, bias, "int16")
    inputs = [np.full((1, 1, 1, 1), x, "int8")]
    (made,) = compile_network(network).run(inputs)
    assert made == interpret(network, inputs)[1]
    return int(made[0, 0, 0, 0])


@pytest.mark.parametrize(
    "x, weight, bias, wanted",
    [
        (68, 2, 100, 3),  # 2.625: 672 of 256
        (-68, 2, -101, -3),  # -2.64
        (64, 5, 0, 3),  # 2.5 goes up
        (-64, 5, 0, -2),  # -2.5 too
        (127, 127, 32767, 127),  # 8 bits, not 9
        (-128, 127, -32768, -128),
    ],
)
def test_products_round_half_up_and_saturate_at_8_bits(x, weight, bias, wanted) -> None:
    assert one_product(x, weight, bias) == wanted


@pytest.mark.parametrize("x, wanted", [(-128, -16), (-12, -1), (-8, -1), (-4, 0), (-3, 0), (9, 9)])
def test_the_slope_of_a_leaky_relu_is_an_eighth(x, wanted) -> None:
    assert one_product(x, 64, 0, activation=2, lengths=(4, 6, 10, 4)) == wanted


@pytest.mark.parametrize(
    "limit, wanted", [(6.0, 96), (1.0, 16), (0.15, 2), (99.0, 100), (None, 100)]
)
def test_the_limit_of_a_relu_stays(limit, wanted) -> None:
    assert one_product(100, 64, 0, activation=1, limit=limit, lengths=(4, 6, 10, 4)) == wanted


@pytest.mark.parametrize("sides", [(0, 1, 2, 0), (2, 0, 0, 1), (0, 0, 0, 3)])
def test_padding_that_differs_from_side_to_side_is_exact(sides) -> None:
    build = Builder(9, 5, seed=2)
    build.conv(0, 6, 3, padding=sides)
    network = build.done()
    network.layers[0].enhanced = 0
    x = np.random.default_rng(0).integers(-60, 61, (9, 9, 5)).astype("int8")
    wanted = convolved(x, network.int_weights[1], network.int_biases[1], sides=sides)
    assert wanted.shape == (7 + sides[0] + sides[1], 7 + sides[2] + sides[3], 6)
    np.testing.assert_array_equal(
        compile_network(network).run([x[None]])[0][0], np.maximum(wanted, 0)
    )


# -- quantiser -------------------------------------------------------------------------------------
def pointwise(weights, biases=None, edge=2) -> Network:
    """A 1 x 1 convolution."""
    weights = np.asarray(weights, "float32")
    channels, outputs = weights.shape
    sizes = [1, edge, edge, channels], [1, edge, edge, outputs]
    layer = Layer(1, 1, [0], [-1], *sizes, input_channels=[channels])
    network = Network([layer], input_sizes=[tuple(sizes[0])], outputs=[1])
    network.weights[1] = weights[None, None]
    network.biases[1] = np.zeros(outputs, "float32") if biases is None else biases
    return network


TWO_NUMBERS = np.array([[[0.9], [0.9]], [[0.9], [0.85]]], "float32")


def test_more_than_one_calibration_input_counts() -> None:
    small, large = np.full((2, 2, 1), 0.9, "float32"), np.full((2, 2, 1), 30.25, "float32")
    small[0, 0] = large[0, 0] = 0.8
    network = pointwise([[1.0]])
    quantise(network, [small])
    alone = network.layers[0].input_fraclen
    quantise(network, [small, large])
    assert (alone, network.layers[0].input_fraclen) == (7, 2)  # 0.9 * 2 ** 7 and 30.25 * 2 ** 2 fit


def test_weights_of_zeros_are_quantised() -> None:
    network = pointwise(np.zeros((3, 4)))
    quantise(network, [np.random.default_rng(0).random((2, 2, 3), "float32")])
    (made,) = compile_network(network).run([np.zeros((1, 2, 2, 3), "int8")])
    assert not made.any()


@pytest.mark.parametrize("value", [np.inf, np.nan])
def test_an_infinite_weight_is_an_error(value) -> None:
    network = pointwise([[1.0, value]])
    with pytest.raises(ArgumentError, match=r"layer 1: its weight at \[0, 0, 0, 1\]"):
        quantise(network, [TWO_NUMBERS])
    assert not network.int_weights


def test_weights_of_a_single_channel_have_8_bits() -> None:
    network = pointwise([[1.0, -0.5, 0.25, 0.75]])
    quantise(network, [TWO_NUMBERS], correct_bias=False)
    length = network.layers[0].weight_fraclen
    assert network.int_weights[1].dtype == np.int8 and network.int_biases[1].dtype == np.int16
    np.testing.assert_allclose(
        network.int_weights[1].ravel() / 2.0**length, [1, -0.5, 0.25, 0.75], atol=0.01
    )


@pytest.mark.parametrize("weight, bias", [(1e-6, 0.0), (1e-6, 5.0), (1e5, 0.0), (1.0, 1e-7)])
def test_fraction_lengths_of_weights_and_biases_are_within_the_shifts(weight, bias) -> None:
    network = pointwise([[weight]], np.array([bias], "float32"))
    quantise(network, [TWO_NUMBERS])
    layer = network.layers[0]
    position = layer.output_fraclen + 18
    assert 1 <= position - layer.input_fraclen - layer.weight_fraclen <= 31
    assert 0 <= position - layer.bias_fraclen <= 31
    x = quantised_inputs(network, np.full((1, 2, 2, 1), 0.9, "float32"))
    (made,) = compile_network(network).run(x)
    real = 0.9 * weight + bias
    np.testing.assert_allclose(dequantised(made, layer.output_fraclen), real, rtol=0.02, atol=1e-7)


def test_the_report_says_how_far_the_words_are_from_floats() -> None:
    rng = np.random.default_rng(0)
    network = pointwise(rng.standard_normal((8, 6)))
    x = rng.standard_normal((1, 2, 2, 8)).astype("float32")
    report = quantise(network, x)
    real = x.astype(np.float64) @ network.weights[1][0, 0]
    (made,) = compile_network(network).run(quantised_inputs(network, x))
    noise = made / 2.0 ** network.layers[0].output_fraclen - real
    ratio = 10 * np.log10((real**2).sum() / (noise**2).sum())
    assert ratio > 20
    assert report.layers[0].snr == pytest.approx(ratio, abs=0.01)
