"""Tiles: the innermost part of a matrix product, a few rows by two or three vectors of columns.

All sums of a tile stay in registers while it goes along k. A tile of fewer rows takes several steps
of k at once, each with sums of its own: the processor needs many that do not wait for each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from dy2st_runtime.engine.native.matmul.shape import LINE, Shape
from dy2st_runtime.engine.native.text.code import Code, first_lanes
from dy2st_runtime.engine.native.text.lanes import Lanes, Value

_UNROLLED = 4  # steps of k, where all places are constants


def tile(shape: Shape, stem: str, rows: int, vectors: int) -> str:
    """`c = a @ b` of some rows; `+=` where `more` is not 0. Nothing behind the columns is touched.

    The elements of b stand side by side along a row, of which the first `readable` may be read. The
    next columns of b are `ahead` elements away: who works long enough on these has them brought
    near meanwhile.
    """
    code = shape.code(stem, "c a b | k a_row a_column b_row c_row columns readable more ahead")
    made = _Tile(code, shape, (rows, vectors))
    made.fetch_results()
    # A mask would be one instruction more for each vector, where multiplications wait for a place.
    is_full = code.compare("sge", "%readable", vectors * shape.lanes)
    is_other = is_full
    if rows >= shape.long:
        is_dense = code.both(is_full, made.is_dense())
        is_other = code.both(is_full, code.no(is_dense))
        with code.when(is_dense):
            made.add_products([None] * vectors, (str(shape.columns), "1"), _UNROLLED)
    with code.when(is_other):
        made.add_products([None] * vectors, ("%b_row", "%a_column"))
    with code.when(code.no(is_full)):
        made.add_products(made.masks, ("%b_row", "%a_column"))
    made.store()
    return code.end()


class _Tile:
    """The sums of a tile and what becomes of them."""

    def __init__(self, code: Code, shape: Shape, sizes: tuple[int, int]) -> None:
        rows, vectors = sizes
        self.code, self.shape, self.rows = code, shape, rows
        self.lanes = Lanes(code, shape.lanes)
        rests = [code.minus("%columns", place * shape.lanes) for place in range(vectors)]
        self.masks = [first_lanes(self.lanes, rest) for rest in rests]
        self.chains = max(1, shape.vectors * shape.rows // (rows * vectors))
        self.a_rows = {row: self._offset(row) for row in range(1, rows, 2)}
        numbers = product(range(self.chains), range(rows), range(vectors))
        self.sums = {number: self._sum() for number in numbers}
        # Each sum, where it goes, and which of its lanes do.
        places = [self.code.at("%c", self.code.times("%c_row", row)) for row in range(self.rows)]
        self.results = [
            (self.sums[0, row, number], self.code.at(place, number * self.shape.lanes), mask)
            for row, place in enumerate(places)
            for number, mask in enumerate(self.masks)
        ]

    def _offset(self, row: int) -> str:
        """How many bytes a row of a lies behind the first one.

        LLVM would rather add them up again at each step, which takes the place of multiplications:
        what it cannot see through it keeps in a register.
        """
        offset = self.code.times(self.code.times("%a_row", row), self.shape.dtype.itemsize)
        return self.code.let(f'call i64 asm "", "=r,0"(i64 {offset})')

    def is_dense(self) -> str:
        """Whether b is packed, and rows of a lie along k.

        Places are constants then, and more of the instructions of a step are multiplications.
        """
        code = self.code
        is_packed = code.compare("eq", "%b_row", self.shape.columns)
        return code.both(is_packed, code.compare("eq", "%a_column", 1))

    def _sum(self) -> str:
        wide = self.lanes.type(self.shape.dtype)
        name = self.code.alloca(wide)
        self.code.line(f"store {wide} zeroinitializer, ptr {name}")
        return name

    def add_products(
        self, masks: Sequence[str | None], strides: tuple[str, str], unrolled: int = 1
    ) -> None:
        """Go along k, and read the lanes of b that the masks have.

        `strides` are those of a row of b and of a column of a.
        """
        code, steps = self.code, max(self.chains, unrolled)
        whole = code.up_to("%k", steps)
        with code.loop("0", whole, str(steps)) as at:
            for step in range(steps):
                self._step(code.plus(at, step), step % self.chains, masks, strides)
        if steps > 1:
            with code.loop(whole, "%k") as at:
                self._step(at, 0, masks, strides)

    def _step(
        self, at: str, chain: int, masks: Sequence[str | None], strides: tuple[str, str]
    ) -> None:
        """Add the products of one k."""
        code, lanes, dtype = self.code, self.lanes, self.shape.dtype
        row_of_b = code.at("%b", code.times(at, strides[0]))
        if self.rows >= self.shape.long:
            # Ask for the lines that a step of the next tile reads: into the second cache.
            next_row = code.at(row_of_b, "%ahead")
            columns = len(self.masks) * self.shape.lanes
            for start in range(0, columns, LINE // self.shape.dtype.itemsize):
                line = code.at(next_row, start)
                code.line(f"call void @llvm.prefetch.p0(ptr {line}, i32 0, i32 2, i32 1)")
        right = [
            lanes.load(code.at(row_of_b, place * lanes.lanes), dtype, mask)
            for place, mask in enumerate(masks)
        ]
        column_of_a = code.at("%a", code.times(at, strides[1]))
        for row in range(self.rows):
            # The place as many rows of a further: addresses add a register times 1, 2 or 4.
            place_of_a = column_of_a
            if row:
                scale = row & -row
                offset = code.times(self.a_rows[row // scale], scale)
                place_of_a = code.let(f"getelementptr i8, ptr {column_of_a}, i64 {offset}")
            one = code.let(f"load {code.element}, ptr {place_of_a}")
            left = lanes.splat(Value(one, dtype))
            for place, value in enumerate(right):
                name = self.sums[chain, row, place]
                self._keep(name, lanes.fma(left, value, self._value(name)))

    def fetch_results(self) -> None:
        """Ask for the lines that `store` writes: they are there when the sums are."""
        for _, to, _ in self.results:
            self.code.line(f"call void @llvm.prefetch.p0(ptr {to}, i32 1, i32 3, i32 1)")

    def store(self) -> None:
        """Write all sums, with what was there before if there is more."""
        code, lanes = self.code, self.lanes
        for (chain, row, place), name in self.sums.items():
            if chain:
                first = self.sums[0, row, place]
                self._keep(first, lanes.add(self._value(first), self._value(name)))
        # A store with a mask, even a full one, takes ten times as long where registers are short.
        is_whole = code.compare("sge", "%columns", len(self.masks) * lanes.lanes)
        with code.when(is_whole):
            self._write([(name, to, None) for name, to, _ in self.results])
        with code.when(code.no(is_whole)):
            self._write(self.results)

    def _write(self, results: Sequence[tuple[str, str, str | None]]) -> None:
        code, lanes, dtype = self.code, self.lanes, self.shape.dtype
        # Nothing is read where nothing is added: that would wait for memory.
        with code.when(code.compare("ne", "%more", 0)):
            for name, to, mask in results:
                before = lanes.load(to, dtype, mask)
                self._keep(name, lanes.add(before, self._value(name)))
        for name, to, mask in results:
            lanes.store(self._value(name), to, mask)

    def _value(self, name: str) -> Value:
        return self.lanes.load(name, self.shape.dtype)

    def _keep(self, name: str, value: Value) -> None:
        self.lanes.store(value, name)


__all__ = ["tile"]
