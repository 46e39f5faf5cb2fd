"""The same expressions with PaddlePaddle and dy2st; only where PaddlePaddle is installed."""

import numpy as np
import pytest

import dy2st
from dy2st.paddle.porting.differences import DIFFERENCES
from tests.dy2st.against_paddle.comparing import difference, gradients, outcome
from tests.dy2st.against_paddle.expressions import GROUPS

paddle = pytest.importorskip("paddle")
if paddle is dy2st:
    pytest.skip("`paddle` means dy2st here", allow_module_level=True)


@pytest.fixture(autouse=True)
def _promotion():
    with dy2st.promotion("paddle"):
        yield


@pytest.mark.parametrize("group", GROUPS)
def test_values_dtypes_and_shapes_are_the_same(group):
    found = {}
    for expression in GROUPS[group]:
        theirs = outcome(paddle, expression)
        assert not isinstance(theirs, Exception), expression
        differs = difference(theirs, outcome(dy2st, expression))
        if differs:
            found[expression] = differs
    assert not found


@pytest.mark.parametrize("entry", [d for d in DIFFERENCES if d.expression], ids=lambda d: d.name)
def test_what_is_said_to_differ_does(entry):
    theirs, ours = outcome(paddle, entry.expression), outcome(dy2st, entry.expression)
    assert not isinstance(ours, Exception)
    assert difference(theirs, ours)


WRONG_THERE = {"F.group_norm(X(2, 4, 3), 2)"}


@pytest.mark.parametrize("group", GROUPS)
def test_gradients_are_the_same(group):
    found = []
    for expression in GROUPS[group]:
        if "X(" not in expression or expression in WRONG_THERE:
            continue
        pairs = zip(*(gradients(p, expression) for p in (paddle, dy2st)), strict=True)
        if not all(np.allclose(a, b, 1e-3, 1e-4, equal_nan=True) for a, b in pairs):
            found.append(expression)
    assert found == []
