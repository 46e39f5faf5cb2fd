from __future__ import annotations

import numpy as np
import pytest

from dy2st.targets.opu.compiled import compile_network
from dy2st.targets.opu.interpreter import interpret
from dy2st.targets.opu.layer import Layer
from dy2st.targets.opu.machine import Machine, machine
from dy2st.targets.opu.network import Network
from dy2st_runtime.errors import ArgumentError
from tests.dy2st.targets.opu import conv_networks
from tests.dy2st.targets.opu.conv_networks import Builder
from tests.dy2st.targets.opu.random_layers import random_inputs, random_layer, random_network

OPU = machine("opu1024")
SMALL = OPU.but(name="small", fm_rows=210, weight_rows=16, psum_rows=96, queue=4)


def check(network, seed: int, opu: Machine, mode: str = "own") -> None:
    inputs = random_inputs(network, seed)
    wanted = interpret(network, inputs, machine=opu)
    made = compile_network(network, opu, mode).run(inputs)
    for index, output in zip(network.outputs, made, strict=True):
        np.testing.assert_array_equal(output, wanted[index], err_msg=f"layer {index}")


@pytest.mark.parametrize("seed", range(48))
def test_a_layer_computes_what_the_interpreter_does(seed: int) -> None:
    check(random_layer(seed), seed, OPU)


@pytest.mark.parametrize("seed", range(24))
def test_a_network_computes_what_the_interpreter_does(seed: int) -> None:
    check(random_network(seed), seed, OPU)


@pytest.mark.parametrize("seed", range(100, 148))
def test_a_small_machine_cuts_layers_into_many_tiles(seed: int) -> None:
    check(random_layer(seed), seed, SMALL)


@pytest.mark.parametrize("seed", range(100, 116))
def test_layers_overlap_on_a_small_machine_with_latencies(seed: int) -> None:
    opu = SMALL.but(dram_latency=20, pe_epilogue=30, dram_row_latency=2)
    check(random_network(seed), seed, opu)


@pytest.mark.parametrize("seed", [20248, 21952])
def test_layers_without_square_tiles_compute_the_same(seed: int) -> None:
    check(random_layer(seed), seed, SMALL.but(fm_rows=210, queue=2), "compat")


@pytest.mark.parametrize("seed", range(200, 212))
def test_square_tiles_one_layer_after_the_other_compute_the_same(seed: int) -> None:
    check(random_network(seed), seed, OPU, "compat")


@pytest.mark.parametrize("preset", ["opu512", "opu2048", "opu4096", "opu1024-realistic"])
@pytest.mark.parametrize("seed", range(300, 308))
def test_other_machines_compute_the_same(seed: int, preset: str) -> None:
    check(random_layer(seed), seed, machine(preset))


def check_convolutions(network: Network, opu: Machine = OPU):
    """Runs a network of the builder against the interpreter."""
    rng = np.random.default_rng(0)
    inputs = [rng.integers(-60, 60, size).astype("int8") for size in network.input_sizes]
    wanted = interpret(network, inputs, machine=opu)
    model = compile_network(network, opu)
    for index, made in zip(network.outputs, model.run(inputs), strict=True):
        assert wanted[index].any(), "zeros show nothing"
        np.testing.assert_array_equal(made, wanted[index])
    return model


@pytest.mark.parametrize(
    "name, edge",
    [
        ("tiny_yolo", 64),
        # as examples of a fraction of their width they run in test_networks_end_to_end.py too
        pytest.param("vgg16", 64, marks=pytest.mark.slow),
        pytest.param("resnet50", 64, marks=pytest.mark.slow),
    ],
)
def test_known_networks_compute_what_the_interpreter_does(name: str, edge: int) -> None:
    check_convolutions(getattr(conv_networks, name)(edge, seed=3))


def test_a_window_without_weights_reads_the_zeros_that_are_stored_around_its_map() -> None:
    stored = Layer(
        1, 3, [0], [2], [1, 6, 6, 4], [1, 8, 8, 4], [1, 1, 1], post_padding=1,
        post_padding_size=[1, 1, 1, 1], input_fraclen=4, output_fraclen=4, input_channels=[4],
    )  # fmt: skip
    pool = Layer(
        2, 3, [1], [-1], [1, 8, 8, 4], [1, 6, 6, 4], [1, 1, 1], pooling_size=[1, 3, 3],
        pooling_stride=[1, 1, 1], pooling_type=1, input_fraclen=4, output_fraclen=4,
        input_channels=[4],
    )  # fmt: skip
    network = Network([stored, pool], input_sizes=[(1, 6, 6, 4)], outputs=[2])
    x = np.random.default_rng(0).integers(-128, 128, (1, 6, 6, 4)).astype("int8")
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (1, 2))
    for mode in ("own", "compat"):
        (made,) = compile_network(network, OPU, mode).run([x])
        np.testing.assert_array_equal(made, windows.max((-2, -1)))


