"""Models that are trained converted go the way that eager training goes."""

from __future__ import annotations

import pytest

from dy2st.errors import TensorAsPython
from tests.dy2st.jit.trained import control, layers, objectives  # noqa: F401  they fill the table
from tests.dy2st.jit.trained.compare import MODELS, OPTIMIZERS, WAYS, check
from tests.effort import effort

# What whole steps cannot do yet: backward() of a loss that a branch or loop has given is refused,
# and sizes that change along two axes take more Programs than two.
REFUSED = """Branch BranchOfOneSide NestedBranches EarlyReturn WhileWithLayers WhileThatNeverRuns
    ForOverATensor ForWithContinue NestedLoops BranchInALoop Collected CollectedByABranch Chosen
    Mixture Halting Unrolled Scheduled Recursive Tried Dicts""".split()
MANY_PROGRAMS = ["LSTM", "GRU", "SimpleRNN", "CellByHand"]

BY = effort(["Adam"], list(OPTIMIZERS))


@pytest.mark.parametrize("by", BY)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", MODELS)
def test_losses_and_state_are_those_of_eager_training(name: str, way: str, by: str) -> None:
    steps = effort(4, 10)
    if way == "step" and name in REFUSED:
        with pytest.raises(TensorAsPython):
            check(name, way, by, steps)
    elif way == "step" and name in MANY_PROGRAMS:
        with pytest.raises(AssertionError, match="Programs"):
            check(name, way, by, steps)
    else:
        check(name, way, by, steps)


def test_there_are_sixty_models() -> None:
    assert len(MODELS) >= 60
