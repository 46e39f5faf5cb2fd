"""Pages lead where they say: their links, and the files that they name; the way in stays short."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
OURS = [ROOT / name for name in ("dy2st", "runtime", "tests", "benchmarks", "docs", "examples")]
OF_USERS = (
    "from_torch.md",
    "opu.md",
    "paddle.md",
    "scale.md",
)  # name files and folders of a user's, too
NAMING = [page for page in PAGES if page.name not in OF_USERS]

LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)")
FILE = re.compile(r"(?<![\w/.-])(?:\w+/)*\w+\.py\b")
FOLDER = re.compile(r"(?<![\w/.-])(?:\w+/)+(?=[\s`,;:)]|$)", re.MULTILINE)


def headings(page):
    """The anchors of a page, as GitHub makes them of its headings."""
    code = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
    text = code.sub("", page.read_text(encoding="utf-8"))
    found = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", one.lower()).replace(" ", "-") for one in found}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for file, anchor in LINK.findall(page.read_text(encoding="utf-8")):
        target = page.parent / file if file else page
        assert target.exists(), file
        assert not anchor or anchor in headings(target), f"{file}#{anchor}"


@pytest.mark.parametrize("page", NAMING, ids=lambda page: page.name)
def test_the_files_that_a_page_names_exist(page):
    text = page.read_text(encoding="utf-8")
    known = {path.as_posix() for folder in OURS for path in folder.rglob("*.py")}
    known |= {path.as_posix() + "/" for folder in OURS for path in (folder, *folder.rglob("*/"))}
    wanted = {*FILE.findall(text), *FOLDER.findall(text)}
    assert not [one for one in sorted(wanted) if not any(k.endswith(f"/{one}") for k in known)]


def test_the_way_in_stays_short():
    page = ROOT / "docs" / "architecture.md"
    assert len(page.read_text(encoding="utf-8").split()) <= 3000
