"""The float forward, against loops that are written from the definitions."""

import itertools

import numpy as np
import pytest

from dy2st.targets.opu.float_network import run_float
from dy2st.targets.opu.layer import Activation, LayerType, Order, Pooling
from dy2st_runtime.errors import ArgumentError, DTypeError, ShapeError
from tests.dy2st.targets.opu.hand_networks import Builder


def convolved(x, w, b, stride=1, padding=0, group=1, dilation=1):
    """x (n, h, w, c), w (kh, kw, c / group, o) by single products."""
    x = np.pad(x.astype(np.float64), ((0, 0), (padding,) * 2, (padding,) * 2, (0, 0)))
    kh, kw, inside, o = w.shape
    height = (x.shape[1] - dilation * (kh - 1) - 1) // stride + 1
    width = (x.shape[2] - dilation * (kw - 1) - 1) // stride + 1
    y = np.zeros((x.shape[0], height, width, o))
    for i, j, k in itertools.product(range(height), range(width), range(o)):
        start = k // (o // group) * inside
        for r, s in itertools.product(range(kh), range(kw)):
            row, column = i * stride + r * dilation, j * stride + s * dilation
            y[:, i, j, k] += x[:, row, column, start : start + inside] @ w[r, s, :, k]
    return y + b


def close(got, wanted):
    np.testing.assert_allclose(got, wanted, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize(
    ("stride", "padding", "group"), [(1, 0, 1), (2, 1, 1), (1, 1, 2), (2, 0, 4)]
)
def test_a_convolution_is_the_sum_of_its_products(stride, padding, group):
    b = Builder((7, 6, 4))
    b.conv(0, 8, stride=stride, padding=padding, group=group)
    network, inputs = b.done(), b.inputs(2)
    wanted = convolved(inputs[0], network.weights[1], network.biases[1], stride, padding, group)
    close(run_float(network, inputs)[1], wanted)


def test_depthwise_and_dilation():
    b = Builder((7, 7, 5))
    b.conv(0, 5, padding=1, group=5)
    index = b.add(1, (3, 3, 4), LayerType.CONVOLUTION, ker_size=[1, 3, 3], dilation=[1, 2, 2])
    b.parameters(index, (3, 3, 5, 4), 0.3)
    network, inputs = b.done(), b.inputs()
    got = run_float(network, inputs)
    first = convolved(inputs[0], network.weights[1], network.biases[1], 1, 1, 5)
    close(got[1], first)
    close(got[2], convolved(first, network.weights[2], network.biases[2], dilation=2))


def test_a_concat_joins_its_parts_along_channels_in_their_order():
    b = Builder((4, 4, 2), (4, 4, 3))
    one = b.conv(0, 5, kernel=1)
    b.conv([one, -1, 0], 4, padding=1)
    network, inputs = b.done(), b.inputs()
    got = run_float(network, inputs)
    joined = np.concatenate([got[1], inputs[1], inputs[0]], axis=3)
    close(got[2], convolved(joined, network.weights[2], network.biases[2], padding=1))


def test_a_fully_connected_layer_is_one_product():
    b = Builder((3, 2, 4))
    index = b.add(0, (1, 1, 6), LayerType.FULLY_CONNECTED, ker_size=[1, 3, 2])
    b.parameters(index, (3, 2, 4, 6), 0.3)
    network, inputs = b.done(), b.inputs(3)
    wanted = inputs[0].reshape(3, -1) @ network.weights[1].reshape(-1, 6) + network.biases[1]
    close(run_float(network, inputs)[1], wanted.reshape(3, 1, 1, 6))


@pytest.mark.parametrize("extra", [0, 1])
def test_a_transposed_convolution_spreads_every_input_pixel(extra):
    b = Builder((3, 4, 2))
    height, width = 2 * 2 + 3 - 2 + extra, 3 * 2 + 3 - 2 + extra
    index = b.add(
        0,
        (height, width, 5),
        LayerType.TRANSPOSED,
        ker_size=[1, 3, 3],
        ker_stride=[1, 2, 2],
        padding_size=[1] * 4,
    )
    b.parameters(index, (3, 3, 2, 5), 0.3)
    network, inputs = b.done(), b.inputs()
    wide = np.zeros((1, height + 2, width + 2, 5))
    for y, x in itertools.product(range(3), range(4)):
        spread = np.einsum("c,rsco->rso", inputs[0][0, y, x], network.weights[1])
        wide[0, 2 * y : 2 * y + 3, 2 * x : 2 * x + 3] += spread
    close(run_float(network, inputs)[1], wide[:, 1:-1, 1:-1] + network.biases[1])


def pooled(x, size, stride, padding, kind):
    fill = -np.inf if kind == Pooling.MAX else 0
    x = np.pad(x, ((0, 0), (padding,) * 2, (padding,) * 2, (0, 0)), constant_values=fill)
    count = (x.shape[1] - size) // stride + 1
    y = np.zeros((x.shape[0], count, count, x.shape[3]))
    for i, j in itertools.product(range(count), range(count)):
        window = x[:, i * stride : i * stride + size, j * stride : j * stride + size]
        y[:, i, j] = window.max((1, 2)) if kind == Pooling.MAX else window.sum((1, 2)) / size**2
    return y


@pytest.mark.parametrize("kind", [Pooling.MAX, Pooling.AVERAGE])
def test_pooling_alone_with_padding_counts_zeros_in_the_mean_only(kind):
    b = Builder((6, 6, 3))
    facts = {"pooling_size": [1, 3, 3], "pooling_stride": [1, 2, 2], "pool_padding_size": [1] * 4}
    b.add(0, (3, 3, 3), LayerType.NONE, pooling_type=kind, **facts)
    network, inputs = b.done(), b.inputs(2)
    close(run_float(network, inputs)[1], pooled(inputs[0], 3, 2, 1, kind))


@pytest.mark.parametrize(
    ("order", "formula"),
    [
        (Order.RESIDUAL_ACTIVATION_POOLING, lambda y, r, act, pool: pool(act(y + r))),
        (Order.ACTIVATION_RESIDUAL_POOLING, lambda y, r, act, pool: pool(act(y) + r)),
        (Order.ACTIVATION_POOLING_RESIDUAL, lambda y, r, act, pool: pool(act(y)) + r),
    ],
)
def test_the_three_orders_with_a_residual(order, formula):
    late = order == Order.ACTIVATION_POOLING_RESIDUAL
    b = Builder((6, 6, 3))
    other = b.conv(0, 4, kernel=2 if late else 1, stride=2 if late else 1)
    b.conv(
        0,
        4,
        padding=1,
        residual_source=[other],
        res_position=order,
        activation_type=Activation.LEAKY,
        pooling_type=Pooling.MAX,
        pooling_size=[1, 2, 2],
        pooling_stride=[1, 2, 2],
    )
    network, inputs = b.done(), b.inputs()
    got = run_float(network, inputs)
    y = convolved(inputs[0], network.weights[2], network.biases[2], 1, 1)
    wanted = formula(
        y,
        got[1],
        lambda x: np.where(x < 0, x / 8, x),
        lambda x: pooled(x, 2, 2, 0, Pooling.MAX),
    )
    close(got[2], wanted)


def test_a_clipped_relu_is_pooled_and_repeated():
    b = Builder((4, 4, 2))
    b.conv(
        0,
        3,
        kernel=1,
        scale=4.0,
        activation_type=Activation.RELU,
        activation_limit=1.5,
        pooling_type=Pooling.AVERAGE,
        pooling_size=[1, 2, 2],
        pooling_stride=[1, 2, 2],
        upsample=3,
    )
    network, inputs = b.done(), b.inputs()
    y = np.clip(convolved(inputs[0], network.weights[1], network.biases[1]), 0, 1.5)
    wanted = np.kron(pooled(y, 2, 2, 0, Pooling.AVERAGE)[0], np.ones((3, 3, 1)))
    close(run_float(network, inputs)[1][0], wanted)


def with_post_padding(network):
    """Layer 1's border is stored: layer 2 sees all of it, layer 3 nothing, 4 its left half."""
    network.layer(1).post_padding = 1
    network.layer(1).post_padding_size = [1, 1, 1, 1]
    network.layer(1).output_size[1:3] = [n + 2 for n in network.layer(1).output_size[1:3]]
    removed = {2: [0, 0, 0, 0], 3: [1, 1, 1, 1], 4: [1, 1, 0, 1]}
    for index, remove in removed.items():
        layer = network.layer(index)
        layer.padding_size, layer.pre_remove_padding_size = [0] * 4, remove
        layer.input_size[1:3] = network.layer(1).output_size[1:3]
    return network


def test_post_padding_changes_nothing():
    def built():
        b = Builder((5, 5, 3))
        b.conv(0, 4)
        b.conv(1, 4, padding=1)
        b.conv(1, 4, kernel=2)
        layer = b.add(
            1, (2, 3, 4), LayerType.CONVOLUTION, ker_size=[1, 2, 2], padding_size=[0, 0, 1, 0]
        )
        b.parameters(layer, (2, 2, 4, 4), 0.3)
        return b.done(), b.inputs()

    plain, inputs = built()
    stored, _ = built()
    got, wanted = run_float(with_post_padding(stored), inputs), run_float(plain, inputs)
    assert {i: y.shape for i, y in got.items()} == {i: y.shape for i, y in wanted.items()}
    for index, y in wanted.items():
        np.testing.assert_array_equal(got[index], y)


def test_float64_inputs_are_computed_in_float64():
    b = Builder((4, 4, 2))
    b.conv(0, 3)
    network = b.done()
    x = b.inputs()[0].astype(np.float64) / 3
    got = run_float(network, x)[1]
    assert got.dtype == np.float64
    wanted = convolved(x, network.weights[1].astype(np.float64), network.biases[1])
    np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-12)


