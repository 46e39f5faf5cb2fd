"""Blocks: a product tile by tile, piece by piece of its sides, which stay in the caches meanwhile.

b is packed into panels, and a copied, where who calls gives room for it.
"""

from __future__ import annotations

from dy2st_runtime.engine.native.matmul.shape import Shape
from dy2st_runtime.engine.native.text.code import Code, first_lanes
from dy2st_runtime.engine.native.text.lanes import Lanes

# How far a tile goes along k at once, and how many rows and columns are packed at once: its part of
# a stays in the nearest cache, a block of a in the second one, and a block of b in the last. Of few
# rows a block of b is so narrow that it is still in the second one when it is read.
_DEPTH_BYTES, _ROWS, _COLUMNS = 2048, 96, 1152
_LOW_ROWS, _LOW_COLUMNS = 128, 192
_HEIGHT = 8  # a power of 2 that no tile has more rows than


def tiles(shape: Shape) -> str:
    """All tiles of a block of rows, panel by panel."""
    code = shape.code(
        "tiles",
        "c a b epilogue context | m n k a_tile a_row a_column b_row b_panel c_row more row column",
    )
    here = code.at("%c", code.plus(code.times("%row", "%c_row"), "%column"))
    is_last = code.let("icmp ne ptr %epilogue, null")
    with code.loop("0", "%n", str(shape.columns)) as at:
        # The tiles of one panel. Panels are filled up with zeros; what is read as it is has
        # `columns` from one to the next.
        is_packed = code.compare("ne", "%b_panel", shape.columns)
        panel = code.at("%b", code.times(code.over(at, shape.columns), "%b_panel"))
        columns = code.least(shape.columns, code.minus("%n", at))
        readable = code.choose(is_packed, shape.columns, columns)
        # The tallest tile that is just wide enough for some columns.
        tallest = f"@{shape.name(f'tile{shape.rows}')}"
        for vectors in range(shape.vectors - 1, 0, -1):
            fits = code.compare("sle", columns, vectors * shape.lanes)
            tallest = code.choose(fits, f"@{shape.name(f'narrow{vectors}')}", tallest, "ptr")
        with code.walk("%m") as (row, following):
            # The function of the tallest tile that has no more rows than are left, and its rows.
            rest = code.minus("%m", row)
            heights = shape.heights[::-1]
            tile_of_row, rows = f"@{shape.name('tile1')}", "1"
            for height in heights[1:]:
                fits = code.compare("sge", rest, height)
                own = tallest if height == shape.rows else f"@{shape.name(f'tile{height}')}"
                tile_of_row, rows = (
                    code.choose(fits, own, tile_of_row, "ptr"),
                    code.choose(fits, height, rows),
                )
            to = code.at(here, code.plus(code.times(row, "%c_row"), at))
            own = code.at("%a", code.times(row, "%a_tile"))
            sizes = ["%k", "%a_row", "%a_column", "%b_row", "%c_row", columns, readable]
            listed = ", ".join(f"i64 {size}" for size in [*sizes, "%more", "%b_panel"])
            code.line(f"call void {tile_of_row}(ptr {to}, ptr {own}, ptr {panel}, {listed})")
            following.append(code.plus(row, rows))
    with code.when(is_last):
        place = ("%c_row", "%row", "%m", "%column", "%n")
        listed = ", ".join(["ptr %context, ptr %c", *(f"i64 {size}" for size in place)])
        code.line(f"call void %epilogue({listed})")
    return code.end()


