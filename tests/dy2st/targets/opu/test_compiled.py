from __future__ import annotations

import numpy as np
import pytest

from dy2st.targets.opu.compiled import compile_network
from dy2st.targets.opu.interpreter import interpret
from dy2st.targets.opu.machine import Machine, machine
from tests.dy2st.targets.opu.random_layers import random_inputs, random_layer, random_network

OPU = machine("opu1024")
SMALL = OPU.but(name="small", fm_rows=80, weight_rows=16, psum_rows=96, queue=4)


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
