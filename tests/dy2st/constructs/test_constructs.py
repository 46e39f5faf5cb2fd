"""Every row of docs/constructs.md holds."""

from __future__ import annotations

import pytest

from tests.dy2st.constructs.catalogue import Row, check_exact, check_refused
from tests.dy2st.constructs.sections import ALL_ROWS


def _rows(is_refused: bool) -> list[object]:
    rows = [row for row in ALL_ROWS if (row.refused is not None) is is_refused]
    return [pytest.param(row, id=f"{row.section}-{row.name}") for row in rows]


@pytest.mark.parametrize("row", _rows(is_refused=False))
def test_the_program_gives_what_python_gives(row: Row) -> None:
    check_exact(row)


@pytest.mark.parametrize("row", _rows(is_refused=True))
def test_what_has_no_exact_form_is_refused_with_place_cause_and_hint(row: Row) -> None:
    check_refused(row)


def test_no_two_rows_have_one_name() -> None:
    names = [(row.section, row.name) for row in ALL_ROWS]
    assert len(set(names)) == len(names)