def test_wrong_inputs_are_refused_with_what_is_wanted():
    b = Builder((4, 5, 2))
    b.conv(0, 3)
    network, (x,) = b.done(), b.inputs()
    with pytest.raises(ArgumentError, match="has 1 input, not 2"):
        run_float(network, [x, x])
    with pytest.raises(ShapeError, match=r"\[1, 2, 4, 5\].*\[n, 4, 5, 2\]"):
        run_float(network, x.transpose(0, 3, 1, 2))
    with pytest.raises(DTypeError, match="uint8"):
        run_float(network, x.astype(np.uint8))


def test_a_layer_whose_output_size_is_wrong_is_named():
    b = Builder((4, 4, 2))
    b.conv(0, 3, name="stem", location="model.py:7")
    network = b.done()
    network.layer(1).output_size[1] = 3
    with pytest.raises(ShapeError, match=r"layer 1 \(stem, model.py:7\) gives \[2, 2, 3\]"):
        run_float(network, b.inputs())


def test_a_residual_without_a_place_in_the_order_is_refused():
    b = Builder((4, 4, 2))
    first = b.conv(0, 3)
    b.conv(0, 3, residual_source=[first], res_position=Order.ACTIVATION_POOLING)
    with pytest.raises(ArgumentError, match="layer 2: its order has no place"):
        run_float(b.done(), b.inputs())
