"""Pages of HTML, and what notebooks show of objects: escaped, short, and without scripts."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

from dy2st_runtime.errors import counted
from dy2st_runtime.files import named, naming, replacing
from dy2st_runtime.ir.program import Block, Program
from dy2st_runtime.ir.text.printer import Names

_MOST_ROWS, _LONGEST, _DEEPEST = 40, 4_000, 8


@dataclass(frozen=True)
class Page:
    """One page that needs nothing else: `str()` of it is the HTML, `save` writes it."""

    title: str
    html: str = field(repr=False)

    def __str__(self) -> str:
        """The HTML."""
        return self.html

    def save(self, path: str | os.PathLike[str]) -> str:
        """Write the page, whole or not at all; the name of the file."""
        file = named(os.fspath(path))
        with replacing(file) as (temporary,), naming(file):
            temporary.write_text(self.html, encoding="utf-8")
        return str(file)

    def _repr_html_(self) -> str:
        """The page in a frame of a notebook."""
        style = "width:100%;height:640px;border:1px solid #8886"
        return f'<iframe style="{style}" srcdoc="{escape(self.html)}"></iframe>'


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], title: str = "") -> str:
    """A table of texts, which says how many rows it leaves out of many.

    >>> table(("a", "b"), [("<x>", "1")])
    '<table><tr><th>a</th><th>b</th></tr><tr><td>&lt;x&gt;</td><td>1</td></tr></table>'
    """
    listed = list(rows)
    made = "".join(f"<tr>{_cells(row, 'td')}</tr>" for row in listed[:_MOST_ROWS])
    if len(listed) > _MOST_ROWS:
        more = f"... and {len(listed) - _MOST_ROWS} more"
        made += f'<tr><td colspan="{len(heads)}">{more}</td></tr>'
    named = f"<caption>{escape(title)}</caption>" if title else ""
    return f"<table>{named}<tr>{_cells(heads, 'th')}</tr>{made}</table>"


def _cells(texts: Iterable[str], tag: str) -> str:
    return "".join(f"<{tag}>{escape(text)}</{tag}>" for text in texts)


def of_text(text: str) -> str:
    """A text as it stands, but for the end of a long one."""
    shown = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}\n..."
    return f"<pre>{escape(shown)}</pre>"


def of_layer(layer: Any) -> str:
    """A Layer and those in it, with their settings and how many parameters each has itself."""
    rows = []
    for path, one in layer.named_sublayers(include_self=True):
        sizes = [parameter.size for parameter in one.parameters(include_sublayers=False)]
        rows.append(
            (path, type(one).__name__, one.extra_repr(), f"{sum(sizes):,}" if sizes else "")
        )
    total = sum(parameter.size for parameter in layer.parameters())
    title = f"{type(layer).__name__}: {total:,} parameters"
    return table(("layer", "class", "settings", "parameters"), rows, title)


# -- Programs -----------------------------------------------------------------------------------

BLOCK_TITLES = {"cond": ("if true", "if false"), "while": ("condition", "body")}
"""What the Blocks of a control flow operator are called."""


def of_program(program: Program) -> str:
    """The operators of a Program, with the Blocks of branches and loops to open."""
    names = Names()
    given = ", ".join(f"{names.of(one)}: {one.type}" for one in program.inputs)
    count = sum(1 for _ in program.walk())
    head = (
        f"{program.name}({given}): {counted(count, 'operator')}, "
        f"{counted(len(program.parameters), 'parameter')}, "
        f"{counted(len(program.buffers), 'buffer')}"
    )
    left = iter(range(_MOST_ROWS))
    rows = "".join(_rows(program.block, names, left, 0))
    for name, block in program.functions.items():
        inside = "".join(_rows(block, names, left, 1))
        rows += _opened(f"function {name}", inside)
    if count > _MOST_ROWS:
        rows += (
            f'<tr><td colspan="4">... {count} operators in all: program.view() shows them</td></tr>'
        )
    heads = _cells(("value", "operator", "type", "line"), "th")
    inner = f"<table><tr>{heads}</tr>{rows}</table>"
    return f"<details open><summary>{escape(head)}</summary>{inner}</details>"


def _rows(block: Block, names: Names, left: Iterator[int], depth: int) -> Iterator[str]:
    for operator in block.operators:
        if next(left, None) is None:
            return
        given = ", ".join(names.of(one) for one in operator.operands)
        made = ", ".join(names.of(one) for one in operator.results)
        types = ", ".join(str(one.type) for one in operator.results)
        place, layer = operator.location, f" in {operator.layer}" if operator.layer else ""
        line = f"{place.file_name}:{place.line}{layer}" if place is not None else ""
        yield f"<tr>{_cells((made, f'{operator.name}({given})', types, line), 'td')}</tr>"
        titles = BLOCK_TITLES.get(operator.name, ())
        for number, inner in enumerate(operator.blocks if depth < _DEEPEST else ()):
            title = titles[number] if number < len(titles) else "block"
            yield _opened(title, "".join(_rows(inner, names, left, depth + 1)))


def _opened(title: str, rows: str) -> str:
    """A row of a table that opens to other rows."""
    return (
        f'<tr><td colspan="4"><details><summary>{escape(title)}</summary>'
        f"<table>{rows}</table></details></td></tr>"
    )


__all__ = ["BLOCK_TITLES", "Page", "of_layer", "of_program", "of_text", "table"]
