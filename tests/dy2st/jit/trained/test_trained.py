"""Models that are trained converted go the way that eager training goes."""

from __future__ import annotations

import pytest

from tests.dy2st.jit.trained import control, layers, objectives  # noqa: F401  they fill the table
from tests.dy2st.jit.trained.compare import MODELS, OPTIMIZERS, WAYS, check
from tests.effort import effort

# Some batches leave parameters of these without a gradient: a step has a Program more for each set
# that has one for the first time.
BY_GRADIENTS = "Branch EarlyReturn BranchInALoop Chosen Mixture Scheduled Recursive Tried".split()

BY = effort(["Adam"], list(OPTIMIZERS))


@pytest.mark.parametrize("by", BY)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", MODELS)
def test_losses_and_state_are_those_of_eager_training(name: str, way: str, by: str) -> None:
    most = 4 if way == "step" and name in BY_GRADIENTS else 2
    check(name, way, by, effort(4, 10), most)


def test_there_are_sixty_models() -> None:
    assert len(MODELS) >= 60
