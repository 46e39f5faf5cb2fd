"""Writes the generated parts of docs/paddle.md and docs/from_torch.md.

`python -m dy2st.paddle.porting.page docs/paddle.md` renews them.
"""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Iterable
from pathlib import Path

from dy2st.paddle.porting.absent import REFUSED
from dy2st.paddle.porting.differences import DIFFERENCES
from dy2st.paddle.porting.names import is_here, names_of_paddle, why_not
from dy2st.paddle.porting.of_torch import tables
from dy2st.paddle.porting.stubs import HOLLOW

_PART = "<!-- {} -->\n{}<!-- end -->"


def names_page() -> str:
    """A table of the name spaces, and what of each is not here and why."""
    spaces = names_of_paddle()
    missing = {
        space: [name for name in names_of_paddle()[space] if not is_here(_full(space, name))]
        for space in spaces
    }
    rows = ["| name space | names | here |", "| --- | ---: | ---: |"]
    for space, names in spaces.items():
        rows.append(f"| `{_title(space)}` | {len(names)} | {len(names) - len(missing[space])} |")
    total, absent = sum(map(len, spaces.values())), sum(map(len, missing.values()))
    rows.append(f"| all | {total} | {total - absent} |")
    paragraphs = [_paragraph(space, names) for space, names in missing.items() if names]
    return "\n".join([*rows, "", "### Not here", "", *paragraphs])


def _full(space: str, name: str) -> str:
    return name if space == "paddle" else f"{space}.{name}"


def _title(space: str) -> str:
    return space if space in ("paddle", "Tensor") else f"paddle.{space}"


def _paragraph(space: str, names: Iterable[str]) -> str:
    """The missing names of one space, those with the same reason together."""
    reasons: dict[str, list[str]] = {}
    for name in names:
        reasons.setdefault(why_not(_full(space, name)), []).append(name)
    parts = []
    for why, group in sorted(reasons.items()):
        text = ", ".join(f"`{name}`" for name in group)
        refused = all(_full(space, name) in REFUSED for name in group)
        parts.append(f"{text}{' (refused)' if refused else ''}{why and f': {why}'}.")
    text = f"**{_title(space)}**: {' '.join(parts)}"
    return textwrap.fill(text, 110, break_long_words=False, break_on_hyphens=False) + "\n"


def differences_page() -> str:
    """A table of what a name that both have does otherwise here."""
    rows = ["| | here | PaddlePaddle | because |", "| --- | --- | --- | --- |"]
    for entry in DIFFERENCES:
        why = f"{entry.why}; the same with: {entry.switch}" if entry.switch else entry.why
        rows.append(f"| {entry.name} | {entry.ours} | {entry.theirs} | {why} |")
    return "\n".join(rows) + "\n"


def hollow_page() -> str:
    """A table of the names that are here and do less than they say."""
    rows = ["| name | what it does here |", "| --- | --- |"]
    rows += [f"| `{_title(name)}` | {text} |" for name, text in HOLLOW.items() if text]
    return "\n".join(rows) + "\n"


def torch_page() -> str:
    """A table of what names of torch do otherwise here, those of one kind together."""
    names: dict[str, list[str]] = {}
    for name, text in {**tables.DIFFERENCES, **tables.NOTES}.items():
        names.setdefault(text, []).append(f"`{name}`")
    rows = ["| torch | here |", "| --- | --- |"]
    rows += [f"| {', '.join(group)} | {text} |" for text, group in names.items()]
    return "\n".join(rows) + "\n"


def renewed(page: str) -> str:
    """The page with its generated parts as they are now."""
    page = put(put(page, "names", names_page()), "differences", differences_page())
    return put(put(page, "hollow", hollow_page()), "torch", torch_page())


def put(page: str, name: str, text: str) -> str:
    """The page with a text between `<!-- name -->` and `<!-- end -->`."""
    pattern = re.compile(re.escape(f"<!-- {name} -->\n") + r".*?<!-- end -->", re.DOTALL)
    return pattern.sub(lambda _: _PART.format(name, text), page, count=1)


if __name__ == "__main__":
    path = Path(sys.argv[1])
    path.write_text(renewed(path.read_text(encoding="utf-8")), encoding="utf-8")
