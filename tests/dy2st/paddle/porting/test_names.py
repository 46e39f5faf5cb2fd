"""The table of PaddlePaddle's names: whole, and dy2st asked about each."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

from dy2st.paddle.porting import names, page
from dy2st.paddle.porting.absent import ABSENT, REFUSED
from dy2st.paddle.porting.names import is_here, names_of_paddle


def test_the_file_is_read_as_it_is_written():
    spaces = names.names_of_paddle()
    assert names.written(spaces) == names._FILE.read_text()
    assert len(spaces) > 50 and sum(map(len, spaces.values())) > 2000
    assert {"relu", "cross_entropy"} <= set(spaces["nn.functional"])


@pytest.mark.skipif(not importlib.util.find_spec("paddle"), reason="PaddlePaddle is not installed")
def test_the_file_is_that_of_the_installed_release():
    assert names.names_of_installed_paddle() == names.names_of_paddle()


@pytest.mark.parametrize(
    "name",
    [
        "nn.Linear",
        "nn.functional.relu",
        "Tensor.reshape",
        "float32.name",
        "tensor.creation",
        "newaxis",
        "",
    ],
)
def test_what_is_here_is_found(name):
    assert names.is_here(name)


@pytest.mark.parametrize(
    "name",
    [
        "nn.NoLayer",
        "no_space.at_all",
        "Tensor.no_method",
        "XPUPlace",
        "inference.XpuConfig.device_id",
    ],
)
def test_what_is_not_here_is_not_found(name):
    assert not names.is_here(name)


def test_advice_stands_for_all_that_is_under_a_name():
    assert names.why_not("inference.XpuConfig") == ABSENT["inference"]
    assert names.why_not("enable_static") == REFUSED["enable_static"]
    assert names.why_not("no_advice_for_this") == ""


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_what_refuses_exists(name):
    assert names.exists(name)


# -- docs/paddle.md --------------------------------------------------------------------------------


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
    for space, known in names_of_paddle().items():
        prefix = "" if space == "paddle" else f"{space}."
        listed = MISSING.get(prefix.removesuffix("."), set())
        gone += [
            prefix + name for name in known if name not in listed and not is_here(prefix + name)
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
