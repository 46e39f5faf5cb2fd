"""docs/constructs.md: a table a section, written again from the rows by running this file.

python -m tests.dy2st.constructs.documented
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.dy2st.catalogue.entry import Entry
from tests.dy2st.constructs.sections import ALL_ROWS, SECTIONS, SINCE

PAGE = Path(__file__).parents[3] / "docs" / "constructs.md"
OLDEST = max(SINCE)
"""The first version of Python that can parse every row."""

HEAD = """# What is converted, construct by construct

Every row is a test: the function named in the last column is run by Python and, through **one**
Program, by dy2st on inputs that take every path, and must give the same value of the same type,
print the same text, and raise the same exception. What has no exact static form is *refused* with
an error that says where, why, and what to write instead. Without tensors all of it is plain Python.
The rules behind the rows (when a function is traced again, how values of two paths are joined, what
a call writes and gives back) stand in [`semantics.md`](semantics.md).

Two things differ on purpose. Ints that a tensor decides have 64 bits: a larger one is an
OverflowError when the Program runs. And where one path gives a number and the other a 0-d tensor,
the result is a tensor; of an int and a float, a float.

Written by `python -m tests.dy2st.constructs.documented` from `tests/dy2st/constructs/`.
"""


def page() -> str:
    """The text of the page."""
    return HEAD + "".join(map(_section, SECTIONS))


def _section(name: str) -> str:
    rows = [row for row in ALL_ROWS if row.theme == f"constructs.{name}"]
    about = (sys.modules[f"tests.dy2st.constructs.{name}"].__doc__ or "").strip()
    title, *notes = about.split("\n\n")  # what is said below the title stands below the table
    lines = [f"\n## {title.rstrip('.')}\n", "| Python | dy2st | proof |", "| --- | --- | --- |"]
    lines += [
        f"| {_cell(row.construct)} | {_cell(_meaning(row))} | `{row.function.__name__}` |"
        for row in rows
    ]
    lines += ["\n" + note for note in notes]
    return "\n".join(lines) + "\n" if rows else ""


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _meaning(row: Entry) -> str:
    refused = "" if row.refused is None else f"*refused* ({row.refused.__name__}): "
    return refused + row.meaning


def write() -> None:
    """The page, if this Python can read all rows: else sections would be lost."""
    if sys.version_info < OLDEST:
        sys.exit("some rows need Python {}.{}: the page stays as it is".format(*OLDEST))
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    write()
