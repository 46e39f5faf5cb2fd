"""Random models in the manner of real code do what they do in Python, or are refused."""

from __future__ import annotations

import pytest

from tests.campaign import define
from tests.dy2st.jit.model_programs import INPUTS, compare, loosely, outcome, program_of
from tests.effort import effort

# The campaign by hand finds models that differ: docs/development.md.
PROGRAMS, EAGER = 5, effort(60, 500)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(PROGRAMS))
def test_a_model_does_what_it_does_in_python_or_is_refused(seed: int) -> None:
    verdict = compare(program_of(seed), f"<model {seed}>", has_spec=seed % 3 != 0)
    assert verdict.startswith(("equal", "refused"))


@pytest.mark.filterwarnings("ignore")
def test_the_models_run_in_python_and_seldom_raise() -> None:
    raised = 0
    for seed in range(EAGER):
        model = define(program_of(seed), f"<eager model {seed}>", "Model")()
        for inputs in INPUTS:
            result, _ = outcome(model, model, inputs)
            raised += result[0] == "raised"
            assert result[0] != "raised" or result[1] in (
                "ValueError",
                "IndexError",
                "AssertionError",
            )
    assert raised < EAGER * len(INPUTS) // 10


def test_a_seed_gives_one_program() -> None:
    assert program_of(7) == program_of(7)
    assert len({program_of(seed) for seed in range(40)}) == 40


def test_a_number_in_place_of_a_tensor_is_told_from_equal() -> None:
    number, tensor = ("int", 3), ("tensor", "float32", [], 3.0)
    assert number != tensor
    assert loosely(("list", [number])) == loosely(("list", [tensor]))
    assert loosely(number) != loosely(("tensor", "float32", [1], [3.0]))
