"""How much of the multipliers' time known networks use: useful products by all that could be made."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import cache

import pytest

from dy2st.targets.opu.compiled import CompiledModel, compile_network
from dy2st.targets.opu.machine import machine
from dy2st.targets.opu.operations import Compute
from dy2st.targets.opu.timing import time_operations
from dy2st.targets.opu.words import blocks, fetch_times
from tests.dy2st.targets.opu import conv_networks, conv_tables
from tests.dy2st.targets.opu.conv_tables import ConvShape

OPU = machine("opu1024")
GOALS = {"vgg16": 0.998, "resnet50": 0.93, "tiny_yolo": 0.94, "yolov2": 0.99, "yolov3": 0.99}
NAMES = [
    pytest.param(name, marks=[] if name == "tiny_yolo" else [pytest.mark.slow]) for name in GOALS
]


@cache
def compiled(name: str, opu: str) -> CompiledModel:
    return compile_network(getattr(conv_networks, name)(), opu)


def efficiency(model: CompiledModel) -> float:
    return model.macs / model.machine.macs / model.time().cycles


@pytest.mark.parametrize("name", NAMES)
def test_the_networks_have_the_multiplications_of_their_tables(name: str) -> None:
    table = getattr(conv_tables, name.upper())
    shapes = [row if isinstance(row, ConvShape) else row[0] for row in table]
    assert compiled(name, "opu1024").macs == sum(shape.macs for shape in shapes)


@pytest.mark.parametrize("name", NAMES)
def test_networks_use_the_multipliers_without_latencies(name: str) -> None:
    assert efficiency(compiled(name, "opu1024")) >= GOALS[name]


@pytest.mark.slow
@pytest.mark.parametrize(
    "name, wanted", [("vgg16", 0.9845), ("resnet50", 0.9499), ("tiny_yolo", 0.9287)]
)
def test_networks_wait_for_one_bank_of_partial_sums(name: str, wanted: float) -> None:
    model = compile_network(getattr(conv_networks, name)(), OPU.but(psum_waits=1))
    assert efficiency(model) == pytest.approx(wanted, abs=2e-4)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name, published, columns",
    [("vgg16", 0.988, 1), ("resnet50", 0.843, 0), ("yolov2", 0.986, 1), ("tiny_yolo", 0.902, 1)],
)
def test_tiles_beat_the_public_ones_where_stores_are_counted_alike(
    name, published, columns
) -> None:
    network = getattr(conv_networks, name)()
    layers = [replace(layer, enhanced=layer.enhanced * columns) for layer in network.layers]
    model = compile_network(replace(network, layers=layers), OPU.but(psum_waits=1))
    cycles = time_operations(model.operations, model.machine, is_compat=True).cycles
    assert model.macs / OPU.macs / cycles >= published


def test_every_tile_waits_for_the_store_before_it_if_the_machine_says_so() -> None:
    network = conv_networks.tiny_yolo(64)
    free, waits = (compile_network(network, OPU.but(psum_waits=n)) for n in (0, 1))
    assert waits.time().cycles > free.time().cycles
    firsts = [x for x in waits.operations if isinstance(x, Compute) and x.is_first]
    assert [compute.waits.stores for compute in firsts] == list(range(len(firsts)))
    assert {compute.psum_row for compute in firsts} == {0}


@pytest.mark.slow
def test_networks_use_the_multipliers_with_latencies() -> None:
    every = [efficiency(compiled(name, "opu1024-realistic")) for name in GOALS]
    assert sum(every) / len(every) >= 0.94


@pytest.mark.parametrize("name", NAMES)
def test_fetching_instructions_takes_no_time_of_its_own(name: str) -> None:
    model = compiled(name, "opu1024")
    fetch = fetch_times(blocks(model.words, model.machine))
    fetched = time_operations(model.operations, model.machine, fetch)
    assert fetched.cycles <= 1.002 * model.time().cycles


@pytest.mark.slow
@pytest.mark.parametrize("name, seconds", [("vgg16", 20), ("resnet50", 30)])
def test_compiling_is_quick(name: str, seconds: float) -> None:
    network = getattr(conv_networks, name)()
    begin = time.process_time()
    compile_network(network)
    assert time.process_time() - begin < seconds


def test_our_schedule_beats_that_of_the_public_tool_chain() -> None:
    network = conv_networks.vgg16(56)
    own = compile_network(network, machine("opu1024"))
    compat = compile_network(network, machine("opu1024"), "compat")
    assert own.time().cycles < compat.time().cycles
