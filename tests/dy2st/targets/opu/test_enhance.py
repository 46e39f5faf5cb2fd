from __future__ import annotations

import numpy as np
import pytest

from dy2st.targets.opu.compiled import columns, compile_network
from dy2st.targets.opu.enhance import enhance
from dy2st.targets.opu.interpreter import interpret
from tests.dy2st.targets.opu.conv_networks import Builder


@pytest.mark.parametrize(
    "channels, outputs, kernel, stride, wanted",
    [
        (3, 64, 3, 1, True),
        (3, 64, 7, 2, True),  # more elements than a word has channels
        (1, 6, 5, 1, True),
        (3, 64, 1, 1, False),
        (64, 64, 3, 1, False),  # all lanes are busy as it is
    ],
)
def test_an_input_becomes_columns_where_that_is_faster(
    channels, outputs, kernel, stride, wanted
) -> None:
    build = Builder(56, channels)
    build.conv(0, outputs, kernel, stride)
    network = build.network
    assert enhance(network) == ([1] if wanted else [])
    assert network.layers[0].enhanced == wanted


def test_only_layers_on_an_input_read_columns() -> None:
    build = Builder(32, 3)
    build.conv(build.conv(0, 3, 3), 8, 3)
    assert enhance(build.network) == [1]


def test_two_inputs_are_columns_of_their_own_layers() -> None:
    build = Builder(12, 3, seed=1)
    first = build.conv(0, 8, 3)
    build.conv(build.input(12, 5), 8, 3, residual=first)
    network = build.done()
    assert [layer.enhanced for layer in network.layers] == [1, 1]
    rng = np.random.default_rng(0)
    inputs = [rng.integers(-9, 10, size).astype("int8") for size in network.input_sizes]
    (made,) = compile_network(network).run(inputs)
    assert made.any()
    np.testing.assert_array_equal(made, interpret(network, inputs)[2])


def test_columns_go_by_channel_and_then_backwards_through_the_window() -> None:
    build = Builder(4, 2)
    build.conv(0, 8, 2, padding=(0, 0, 0, 0))
    x = np.arange(32, dtype="int8").reshape(4, 4, 2)
    found = columns(build.network, 1, x)
    assert found.shape == (3, 3, 8)
    assert found[0, 0].tolist() == [10, 8, 2, 0, 11, 9, 3, 1]
