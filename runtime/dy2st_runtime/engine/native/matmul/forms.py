"""Chooses the form of a product that is the fastest for the sizes and strides of a call."""

from __future__ import annotations

from collections.abc import Callable

from dy2st_runtime.engine.native.matmul.blocks import panels
from dy2st_runtime.engine.native.matmul.dots import by_dots
from dy2st_runtime.engine.native.matmul.shape import LINE, Shape
from dy2st_runtime.engine.native.matmul.sweeps import LEAST_BYTES, MOST_ROWS, SWEPT_ROWS, is_row
from dy2st_runtime.engine.native.text.code import Code

# From which rows on b is packed: one that is far, a large one, one that is near, and one of which
# each vector is in one line of the cache. Of vectors of half a line it is the same for all.
_FAR_ROWS, _PACKED_ROWS, _NEAR_ROWS, _ALIGNED_ROWS = 4, 12, 48, 192
_SHORT_ROWS = 40
_PAGE = 4096
# Up to so many rows columns of b along k are not packed: few rows, or if k fills so many vectors.
_FEW_DOT_ROWS, _DOT_ROWS, _DOT_VECTORS = 3, 8, 4
_FLAT = 4  # k, up to which b is swept, though there are more rows of a
_NEAR_BYTES = 1 << 20  # b of no more is near
_FAR_BYTES = 8 << 20  # b of more is far: memory gives long pieces faster than those of a tile

_STRIDES = "a_row a_column b_row b_column c_row"
_EPILOGUE = ("%epilogue", "%context")


def product(shape: Shape) -> str:
    """A product; one column is made as a row of the product with both sides transposed."""
    code = shape.code("product", f"c a b packed scratch epilogue context | m n k {_STRIDES}")
    is_swept = is_row(code, shape)
    with code.when(is_swept):
        _sweep_all(code, shape)
        _finish(code)
    is_packed = code.both(code.let("icmp ne ptr %packed, null"), code.no(is_swept))
    with code.when(is_packed):
        own = ("%m", "%n", "%k", "%a_row", "%a_column", "%c_row")
        shape.call(code, "packed", ("%c", "%a", "%packed", "%scratch", *_EPILOGUE), own)
    dense = code.both(code.compare("eq", "%c_row", 1), code.compare("eq", "%n", 1))
    is_done = code.either(is_swept, is_packed)
    dense = code.both(dense, code.no(is_done))
    with code.when(dense):
        transposed = ("1", "%m", "%k", "0", "%b_row", "%a_column", "%a_row", "%m")
        shape.call(code, "chosen", ("%c", "%b", "%a", "%scratch", "null", "null"), transposed)
        _finish(code)
    with code.when(code.no(code.either(dense, is_done))):
        sizes = ("%m", "%n", "%k", *(f"%{name}" for name in _STRIDES.split()))
        shape.call(code, "chosen", ("%c", "%a", "%b", "%scratch", *_EPILOGUE), sizes)
    return code.end()


def chosen(shape: Shape) -> str:
    """The form that is the fastest for the sizes and strides."""
    code = shape.code("chosen", f"c a b scratch epilogue context | m n k {_STRIDES}")
    traits = _Traits(code, shape)
    rest = "true"
    for applies, write in traits.forms():
        with code.when(code.both(rest, applies)):
            write(code, shape)
            _finish(code)
        rest = code.both(rest, code.no(applies))
    with code.when(rest):
        # From how many rows on b is packed, whose rows can be read as they are.
        if shape.is_short:
            least_packed: str | int = _SHORT_ROWS
        else:
            bytes_of_b = code.times("%n", code.times("%k", shape.dtype.itemsize))
            is_near = code.compare("sle", bytes_of_b, _NEAR_BYTES)
            is_far = code.compare("sgt", bytes_of_b, _FAR_BYTES)
            large = code.choose(is_far, _FAR_ROWS, _PACKED_ROWS)
            unaligned = code.choose(is_near, _NEAR_ROWS, large)
            # Whether each vector of b is in one line of the cache, not in two. Rows that are whole
            # pages apart are not meant: they would all have the same places of it.
            place = code.let("ptrtoint ptr %b to i64")
            row = code.times("%b_row", shape.dtype.itemsize)
            start = code.let(f"and i64 {code.let(f'or i64 {place}, {row}')}, {LINE - 1}")
            in_page = code.let(f"and i64 {row}, {_PAGE - 1}")
            in_lines = code.both(
                code.both(code.compare("eq", start, 0), code.compare("ne", in_page, 0)),
                code.no(is_far),
            )
            least_packed = code.choose(in_lines, _ALIGNED_ROWS, unaligned)
        is_read_as_it_is = code.both(traits.has_rows, code.compare("slt", "%m", least_packed))
        room_b = code.choose(is_read_as_it_is, "null", "%scratch", "ptr")
        room_a = _room_for_rows(code, shape, code.at("%scratch", panels(code, shape)))
        places = ("%c", "%a", "%b", *_EPILOGUE, room_a, room_b)
        sizes = ("%m", "%n", "%k", "%a_row", "%a_column", "%b_row", "%b_column")
        shape.call(code, "blocks", places, (*sizes, shape.columns, "%c_row"))
    return code.end()


