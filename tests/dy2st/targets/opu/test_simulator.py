"""The simulated OPU: equal to the interpreter of layers, exact by formula, and strict in accesses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dy2st.errors import ArgumentError, FormatError
from dy2st.targets.opu.buffers import Region, SimulationError
from dy2st.targets.opu.interpreter import interpret
from dy2st.targets.opu.layer import LayerType
from dy2st.targets.opu.layout import pack_bias, pack_depthwise, pack_features, pack_weights
from dy2st.targets.opu.machine import machine
from dy2st.targets.opu.operations import Compute, Kind, Load, Origin, Pool, Store, Waits
from dy2st.targets.opu.simulator import prepare, simulate
from dy2st.targets.opu.timing import time_operations
from dy2st.targets.opu.words import encode
from tests.dy2st.targets.opu.hand_scheduler import HandRun, roomy, without_post
from tests.dy2st.targets.opu.random_layers import KINDS, random_inputs, random_layer, random_network
from tests.effort import effort

OPU = machine("opu1024")
ROOMY = roomy(OPU)
MACHINES = [
    ROOMY,
    ROOMY.but(dram_latency=20, pe_epilogue=30, queue=2),
    roomy(machine("opu512")).but(queue=1),
    roomy(machine("opu4096")),
]


def run_layer(network, layer, tensors, opu, rows=None):
    run = HandRun(network, layer, tensors, opu, rows)
    return run.output(simulate(run.words, run.dram, opu, run.regions, run.origins).dram)


# -- against the interpreter -----------------------------------------------------------------------
@settings(max_examples=effort(80, 250), deadline=None)
@given(
    st.integers(0, 10**9),
    st.sampled_from(KINDS),
    st.sampled_from(MACHINES),
    st.none() | st.integers(1, 5),
)
def test_words_make_of_a_random_layer_what_the_interpreter_makes(seed, kind, opu, rows):
    network = random_layer(seed, kind)
    layer = network.layers[0]
    if layer.type == LayerType.TRANSPOSED:
        network = without_post(network)
    inputs = random_inputs(network, seed)
    tensors = {-i: x[0] for i, x in enumerate(inputs)}
    wanted = interpret(network, inputs, machine=opu)[1][0]
    np.testing.assert_array_equal(run_layer(network, layer, tensors, opu, rows), wanted)


@settings(max_examples=effort(20, 60), deadline=None)
@given(st.integers(0, 10**9))
def test_words_make_of_every_layer_of_a_random_network_what_the_interpreter_makes(seed):
    network = random_network(seed)
    inputs = random_inputs(network, seed)
    made = {index: x[0] for index, x in interpret(network, inputs).items()}
    tensors = {**{-i: x[0] for i, x in enumerate(inputs)}, **made}
    for layer in network.layers:
        if layer.type != LayerType.TRANSPOSED:
            got = run_layer(network, layer, tensors, ROOMY)
            np.testing.assert_array_equal(got, made[layer.index])


# -- against the formulas --------------------------------------------------------------------------
class Small:
    """One tile of features, weights and bias in DRAM, loaded, computed and stored."""

    def __init__(self, x, weights, bias, opu=OPU, is_depthwise=False):
        pack = pack_depthwise if is_depthwise else pack_weights
        parts = [pack_features(x), pack(weights, opu), pack_bias(bias)]
        self.places = np.cumsum([0, *map(len, parts)]).tolist()
        self.opu, self.size = opu, x.shape
        out = np.zeros((64 * x.shape[0] * x.shape[1], 64), np.uint8)
        self.dram = np.concatenate((*parts, out))
        rows, columns = x.shape[:2]
        flat = {"height": 1, "bank": 0, "row": 0}
        self.loads = [
            Load(
                kind=Kind.FEATURES,
                address=0,
                height=rows,
                width=columns,
                pitch=columns,
                bank=0,
                row=0,
            ),
            Load(
                kind=Kind.WEIGHTS,
                address=self.places[1],
                width=len(parts[1]),
                pitch=len(parts[1]),
                **flat,
            ),
            Load(kind=Kind.BIAS, address=self.places[2], width=2, pitch=2, **flat),
        ]

    def compute(self, **values):
        return Compute(in_width=self.size[1], waits=Waits(loads=3), **values)

    def store(self, **values):
        height, width = values["height"], values["width"]
        return Store(
            psum_row=0, address=self.places[3], waits=Waits(3, 1, 0), **{"pitch": width, **values}
        ), (height, width)

    def run(self, *operations):
        words = encode([*self.loads, *operations], self.opu)
        return simulate(words, self.dram, self.opu)

    def stored(self, execution, size, outputs):
        count = size[0] * size[1]
        words = execution.dram[self.places[3] : self.places[3] + count].view(np.int8)
        return words[:, ::-1][:, :outputs].reshape(*size, outputs)


def saturated(value, bits):
    return max(-(1 << bits - 1), min((1 << bits - 1) - 1, value))


def by_formula(passes, bias, shift_features, shift_bias):
    """One partial sum with Python's integers, cut to int8."""
    psum = 0
    for i, dot in enumerate(passes):
        a = saturated(dot << shift_features, 26)
        b = saturated(bias << shift_bias, 26) if i == 0 else psum << 10
        psum = saturated((a + b) >> 10, 16)
    return saturated((psum >> 8) + (psum >> 7 & 1), 8)


