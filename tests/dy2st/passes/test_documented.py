"""docs/passes.md shows what the passes do: its texts are those of now, and keep the numbers."""

from __future__ import annotations

import re

import pytest

from dy2st.passes import Module, find, pass_names
from tests.dy2st.passes.documented import EXAMPLES, PAGE, WITHOUT, before_and_after, with_texts


def test_every_pass_has_an_example():
    made = {name: type(find(name)).__module__ for name in pass_names()}
    own = {name for name, module in made.items() if module.startswith("dy2st.passes")}
    own.discard("DoNothing")  # of a docstring that has been run
    assert {*EXAMPLES, *WITHOUT} == own  # targets register passes, too


def test_the_page_shows_the_texts_of_now():
    page = PAGE.read_text(encoding="utf-8")
    assert with_texts(page) == page, "run: python tests/dy2st/passes/documented.py"


def test_a_section_without_texts_takes_none_of_the_next_one():
    page = PAGE.read_text(encoding="utf-8")
    name = "SimplifyAlgebra"
    bare = re.sub(rf"(### {name}\n).*?(?=\n###)", r"\1", page, count=1, flags=re.DOTALL)
    assert bare != page
    with pytest.raises(AssertionError, match=f"no two blocks under ### {name}"):
        with_texts(bare)


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_changes(name):
    before, after = before_and_after(name)
    assert before != after


@pytest.mark.parametrize(
    "name", sorted({*EXAMPLES} - {"MutateOpsForTraining", "SkipOutputSoftmax"})
)
def test_an_example_keeps_its_numbers(name, t):
    example = EXAMPLES[name]
    tolerance = 1e-2 if name == "ToMixedPrecision" else 1e-5
    t.check(find(name), example.program(), example.state, rtol=tolerance)


def test_the_skipped_softmax_is_left_to_the_host():
    module = find("SkipOutputSoftmax")(Module({"main": EXAMPLES["SkipOutputSoftmax"].program()}))
    assert module.epilogues == {"main": {0: ("softmax", {"axis": 1})}}
