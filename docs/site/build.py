"""Builds the site into build/site/html: `python -m docs.site.build`, with the extra `docs`.

Pages are copied with their links made to fit, and written from docstrings and source; then zensical
makes HTML of them, and every link in that is followed. What is wrong ends it with status 1. Nothing
that it makes is kept in the repository.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from docs.site import links, notebooks, reference, refusals

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BUILD = ROOT / "build" / "site"
REPOSITORY = "https://github.com/dy2st/dy2st/blob/main"
# Pages that do not stand in docs/, and what they are called here.
OTHERS = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "benchmarks/results.md": "results.md",
    "benchmarks/peers.md": "peers.md",
}
FILTER = '<input class="filter" type="search" placeholder="Show rows that have these words">'
FILTERED = ("constructs.md", "refusals.md")
_LINK = re.compile(r"(\]\()(?!\w+:|#)([^)#\s]+)(#[^)\s]+)?(\))")
_CODE = re.compile(r"(^```.*?^```$|(?<=\n\n)(?: {4}[^\n]*\n)+)", re.MULTILINE | re.DOTALL)


def named() -> dict[str, str]:
    """The pages of the repository, and what they are called on the site."""
    found = {f"docs/{path.name}": path.name for path in sorted((ROOT / "docs").glob("*.md"))}
    return {**found, **OTHERS}


def staged(place: str, text: str) -> str:
    """A page whose links lead to pages of the site or into the repository, with GitHub's anchors.

    >>> staged("README.md", "[the engines](docs/engines.md#write-one)")
    '[the engines](engines.md#write-one)'
    """
    names = named()

    def link(match: re.Match[str]) -> str:
        target = os.path.normpath(os.path.join(os.path.dirname(place), match[2]))
        if target.startswith("docs/images/"):
            return f"{match[1]}{target.removeprefix('docs/')}{match[4]}"
        if target in names:
            return f"{match[1]}{names[target]}{match[3] or ''}{match[4]}"
        return f"{match[1]}{REPOSITORY}/{target}{match[4]}"

    def heading(match: re.Match[str]) -> str:
        slug = re.sub(r"[^\w\- ]", "", match[2].lower()).replace(" ", "-")
        return f"{match[1]} {match[2]} {{#{slug}}}"

    parts = _CODE.split(text)  # code stands at the odd places
    for number in range(0, len(parts), 2):
        part = _LINK.sub(link, parts[number])
        parts[number] = re.sub(r"^(#+) (.+)$", heading, part, flags=re.MULTILINE)
    return "".join(parts)


def with_filter(text: str) -> str:
    """A page with a box over its first table that filters the rows of all tables."""
    before, title, after = text.partition("\n## ")
    return f"{before}\n{FILTER}\n{title}{after}"


def write_pages(folder: Path) -> None:
    """All that the generator reads."""
    shutil.rmtree(folder, ignore_errors=True)
    pages = folder / "pages"
    (pages / "reference").mkdir(parents=True)
    shutil.copytree(ROOT / "docs" / "images", pages / "images")
    for name in ("site.css", "site.js"):
        shutil.copy(HERE / name, pages)
    for place, name in named().items():
        source = (ROOT / place).read_text(encoding="utf-8")
        text = staged(place, source)
        page = name.removesuffix(".md")
        if page in notebooks.PAGES:
            made = notebooks.notebook(source)
            (pages / f"{page}.ipynb").write_text(made, encoding="utf-8")
            text = f"{text}\n[This page as a notebook]({page}.ipynb)\n"
        (pages / name).write_text(with_filter(text) if name in FILTERED else text, encoding="utf-8")
    text = with_filter(refusals.page(ROOT))
    (pages / "refusals.md").write_text(text, encoding="utf-8")
    modules = reference.pages()
    for name, text in modules.items():
        (pages / "reference" / name).write_text(text, encoding="utf-8")
    entries = "".join(f"\n      - {name.removesuffix('.md')}: reference/{name}" for name in modules)
    settings = (HERE / "mkdocs.yml").read_text(encoding="utf-8")
    settings = settings.replace(" REFERENCE", entries)
    others = [name for name in named().values() if f" {name}\n" not in settings]
    entries = "".join(f"      - {name}\n" for name in others)
    settings = re.sub(r" +# and all pages of docs/.*\n", entries, settings)
    (folder / "mkdocs.yml").write_text(settings, encoding="utf-8")


def main() -> int:
    """Write the pages, build the site, follow its links; the exit status."""
    write_pages(BUILD)
    command = [sys.executable, "-m", "zensical", "build", "--strict", "--clean", "-f"]
    done = subprocess.run(
        [*command, str(BUILD / "mkdocs.yml")],
        env={**os.environ, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        print(done.stdout, done.stderr, sep="\n")
        return 1
    wrong = links.wrong(BUILD / "html")
    print("\n".join(wrong) or f"built: {BUILD / 'html' / 'index.html'}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
