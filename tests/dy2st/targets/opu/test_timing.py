"""Times of operations: durations by hand, and the event model against stepping every cycle."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dy2st.errors import ArgumentError
from dy2st.targets.opu.choice import choose
from dy2st.targets.opu.compiled import compile_network
from dy2st.targets.opu.machine import machine
from dy2st.targets.opu.operations import Compute, Kind, Load, Origin, Pool, Store, Waits
from dy2st.targets.opu.steps import lower
from dy2st.targets.opu.timing import duration, stored_words, time_operations
from tests.dy2st.targets.opu import conv_networks
from tests.dy2st.targets.opu import conv_tables as tables
from tests.dy2st.targets.opu.conv_tables import ConvShape, conv
from tests.effort import effort

OPU = machine("opu1024")


def load(words=4, waits=Waits(), height=1, origin=None):
    return Load(
        kind=Kind.FEATURES,
        address=0,
        height=height,
        width=words,
        pitch=words,
        bank=0,
        row=0,
        waits=waits,
        origin=origin,
    )


def compute(pixels=4, waits=Waits(), **others):
    values = {"channels": 64, "outputs": 16, "height": 1, "width": pixels, "in_width": pixels}
    return Compute(**{**values, "waits": waits, **others})


def store(pixels=4, waits=Waits(), **others):
    values = {"outputs": 64, "height": 1, "width": pixels, "psum_row": 0, "address": 0}
    return Store(**{**values, "pitch": pixels, "waits": waits, **others})


def stepped(operations, queue, fetch):
    """Starts of all operations, found by going through every cycle."""
    kinds = [{Load: 0, Compute: 1, Store: 2}[type(op)] for op in operations]
    lengths = [duration(op, OPU) for op in operations]
    starts, heads = {}, {}
    queues = [[], [], []]
    done = [0, 0, 0]
    engines = {0: None, 1: None}  # DMA, multipliers: the operation at work
    fetched, last_fetch = 0, 0
    for now in range(10_000):
        while True:
            before = (fetched, len(starts), tuple(done))
            for engine, i in engines.items():
                if i is not None and starts[i] + lengths[i] <= now:
                    done[kinds[i]] += 1
                    engines[engine] = None
            if fetched < len(operations):
                k = kinds[fetched]
                if last_fetch + fetch[fetched] <= now and len(queues[k]) < queue:
                    queues[k].append(fetched)
                    fetched, last_fetch = fetched + 1, now
            for q in queues:
                w = operations[q[0]].waits if q else None
                if q and (w.loads <= done[0] and w.computes <= done[1] and w.stores <= done[2]):
                    heads.setdefault(q[0], now)
            if engines[1] is None and queues[1] and queues[1][0] in heads:
                engines[1] = queues[1].pop(0)
                starts[engines[1]] = now
            if before != (fetched, len(starts), tuple(done)):
                continue
            transfers = [(k, queues[k]) for k in (0, 2)]
            ready = [(heads[q[0]], -k, q) for k, q in transfers if q and q[0] in heads]
            if engines[0] is None and ready:
                engines[0] = min(ready)[2].pop(0)
                starts[engines[0]] = now
                continue
            break
        if len(starts) == len(operations):
            return [starts[i] for i in range(len(operations))]
    raise AssertionError("it does not end")


@st.composite
def programs(draw):
    found, counts = [], [0, 0, 0]
    for _ in range(draw(st.integers(1, 25))):
        kind = draw(st.integers(0, 2))
        waits = Waits(*(max(0, n - draw(st.integers(0, 4))) for n in counts))
        found.append((load, compute, store)[kind](draw(st.integers(1, 6)), waits))
        counts[kind] += 1
    return found


@settings(max_examples=effort(80, 300), deadline=None)
@given(programs(), st.integers(1, 4), st.data())
def test_the_event_model_is_what_stepping_every_cycle_gives(operations, queue, data):
    fetch = [data.draw(st.integers(0, 3)) for _ in operations]
    timeline = time_operations(operations, OPU.but(queue=queue), fetch)
    assert timeline.starts.tolist() == stepped(operations, queue, fetch)


def test_a_load_takes_its_words_and_the_latencies_of_rows_and_transfer():
    assert duration(load(7, height=3), OPU) == 21
    slow = OPU.but(dram_latency=20, dram_row_latency=2)
    assert duration(load(7, height=3), slow) == 3 * (7 + 2) + 20


def test_a_compute_takes_rounds_for_every_pixel_and_tap():
    nine = tuple((r, s) for r in range(3) for s in range(3))
    of = {"height": 5, "pixels": 6, "taps": nine}
    assert duration(compute(**of, channels=64, outputs=64), OPU) == 9 * 30 * 4
    assert duration(compute(**of, channels=32, outputs=33), OPU) == 9 * 30 * 2
    assert duration(compute(**of, channels=3, outputs=64), OPU) == 9 * 30
    assert duration(compute(**of), OPU.but(pe_epilogue=30)) == 9 * (30 + 30)
    assert duration(compute(**of, is_depthwise=True), OPU) == 30
    assert duration(compute(**of, is_depthwise=True), OPU.but(macs=256)) == 3 * 30
    assert duration(compute(height=5, pixels=6, outputs=64, is_weighted=False), OPU) == 30


def test_a_store_takes_what_it_writes_or_the_partial_sums_that_it_reads():
    pool = Pool(kind=1, height=3, width=3, stride_y=2, stride_x=2, padding=(1, 0, 1, 0))
    pooled = store(height=8, pixels=8, pool=pool)  # 4 x 4 windows of 9
    assert duration(pooled, OPU) == 4 * 4 * 9
    assert duration(pooled, OPU, is_compat=True) == 16
    twice = store(height=3, pixels=5, upsample=2, border=(1, 0, 2, 3))
    assert duration(twice, OPU.but(dram_latency=5)) == 7 * 15 + 5
    assert duration(twice, OPU, is_compat=True) == 6 * 10


def test_a_border_around_steps_counts_all_words_outside_of_their_box():
    part = store(height=2, pixels=3, step_y=2, step_x=2, border=(1, 0, 0, 1))
    assert stored_words(part) == 6 + (4 * 6 - 3 * 5)


def test_a_wait_for_what_does_not_come_before_is_refused_with_the_place():
    bad = load(waits=Waits(computes=1), origin=Origin(3, "y0 x0"))
    with pytest.raises(ArgumentError, match=r"operation 1 \(layer 3 y0 x0\).*for ever"):
        time_operations([load(), bad], OPU)


def test_busy_times_and_stalls_add_up():
    work = [load(10), compute(20, Waits(loads=1)), store(5, Waits(computes=1))]
    work += [load(30), compute(20, Waits(loads=2))]
    timeline = time_operations(work, OPU)
    assert timeline.busy == {"load": 40, "compute": 40, "store": 5, "dma": 45}
    assert timeline.starts.tolist() == [0, 10, 40, 10, 40]
    assert timeline.cycles == 60
    assert timeline.stalls == {"fetch": 0, "load": 20, "store": 0, "queue": 0}


def test_fetch_times_delay_what_they_belong_to():
    timeline = time_operations([load(10), load(10)], OPU, fetch=[3, 20])
    assert timeline.starts.tolist() == [3, 23]
    with pytest.raises(ArgumentError, match="1 fetch times for 2"):
        time_operations([load(), load()], OPU, fetch=[1])


def test_a_program_without_operations_takes_no_time():
    timeline = time_operations([], OPU)
    assert timeline.cycles == 0 and np.size(timeline.starts) == 0


# -- the mode compat -------------------------------------------------------------------------------


MISTILED = conv(114, 128, 128, 3, pool=2)
"""The tool chain cuts it through the middle of pooled windows."""


@cache
def alone(shape: ConvShape) -> int:
    """Cycles of a layer between nothing."""
    (decision,) = choose(lower(shape.network()).steps, OPU, is_compat=True)
    return decision.cycles


@pytest.mark.parametrize(
    "name, cycles",
    [
        ("RESNET50", 4_733_436),
        ("YOLOV2", 14_591_292),
        ("YOLOV2_608", 31_142_021),
        ("YOLOV3", 33_161_104),
    ],
)
def test_networks_take_the_cycles_of_a_reference_model_of_that_schedule(
    name: str, cycles: int
) -> None:
    """It loads rows between those of a stride, and cuts 13 rows of two pixels as 12 and 1."""
    total = sum(map(alone, getattr(tables, name)))
    assert 0.995 * cycles <= total <= 1.0001 * cycles


@pytest.mark.parametrize(
    "shape, cycles, words",
    [
        (conv(418, 3, 16, 3, pool=2), 218684, (173056, 16, 43264)),
        (conv(226, 3, 64, 3), 152006, (50176, 32, 50176)),
        (MISTILED, 1814115, None),
        (conv(30, 256, 256, 3, 2), 115099, None),
        (conv(52, 256, 255, 1), 185382, None),
        (conv(28, 128, 256, 3, pool=2), 196726, (6272, 4608, 676)),
    ],
)
def test_single_layers_of_the_reference(
    shape: ConvShape, cycles: int, words: tuple[int, int, int] | None
) -> None:
    off = 400 if shape == MISTILED else 0  # ours is aligned
    assert abs(alone(shape) - cycles) <= off
    if words is not None:
        operations = compile_network(shape.network(), OPU, "compat").operations
        loads = [operation for operation in operations if isinstance(operation, Load)]
        moved = [sum(x.words for x in loads if x.kind == kind) for kind in Kind]
        stored = sum(stored_words(x) for x in operations if isinstance(x, Store))
        assert (moved[Kind.FEATURES], moved[Kind.WEIGHTS], stored) == words


@pytest.mark.parametrize("name, total", [("tiny_yolo", 3_791_199), ("vgg16", 15_162_977)])
def test_programs_take_the_cycles_of_the_public_estimate(name: str, total: int) -> None:
    model = compile_network(getattr(conv_networks, name)(), OPU, "compat")
    ends: dict[int, int] = {}
    for operation, end in zip(model.operations, model.time().ends, strict=True):
        assert operation.origin is not None
        ends[operation.origin.layer] = max(ends.get(operation.origin.layer, 0), int(end))
    cycles = [b - a for a, b in pairwise([0, *ends.values()])]
    for number, (shape, printed) in enumerate(getattr(tables, name.upper())):
        off = 800 if shape == MISTILED else 250 if shape.channels == 3 else 1
        assert abs(cycles[number] - printed) <= off, number
    assert sum(cycles) == pytest.approx(total, rel=1e-4)
