"""What the tests of patterns share: passes of one rule, and where they have fired."""

from __future__ import annotations

import pytest

from dy2st.passes import PassContext, rewrite_pass, rule
from dy2st.passes.patterns import rewrite_pass as offered
from dy2st.passes.patterns.rewriter import rewrite
from dy2st_runtime.ir.clone import clone


@pytest.fixture(autouse=True)
def own_rules(monkeypatch):
    """Rules that a test offers are forgotten after it, as passes are."""
    monkeypatch.setattr(offered, "_offered", dict(offered._offered))


@pytest.fixture
def fires():
    """At how many places a pattern is found."""

    def counted(program, *patterns):
        places = []

        @rule(*patterns)
        def note(m):
            places.append(m)
            m.fail("noted")

        rewrite(clone(program), [note], PassContext())
        return len(places)

    return counted


@pytest.fixture
def as_pass():
    """A pass of some rules."""

    def make(*rules, name="Made"):
        return rewrite_pass(name, rules, opt_level=0, doc="Rules of a test.")()

    return make
