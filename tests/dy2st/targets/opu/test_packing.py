from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dy2st.targets.opu.buffers import SimulationError
from dy2st.targets.opu.compiled import compile_network
from dy2st.targets.opu.interpreter import interpret
from dy2st.targets.opu.machine import machine
from dy2st.targets.opu.network import Network
from dy2st.targets.opu.operations import Pool, Store
from dy2st.targets.opu.simulator import simulate
from dy2st.targets.opu.timing import duration, pooled_size
from dy2st.targets.opu.words import decode, encode
from tests.dy2st.targets.opu.conv_networks import Builder


def check(network: Network, seed: int = 0) -> list[int]:
    """Runs it against the interpreter; pixels across of every step."""
    rng = np.random.default_rng(seed)
    inputs = [rng.integers(-128, 128, size).astype("int8") for size in network.input_sizes]
    model = compile_network(network)
    wanted = interpret(network, inputs)
    for index, made in zip(network.outputs, model.run(inputs), strict=True):
        np.testing.assert_array_equal(made, wanted[index])
    return [step.across for step in model.lowered.steps]


@pytest.mark.parametrize(
    "outputs, kernel, stride, pool, upsample, across",
    [
        (16, 3, 1, None, 0, 4),
        (32, 3, 1, (2, 2, 0), 0, 2),
        (8, 5, 1, (2, 2, 0), 0, 4),
        (20, 3, 2, None, 2, 2),
        (32, 2, 2, (3, 3, 0), 0, 2),
        (3, 7, 1, None, 0, 4),
        (16, 4, 2, None, 0, 2),
        (16, 3, 1, (3, 2, 1), 0, 1),
    ],
)
def test_packed_pixels_are_what_single_ones_are(
    outputs, kernel, stride, pool, upsample, across
) -> None:
    build = Builder(24 if stride == 1 else 48, 12, seed=outputs)
    sides = [kernel // 2, (kernel - 1) // 2] * 2
    build.conv(0, outputs, kernel, stride, sides, pool, upsample=upsample)
    network = build.done()
    network.layers[0].enhanced = 0
    assert check(network) == [across]


def test_few_outputs_share_the_lanes() -> None:
    build = Builder(32, 16, seed=1)
    first = build.conv(0, 32, 3, pool=(2, 2, 0))
    build.conv(first, 16, 3)
    network = build.done()
    network.layers[0].enhanced = 0
    assert check(network) == [2, 2]


def test_a_residual_is_added_to_packed_pixels() -> None:
    build = Builder(16, 16, seed=2)
    first = build.conv(0, 16, 1)
    second = build.conv(first, 16, 3, residual=first)
    build.conv(second, 16, 3)
    assert max(check(build.done())) > 1


def test_columns_of_an_image_are_wider_windows() -> None:
    build = Builder(32, 3, seed=3)
    build.conv(0, 16, 3, pool=(2, 2, 0))
    assert check(build.done()) == [4]


@pytest.mark.parametrize("bias, across", [(256, 2), (255, 1)])
def test_a_bias_that_loses_bits_alone_is_not_packed(bias: int, across: int) -> None:
    build = Builder(16, 16, seed=4)
    build.conv(0, 32, 3)
    network = build.done()
    layer = network.layers[0]
    layer.enhanced, layer.weight_fraclen, layer.bias_fraclen = 0, 13, 16  # shifts 5 and 2
    network.int_biases[1] = np.full(32, bias, np.int16)
    assert check(network) == [across]


def test_an_odd_width_is_not_packed() -> None:
    build = Builder(15, 16, seed=5)
    build.conv(0, 16, 3)
    network = build.done()
    network.layers[0].enhanced = 0
    assert check(network) == [1]


def test_a_store_of_packed_pixels_reads_fewer_sums_and_keeps_its_words() -> None:
    opu = machine("opu1024")
    pool = Pool(kind=1, height=2, width=2, stride_y=2, stride_x=2)
    store = Store(
        outputs=16, height=8, width=4, psum_row=0, address=0, pitch=8, pool=pool, across=4
    )
    assert pooled_size(store) == (4, 8)
    assert duration(store, opu) == 32
    assert duration(replace(store, width=16, across=1), opu) == 128
    [read] = decode(encode([store], opu), opu)
    assert read == store


def test_more_lanes_than_there_are_are_an_error() -> None:
    opu = machine("opu1024")
    store = Store(outputs=64, height=1, width=1, psum_row=0, address=0, pitch=1, across=2)
    with pytest.raises(SimulationError, match="128 lanes of partial sums"):
        simulate(encode([store], opu), np.zeros((4, 64), np.uint8), opu)
