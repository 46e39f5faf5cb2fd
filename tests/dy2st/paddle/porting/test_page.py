"""docs/paddle.md: what it says is here, is here."""

import re
from pathlib import Path

from dy2st.paddle.porting import page
from dy2st.paddle.porting.names import is_here, names_of_paddle

PATH = Path(__file__).parents[4] / "docs" / "paddle.md"
TEXT = PATH.read_text(encoding="utf-8")
MISSING = {
    title.removeprefix("paddle.").removeprefix("paddle"): set(re.findall(r"`(\w+)`", text))
    for title, text in re.findall(
        r"^\*\*([\w.]+)\*\*: (.*?)\n(?:\n|<!--)", TEXT, re.MULTILINE | re.DOTALL
    )
}


def test_no_name_has_gone_that_the_page_says_is_here():
    gone = []
    for space, names in names_of_paddle().items():
        prefix = "" if space == "paddle" else f"{space}."
        listed = MISSING.get(prefix.removesuffix("."), set())
        gone += [
            prefix + name for name in names if name not in listed and not is_here(prefix + name)
        ]
    assert gone == []


def test_a_generated_part_is_put_in_its_place():
    text = "a\n<!-- names -->\nold\n<!-- end -->\nb\n<!-- end -->\n"
    assert page.put(text, "names", "new\n") == text.replace("old", "new")


def test_the_page_says_what_the_tables_do():
    assert page.renewed(TEXT) == TEXT, (
        "write it again: python -m dy2st.paddle.porting.page docs/paddle.md"
    )


def test_reasons_stand_beside_the_names():
    found = page._paragraph("static", ["Executor", "data"])
    assert found.startswith("**paddle.static**: `Executor`, `data`: static graphs made by hand")
    assert "(refused)" in page._paragraph("paddle", ["enable_static"])


def test_what_differs_on_purpose_stands_on_the_page():
    assert page.differences_page() in TEXT
