"""Random Programs of views, branches, loops and lists: XLA's results against those of NumPy."""

from __future__ import annotations

import pytest

from dy2st_runtime.engine.xla.executable import Executable
from tests.effort import effort
from tests.random_programs import random_program
from tests.runtime.engine.native.random_runs import check

pytest.importorskip("jax", reason="the engine xla needs jax: pip install 'dy2st[jax]'")


@pytest.mark.filterwarnings("ignore:(divide|invalid|overflow|underflow)")
@pytest.mark.parametrize("seed", range(effort(12, 1000)))
def test_a_random_program_gives_what_numpy_gives(seed):
    check(random_program(seed, 10 + seed % 3 * 15), Executable)
