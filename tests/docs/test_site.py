"""The site: what its pages are made of, without the generator, which the gate runs."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import dy2st
from docs.site import build, links, notebooks, reference, refusals
from tests.test_readme import BLOCK, PAGES

ROOT = Path(__file__).parent.parent.parent


def test_every_page_has_its_place_in_the_navigation(tmp_path, monkeypatch):
    named = {**build.named(), "docs/core.md": "core.md", "docs/to_c.md": "unnamed.md"}
    monkeypatch.setattr(build, "named", lambda: named)
    monkeypatch.setattr(reference, "pages", lambda: {"dy2st.jit.md": "# dy2st.jit"})
    monkeypatch.setattr(refusals, "page", lambda root: "# Refused\n\n## A\n")
    build.write_pages(tmp_path)
    nav = (tmp_path / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
    listed = re.findall(r"- (?:.*: )?([\w-]+\.md)$", nav, re.MULTILINE)
    assert sorted(listed) == sorted({*named.values(), "refusals.md", "to_c.md"})
    assert "- dy2st.jit: reference/dy2st.jit.md\n" in nav


def test_links_lead_to_pages_of_the_site_or_into_the_repository():
    text = "# A b!\n[x](docs/core.md#top) [y](examples/digits.py) ![z](docs/images/resnet50_memory.svg)\n"
    assert build.staged("README.md", text) == (
        "# A b! {#a-b}\n[x](core.md#top) "
        f"[y]({build.REPOSITORY}/examples/digits.py) ![z](images/resnet50_memory.svg)\n"
    )
    assert build.staged("docs/core.md", "[a](../README.md)") == "[a](index.md)"
    code = "```python\n# no heading [x](y.md)\n```"
    assert build.staged("docs/core.md", code) == code


def test_the_filter_stands_over_the_first_table():
    text = build.with_filter("# T\n\nwords\n\n## First\n\n| a |\n")
    assert text.index("words") < text.index(build.FILTER) < text.index("## First")


def test_refusals_are_read_from_the_source(monkeypatch):
    found = refusals.refusals(ROOT)
    assert all(one.what and one.why and one.instead for one in found)
    whats = [one.what for one in found]
    assert "numpy() of a traced tensor" in whats or any("traced tensor" in what for what in whats)
    monkeypatch.setattr(refusals, "refusals", lambda root: found)
    page = refusals.page(ROOT)
    rows = [line for line in page.split("\n") if line.startswith("| ") and "---" not in line]
    assert len(rows) > len(found) > 120
    assert all(len(re.findall(r"(?<!\\)\|", row)) == 4 for row in rows)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("'a' + 'b'", "ab"),
        ("f'{x} is {y}'", "… is …"),
        ("'a' if x else 'b'", "a / b"),
        ("why", "…"),
    ],
)
def test_what_only_the_run_knows_is_left_open(source, text):
    assert refusals.words(refusals.ast.parse(source, mode="eval").body) == text


def test_the_reference_has_signatures_examples_and_methods():
    page = reference.page(dy2st.jit)
    assert "### to_static\n\n```python\nto_static(" in page
    assert "```pycon\n>>> " in page and "| `" in reference.page(dy2st.io)
    assert "| `abs_` | x becomes" in reference.page(dy2st)
    assert not re.search(r" at 0x[0-9a-f]+", page)
    assert reference.page(dy2st.jit) == page


def test_docstrings_become_text_and_code():
    doc = "Adds *all* of `a*b`.\n\nx    a tensor\ny    another\n\n>>> 1 + 1\n2"
    assert reference.in_markdown(doc) == (
        "Adds \\*all\\* of `a*b`.\n\n```text\nx    a tensor\ny    another\n```\n\n```pycon\n>>> 1 + 1\n2\n```"
    )


def test_sections_of_docstrings_become_lists():
    doc = "Sums.\n\nParameters\n----------\nx : Tensor\n    What\n    is added.\ny\n    Too.\n\nExamples\n--------\n>>> 1\n1"
    assert reference.in_markdown(doc) == (
        "Sums.\n\n**Parameters**\n\n- `x : Tensor`: What is added.\n- `y`: Too.\n\n"
        "**Examples**\n\n```pycon\n>>> 1\n1\n```"
    )


def test_a_link_that_leads_nowhere_is_found(tmp_path):
    (tmp_path / "index.html").write_text(
        '<a href="other/">a</a><a href="other/#here">b</a><a href="other/#there">c</a>'
        '<a href="gone.html">d</a><a href="https://example.org">e</a>'
        '<script src="https://example.org/x.js"></script><img src="no.png">'
    )
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "index.html").write_text('<h1 id="here">x</h1>')
    assert links.wrong(tmp_path) == [
        "index.html: no place is other/#there",
        "index.html: there is no gone.html",
        "index.html: it loads https://example.org/x.js",
        "index.html: there is no no.png",
    ]


@pytest.mark.parametrize("name", notebooks.PAGES)
def test_a_notebook_has_the_blocks_of_its_page_that_the_tests_run(name):
    assert ROOT / "docs" / f"{name}.md" in PAGES
    text = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
    made = json.loads(notebooks.notebook(text))
    cells = [cell["source"] for cell in made["cells"] if cell["cell_type"] == "code"]
    assert cells == [code.strip() for language, code in BLOCK.findall(text) if language == "python"]
    assert made["cells"][0]["source"].startswith("# ")
    assert len({cell["id"] for cell in made["cells"]}) == len(made["cells"])