@settings(max_examples=effort(30, 80), deadline=None)
@given(st.integers(0, 10**9), st.integers(0, 31), st.integers(0, 31))
def test_passes_are_exact_by_the_formula(seed, shift_features, shift_bias):
    rng = np.random.default_rng(seed)
    spread = int(rng.choice([2, 20, 200]))
    x, w = (
        rng.integers(-spread, spread + 1, shape).clip(-128, 127).astype("int8")
        for shape in ((3, 4, 5), (4, 5, 3))
    )
    bias = rng.integers(-(2**15), 2**15, 3).astype("int16")
    small = Small(x, w, bias)
    taps = ((0, 0), (0, 1), (1, 0), (1, 1))
    store, size = small.store(outputs=3, height=2, width=3)
    shifts = {"shift_features": shift_features, "shift_bias": shift_bias}
    compute = small.compute(channels=5, outputs=3, height=2, width=3, taps=taps, **shifts)
    got = small.stored(small.run(compute, store), size, 3)
    for y, column, k in np.ndindex(2, 3, 3):
        dots = [
            int(x[y + r, column + s].astype(int) @ w[t, :, k].astype(int))
            for t, (r, s) in enumerate(taps)
        ]
        assert got[y, column, k] == by_formula(dots, int(bias[k]), shift_features, shift_bias)


