"""Random programs that change shapes are verified, saved, loaded and run for any sizes."""

from __future__ import annotations

import pytest

from tests.dy2st.jit.shape_programs import compare

PROGRAMS, ROUNDS = 15, 4


FELL = (20587, 80298, 95019, 95584, 95769, 95984)
"""Programs of long runs that were rejected once, or gave something else."""


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.filterwarnings("ignore:Out of bound index found:DeprecationWarning")
@pytest.mark.parametrize("seed", FELL)
def test_a_program_that_fell_once_does_not_fall_again(seed: int):
    assert compare(seed) == "equal"


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
# NumPy 2.2, the last for Python 3.10, warns where later ones raise.
@pytest.mark.filterwarnings("ignore:Out of bound index found:DeprecationWarning")
@pytest.mark.parametrize("first", range(0, PROGRAMS * ROUNDS, PROGRAMS))
def test_programs_of_any_sizes_are_never_rejected_and_give_what_eager_operators_give(first: int):
    verdicts = [compare(seed) for seed in range(first, first + PROGRAMS)]
    refused = [verdict for verdict in verdicts if verdict != "equal"]
    assert len(refused) <= PROGRAMS // 5, refused
