"""Nodes are joined and simplified as they are made."""

from __future__ import annotations

import numpy as np
import pytest

from dy2st.targets.opu import nodes
from dy2st.targets.opu.layer import Pooling
from dy2st.targets.opu.nodes import NO_PADS, Act, Affine, Concat, Conv, Input, Pad, Pool, Upsample


def image(channels=4, high=8, wide=8):
    return Input(inputs=[], shape=(channels, high, wide), place=0)


def test_two_scales_are_one():
    first = nodes.affine(image(2), np.full(2, 2.0), np.full(2, 1.0), None)
    both = nodes.affine(first, np.full(2, 3.0), np.full(2, 5.0), None)
    assert isinstance(both, Affine) and isinstance(both.inputs[0], Input)
    assert both.scale.tolist() == [6.0, 6.0] and both.shift.tolist() == [8.0, 8.0]


def test_a_scale_of_one_is_nothing():
    x = image(2)
    assert nodes.affine(x, np.ones(2), np.zeros(2), None) is x


def test_scales_and_activations_go_before_enlargements():
    x = nodes.upsample(image(), (2, 2), None)
    for made in (nodes.affine(x, np.full(4, 2.0), np.zeros(4), None), nodes.act(x, None, low=0.0)):
        assert isinstance(made, Upsample) and not isinstance(made.inputs[0], Upsample)


def test_steps_of_a_concat_are_steps_of_its_parts():
    x = nodes.joined([image(2), image(3)])
    made = nodes.affine(x, np.arange(5.0) + 2, np.zeros(5), None)
    assert isinstance(made, Concat)
    assert [part.scale.tolist() for part in made.inputs] == [[2.0, 3.0], [4.0, 5.0, 6.0]]


def test_a_concat_of_concats_is_flat():
    x = nodes.joined([nodes.joined([image(1), image(2)]), image(3)])
    assert [part.channels for part in x.inputs] == [1, 2, 3] and x.channels == 6


def test_paddings_in_a_row_are_one():
    x = nodes.padded(nodes.padded(image(), (1, 0, 2, 0), None), (0, 3, 1, 0), None)
    assert isinstance(x, Pad) and x.pads == (1, 3, 3, 0) and x.shape == (4, 12, 11)


def test_limits_in_a_row_are_the_narrower_ones():
    x = nodes.act(nodes.act(nodes.act(image(), None, low=0.0), None, high=6.0), None, high=4.0)
    assert isinstance(x, Act) and (x.low, x.high) == (0.0, 4.0) and isinstance(x.inputs[0], Input)


def test_limits_that_cross_stay_apart():
    x = nodes.act(nodes.act(image(), None, high=1.0), None, low=2.0)
    assert isinstance(x.inputs[0], Act)


@pytest.mark.parametrize(
    ("size", "kernels"),
    [
        (7, [(7, 7)]),
        (15, [(15, 15)]),
        (16, [(4, 4), (4, 4)]),
        (28, [(7, 7), (4, 4)]),
        (56, [(7, 7), (8, 8)]),
        (112, [(7, 7), (4, 4), (4, 4)]),
        (17, [(17, 17)]),
    ],
)
def test_a_global_mean_is_a_chain_of_windows_without_a_rest(size, kernels):
    node = nodes.whole_pool(image(1, size, size), Pooling.AVERAGE, (True, True), None)
    found = []
    while isinstance(node, Pool):
        found.insert(0, node.kernel)
        node = node.inputs[0]
    assert found == kernels


def test_a_mean_of_one_axis_and_then_the_other_takes_no_more_windows():
    node = nodes.whole_pool(image(1, 16, 28), Pooling.AVERAGE, (True, False), None)
    node = nodes.whole_pool(node, Pooling.AVERAGE, (False, True), None)
    assert node.kernel == (4, 4) and node.inputs[0].kernel == (4, 7)
    assert isinstance(node.inputs[0].inputs[0], Input)


def test_a_large_prime_edge_is_a_problem():
    node = nodes.whole_pool(image(1, 17, 17), Pooling.AVERAGE, (True, True), None)
    assert "edges of at most 15, not 17 x 17" in nodes.problem(node)


@pytest.mark.parametrize(
    ("size", "kernel", "stride"), [(3, 2, 2), (10, 9, 9), (9, 9, 9), (8, 3, 8)]
)
def test_a_single_window_stays_single(size, kernel, stride):
    x = image(1, size, size)
    made = nodes.pool(x, Pooling.MAX, (kernel, kernel), (stride, stride), NO_PADS, None)
    assert made.shape == (1, 1, 1)
    assert nodes.window_counts(x.shape, made.kernel, made.strides, made.pads) == (1, 1)
    assert max(made.strides) <= stride


def convolution(x, outputs=4):
    weights = np.arange(x.channels * outputs, dtype=np.float32).reshape(1, 1, x.channels, outputs)
    shape = (outputs, *x.shape[1:])
    return Conv(inputs=[x], shape=shape, weights=weights, bias=np.arange(float(outputs)))


def test_channels_that_nobody_else_wants_are_made_alone():
    made = nodes.chosen(
        nodes.act(convolution(image()), None, low=0.0), np.array([3, 1]), None, True
    )
    assert isinstance(made, Act) and made.inputs[0].bias.tolist() == [3.0, 1.0]
    assert made.inputs[0].weights.shape == (1, 1, 4, 2)


def test_channels_of_a_map_that_stays_are_copied_by_a_matrix():
    made = nodes.chosen(convolution(image()), np.array([3, 1]), None, False)
    np.testing.assert_array_equal(made.weights[0, 0], np.eye(4)[:, [3, 1]])


def test_channels_of_a_concat_are_channels_of_its_parts():
    x = nodes.joined([image(2), image(3)])
    made = nodes.chosen(x, np.array([2, 3, 4]), None, False)
    assert made is x.inputs[1]


def test_enlargements_of_both_axes_are_one():
    x = nodes.upsample(nodes.upsample(image(), (2, 1), None), (1, 2), None)
    assert x.factors == (2, 2) and nodes.problem(x) == ""
    assert "not by (3, 1)" in nodes.problem(nodes.upsample(image(), (3, 1), None))


def test_enlargements_in_a_row_are_one():
    x = nodes.upsample(nodes.upsample(image(), (2, 2), None), (3, 3), None)
    assert x.factors == (6, 6) and x.shape == (4, 48, 48)
