"""Whole models before and after the pipeline `inference`: time and memory on the NumPy engine."""

from __future__ import annotations

import statistics
import sys
import tracemalloc
from pathlib import Path

import pytest
from measuring import in_turns

from dy2st.passes import plan_memory
from dy2st_runtime import engine

sys.path.insert(0, str(Path(__file__).parent.parent))

from examples.zoo.__main__ import compare


@pytest.mark.parametrize(
    ("name", "goal"),
    [
        ("resnet50", 1 / 1.1),
        ("mobilenet_v2", None),
        ("googlenet", None),
        ("bert", None),
        ("lstm", None),
    ],
)
def test_time_after_passes(figure, name, goal):
    model = compare(name)
    before, after = engine.compile(model.before), engine.compile(model.after)

    def ratio():
        turns = in_turns(
            lambda: after.run(model.inputs, model.after_state),
            lambda: before.run(model.inputs, model.before_state),
            rounds=9,
        )
        return statistics.median(a / b for a, b in turns)

    figure(f"{name} after the passes, against before", ratio, "times", goal)


@pytest.mark.parametrize("name", ["resnet50", "mobilenet_v2", "unet"])
def test_planned_memory(figure, name):
    model = compare(name)
    plan = plan_memory(model.after, model.sizes)
    what = f"{name}, planned memory of activations against memory for each value"
    figure(what, lambda: plan.arena / plan.unplanned, "times", 0.5)


def test_measured_memory(figure):
    model = compare("resnet50")
    executable = engine.compile(model.after)
    unplanned = plan_memory(model.after, model.sizes).unplanned

    def peak():
        tracemalloc.start()
        executable.run(model.inputs, model.after_state)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most / unplanned

    what = "resnet50, measured peak of a run against memory for each value"
    figure(what, peak, "times", 0.5)
