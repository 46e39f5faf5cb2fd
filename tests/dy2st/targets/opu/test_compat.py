"""The schedules of the mode "compat" take the cycles that the public tool chain prints."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import pytest

from dy2st.targets.opu.choice import choose
from dy2st.targets.opu.compiled import compile_network
from dy2st.targets.opu.machine import machine
from dy2st.targets.opu.operations import Kind, Load, Store
from dy2st.targets.opu.steps import lower
from dy2st.targets.opu.timing import stored_words
from tests.dy2st.targets.opu import conv_networks
from tests.dy2st.targets.opu import conv_tables as tables
from tests.dy2st.targets.opu.conv_tables import ConvShape, conv

OPU = machine("opu1024")
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
