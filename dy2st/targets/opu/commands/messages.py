"""Prints for the commands of `dy2st opu`: notes, tables; and has their exit status."""

from __future__ import annotations

import sys
from collections.abc import Sequence

OK, DIFFERENT = 0, 1


def note(text: str) -> None:
    """Say what the user should know beside the result."""
    print(f"dy2st: note: {text}", file=sys.stderr)


def table(rows: Sequence[Sequence[str]], left: Sequence[int] = ()) -> str:
    """Rows as text, the first one the heads; columns stand right but for those in `left`."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = enumerate(zip(row, widths, strict=True))
        texts = (c.ljust(w) if place in left else c.rjust(w) for place, (c, w) in cells)
        lines.append("  ".join(texts).rstrip())
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(lines) + "\n"


__all__ = ["DIFFERENT", "OK", "note", "table"]
