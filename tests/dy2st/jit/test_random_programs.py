"""Random programs do, converted, what they do in Python: gradients, objects, shapes and states."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.dy2st.jit import (
    argument_programs,
    gradient_programs,
    object_programs,
    state_programs,
    view_programs,
)
from tests.dy2st.jit.shape_programs import compare as compare_shapes
from tests.effort import effort

pytestmark = pytest.mark.usefixtures("every_size")

# -- gradients by the tape, in a Program, converted, and by quotients ------------------------------

FOUND = [24, 70, 1048, 1143, 1624, 1645, 1884, 2020]
"""Programs that were once wrong."""


def gradients(seed: int) -> str:
    text = gradient_programs.program_of(seed)
    return gradient_programs.compare(seed, text, f"<gradients {seed}>")


@pytest.mark.parametrize("seed", [*range(effort(3, 60)), *FOUND])
def test_four_ways_lead_to_the_same_gradients(seed: int) -> None:
    verdict = gradients(seed)
    assert verdict.startswith(("equal", "refused")), verdict


def test_differences_tell_of_many_programs() -> None:
    count = effort(4, 12)
    verdicts = [gradients(seed) for seed in range(300, 300 + count)]
    assert sum("with differences" in verdict for verdict in verdicts) >= count // 4, verdicts
    assert sum("compiled" in verdict for verdict in verdicts) >= count // 2, verdicts


# -- objects that a tensor has chosen, and Layers that read and assign buffers ---------------------


@pytest.mark.parametrize(
    ("programs", "number", "count", "equal"),
    # of 25 objects that are drawn; of all 93 in 100; later ones hold themselves
    [(object_programs, number, 25, 15) for number in range(effort(2, 80))]
    + [(state_programs, number, 10, 2) for number in range(5)]
    + [(argument_programs, number, 5, 2) for number in range(effort(2, 60))],
)
def test_objects_and_states_change_as_in_python(programs, number, count, equal) -> None:
    seeds = range(number * count, (number + 1) * count)
    found = Counter(programs.compare(programs.program_of(s), f"<random {s}>") for s in seeds)
    assert found["equal"] >= equal, found


# -- shapes, for any sizes -------------------------------------------------------------------------

FELL = (20587, 80298, 95019, 95584, 95769, 95984)
"""Programs of long runs that were rejected once, or gave something else."""


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.filterwarnings("ignore:Out of bound index found:DeprecationWarning")
@pytest.mark.parametrize("seed", FELL)
def test_a_program_that_fell_once_does_not_fall_again(seed: int) -> None:
    assert compare_shapes(seed) == "equal"


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
# NumPy 2.2, the last for Python 3.10, warns where later ones raise.
@pytest.mark.filterwarnings("ignore:Out of bound index found:DeprecationWarning")
@pytest.mark.parametrize("first", range(0, 60, 15))
def test_programs_of_any_sizes_are_never_rejected_and_give_what_eager_operators_give(
    first: int,
) -> None:
    verdicts = [compare_shapes(seed) for seed in range(first, first + 15)]
    refused = [verdict for verdict in verdicts if verdict != "equal"]
    assert len(refused) <= 3, refused


# -- views that are changed in place, beside NumPy's own -------------------------------------------


@pytest.mark.parametrize("seed", range(effort(3, 400)))
def test_a_random_program_answers_as_numpy_does(seed: int) -> None:
    text = view_programs.program_of(seed)
    view_programs.compare(seed, text, f"<views {seed}>", view_programs.ALL)


def test_most_programs_are_no_refusals() -> None:
    seeds = range(1000, 1000 + effort(3, 200))
    verdicts = [
        view_programs.compare(s, view_programs.program_of(s), f"<views {s}>") for s in seeds
    ]
    assert sum(verdict.startswith("refused") for verdict in verdicts) <= len(seeds) / 4


def test_a_seed_gives_the_same_program() -> None:
    of = view_programs.program_of
    assert of(3) == of(3) != of(4)
