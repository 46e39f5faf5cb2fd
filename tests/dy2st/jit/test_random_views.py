"""Random programs of views that are changed in place, beside NumPy's own views."""

from collections import Counter

import pytest

from tests.dy2st.jit.view_programs import ALL, compare, program_of
from tests.effort import effort

MOST_REFUSED = 0.25


@pytest.mark.parametrize("seed", range(effort(12, 400)))
def test_a_random_program_answers_as_numpy_does(seed):
    compare(seed, program_of(seed), f"<views {seed}>", ALL)


def test_most_programs_are_no_refusals():
    seeds = range(1000, 1000 + effort(12, 200))
    found = Counter(compare(s, program_of(s), f"<views {s}>")[:7] for s in seeds)
    assert found["refused"] <= MOST_REFUSED * len(seeds)


def test_a_seed_gives_the_same_program():
    assert program_of(3) == program_of(3) != program_of(4)
