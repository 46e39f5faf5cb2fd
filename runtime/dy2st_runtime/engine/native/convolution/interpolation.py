"""Interpolates images as they lie in memory: rows or columns that are sums of two.

As in `gather.py`, an image lies as planes of rows of elements, whatever these are: to blend columns
each of them is a row of all channels of a pixel, or of a block of them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from dy2st_runtime.engine.native.convolution import line_code
from dy2st_runtime.engine.native.convolution.library import RESULT, SOURCE, Library
from dy2st_runtime.engine.native.convolution.line_code import Known, Memories, place_of
from dy2st_runtime.engine.native.text.code import Code
from dy2st_runtime.engine.native.text.lanes import FLOAT32, Value
from dy2st_runtime.lazy import once

PLACES, SHARES = (0, 3), (2, 4)
"""The arguments that say which rows are added up, and how much there is of them."""


class Blend(NamedTuple):
    """How much there is: in memory each plane has rows, each row elements."""

    planes: int
    rows: int
    elements: int
    new_rows: int

    def bind_arguments(self, memories: Memories) -> Any:
        """What the code reads."""
        return line_code.bind_arguments(self, memories, (SOURCE, RESULT, *PLACES, *SHARES))

    def address(self, library: Library) -> int:
        """Where the code is."""
        return line_code.loaded(library, "blend", _text()).addresses["blend"]


@once
def _text() -> str:
    memories = ("source", "result", "low", "high", "share_of_low", "share_of_high")

    def counts(code: Code, known: Known) -> tuple[str, str, str]:
        return known["planes"], known["new_rows"], known["elements"]

    return line_code.text("blend", Blend._fields, memories, counts, _line)


def _line(code: Code, known: Known, plane: str, row: str) -> None:
    """A row of the result: two of the source, each times its share."""
    elements = known["elements"]
    first = code.times(plane, known["rows"])
    parts = []
    for name in ("low", "high"):
        line = code.plus(first, place_of(code, known[name], row))
        share = code.let(f"load float, ptr {code.at(known[f'share_of_{name}'], row)}")
        parts.append((code.at(known["source"], code.times(line, elements)), share))
    target = code.plus(code.times(plane, known["new_rows"]), row)
    result = code.at(known["result"], code.times(target, elements))
    for lanes, at in line_code.vectors(code, elements):
        products = []
        for source, share in parts:
            read = lanes.load(code.at(source, at), FLOAT32)
            products.append(lanes.multiply(lanes.splat(Value(share, FLOAT32)), read))
        low, high = products
        lanes.store(lanes.add(low, high), code.at(result, at))


__all__ = ["PLACES", "SHARES", "Blend"]