@pytest.mark.parametrize(("dot", "bias", "wanted"), [(136, 100, 3), (-136, -101, -3)])
def test_the_documented_vectors_hold(dot, bias, wanted):
    x = np.array([[[8, 1]]], "int8")
    w = np.array([[[dot // 8], [0]]], "int8")
    small = Small(x, w, np.array([bias], "int16"))
    store, size = small.store(outputs=1, height=1, width=1)
    compute = small.compute(
        channels=2, outputs=1, height=1, width=1, shift_features=11, shift_bias=12
    )
    assert small.stored(small.run(compute, store), size, 1) == wanted


def test_a_depthwise_pass_adds_all_of_its_taps_before_its_one_cut():
    x = np.full((1, 15, 2), -3, "int8")
    small = Small(x, np.ones((15, 2), "int8"), np.full(2, 142, "int16"), is_depthwise=True)
    taps = tuple((0, s) for s in range(15))
    store, size = small.store(outputs=2, height=1, width=1)
    values = {"channels": 2, "outputs": 2, "height": 1, "width": 1, "is_depthwise": True}
    compute = small.compute(taps=taps, shift_features=3, shift_bias=10, **values)
    execution = small.run(compute, store)
    assert execution.checks["passes"] == 1
    assert small.stored(execution, size, 2).tolist() == [[[1, 1]]]
    assert by_formula([-45], 142, 3, 10) == 1  # 141 / 256; a cut for every tap would give
    assert by_formula([-3] * 15, 142, 3, 10) == 0  # 127 / 256


def test_pooling_stops_at_the_edge_of_the_map():
    x = np.arange(-4, 5, dtype="int8").reshape(3, 3, 1)
    small = Small(x, np.ones((1, 1, 1), "int8"), np.zeros(1, "int16"))
    compute = small.compute(
        channels=1, outputs=1, height=3, width=3, is_weighted=False, shift_features=16
    )
    window = {"height": 2, "width": 2, "stride_y": 2, "stride_x": 2, "padding": (1, 0, 1, 0)}
    for kind, wanted in ((1, [[-4, -2], [2, 4]]), (2, [[-1, -1], [0, 2]])):
        store, _ = small.store(outputs=1, height=3, width=3, pool=Pool(kind=kind, **window))
        execution = small.run(compute, replace(store, pitch=2))
        assert small.stored(execution, (2, 2), 1)[..., 0].tolist() == wanted


def test_steps_upsampling_and_borders_write_where_they_say():
    x = np.arange(1, 5, dtype="int8").reshape(2, 2, 1)
    small = Small(x, np.ones((1, 1, 1), "int8"), np.zeros(1, "int16"))
    small.dram[small.places[3] :] = 99
    compute = small.compute(
        channels=1, outputs=1, height=2, width=2, is_weighted=False, shift_features=16
    )
    store, _ = small.store(outputs=1, height=2, width=2)
    at = small.places[3]
    values = {"pitch": 6, "address": at + 7, "step_y": 2, "step_x": 2, "border": (1, 0, 1, 0)}
    got = small.stored(small.run(compute, replace(store, **values)), (4, 6), 1)[..., 0]
    assert got.tolist() == [
        [0, 0, 0, 0, 99, 99],
        [0, 1, 99, 2, 99, 99],
        [0, 99, 99, 99, 99, 99],
        [0, 3, 99, 4, 99, 99],
    ]
    values = {"pitch": 6, "address": at, "upsample": 2, "border": (0, 0, 0, 1)}
    got = small.stored(small.run(compute, replace(store, **values)), (4, 6), 1)[..., 0]
    assert got.tolist() == [
        [1, 1, 2, 2, 0, 99],
        [1, 1, 2, 2, 0, 99],
        [3, 3, 4, 4, 0, 99],
        [3, 3, 4, 4, 0, 99],
    ]


# -- cycles ----------------------------------------------------------------------------------------
def test_cycles_are_those_of_the_event_model_with_the_fetched_words():
    network = random_layer(1, "convolution")
    inputs = random_inputs(network, 1)
    tensors = {-i: x[0] for i, x in enumerate(inputs)}
    run = HandRun(network, network.layers[0], tensors, ROOMY)
    execution = simulate(run.words, run.dram, ROOMY)
    without_fetch = time_operations(run.operations, ROOMY)
    assert execution.timeline.busy == without_fetch.busy
    assert execution.cycles >= without_fetch.cycles > 0
    assert execution.timeline.enters[0] > 0


# -- accesses --------------------------------------------------------------------------------------
def small_parts():
    x = np.ones((4, 4, 3), "int8")
    small = Small(x, np.ones((1, 3, 2), "int8"), np.zeros(2, "int16"))
    compute = small.compute(channels=3, outputs=2, height=4, width=4, shift_features=18)
    return small, compute, small.store(outputs=2, height=4, width=4)[0]


def test_the_image_that_is_given_stays_as_it_is():
    small, compute, store = small_parts()
    before = small.dram.copy()
    assert not np.array_equal(small.run(compute, store).dram, before)
    np.testing.assert_array_equal(small.dram, before)


def test_a_prepared_program_runs_as_its_words_do():
    small, compute, store = small_parts()
    words = encode([*small.loads, compute, store], OPU)
    ready = prepare(words, OPU)
    wanted = simulate(words, small.dram, OPU)
    for _ in range(2):
        execution = simulate(ready, small.dram, OPU)
        np.testing.assert_array_equal(execution.dram, wanted.dram)
        assert execution.cycles == wanted.cycles
    with pytest.raises(ArgumentError, match="prepared for machine opu1024, not for"):
        simulate(ready, small.dram, OPU.but(name="other", pe_epilogue=3))


def test_peaks_and_checks_say_what_was_used():
    small, compute, store = small_parts()
    execution = small.run(compute, replace(store, psum_row=0))
    assert execution.peaks == {"features": 16, "weights": 16, "bias": 2, "psum": 16}
    assert execution.checks["words stored"] == 16 and execution.checks["loads"] == 3


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"feature_bank": 2}, r"names bank 2 of the feature buffer: there are 2"),
        ({"feature_bank": 1}, r"reads row 0 of bank 1 of the feature buffer, which is not written"),
        ({"feature_row": 1}, r"reads row 16 of bank 0 of the feature buffer, which is not written"),
        ({"feature_row": 1440}, r"row 1455 of bank 0 of the feature buffer: there are 1444"),
        ({"weight_row": 1}, r"reads row 16 of bank 0 of the weight buffer, which is not written"),
        ({"bias_bank": 1}, r"reads row 0 of bank 1 of the bias buffer, which is not written"),
        ({"psum_row": 4090}, r"row 4105 of the partial sums: there are 4096"),
        ({"is_first": False}, r"reads row 0 of the partial sums, which is not written"),
        ({"width": 5}, r"reads column 4 of a tile 4 wide"),
        ({"is_depthwise": True}, r"3 channels to 2 outputs"),
    ],
)
def test_a_compute_that_reads_what_it_must_not_is_refused(changes, message):
    small, compute, store = small_parts()
    with pytest.raises(SimulationError, match=r"operation 3 \(words \d+ to \d+\), a compute") as e:
        small.run(replace(compute, **changes), store)
    assert message in str(e.value)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"psum_row": 1}, "reads row 16 of the partial sums, which is not written"),
        ({"outputs": 3}, "reads 3 outputs of partial sums that have 2"),
        ({"residual_bank": 0}, "a residual needs an order of 0 to 2"),
        ({"residual_bank": 1, "order": 0}, "of bank 1 of the feature buffer, which is not written"),
        ({"address": 1 << 20}, "it writes words 1048576 to 1048591 of DRAM, which has"),
        ({"address": 3, "border": (1, 0, 0, 0)}, "it writes words -1 to 2 of DRAM"),
    ],
)
def test_a_store_that_reaches_too_far_is_refused(changes, message):
    small, compute, store = small_parts()
    with pytest.raises(SimulationError, match="operation 4") as caught:
        small.run(compute, replace(store, **changes))
    assert message in str(caught.value)


