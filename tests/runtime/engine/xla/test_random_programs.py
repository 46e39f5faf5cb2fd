"""Random Programs of views, branches, loops and lists: XLA's results against those of NumPy."""

from __future__ import annotations

import pytest

from dy2st_runtime import engine
from dy2st_runtime.engine.xla.executable import Executable
from tests.effort import effort
from tests.random_programs import random_program
from tests.runtime.engine.exactly import exactly
from tests.runtime.engine.native.random_runs import assert_near, check
from tests.runtime.engine.test_random_programs import flat

pytest.importorskip("jax", reason="the engine xla needs jax: pip install 'dy2st[jax]'")

UNSURE = {159}  # 2 * -sqrt(2) + (2 + 2 * sqrt(2)) as an integer is 2 or, by rounding, 1


@pytest.mark.filterwarnings("ignore:(divide|invalid|overflow|underflow)")
@pytest.mark.parametrize("seed", sorted({*range(effort(12, 3000))} - UNSURE))
def test_a_random_program_gives_what_numpy_gives(seed):
    made = random_program(seed, 10 + seed % 3 * 15)
    try:
        check(made, Executable)
    except AssertionError:
        assert is_chance(made), "another value, and NumPy's is right"


def is_chance(made):
    """Whether NumPy's result, too, is far from that in float64: differences of what is equal, say."""
    arrays = [*made.inputs, *made.state.values()]
    found = flat(engine.compile(made.program, "numpy").run(made.inputs, arrays[len(made.inputs) :]))
    exact = flat(exactly(made.program, arrays))
    try:
        assert_near([one.astype(two.dtype) for one, two in zip(found, exact)], exact)
    except AssertionError:
        return True
    return False
