"""How a benchmark keeps its figure: pytest-benchmark stores it, run.py makes the table."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dy2st_runtime import engine

engine.DEFAULT = "numpy"  # of what names no engine: `auto` would change it while it is measured


@pytest.fixture
def figure(benchmark):
    """figure(what, measure, unit, goal): measure, and keep the value with its goal, if any."""

    def keep(what: str, measure: Callable[[], float], unit: str, goal: float | None) -> None:
        value = benchmark.pedantic(measure, rounds=1)
        benchmark.extra_info.update(what=what, value=value, unit=unit, goal=goal)

    return keep
