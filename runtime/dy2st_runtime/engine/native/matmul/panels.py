"""Panels: an operand of a matrix product laid out as tiles read it, a few columns side by side.

`[columns / width][rows][width]`: along k a tile reads one piece of memory from front to back. The
last panel is filled up with zeros.
"""

from __future__ import annotations

from dy2st_runtime.engine.native.matmul.shape import Shape
from dy2st_runtime.engine.native.text.code import Code, first_lanes
from dy2st_runtime.engine.native.text.lanes import Lanes, Value

_PARAMETERS = "packed b | n k b_row b_column"
_BLOCK_BYTES = 32
_PANELS = 4  # how many are filled at once


def pack(shape: Shape) -> str:
    """Lay out a matrix of any strides, of k rows and n columns, in panels as wide as tiles."""
    code, width = shape.code("pack", _PARAMETERS), shape.columns
    by_rows, by_columns = code.compare("eq", "%b_column", 1), code.compare("eq", "%b_row", 1)
    with code.when(by_rows):
        # Where columns lie side by side: copy them row by row, by long pieces while there are any.
        whole = code.up_to("%n", _PANELS * width)
        for start, end, panels in (("0", whole, _PANELS), (whole, "%n", 1)):
            with code.loop(start, end, str(panels * width)) as at:
                _columns(code, shape, at, panels)
    with code.when(code.both(by_columns, code.no(by_rows))):
        # Where rows lie side by side: square blocks in registers, the rest element by element.
        side = _BLOCK_BYTES // shape.dtype.itemsize
        with code.loop("0", "%n", str(width)) as column:
            columns = code.least(width, code.minus("%n", column))
            full_rows, full_columns = code.up_to("%k", side), code.up_to(columns, side)
            with (
                code.loop("0", full_columns, str(side)) as start,
                code.loop("0", full_rows, str(side)) as row,
            ):
                first = code.plus(column, start)
                source = code.at(code.at("%b", code.times(first, "%b_column")), row)
                place = code.plus(
                    code.plus(code.times(column, "%k"), code.times(row, width)), start
                )
                _transpose_block(code, shape, source, code.at("%packed", place), (side, width))
            _elements(code, width, (column, full_columns, columns, "0"))
            _elements(code, width, (column, "0", full_columns, full_rows), is_filling=False)
    with (
        code.when(code.no(code.either(by_rows, by_columns))),
        code.loop("0", "%n", str(width)) as column,
    ):
        columns = code.least(width, code.minus("%n", column))
        _elements(code, width, (column, "0", columns, "0"))
    return code.end()


def _columns(code: Code, shape: Shape, column: str, panels: int) -> None:
    """Some panels side by side; behind the last column one is filled up with zeros."""
    lanes, width = Lanes(code, shape.lanes), shape.columns
    starts = range(0, panels * width, lanes.lanes)
    rest = code.minus("%n", column)
    masks = [first_lanes(lanes, code.minus(rest, s)) if panels == 1 else None for s in starts]
    source, to = code.at("%b", column), code.at("%packed", code.times(column, "%k"))
    size = code.times("%k", width)
    with code.loop("0", "%k") as row:
        row_of_b = code.at(source, code.times(row, "%b_row"))
        place = code.at(to, code.times(row, width))
        for start, mask in zip(starts, masks, strict=True):
            value = lanes.load(code.at(row_of_b, start), shape.dtype, mask)
            target = code.at(place, code.times(size, start // width))
            lanes.store(value, code.at(target, start % width))


def _transpose_block(
    code: Code, shape: Shape, source: str, to: str, sides: tuple[int, int]
) -> None:
    """Transpose a square by halves, quarters, ...: each step exchanges parts of two vectors."""
    side, width = sides
    lanes = Lanes(code, side)
    values = [
        lanes.load(code.at(source, code.times(i, "%b_column")), shape.dtype) for i in range(side)
    ]
    half = side // 2
    while half:
        for i in (i for i in range(side) if not i & half):
            x, y = values[i], values[i + half]
            low = [j if not j & half else side + j - half for j in range(side)]
            high = [j + half if not j & half else side + j for j in range(side)]
            values[i], values[i + half] = _mixed(lanes, x, y, low), _mixed(lanes, x, y, high)
        half //= 2
    for i, value in enumerate(values):
        lanes.store(value, code.at(to, i * width))


def _mixed(lanes: Lanes, x: Value, y: Value, places: list[int]) -> Value:
    wide = lanes.type(x.dtype)
    mask = ", ".join(f"i32 {place}" for place in places)
    return lanes.let(
        f"shufflevector {wide} {x.text}, {wide} {y.text}, <{len(places)} x i32> <{mask}>", x.dtype
    )


def _elements(
    code: Code, width: int, part: tuple[str, str, str, str], is_filling: bool = True
) -> None:
    """A part of a panel: its column, from which one up to which, and from which row.

    Behind the last column the panel is filled up.
    """
    column, start, end, row = part
    source = code.at("%b", code.times(column, "%b_column"))
    to = code.at("%packed", code.times(column, "%k"))
    with code.loop(row, "%k") as at:
        row_of_b = code.at(source, code.times(at, "%b_row"))
        place = code.at(to, code.times(at, width))
        with code.loop(start, end) as one:
            value = code.at(row_of_b, code.times(one, "%b_column"))
            read = code.let(f"load {code.element}, ptr {value}")
            code.line(f"store {code.element} {read}, ptr {code.at(place, one)}")
        if is_filling:
            with code.loop(end, str(width)) as one:
                zero = f"{code.element} 0.0"
                code.line(f"store {zero}, ptr {code.at(place, one)}")


__all__ = ["pack"]
