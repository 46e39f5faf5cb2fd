"""Models that are trained converted go the way that eager training goes."""

from __future__ import annotations

import pytest

from dy2st import to_static
from tests.dy2st.jit.trained import control, layers, objectives  # noqa: F401  they fill the table
from tests.dy2st.jit.trained.compare import (
    MODELS,
    OPTIMIZERS,
    WAYS,
    batch,
    check,
    check_entry,
    loss_of,
)
from tests.dy2st.jit.trained.searches import SEARCHES
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


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", SEARCHES)
def test_searches_are_trained_as_eagerly(name: str, way: str) -> None:
    # With six steps some go so far that their losses overflow.
    check_entry(SEARCHES[name], way, "SGD", effort(4, 5), most=4)


@pytest.mark.parametrize("name", SEARCHES)
def test_gradients_of_searches_are_compiled(name: str) -> None:
    entry = SEARCHES[name]
    static = to_static(entry.make().to(dtype="float64"))
    for turn in range(6):
        loss_of(static(batch(entry, turn))).backward()
    trained = static.forward.concrete_program._trained
    assert trained is not None and trained.why_not is None


def test_there_are_sixty_models() -> None:
    assert len(MODELS) >= 60
