"""The generator of random networks: legal, the same every time, and with everything in it."""

import dataclasses

import numpy as np
import pytest

from dy2st.targets.opu.layer import LayerType
from dy2st.targets.opu.sizes import is_depthwise, made_size, multiplied_size, tensor_size
from tests.dy2st.targets.opu.random_layers import (
    KINDS,
    random_inputs,
    random_layer,
    random_network,
)

NETWORKS = [random_layer(seed) for seed in range(160)] + [random_network(s) for s in range(300)]
LAYERS = [(network, layer) for network in NETWORKS for layer in network.layers]


def arrays(network):
    return {**network.int_weights, **{-i: b for i, b in network.int_biases.items()}}


@pytest.mark.parametrize("draw", [random_layer, random_network])
def test_the_same_seed_gives_the_same_network_and_inputs(draw):
    one, two = draw(11), draw(11)
    assert [dataclasses.asdict(x) for x in one.layers] == [
        dataclasses.asdict(x) for x in two.layers
    ]
    assert all(np.array_equal(a, arrays(two)[i]) for i, a in arrays(one).items())
    for a, b in zip(random_inputs(one, 5), random_inputs(two, 5)):
        assert np.array_equal(a, b)


def test_sizes_are_what_the_layers_make():
    for network, layer in LAYERS:
        assert made_size(network, layer) == tensor_size(network, layer.index)
        assert min(*multiplied_size(network, layer), *made_size(network, layer)) > 0


def test_fraction_lengths_are_legal():
    for _, layer in LAYERS:
        if layer.type == LayerType.NONE:
            assert -16 <= layer.output_fraclen - layer.input_fraclen <= 15
            continue
        position = layer.output_fraclen + 18
        assert 1 <= position - layer.input_fraclen - layer.weight_fraclen <= 31
        assert 0 <= position - layer.bias_fraclen <= 31


def test_parts_and_residuals_have_the_fraction_lengths_of_their_readers():
    for network, layer in LAYERS:
        parts = [network.layer(i) for i in layer.input_layer if i > 0]
        assert {part.output_fraclen for part in parts} <= {layer.input_fraclen}
        sources = [network.layer(i) for i in layer.residual_source if i > 0]
        assert {source.output_fraclen for source in sources} <= {layer.output_fraclen}


def test_every_kind_and_every_order_is_drawn():
    layers = [layer for _, layer in LAYERS]
    assert {layer.type for layer in layers} == set(LayerType)
    assert {layer.res_position for layer in layers if layer.residual} == {0, 1, 2}
    assert {layer.pooling_type for layer in layers} == {0, 1, 2}
    assert {layer.activation_type for layer in layers} == {0, 1, 2, 4}
    for has in (
        lambda x: is_depthwise(x),
        lambda x: 1 < x.group < x.input_size[3],
        lambda x: x.enhanced,
        lambda x: len(x.input_layer) > 1,
        lambda x: len(x.output_layer) > 1,
        lambda x: any(x.post_padding_size),
        lambda x: any(x.pre_remove_padding_size),
        lambda x: x.extra_pre_padding,
        lambda x: x.upsample,
        lambda x: any(x.pool_padding_size),
        lambda x: x.activation_limit is not None,
    ):
        assert sum(map(bool, map(has, layers))) >= 5


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_can_be_asked_for(kind):
    layers = [random_layer(seed, kind).layers[0] for seed in range(8)]
    assert all(bool(layer.enhanced) == (kind == "enhanced") for layer in layers)
    assert any(layer.group > 1 for layer in layers) == (kind in ("grouped", "depthwise"))