def blocks(shape: Shape) -> str:
    """A product block by block; b is packed, and a copied, where there is room for it.

    Without room b is read as it is: its panels are `b_panel` apart.
    """
    code = shape.code(
        "blocks",
        "c a b epilogue context room_a room_b | m n k a_row a_column b_row b_column b_panel c_row",
    )
    depth = _DEPTH_BYTES // shape.dtype.itemsize
    pieces = code.most(1, code.over(code.plus("%k", depth - 1), depth))
    step = code.over(code.plus("%k", code.minus(pieces, 1)), pieces)
    packs = code.let("icmp ne ptr %room_b, null")
    b_row = code.choose(packs, shape.columns, "%b_row")
    is_low = code.compare("sle", "%m", _LOW_ROWS)
    wide = code.choose(is_low, _LOW_COLUMNS, _COLUMNS)
    with code.loop("0", "%n", wide) as column, code.loop("0", pieces) as piece:
        at = code.times(piece, step)
        count = code.least(step, code.minus("%k", at))
        columns = code.least(wide, code.minus("%n", column))
        down = code.at("%b", code.times(at, "%b_row"))
        with code.when(packs):
            own = code.at(down, code.times(column, "%b_column"))
            sizes = (columns, count, "%b_row", "%b_column")
            shape.call(code, "pack", ("%room_b", own), sizes)
        panel = code.choose(packs, code.times(count, shape.columns), "%b_panel")
        own = code.at(down, code.times(code.over(column, shape.columns), "%b_panel"))
        b = code.choose(packs, "%room_b", own, "ptr")
        is_last = code.compare("eq", code.plus(piece, 1), pieces)
        epilogue = code.choose(is_last, "%epilogue", "null", "ptr")
        # The blocks of rows for one block of b.
        copies = code.let("icmp ne ptr %room_a, null")
        a_tile, a_row = code.choose(copies, count, "%a_row"), code.choose(copies, 1, "%a_row")
        a_column = code.choose(copies, shape.rows, "%a_column")
        with code.loop("0", "%m", str(_ROWS)) as row:
            rows = code.least(_ROWS, code.minus("%m", row))
            own = code.at("%a", code.plus(code.times(row, "%a_row"), code.times(at, "%a_column")))
            with code.when(copies):
                shape.call(code, "copy", ("%room_a", own), (rows, count, "%a_column"))
            a = code.choose(copies, "%room_a", own, "ptr")
            strides = (a_tile, a_row, a_column, b_row, panel, "%c_row")
            places = ("%c", a, b, epilogue, "%context")
            shape.call(code, "tiles", places, (rows, columns, count, *strides, piece, row, column))
    return code.end()


def copy(shape: Shape) -> str:
    """Rows of a that lie side by side along each column, in panels as high as tiles.

    `[rows / height][k][height]`: a tile reads whole lines of the cache. What a vector writes behind
    a column of a panel is written over by the next one.
    """
    code, height = shape.code("copy", "to from | rows k stride"), shape.rows
    lanes = Lanes(code, _HEIGHT)
    with code.loop("0", "%rows", str(height)) as row:
        mask = first_lanes(lanes, code.least(height, code.minus("%rows", row)))
        source, panel = code.at("%from", row), code.at("%to", code.times(row, "%k"))
        with code.loop("0", "%k") as at:
            column = lanes.load(code.at(source, code.times(at, "%stride")), shape.dtype, mask)
            lanes.store(column, code.at(panel, code.times(at, height)))
    return code.end()


# -- sizes ------------------------------------------------------------------------------------


def panels(code: Code, shape: Shape, columns: str = "%n") -> str:
    """The elements of a packed block of b."""
    depth = _DEPTH_BYTES // shape.dtype.itemsize
    full = code.up_to(code.plus(code.least(columns, _COLUMNS), shape.columns - 1), shape.columns)
    return code.times(full, code.least("%k", depth))


def product_scratch(shape: Shape) -> str:
    """The bytes of a packed block of b and of one of a."""
    code = shape.code("product_scratch", "| m n k", "i64")
    depth = _DEPTH_BYTES // shape.dtype.itemsize
    rows = code.plus(code.least("%m", _ROWS), _HEIGHT)
    own = code.plus(code.times(rows, code.least("%k", depth)), _HEIGHT)
    longer = code.most("%m", "%n")
    columns = code.choose(code.compare("sle", "%n", shape.few), longer, "%n")
    total = code.plus(own, panels(code, shape, columns))
    total = code.plus(total, code.times(code.most(longer, "%k"), shape.few))
    total = code.times(total, shape.dtype.itemsize)
    code.line(f"ret i64 {total}")
    return code.text()


def packed_bytes(shape: Shape) -> str:
    """The bytes of all panels of b."""
    code = shape.code("packed_bytes", "| n k", "i64")
    full = code.up_to(code.plus("%n", shape.columns - 1), shape.columns)
    total = code.times(code.times(full, "%k"), shape.dtype.itemsize)
    code.line(f"ret i64 {total}")
    return code.text()


__all__ = ["blocks", "copy", "packed_bytes", "panels", "product_scratch", "tiles"]
