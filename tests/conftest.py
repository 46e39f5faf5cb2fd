"""What all tests share: a small heap, and on the gate the same cases each time."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from dy2st_runtime import engine
from dy2st_runtime.ops.lazy import load_all
from tests.systems import not_here

collect_ignore = not_here()

# Results of tests that name no engine have the same bits each time; `auto` has tests of its own.
engine.DEFAULT = "numpy"

# Tests that are drawn from all records see those of the late families too.
load_all()

# How long it takes to draw inputs is no failure: other processes may be at work.
BUSY = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("here", **BUSY)
settings.register_profile("gate", derandomize=True, **BUSY)
settings.load_profile("gate" if os.environ.get("CI") else "here")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Searches for garbage look at what tests make, not at thousands of collected tests."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.collect()
        gc.freeze()


@pytest.fixture(scope="module")
def small_heap() -> None:
    """The same for modules that search often: what tests before have left is not looked at."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def every_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """However small a function of the user's is, it is one of the Program once it is called again."""
    monkeypatch.setattr("dy2st.convert.call_context.Repeats.least", 0)
