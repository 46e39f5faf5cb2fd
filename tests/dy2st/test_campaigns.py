"""Campaigns that are asked for what there is not say so, and not that nothing was wrong."""

from __future__ import annotations

import sys

import pytest

from tests.dy2st.catalogue import campaign as catalogue
from tests.dy2st.jit.outside import campaign as outside
from tests.dy2st.ordinary import driver

MAINS = {
    "outside": outside.main,
    "catalogue": catalogue.main,
    "ordinary": lambda: driver.main(*sys.argv[1:]),
}


@pytest.mark.parametrize("name", MAINS)
def test_a_name_that_nothing_has_is_an_error(name, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["campaign", "no such name"])
    with pytest.raises(SystemExit) as ended:
        MAINS[name]()
    assert ended.value.code != 0
