"""Dots: a few rows by a few columns that lie along k, as of `x @ w.T` and of a matrix by a vector.

Nothing is packed: each element of b is read once, by vectors along k, and the sums of a vector are
added up at the end.
"""

from __future__ import annotations

from itertools import product

from dy2st_runtime.engine.native.matmul.shape import Shape
from dy2st_runtime.engine.native.text.code import Code, first_lanes
from dy2st_runtime.engine.native.text.lanes import Lanes

_PARAMETERS = "c a b | n k a_row b_column c_row"
_TOGETHER = 4


def by_dots(code: Code, shape: Shape, b: str = "%b", b_column: str = "%b_column") -> None:
    """All of c, some rows at once, by the columns of b where they lie."""
    with code.walk("%m") as (row, following):
        name, rows = shape.most(code, "dots", shape.dots, code.minus("%m", row))
        to = code.at("%c", code.times(row, "%c_row"))
        own = code.at("%a", code.times(row, "%a_row"))
        sizes = ("%n", "%k", "%a_row", b_column, "%c_row")
        listed = ", ".join([f"ptr {to}, ptr {own}, ptr {b}", *(f"i64 {size}" for size in sizes)])
        code.line(f"call void {name}({listed})")
        following.append(code.plus(row, rows))


def dots(shape: Shape, rows: int) -> str:
    """`c = a @ b` of some rows a, each side by side, and columns b, each side by side."""
    code = shape.code(f"dots{rows}", _PARAMETERS)
    with code.loop("0", "%n", str(_TOGETHER)) as column:
        _Dots(code, shape, rows, column).write()
    return code.end()


class _Dots:
    """The products with some columns; where there are fewer, the last one is made again."""

    def __init__(self, code: Code, shape: Shape, rows: int, first: str) -> None:
        self.code, self.shape, self.lanes = code, shape, Lanes(code, shape.lanes)
        last = code.minus("%n", 1)
        self.places = [code.least(code.plus(first, index), last) for index in range(_TOGETHER)]
        self.columns = [code.at("%b", code.times(place, "%b_column")) for place in self.places]
        self.rows = [code.at("%a", code.times(row, "%a_row")) for row in range(rows)]
        self.vectors = 2 if rows == 1 else 1
        numbers = product(range(self.vectors), range(rows), range(_TOGETHER))
        self.sums = {number: code.alloca(self.lanes.type(shape.dtype)) for number in numbers}

    def write(self) -> None:
        """All of it."""
        code, count = self.code, self.lanes.lanes
        wide = self.lanes.type(self.shape.dtype)
        for name in self.sums.values():
            code.line(f"store {wide} zeroinitializer, ptr {name}")
        whole = code.up_to("%k", self.vectors * count)
        with code.loop("0", whole, str(self.vectors * count)) as at:
            for vector in range(self.vectors):
                self._add(code.plus(at, vector * count), vector, None)
        with code.loop(whole, "%k", str(count)) as at:
            self._add(at, 0, first_lanes(self.lanes, code.minus("%k", at)))
        for row, column in product(range(len(self.rows)), range(_TOGETHER)):
            to = code.at("%c", code.plus(code.times(row, "%c_row"), self.places[column]))
            # The sum of all lanes.
            lanes, dtype = self.lanes, self.shape.dtype
            total = lanes.load(self.sums[0, row, column], dtype)
            for vector in range(1, self.vectors):
                total = lanes.add(total, lanes.load(self.sums[vector, row, column], dtype))
            reduced = f"@llvm.vector.reduce.fadd.{lanes.suffix(dtype)}"
            given = f"{code.element} -0.0, {lanes.type(dtype)} {total.text}"
            found = code.let(f"call reassoc {code.element} {reduced}({given})")
            code.line(f"store {code.element} {found}, ptr {to}")

    def _add(self, at: str, vector: int, mask: str | None) -> None:
        """Add the products of one vector of k to all sums."""
        code, lanes, dtype = self.code, self.lanes, self.shape.dtype
        left = [lanes.load(code.at(row, at), dtype, mask) for row in self.rows]
        for number, column in enumerate(self.columns):
            right = lanes.load(code.at(column, at), dtype, mask)
            for row, value in enumerate(left):
                name = self.sums[vector, row, number]
                lanes.store(lanes.fma(value, right, lanes.load(name, dtype)), name)


__all__ = ["by_dots", "dots"]
