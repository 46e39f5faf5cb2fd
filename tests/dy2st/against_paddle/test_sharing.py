"""Views and gradients as PaddlePaddle has recorded them."""

import json
import linecache
from pathlib import Path

import pytest

import dy2st
from dy2st.jit import to_static
from tests.dy2st.against_paddle.sharing import EXPRESSIONS, PROGRAMS, define, gradients, sharing
from tests.effort import effort

ANSWERS = json.loads(
    (Path(__file__).parents[2] / "data" / "paddle" / "views.json").read_text("utf-8")
)
# What differs, with what is so here.
DIFFERENT = {
    "F.dropout(X(2, 3), training=False)": "the tensor itself",
    "P.increment(T([1.0]), 2.0)": "a new tensor",
}
CHUNKS = 8


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_the_same_results_are_views(chunk):
    every = effort(2, 1)
    different = []
    with dy2st.promotion("paddle"):
        for expression in EXPRESSIONS[chunk :: CHUNKS * every]:
            wanted = ANSWERS["sharing"][expression]
            if wanted is not None and sharing(dy2st, expression) != wanted:
                different.append(expression)
    assert set(different) <= set(DIFFERENT)


def function_of(name):
    text, file = define(PROGRAMS[name]), f"<{name}>"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    scope = {"P": dy2st}
    exec(compile(text, file, "exec"), scope)
    return scope["f"]


@pytest.mark.parametrize("name", PROGRAMS)
def test_gradients_flow_behind_a_change_of_a_view_as_they_do_there(name):
    assert gradients(dy2st, function_of(name)) == ANSWERS["programs"][name]


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_has_the_same_gradients(name):
    assert gradients(dy2st, to_static(function_of(name))) == ANSWERS["programs"][name]