def test_a_missing_wait_is_a_hazard():
    small, compute, store = small_parts()
    with pytest.raises(SimulationError, match="operation 3.*while another operation writes it"):
        small.run(replace(compute, waits=Waits(loads=2)), store)
    with pytest.raises(SimulationError, match="operation 4.*partial sums.*writes it until"):
        small.run(compute, replace(store, waits=Waits(loads=3)))
    late = replace(small.loads[0], waits=Waits(loads=3))
    with pytest.raises(SimulationError, match="operation 4.*another operation reads it until"):
        small.run(compute, late, replace(store, waits=Waits(computes=1)))


def test_a_compute_over_sums_that_a_store_reads_is_a_hazard():
    small, compute, store = small_parts()
    again = replace(compute, waits=Waits(loads=3, computes=1))
    with pytest.raises(SimulationError, match="partial sums.*another operation reads it until"):
        small.run(compute, store, again)


def test_an_operation_that_overtakes_one_that_it_depends_on_is_refused():
    small, compute, store = small_parts()
    again = replace(small.loads[0], waits=Waits(computes=1, stores=1))
    early = replace(compute, psum_row=100, waits=Waits(loads=3, computes=1))
    late = replace(store, psum_row=100, waits=Waits(computes=2))
    with pytest.raises(SimulationError, match="operation 5.*writes.*feature buffer.* operation 6"):
        small.run(compute, store, again, early, late)
    small.run(compute, store, again, replace(early, waits=Waits(loads=4, computes=1)), late)


def test_a_load_of_what_a_store_has_not_written_yet_is_refused():
    small, compute, store = small_parts()
    back = replace(small.loads[0], address=small.places[3], row=100)
    with pytest.raises(SimulationError, match="row 34 of DRAM, which operation 5, behind it"):
        small.run(compute, replace(store, waits=Waits(computes=1)), back)
    small.run(compute, store, replace(back, waits=Waits(stores=1)))


