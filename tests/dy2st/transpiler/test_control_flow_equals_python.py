"""The traced form and the text of a function of values do exactly what the function does."""

from __future__ import annotations

from contextlib import suppress
from types import FunctionType

import pytest

from tests.dy2st.catalogue.entry import Entry
from tests.dy2st.catalogue.themes import ENTRIES
from tests.dy2st.plain_values.control_flow import LOG

CONTROL_FLOW = [one for one in ENTRIES if one.theme == "plain_values.control_flow"]


@pytest.mark.parametrize("entry", CONTROL_FLOW, ids=lambda one: one.function.__name__)
def test_converted_control_flow_equals_python(entry: Entry, same_as_python) -> None:
    same_as_python(entry.function, *entry.inputs)


@pytest.mark.parametrize("entry", CONTROL_FLOW, ids=lambda one: one.function.__name__)
def test_effects_happen_in_the_same_order(entry: Entry, convert) -> None:
    assert isinstance(entry.function, FunctionType)
    logs = []
    for form in (entry.function, convert(entry.function)):
        LOG.clear()
        for arguments in entry.calls():
            with suppress(Exception):
                form(*arguments)
        logs.append(list(LOG))
    assert logs[0] == logs[1]
