"""Why a rule leaves a place alone is put into words for those alone who ask."""

from __future__ import annotations

import pytest

from dy2st.passes import explain
from dy2st.passes.patterns.pattern import op, value
from dy2st.passes.patterns.rewrite_pass import rewrite_pass
from dy2st.passes.patterns.rule import rule
from dy2st_runtime.ir import F


class Loud:
    """Words that nobody may ask for."""

    def __format__(self, spec):
        raise AssertionError("somebody has asked for the words")

    __str__ = __repr__ = __format__


def by_pattern():
    @rule(op.relu(value(lambda _: False, Loud())))
    def never(m):
        """relu(x) -> x."""

    return never


def by_requirement():
    x = value()

    @rule(op.relu(x))
    def never(m):
        """relu(x) -> x."""
        m.require(False, "it is {}", Loud())

    return never


@pytest.mark.parametrize("made", [by_pattern, by_requirement])
def test_a_failed_match_formats_no_message(t, made):
    program = t.program_of(lambda x: F.relu(x), t.floats(3))
    applied = rewrite_pass("Never", [made()], opt_level=0, doc="Nothing.")()
    assert str(applied(program)) == str(program)
    with pytest.raises(Exception, match="somebody has asked for the words"):
        explain(applied, program)
