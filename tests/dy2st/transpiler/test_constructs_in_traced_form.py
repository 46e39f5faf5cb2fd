# ruff: noqa
"""Every construct does in traced form, with a protocol that does what Python does, what it does."""

from __future__ import annotations

import pytest

from dy2st.transpiler.lower import traced_form
from tests.dy2st.constructs.catalogue import Row, outcome
from tests.dy2st.constructs.sections import ALL_ROWS
from tests.dy2st.transpiler.plain_protocol import PLAIN

# They change what is outside, so that a second run gives another answer.
ONCE = {"attribute_of_an_outer_class"}
ROWS = [
    pytest.param(row, id=f"{row.section}-{row.name}") for row in ALL_ROWS if row.name not in ONCE
]


@pytest.mark.parametrize("row", ROWS)
def test_the_traced_form_gives_what_python_gives(row: Row) -> None:
    form = traced_form(row.function)
    traced = form.bind(PLAIN, row.function)
    for values in row.inputs:
        assert outcome(traced, values) == outcome(row.function, values)
