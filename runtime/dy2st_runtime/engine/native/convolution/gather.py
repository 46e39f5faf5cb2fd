"""Gathers rows and columns of an image as it lies in memory: pixels of a resized image.

An image lies in memory as planes of rows of columns of elements, whatever these are: in a layout
by channels all channels of a pixel, or a block of them. So no image is transposed.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

from dy2st_runtime.engine.native.convolution import line_code
from dy2st_runtime.engine.native.convolution.library import (
    RESULT,
    SOURCE,
    Layout,
    Library,
    Refused,
)
from dy2st_runtime.engine.native.convolution.line_code import Known, Memories, place_of
from dy2st_runtime.engine.native.text.code import Code
from dy2st_runtime.engine.native.text.lanes import FLOAT32
from dy2st_runtime.lazy import once

ROWS, COLUMNS = 0, 3
"""The arguments that say which; without columns those are all."""


class Picks(NamedTuple):
    """How much there is: in memory each plane has rows, each row columns, each column elements."""

    planes: int
    rows: int
    columns: int
    elements: int
    new_rows: int
    new_columns: int

    def bind_arguments(self, memories: Memories) -> Any:
        """What the code reads."""
        return line_code.bind_arguments(self, memories, (SOURCE, RESULT, ROWS, COLUMNS))

    def address(self, library: Library) -> int:
        """Where the code is."""
        return line_code.loaded(library, "pick", _text()).addresses["pick"]


def picks(layout: Layout, sizes: Sequence[int], first: int, numbers: Sequence[int]) -> Picks:
    """So many places along one axis, or along two that lie one in the other."""
    rows, columns = sizes[first], sizes[first + 1] if len(numbers) > 1 else 1
    elements = layout.strides[first + len(numbers) - 1]
    if len(numbers) > 1 and layout.strides[first] != columns * elements:
        raise Refused("rows do not lie one behind the other")
    planes = layout.bytes // (4 * rows * columns * elements)
    return Picks(planes, rows, columns, elements, numbers[0], prod(numbers[1:]))


@once
def _text() -> str:
    memories = ("source", "result", "which_rows", "which_columns")

    def counts(code: Code, known: Known) -> tuple[str, str, str]:
        long = code.times(known["new_columns"], known["elements"])
        return known["planes"], known["new_rows"], long

    return line_code.text("pick", Picks._fields, memories, counts, _line)


def _line(code: Code, known: Known, plane: str, row: str) -> None:
    """A row of the result: one of the source, or columns of it."""
    elements, new_columns = known["elements"], known["new_columns"]
    place = place_of(code, known["which_rows"], row)
    line = code.plus(code.times(plane, known["rows"]), place)
    source = code.at(known["source"], code.times(line, code.times(known["columns"], elements)))
    target = code.plus(code.times(plane, known["new_rows"]), row)
    result = code.at(known["result"], code.times(target, code.times(new_columns, elements)))
    is_whole = code.let(f"icmp eq ptr {known['which_columns']}, null")
    with code.when(is_whole):
        _copy(code, source, result, code.times(known["columns"], elements))
    with code.when(code.no(is_whole)), code.loop("0", new_columns) as column:
        place = place_of(code, known["which_columns"], column)
        own = code.at(source, code.times(place, elements))
        _copy(code, own, code.at(result, code.times(column, elements)), elements)


def _copy(code: Code, source: str, result: str, count: str) -> None:
    for lanes, at in line_code.vectors(code, count):
        lanes.store(lanes.load(code.at(source, at), FLOAT32), code.at(result, at))


__all__ = ["COLUMNS", "ROWS", "Picks", "picks"]
