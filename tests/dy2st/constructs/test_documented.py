"""docs/constructs.md says what the rows prove."""

from __future__ import annotations

import sys

import pytest

from tests.dy2st.constructs import documented
from tests.dy2st.constructs.documented import OLDEST, PAGE, page


@pytest.mark.skipif(sys.version_info < OLDEST, reason="some rows need newer syntax")
def test_the_page_is_that_of_now() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), (
        "run: python -m tests.dy2st.constructs.documented"
    )


def test_a_python_that_cannot_read_all_rows_writes_no_page(monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(documented, "OLDEST", (99, 0))
    monkeypatch.setattr(documented, "PAGE", tmp_path / "page.md")
    with pytest.raises(SystemExit, match=r"99\.0"):
        documented.write()
    assert not documented.PAGE.exists()
