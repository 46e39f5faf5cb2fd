"""Vectors get one form, layers know their readers, and producers store their readers' zeros."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import dy2st
from dy2st import nn
from dy2st.targets.opu.canonical import (
    connect,
    is_never_negative,
    local,
    post_padding,
    skip_pool_padding,
)
from dy2st.targets.opu.compiled import compile_network
from dy2st.targets.opu.gen_ir import gen_ir
from dy2st.targets.opu.interpreter import interpret
from dy2st.targets.opu.layer import Layer
from dy2st.targets.opu.network import Network
from dy2st.targets.opu.quantiser import quantised_inputs
from dy2st.targets.opu.validate import check
from tests.dy2st.targets.opu.models import (
    IMAGE,
    F,
    Model,
    computed,
    conv,
    expected,
    grouped,
    images,
    module_of,
)


def padded(model, *shapes):
    network = grouped(model, *shapes)
    skip_pool_padding(network)
    post_padding(network)
    return network


def by_name(network):
    return {layer.name: layer for layer in network.layers}


def test_short_vectors_get_their_leading_one_and_pairs_their_four_sides():
    layer = Layer(1, 1, [0], [-1], [1, 4], [1, 4], ker_size=[3, 5], padding_size=[1, 2])
    layer.pool_padding_size = [3]
    assert local(layer).ker_size == [1, 3, 5] and layer.input_size == [1, 1, 1, 4]
    assert layer.padding_size == [1, 1, 2, 2] and layer.pool_padding_size == [3, 3, 3, 3]


def test_a_layer_that_is_only_a_residual_has_no_readers_but_says_so():
    parts = {"a": conv(), "b": conv(4, 4), "short": conv(4, 4, 1, 0)}
    found = by_name(
        grouped(Model(lambda m, x: m.b(F.relu(m.a(x))) + m.short(F.relu(m.a(x))), **parts), IMAGE)
    )
    source = found["short"] if found["b"].residual else found["b"]
    assert source.output_layer == [] and source.output_choice == [3, 3]
    assert found["a"].output_choice == [3, -1]


def test_a_fully_connected_layer_gets_the_map_that_was_flattened():
    made = Layer(1, 1, [0], [2], [1, 4, 4, 3], [1, 4, 4, 2], ker_size=[1, 1, 1])
    dense = Layer(2, 0, [1], [-1], [1, 1, 1, 32], [1, 1, 1, 5], input_channels=[32])
    network = Network([made, dense], outputs=[2])
    connect(network)
    assert dense.input_size == [1, 4, 4, 2] and dense.ker_size == [1, 4, 4]


def test_the_producer_stores_what_the_widest_reader_wants_on_each_side():
    parts = {
        "a": conv(),
        "up": conv(4, 4, 3, [(2, 0), (0, 1)]),
        "wide": conv(4, 4, 5, 2),
        "plain": conv(4, 4, 1, 0),
        "down": conv(4, 4, 3, [(0, 3), (0, 0)]),
    }
    model = Model(lambda m, x: [part(m.a(x)) for part in (m.up, m.wide, m.plain, m.down)], **parts)
    found = by_name(padded(model, IMAGE))
    assert found["a"].post_padding == 1 and found["a"].post_padding_size == [2, 3, 2, 2]
    assert found["a"].output_size == [1, 13, 12, 4]
    skipped = {
        name: found[name].pre_remove_padding_size for name in ("up", "wide", "plain", "down")
    }
    assert skipped == {
        "up": [0, 3, 2, 1],
        "wide": [0, 1, 0, 0],
        "plain": [2, 3, 2, 2],
        "down": [2, 0, 2, 2],
    }
    assert all(found[name].padding_size == [0, 0, 0, 0] for name in skipped)
    assert all(found[name].input_size == [1, 13, 12, 4] for name in skipped)


def test_parts_of_a_concat_are_stored_alike():
    parts = {"a": conv(), "b": conv(), "wide": conv(4, 4, 5, 2), "both": conv(8, 4)}

    def forward(m, x):
        first, second = m.a(x), m.b(x)
        return [m.wide(first), m.both(dy2st.concat([first, second], axis=1))]

    found = by_name(padded(Model(forward, **parts), IMAGE))
    assert found["a"].post_padding_size == found["b"].post_padding_size == [2, 2, 2, 2]
    assert found["both"].pre_remove_padding_size == [1, 1, 1, 1]


def test_the_networks_input_keeps_the_padding_of_each_reader():
    parts = {"a": conv(), "b": conv(3, 4, 1, 0)}
    found = by_name(padded(Model(lambda m, x: [m.a(x), m.b(x)], **parts), IMAGE))
    a, b = found["a"], found["b"]
    assert (a.extra_pre_padding, a.input_size, a.padding_size) == (1, [1, 10, 10, 3], [1, 1, 1, 1])
    assert (b.extra_pre_padding, b.input_size) == (0, [1, 8, 8, 3])


def test_a_transposed_convolution_wants_no_zeros_and_skips_those_of_others():
    up = nn.Conv2DTranspose(4, 4, 3, stride=2, padding=1)
    found = by_name(
        padded(
            Model(lambda m, x: [m.up(m.a(x)), m.b(m.a(x))], a=conv(), b=conv(4, 4), up=up), IMAGE
        )
    )
    assert found["up"].padding_size == [1, 1, 1, 1]
    assert found["up"].pre_remove_padding_size == [1, 1, 1, 1]


def test_storing_zeros_twice_changes_nothing():
    network = padded(Model(lambda m, x: m.b(m.a(x)), a=conv(), b=conv(4, 4)), IMAGE)
    before = copy.deepcopy(network.layers)
    post_padding(network)
    assert network.layers == before


POOLED = {
    "mean": (lambda m, x: F.avg_pool2d(m.a(x), 3, 1, 1, exclusive=False), True),
    "maximum of a relu": (lambda m, x: F.max_pool2d(F.relu(m.a(x)), 3, 1, padding=1), True),
    "maximum": (lambda m, x: F.max_pool2d(m.a(x), 3, 1, padding=1), False),
    "maximum behind a residual": (
        lambda m, x: F.max_pool2d(F.relu(m.a(x)) + m.b(m.a(x)), 3, 1, padding=1),
        False,
    ),
}


@pytest.mark.parametrize("name", POOLED)
def test_padding_of_windows_becomes_stored_zeros_only_where_that_is_the_same(name):
    function, is_skipped = POOLED[name]
    model = Model(lambda m, x: [function(m, x), m.a(x), F.relu(m.a(x))], a=conv(), b=conv(4, 4))
    network = grouped(model, IMAGE)
    alone = [y for y in network.layers if y.type == 3 and y.pooling_type and not y.residual]
    skip_pool_padding(network)
    if alone:
        assert all(any(y.pool_padding_size) != is_skipped for y in alone)
        assert all(any(y.padding_size) == is_skipped for y in alone)
    post_padding(network)
    inputs = images(IMAGE)
    for got, wanted in zip(computed(network, inputs), expected(model, inputs), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-5)


def test_a_maximum_of_what_was_pooled_from_a_relu_is_never_negative():
    def forward(m, x):
        y = F.relu(m.a(x))
        return [y, F.max_pool2d(y, 2, 2), F.max_pool2d(m.a(x), 2, 2)]

    network = grouped(Model(forward, a=conv()), IMAGE)
    pooled = [y for y in network.layers if y.pooling_type]
    assert [is_never_negative(network, y.index) for y in pooled].count(True) >= 1
    assert not is_never_negative(network, next(y.index for y in network.layers if y.type == 1))


def test_only_a_relu_behind_the_residual_keeps_a_sum_from_being_negative():
    parts = {"a": conv(), "b": conv(4, 4), "c": conv(4, 4)}

    def forward(m, x):
        y = m.a(x)
        return [F.relu(m.b(y) + y), F.relu(m.c(y)) + y]

    found = by_name(grouped(Model(forward, **parts), IMAGE))
    network = grouped(Model(forward, **parts), IMAGE)
    assert is_never_negative(network, found["b"].index)
    assert not is_never_negative(network, found["c"].index)


def uneven():
    """A producer of which one reader wants more behind than in front, and another one nothing."""
    b = conv(4, 4, 3, [1, 2, 1, 2])
    return Model(lambda m, x: [m.b(m.a(x)), m.c(m.a(x))], a=conv(), b=b, c=conv(4, 4, 1, 0))


def test_symmetric_zeros_are_the_widest_side_and_readers_skip_the_rest():
    network = grouped(uneven(), IMAGE)
    post_padding(network, symmetric=True)
    check(network)
    found = by_name(network)
    assert found["a"].post_padding_size == [2, 2, 2, 2]
    assert found["a"].output_size == [1, 12, 12, 4]
    assert found["b"].pre_remove_padding_size == [1, 0, 1, 0]
    assert found["c"].pre_remove_padding_size == [2, 2, 2, 2]


def test_symmetric_zeros_change_neither_words_nor_numbers():
    calibration = [images(IMAGE, seed=i)[0] for i in range(2)]
    exact, even = (
        gen_ir(module_of(uneven(), IMAGE), calibration, symmetric=symmetric).network
        for symmetric in (False, True)
    )
    assert exact.layer(1).post_padding_size != even.layer(1).post_padding_size
    np.testing.assert_array_equal(compile_network(exact).words, compile_network(even).words)
    inputs = quantised_inputs(exact, images(IMAGE)[0].transpose(0, 2, 3, 1))
    made = interpret(even, inputs)
    for index, array in interpret(exact, inputs).items():
        np.testing.assert_array_equal(made[index], array)
