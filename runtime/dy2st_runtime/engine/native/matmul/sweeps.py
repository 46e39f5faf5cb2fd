"""Sweeps: a few rows times a b whose rows are long, as it is: all of it is read once, in its order.

Some rows of b are added to c at once, from their first columns to their last ones, and c stays in
the nearest cache meanwhile. Memory gives that faster than the columns of a tile, which are pieces
of rows that lie far apart.
"""

from __future__ import annotations

from collections.abc import Callable

from dy2st_runtime.dims import Size
from dy2st_runtime.engine.native.matmul.shape import Shape
from dy2st_runtime.engine.native.text.code import Code, first_lanes
from dy2st_runtime.engine.native.text.lanes import DType, Lanes, Value

Write = Callable[[str, "str | None"], None]

_PARAMETERS = "c a b | n k a_row a_column b_row c_row"

SWEPT_ROWS, LEAST_BYTES = 2, 512
"""Up to so many rows of a, and from so long rows of b on, b is swept, though it may be packed."""

# Bytes of a row of c that are made before those behind them: of three rows they fill a third of the
# nearest cache, so that they stay there.
_WIDEST = 4096

# Of so many rows of a: the rows of b that are read at once. Of one row c is read and written anew
# for each of them; two keep the processor busy with less of that.
_TOGETHER = {1: 4, 2: 8, 3: 4}
MOST_ROWS = max(_TOGETHER)
_FEW_TOGETHER = 4  # 16 registers hold the factors of no more


def is_swept(rows: Size, columns: Size, dtype: DType) -> bool:
    """Whether a product sweeps a b whose rows lie one after the other; no if sizes are unknown."""
    if not isinstance(rows, int) or not isinstance(columns, int):
        return False
    return rows <= SWEPT_ROWS and columns * dtype.itemsize >= LEAST_BYTES


def is_row(code: Code, shape: Shape) -> str:
    """The same of the sizes of a call, whose b may be null: it is packed then."""
    has_rows = code.both(code.let("icmp ne ptr %b, null"), code.compare("eq", "%b_column", 1))
    is_wide = code.compare("sge", "%n", LEAST_BYTES // shape.dtype.itemsize)
    return code.both(code.both(has_rows, is_wide), code.compare("sle", "%m", SWEPT_ROWS))


def swept(shape: Shape) -> str:
    """The product by sweeps, some rows of a at once: each column has the same sum in any part."""
    code = shape.code("swept", "c a b | m n k a_row a_column b_row c_row")
    with code.walk("%m") as (row, following):
        name, rows = shape.most(code, "sweep", MOST_ROWS, code.minus("%m", row))
        to = code.at("%c", code.times(row, "%c_row"))
        own = code.at("%a", code.times(row, "%a_row"))
        sizes = ("%n", "%k", "%a_row", "%a_column", "%b_row", "%c_row")
        listed = ", ".join([f"ptr {to}, ptr {own}, ptr %b", *(f"i64 {size}" for size in sizes)])
        code.line(f"call void {name}({listed})")
        following.append(code.plus(row, rows))
    return code.end()


def sweep(shape: Shape, rows: int) -> str:
    """`c = a @ b` of some rows."""
    code = shape.code(f"sweep{rows}", _PARAMETERS)
    wide = _WIDEST // shape.dtype.itemsize
    with code.loop("0", "%n", str(wide)) as column:
        _Sweep(code, shape, rows, column, code.least(wide, code.minus("%n", column))).write()
    return code.end()


class _Sweep:
    """Some columns of c, from the first one on."""

    def __init__(self, code: Code, shape: Shape, rows: int, first: str, columns: str) -> None:
        self.code, self.shape, self.lanes = code, shape, Lanes(code, shape.lanes)
        self.first, self.columns = first, columns
        # How many columns stand before the first vector of b that is all in one line of the cache.
        # 0 where rows do not begin alike: results are written across lines then, which are fewer.
        size = shape.dtype.itemsize
        within = self.shape.lanes * size - 1
        place = code.let(f"ptrtoint ptr {code.at('%b', self.first)} to i64")
        behind = code.let(f"and i64 {code.minus(0, place)}, {within}")
        row = code.let(f"and i64 {code.times('%b_row', size)}, {within}")
        head = code.choose(code.compare("eq", row, 0), code.over(behind, size), 0)
        self.head = code.least(head, self.columns)
        whole = code.up_to(code.minus(columns, self.head), shape.lanes)
        self.end = code.plus(self.head, whole)
        places = [code.plus(code.times("%c_row", row), first) for row in range(rows)]
        self.results = [code.at("%c", place) for place in places]
        self.rows = [code.at("%a", code.times("%a_row", row)) for row in range(rows)]

    def write(self) -> None:
        """All of it; what is made first is not added to zeros, which would be written before."""
        code = self.code
        together = _FEW_TOGETHER if self.shape.is_short else _TOGETHER[len(self.rows)]
        whole = code.up_to("%k", together)
        is_many = code.compare("sgt", whole, 0)
        first = code.choose(is_many, together, code.least("%k", 1))
        with code.when(is_many):
            self._add("0", together, is_first=True)
        with code.when(code.no(is_many)):
            with code.when(code.compare("sgt", "%k", 0)):
                self._add("0", 1, is_first=True)
            with code.when(code.compare("sle", "%k", 0)):
                self._for_all(self._clear)
        with code.loop(first, whole, str(together)) as step:
            self._add(step, together)
        with code.loop(code.most(first, whole), "%k") as step:
            self._add(step, 1)

    def _for_all(self, write: Write) -> None:
        """Write what is done to one vector after the other; the ends may have fewer lanes."""
        code = self.code
        with code.when(code.compare("sgt", self.head, 0)):
            write("0", first_lanes(self.lanes, self.head))
        with code.loop(self.head, self.end, str(self.lanes.lanes)) as at:
            write(at, None)
        rest = code.minus(self.columns, self.end)
        with code.when(code.compare("sgt", rest, 0)):
            write(self.end, first_lanes(self.lanes, rest))

    def _clear(self, at: str, mask: str | None) -> None:
        zero = self.lanes.constant(0.0, self.shape.dtype)
        for result in self.results:
            self.lanes.store(zero, self.code.at(result, at), mask)

    def _add(self, step: str, count: int, is_first: bool = False) -> None:
        """Add the products of some rows of b; the first ones are not added to what was there."""
        code, lanes, dtype = self.code, self.lanes, self.shape.dtype
        steps = [code.plus(step, number) for number in range(count)]
        sources = [code.plus(code.times(one, "%b_row"), self.first) for one in steps]
        rows_of_b = [code.at("%b", source) for source in sources]
        factors = [[self._factor(row, one) for one in steps] for row in self.rows]

        zero = lanes.constant(0.0, dtype)

        def add(at: str, mask: str | None) -> None:
            read = [lanes.load(code.at(row, at), dtype, mask) for row in rows_of_b]
            for result, own in zip(self.results, factors, strict=True):
                place = code.at(result, at)
                total = zero if is_first else lanes.load(place, dtype, mask)
                for factor, value in zip(own, read, strict=True):
                    total = lanes.fma(factor, value, total)
                lanes.store(total, place, mask)

        self._for_all(add)

    def _factor(self, row: str, step: str) -> Value:
        code = self.code
        place = code.at(row, code.times(step, "%a_column"))
        one = code.let(f"load {code.element}, ptr {place}")
        return self.lanes.splat(Value(one, self.shape.dtype))


__all__ = ["LEAST_BYTES", "MOST_ROWS", "SWEPT_ROWS", "is_row", "is_swept", "sweep", "swept"]