@settings(max_examples=effort(40, 150), deadline=None)
@given(st.integers(0, 10**9), st.data())
def test_without_one_of_its_waits_a_program_is_refused_or_as_before(seed, data):
    network = random_layer(seed, data.draw(st.sampled_from(("pointwise", "depthwise", "none"))))
    inputs = random_inputs(network, seed)
    tensors = {-i: x[0] for i, x in enumerate(inputs)}
    opu = data.draw(st.sampled_from(MACHINES))
    run = HandRun(network, network.layers[0], tensors, opu, data.draw(st.integers(1, 4)))
    at = data.draw(st.integers(0, len(run.operations) - 1))
    name = data.draw(st.sampled_from(("loads", "computes", "stores")))
    waits = run.operations[at].waits
    less = data.draw(st.sampled_from((1, 2, 10**6)))
    fewer = replace(waits, **{name: max(0, getattr(waits, name) - less)})
    run.operations[at] = replace(run.operations[at], waits=fewer)
    words = encode(run.operations, opu)
    try:
        execution = simulate(words, run.dram, opu, run.regions)
    except SimulationError:
        return
    wanted = interpret(network, inputs, machine=opu)[1][0]
    np.testing.assert_array_equal(run.output(execution.dram), wanted)


def test_regions_say_what_may_be_read_and_written():
    small, compute, store = small_parts()
    words = encode([*small.loads, compute, store], OPU)
    inputs = Region("inputs", 0, small.places[3], is_initial=True, is_writable=False)
    outputs = Region("outputs", small.places[3], len(small.dram) - small.places[3])
    simulate(words, small.dram, OPU, [inputs, outputs])
    elsewhere = replace(outputs, first=outputs.first + 4, words=outputs.words - 4)
    with pytest.raises(SimulationError, match="which are of no one region"):
        simulate(words, small.dram, OPU, [inputs, elsewhere])
    with pytest.raises(SimulationError, match="it writes outputs, which stays"):
        simulate(words, small.dram, OPU, [inputs, replace(outputs, is_writable=False)])
    with pytest.raises(SimulationError, match="it reads row 0 of DRAM, which is not written"):
        simulate(words, small.dram, OPU, [replace(inputs, is_initial=False), outputs])
    with pytest.raises(ArgumentError, match="overlaps another region"):
        simulate(words, small.dram, OPU, [inputs, inputs])


def test_an_error_says_layer_and_tile_where_they_are_known():
    small, compute, store = small_parts()
    words = encode([*small.loads, replace(compute, feature_bank=1), store], OPU)
    origins = [Origin(4, "k0 y2")] * 5
    with pytest.raises(SimulationError, match="a compute of layer 4 tile k0 y2: it reads row 0"):
        simulate(words, small.dram, OPU, origins=origins)


@settings(max_examples=effort(40, 150), deadline=None)
@given(st.integers(0, 100), st.data())
def test_a_flipped_bit_is_refused_or_runs(seed, data):
    network = random_layer(seed, "convolution")
    inputs = random_inputs(network, seed)
    tensors = {-i: x[0] for i, x in enumerate(inputs)}
    run = HandRun(network, network.layers[0], tensors, ROOMY)
    at = data.draw(st.integers(1, len(run.words) - 1))
    run.words[at] ^= np.uint32(1 << data.draw(st.integers(0, 31)))
    try:
        execution = simulate(run.words, run.dram, ROOMY, run.regions)
    except (FormatError, SimulationError) as error:
        assert "operation" in str(error) or "program" in str(error)
    else:
        assert execution.checks["loads"] > 0


def test_an_image_or_words_of_another_kind_are_refused():
    small, compute, store = small_parts()
    words = encode([*small.loads, compute, store], OPU)
    with pytest.raises(ArgumentError, match=r"uint8 \(words, 64\), not int8"):
        simulate(words, small.dram.view(np.int8), OPU)
    with pytest.raises(ArgumentError, match="has 10"):
        simulate(words, small.dram, OPU.but(dram_words=10))
    with pytest.raises(FormatError, match="truncated"):
        simulate(words[:-1], small.dram, OPU)
