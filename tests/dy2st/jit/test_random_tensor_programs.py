"""Random programs over tensors and Python values give by one Program what they give in Python."""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from tests.campaign import define
from tests.dy2st.jit.tensor_programs import INPUTS, Writer, compare, lines_taken, program_of
from tests.effort import effort

pytestmark = pytest.mark.usefixtures("every_size")
ROUNDS, PROGRAMS = effort(2, 6), effort(15, 50)


@pytest.mark.parametrize("number", range(ROUNDS))
def test_programs_drawn_at_random_give_what_python_gives(number: int) -> None:
    verdicts: list[str] = []

    @seed(number)
    @settings(
        max_examples=PROGRAMS,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.randoms(use_true_random=False))
    def run(choices: random.Random) -> None:
        verdicts.append(compare(Writer(choices.choice).program()))

    run()
    refused = [verdict for verdict in verdicts if verdict != "equal"]
    assert len(verdicts) >= PROGRAMS
    assert len(refused) <= len(verdicts) // 3, refused


def test_the_inputs_take_nearly_every_line_of_the_programs() -> None:
    taken = written = 0
    for number in range(100):
        done, every = lines_taken(define(program_of(number), f"<lines of {number}>"), INPUTS)
        taken, written = taken + len(done), written + len(every)
    # What is left is under conditions of Python's own numbers, and in handlers of no exception.
    assert taken > 0.75 * written