# -- what overlaps ---------------------------------------------------------------------------------
def test_a_layer_that_moves_data_takes_turns_with_the_next() -> None:
    build = Builder(104, 3, seed=1)
    build.conv(build.conv(0, 32, 3, pool=(2, 2, 0)), 64, 3)
    model = check_convolutions(build.done())
    assert [decision.with_next for decision in model.decisions] == [True, False]
    layers = [operation.origin.layer for operation in model.operations]
    assert layers.index(2) < len(layers) - layers[::-1].index(1)


def test_interleaved_layers_share_no_memory() -> None:
    build = Builder(64, 3, seed=2)
    x = build.conv(build.conv(0, 32, 3), 64, 3, 2)
    for _ in range(3):
        x = build.conv(build.conv(x, 32, 1), 64, 3, residual=x)
    check_convolutions(build.done())


def test_maps_that_are_not_needed_any_more_give_their_place_away() -> None:
    model = compile_network(conv_networks.vgg16(32))
    tensors = {step.target for step in model.lowered.steps}
    room = model.places.words - len(model.parameters)
    assert room < 0.6 * sum(tensor.words for tensor in tensors)


def test_decisions_say_what_else_was_tried() -> None:
    model = compile_network(conv_networks.tiny_yolo(64))
    assert [decision.layer for decision in model.decisions] == list(range(1, 10))
    several = [d for d in model.decisions if d.rejected and not d.with_next]
    assert several and all(d.cycles <= d.rejected[0][1] for d in several if d.cycles)


def test_images_run_one_by_one() -> None:
    network = random_network(3)
    inputs = random_inputs(network, 3, batch=2)
    wanted = interpret(network, inputs)
    for index, made in zip(network.outputs, compile_network(network).run(inputs), strict=True):
        np.testing.assert_array_equal(made, wanted[index])


# -- bad input -------------------------------------------------------------------------------------
def test_a_layer_larger_than_every_tiling_is_an_error() -> None:
    network = conv_networks.vgg16(32)
    with pytest.raises(ArgumentError, match="layer 2 is larger than every tiling"):
        compile_network(network, OPU.but(fm_rows=8))


def test_the_smallest_tile_of_an_error_is_not_one_at_the_edge() -> None:
    build = Builder(12, 3)
    build.conv(0, 8, 3, pool=(4, 4, 2))
    network = build.done()
    network.layers[0].enhanced = 0
    with pytest.raises(ArgumentError, match="takes 36 rows of features and 16 partial sums"):
        compile_network(network, OPU.but(fm_rows=30))  # windows in the middle need 6 x 6 pixels


def test_weights_larger_than_a_bank_are_an_error() -> None:
    network = conv_networks.vgg16(32)
    with pytest.raises(ArgumentError, match="larger than every tiling: the weights of one pass"):
        compile_network(network, OPU.but(weight_rows=2))


def test_too_little_memory_is_an_error() -> None:
    with pytest.raises(ArgumentError, match="words of DRAM, opu1024 has 1000"):
        compile_network(conv_networks.vgg16(32), OPU.but(dram_words=1000))


def test_a_network_without_integers_is_an_error() -> None:
    network = conv_networks.vgg16(32)
    network.int_weights.clear()
    with pytest.raises(ArgumentError, match="quantise the network first"):
        compile_network(network)


def test_an_unknown_mode_is_an_error() -> None:
    with pytest.raises(ArgumentError, match="there are own, compat"):
        compile_network(conv_networks.vgg16(32), OPU, "fast")


def test_inputs_of_the_wrong_shape_or_type_are_errors() -> None:
    model = compile_network(conv_networks.tiny_yolo(32))
    with pytest.raises(ArgumentError, match=r"input 0 is int8 \(n, 32, 32, 3\)"):
        model.run([np.zeros((1, 32, 32, 3), "float32")])
    with pytest.raises(ArgumentError, match="has 1 input, not 0"):
        model.run([])


@pytest.mark.parametrize("shift", [11, 5])
def test_groups_pass_over_their_own_channels_only(shift: int) -> None:
    build = Builder(10, 256, seed=shift)
    build.conv(0, 256, 3)
    network = build.done()
    layer = network.layers[0]
    layer.enhanced, layer.group, layer.weight_fraclen = 0, 8, 18 - shift
    network.int_weights[1] = build.integers("int8", 3, 3, 32, 256)
    network.int_biases[1] = np.full(256, 3, np.int16)
    model = check_convolutions(network)
    sources = [model.lowered.steps[0].sources_of(k) for k in range(4)]
    assert sources == ([[0], [1], [2], [3]] if shift == 11 else [[0], [0, 1], [0, 2], [0, 3]])
