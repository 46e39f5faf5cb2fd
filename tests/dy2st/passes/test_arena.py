"""The plan of memory holds: Programs that run in it, value by value, compute the same."""

from __future__ import annotations

import numpy as np
import pytest

from dy2st.passes import Module, pipeline
from dy2st_runtime.ir.functions import inlined
from examples.zoo.__main__ import compare
from examples.zoo.models import MODELS
from tests.dy2st.passes.arena import run_both
from tests.effort import effort
from tests.random_programs import REFUSED, random_program

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def flat(values):
    """Arrays of values, those of lists one after the other."""
    return [a for v in values for a in (flat(v) if isinstance(v, list) else [v.array])]


def check(program, inputs, state):
    """The bits in planned memory are the interpreter's; how many values were stored."""
    given = [*inputs, *state]
    copies = [array.copy() for array in given]
    try:
        expected, found, stored = run_both(program, inputs, state)
    except REFUSED:  # a size or place that the operators do not take
        return 0
    for have, want in zip(flat(found), flat(expected), strict=True):
        assert have.dtype == want.dtype
        np.testing.assert_array_equal(have, want)
    assert all(a.tobytes() == b.tobytes() for a, b in zip(given, copies, strict=True))
    return stored


@pytest.mark.parametrize("block", range(effort(3, 10)))
def test_random_programs_run_in_planned_memory(block):
    stored = 0
    for seed in range(1000 + block * 25, 1025 + block * 25):
        made = random_program(seed, 10 + seed % 3 * 12)
        stored += check(made.program, made.inputs, list(made.state.values()))
    assert stored > 100


@pytest.mark.parametrize("applied", [None, "inference", "opu", "training"])
@pytest.mark.parametrize("name", MODELS)
def test_models_run_in_planned_memory(name, applied):
    comparison = compare(name, tiny=True)
    program, state = inlined(comparison.before), comparison.before_state
    if applied:
        arrays = dict(zip(program.state, state, strict=True))
        module = pipeline(applied)(Module({program.name: program}, arrays))
        program = module.programs[program.name]
        state = module.state_of(program)
    for batch in (1, 2):
        inputs = MODELS[name].inputs(np.random.default_rng(batch), batch, True)
        assert check(program, inputs, state) > 10
