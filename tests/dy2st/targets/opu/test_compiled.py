from __future__ import annotations

import numpy as np
import pytest

from dy2st.targets.opu.compiled import compile_network
from dy2st.targets.opu.interpreter import interpret
from dy2st.targets.opu.machine import Machine, machine
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


@pytest.mark.parametrize("seed", range(200, 212))
def test_square_tiles_one_layer_after_the_other_compute_the_same(seed: int) -> None:
    check(random_network(seed), seed, OPU, "compat")
