"""Random Layers that read and assign buffers do, converted and saved, what they do in Python."""

from __future__ import annotations

import collections

import pytest

from tests.dy2st.jit.state_programs import compare, program_of

ROUNDS, PROGRAMS = 5, 10


@pytest.mark.parametrize("number", range(ROUNDS))
def test_layers_drawn_at_random_do_what_python_does(number: int) -> None:
    seeds = range(number * PROGRAMS, (number + 1) * PROGRAMS)
    found = collections.Counter(compare(program_of(seed), f"<state {seed}>") for seed in seeds)
    assert found["equal"] >= PROGRAMS // 5, found
