"""Writes Programs as one page of HTML that needs nothing else, and that a browser draws."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

from dy2st.viewer.alignment import pairs_by_name, times_in_place
from dy2st.viewer.data import data_of
from dy2st.viewer.template import as_json, filled
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.html_page import Page
from dy2st_runtime.ir import Operator, Program

_FOLDER = Path(__file__).parent
_KINDS = ("inputs", "layer", "operator", "block", "end")
_AROUND = 3  # lines of source before and behind that of an operator
_HELP = (
    "Click a row to see what it reads, gives and comes from. A double click, or the sign before "
    "it, opens a layer, branch or loop; so do the arrow keys. / searches."
)

_LEGEND = {
    "elementwise": "of one value, element by element",
    "broadcast": "of several values, element by element",
    "injective": "elements move, or are repeated",
    "reduction": "elements along axes become one",
    "contraction": "products of matrices, convolutions",
    "opaque": "all others",
    "control": "branches and loops",
}

Times = Mapping[Operator, float]


def view(
    programs: Program | Sequence[Program],
    other: Program | Sequence[Program] | None = None,
    *,
    times: Times | None = None,
    sizes: Mapping[str, int] | None = None,
    sources: str | os.PathLike[str] | None = None,
    title: str = "",
) -> Page:
    """A page that shows Programs: as a graph, with source, sizes, memory and times.

    other    what to compare with, as after a pass: Programs of the same names, or a single one.
    times    seconds that operators take, without what is inside of them, as
             `dy2st.profile(...).of_operators()` gives them.
    sizes    numbers for unknown sizes by name, with which memory is planned.
    sources  a folder of sources for Programs that were read from files, which know lines alone.

    Raises ArgumentError if the other has none of the names, or is no Program, and for a size that
    is none.
    """
    several = [programs] if isinstance(programs, Program) else list(programs)
    others = [other] if isinstance(other, Program) else list(other or ())
    for one in others:
        if not isinstance(one, Program):
            kind = type(other).__name__
            raise ArgumentError(f"view() compares Programs, not {kind}; view().save(path) writes")
    folder = None if sources is None else Path(sources)
    pairs = [(one, None) for one in several] if other is None else pairs_by_name(several, others)
    if not pairs:
        raise ArgumentError("there is no Program to show")
    shown = [
        data_of(one, after, times_in_place(times or {}, after or one), sizes, folder)
        for one, after in pairs
    ]
    title = title or ", ".join(one.name for one, _ in pairs)
    values = {
        "TITLE": escape(title),
        "SUMMARY": escape(shown[0]["summary"]),
        "STYLE": (_FOLDER / "page.css").read_text(encoding="utf-8").rstrip(),
        "SCRIPT": (_FOLDER / "page.js").read_text(encoding="utf-8").rstrip(),
        "DATA": as_json({"help": _HELP, "legend": _LEGEND, "programs": shown}),
    }
    template = (_FOLDER / "page.html").read_text(encoding="utf-8")
    return Page(title, filled(template, values))


__all__ = ["Page", "Times", "view"]