class _Traits:
    """What the choice goes by.

    has_rows      each row of b lies side by side; has_columns: each column does, and no row.
    along_k       each row of a lies side by side; is_column_major: each column does, and no row.
    is_slim       so few columns leave most of a vector empty, and k fills one.
    is_low        so few rows that packing b would not pay; is_high: more than transposing c takes.
    is_swept      see `sweeps.py`.
    """

    def __init__(self, code: Code, shape: Shape) -> None:
        self._code = code
        self.has_rows = code.compare("eq", "%b_column", 1)
        self.along_k = code.compare("eq", "%a_column", 1)
        self.has_columns = code.both(code.compare("eq", "%b_row", 1), code.no(self.has_rows))
        is_long = code.compare("sge", "%k", shape.lanes)
        self.is_slim = code.both(code.compare("sle", "%n", shape.few), is_long)
        fills_many = code.compare("sge", "%k", _DOT_VECTORS * shape.lanes)
        self.is_low = code.both(
            code.compare("sle", "%m", _DOT_ROWS),
            code.either(fills_many, code.compare("sle", "%m", _FEW_DOT_ROWS)),
        )
        self.is_high = code.compare("sgt", "%m", shape.few)
        self.is_column_major = code.both(code.compare("eq", "%a_row", 1), code.no(self.along_k))
        is_wide = code.compare("sge", "%n", LEAST_BYTES // shape.dtype.itemsize)
        # Whether there are so few rows of a, or of b, that b is swept.
        bytes_of_b = code.times("%n", code.times("%k", shape.dtype.itemsize))
        is_far = code.compare("sgt", bytes_of_b, _FAR_BYTES)
        most = code.choose(is_far, MOST_ROWS, SWEPT_ROWS)
        self.is_swept = code.both(
            is_wide, code.either(code.compare("sle", "%m", most), code.compare("sle", "%k", _FLAT))
        )

    def forms(self) -> list[tuple[str, Callable[[Code, Shape], None]]]:
        """Each form but the one by blocks, and whether it is the one, if none before it is."""
        both, either = self._code.both, self._code.either
        few_dots = either(self.is_low, self.is_slim)
        few_of_many = both(self.is_slim, self.is_high)
        return [
            (both(both(self.along_k, self.has_columns), few_dots), by_dots),
            (both(both(self.along_k, self.has_rows), few_of_many), _by_own_dots),
            (both(self.has_rows, self.is_swept), _sweep_all),
            (both(self.is_column_major, few_of_many), _transposed),
        ]


def _by_own_dots(code: Code, shape: Shape) -> None:
    """The few columns of b are laid out along k before."""
    shape.call(code, "move", ("%scratch", "%b"), ("%k", "%n", 1, "%k", "%b_row", 1))
    by_dots(code, shape, "%scratch", "%k")


def _transposed(code: Code, shape: Shape) -> None:
    """The rows of the product with both sides transposed, which are its few columns."""
    room = code.at("%scratch", code.times("%m", shape.few))
    sizes = ("%n", "%m", "%k", "%b_column", "%b_row", "%a_column", "%a_row", "%m")
    shape.call(code, "chosen", ("%scratch", "%b", "%a", room, "null", "null"), sizes)
    shape.call(code, "move", ("%c", "%scratch"), ("%m", "%n", "%c_row", 1, 1, "%m"))


def move(shape: Shape) -> str:
    """Copy a matrix, element by element: its sizes, and the strides of both."""
    strides = "to_row to_column from_row from_column"
    code = shape.code("move", f"to from | rows columns {strides}")
    with code.loop("0", "%columns") as column:
        source = code.at("%from", code.times(column, "%from_column"))
        target = code.at("%to", code.times(column, "%to_column"))
        with code.loop("0", "%rows") as row:
            value = code.at(source, code.times(row, "%from_row"))
            read = code.let(f"load {code.element}, ptr {value}")
            to = code.at(target, code.times(row, "%to_row"))
            code.line(f"store {code.element} {read}, ptr {to}")
    return code.end()


def _sweep_all(code: Code, shape: Shape) -> None:
    sizes = ("%m", "%n", "%k", "%a_row", "%a_column", "%b_row", "%c_row")
    shape.call(code, "swept", ("%c", "%a", "%b"), sizes)


def _finish(code: Code) -> None:
    """Call the epilogue for the whole of c."""
    with code.when(code.let("icmp ne ptr %epilogue, null")):
        sizes = "i64 %c_row, i64 0, i64 %m, i64 0, i64 %n"
        code.line(f"call void %epilogue(ptr %context, ptr %c, {sizes})")


def packed(shape: Shape) -> str:
    """A product whose b has been packed."""
    parameters = "c a packed scratch epilogue context | m n k a_row a_column c_row"
    code = shape.code("packed", parameters)
    room = _room_for_rows(code, shape, "%scratch")
    sizes = ("%m", "%n", "%k", "%a_row", "%a_column", shape.columns, 1)
    shape.call(
        code,
        "blocks",
        ("%c", "%a", "%packed", *_EPILOGUE, room, "null"),
        (*sizes, code.times("%k", shape.columns), "%c_row"),
    )
    return code.end()


def _room_for_rows(code: Code, shape: Shape, room: str) -> str:
    """The room if a is copied, whose columns lie far apart and are read often; else null."""
    often = code.both(
        code.compare("sgt", "%n", 2 * shape.columns), code.compare("sge", "%m", shape.rows)
    )
    is_column_major = code.both(code.compare("eq", "%a_row", 1), code.compare("ne", "%a_column", 1))
    return code.choose(code.both(is_column_major, often), room, "null", "ptr")


__all__ = ["chosen", "move", "packed", "product"]
