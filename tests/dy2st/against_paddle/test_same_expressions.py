"""The expressions that are compared with PaddlePaddle run, whether or not it is installed."""

import re

import pytest

import dy2st
from dy2st.paddle.porting.differences import DIFFERENCES
from tests.dy2st.against_paddle.comparing import difference, outcome, traced
from tests.dy2st.against_paddle.expressions import GROUPS

# Random, or with an axis that a Program must know.
NOT_TRACED = re.compile(r"rand|normal|uniform|bernoulli|axis=T\(")


def test_there_are_many_and_none_is_written_twice():
    expressions = [entry for group in GROUPS.values() for entry in group]
    assert len(set(expressions)) == len(expressions) >= 650


@pytest.mark.parametrize("mode", ["numpy", "paddle"])
@pytest.mark.parametrize("group", GROUPS)
def test_every_expression_gives_something(group, mode):
    with dy2st.promotion(mode):
        failed = {e: o for e in GROUPS[group] if isinstance(o := outcome(dy2st, e), Exception)}
    assert not failed


EVERY_FEWTH = 6  # the others take the same roads


@pytest.mark.parametrize("group", GROUPS)
def test_a_trace_gives_what_eager_code_gives(group):
    failed = {}
    with dy2st.promotion("paddle"):
        for expression in GROUPS[group][::EVERY_FEWTH]:
            if not NOT_TRACED.search(expression):
                differs = difference(outcome(dy2st, expression), traced(expression))
                failed.update({expression: differs} if differs else {})
    assert not failed


def test_every_difference_gives_something_and_has_a_name_of_its_own():
    names = [entry.name for entry in DIFFERENCES]
    assert len(set(names)) == len(names)
    for entry in DIFFERENCES:
        if entry.expression:
            assert not isinstance(outcome(dy2st, entry.expression), Exception)
