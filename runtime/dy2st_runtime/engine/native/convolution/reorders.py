"""Copies images from one layout to another: channels side by side of planes, and back.

The library's own reorders do that, four to nine times slower where there are many channels.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

from dy2st_runtime.engine.native.convolution import line_code
from dy2st_runtime.engine.native.convolution.library import RESULT, SOURCE, Layout, Library
from dy2st_runtime.engine.native.convolution.line_code import Known, Memories
from dy2st_runtime.engine.native.text.code import Code
from dy2st_runtime.engine.native.text.squares import LINE, write_square
from dy2st_runtime.lazy import once

_BLOCK = LINE // 4
"""Rows and columns that are transposed at once, in registers."""


class LayoutCopy(NamedTuple):
    """Matrices one after the other, each to be transposed."""

    matrices: int
    rows: int
    columns: int

    def bind_arguments(self, memories: Memories) -> Any:
        """What the code reads."""
        return line_code.bind_arguments(self, memories, (SOURCE, RESULT))

    def address(self, library: Library) -> int:
        """Where the code is."""
        return line_code.loaded(library, "reorder", _text()).addresses["reorder"]


def layout_copy_between(
    library: Library, source: Layout, result: Layout, sizes: Sequence[int]
) -> LayoutCopy | None:
    """How an image comes from one layout into another, if it is to be transposed."""
    if len(sizes) < 3 or min(sizes[1], prod(sizes[2:])) < _BLOCK:
        return None
    plain, last = library.plain(tuple(sizes)), library.channels_last(tuple(sizes))
    images, channels, places = sizes[0], sizes[1], prod(sizes[2:])
    if source.is_like(plain) and result.is_like(last):
        return LayoutCopy(images, channels, places)
    if source.is_like(last) and result.is_like(plain):
        return LayoutCopy(images, places, channels)
    return None


@once
def _text() -> str:
    def counts(code: Code, known: Known) -> tuple[str, str, str]:
        blocks = code.over(code.plus(known["columns"], _BLOCK - 1), _BLOCK)
        return known["matrices"], blocks, code.times(known["rows"], _BLOCK)

    return line_code.text("reorder", LayoutCopy._fields, ("source", "result"), counts, _line)


def _line(code: Code, known: Known, matrix: str, block: str) -> None:
    """Some columns, block by block; the last blocks begin so early that they are whole."""
    rows, columns = known["rows"], known["columns"]
    start = code.times(matrix, code.times(rows, columns))
    column = code.least(code.times(block, _BLOCK), code.minus(columns, _BLOCK))
    source = code.at(known["source"], code.plus(start, column))
    result = code.at(known["result"], code.plus(start, code.times(column, rows)))
    with code.loop("0", rows, str(_BLOCK)) as at:
        row = code.least(at, code.minus(rows, _BLOCK))
        places = code.at(source, code.times(row, columns)), code.at(result, row)
        write_square(code, _BLOCK, places, (columns, rows))


__all__ = ["LayoutCopy", "layout_copy_between"]
