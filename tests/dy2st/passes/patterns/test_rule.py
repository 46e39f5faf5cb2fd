"""Rules: a pattern and a function."""

from __future__ import annotations

import pytest

from dy2st.passes import Rule, rule
from dy2st.passes.patterns.pattern import constant, op, value

X = value()


def test_a_rule_has_the_name_the_text_and_the_place_of_its_function():
    @rule(op.relu(X), benefit=3)
    def my_rule(m):
        """relu(x) -> x."""
        return m[X]

    assert isinstance(my_rule, Rule)
    assert (my_rule.name, my_rule.doc, my_rule.benefit) == ("my_rule", "relu(x) -> x.", 3)
    file, line = my_rule.place.rsplit(":", 1)
    assert file == __file__ and int(line) == my_rule.replace.__code__.co_firstlineno


def test_a_rule_without_a_text_has_an_empty_one():
    assert rule(op.relu(X))(lambda m: m[X]).doc == ""


@pytest.mark.parametrize("pattern", [X, constant(), op.relu(X) | op.abs(X), 3, None])
def test_a_rule_starts_from_an_operator(pattern):
    with pytest.raises(TypeError, match="a rule starts from an operator, not from"):
        rule(op.relu(X), pattern)


def test_a_rule_needs_a_pattern():
    with pytest.raises(TypeError, match="a rule needs a pattern"):
        rule()
