"""Matrix products as machine code: `c = a @ b` of float32 or float64, for any sizes and strides.

    product          the product; it packs what pays for it, by the sizes of the call
    pack             lays b out in panels once, for any number of products
    packed_bytes     the bytes of the panels
    product_scratch  the bytes that a product takes as `scratch`
    shared_product   a product on which `set_num_threads` threads work, if it is large; `bytes`
                     says how much scratch it has
    shared_scratch   the bytes that it takes: no fewer than `product_scratch`

Names end with `_f32` or `_f64`, PARAMETERS tells what they take. The rows of c lie `c_row` elements
after one another, each side by side; a and b have any strides, counted in elements. k may be 0: c
is zeros. Where `packed` is not null, it is the panels of b, which may then be null; if it is not,
the faster one of both is read.

`epilogue` is null, or what is done to each part of c as soon as it is complete:
`void (ptr context, ptr c, i64 c_row, i64 row, i64 rows, i64 column, i64 columns)`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache, partial

import numpy as np

from dy2st_runtime.engine.native.machine.llvm import Library, Processor, load, object_of
from dy2st_runtime.engine.native.machine.threads import pool
from dy2st_runtime.engine.native.matmul.dots import dots
from dy2st_runtime.engine.native.matmul.panels import pack
from dy2st_runtime.engine.native.matmul.shared_product import (
    part_of_product,
    shared_product,
    shared_scratch,
)
from dy2st_runtime.engine.native.matmul.sweeps import LEAST_BYTES, SWEPT_ROWS, is_row, sweep
from dy2st_runtime.engine.native.matmul.tiles import LINE, Shape, tile
from dy2st_runtime.engine.native.text.code import Code, first_lanes
from dy2st_runtime.engine.native.text.lanes import Lanes

# How far a tile goes along k at once, and how many rows and columns are packed at once: its part of
# a stays in the nearest cache, a block of a in the second one, and a block of b in the last. Of few
# rows a block of b is so narrow that it is still in the second one when it is read.
_DEPTH_BYTES, _ROWS, _COLUMNS = 2048, 96, 1152
_LOW_ROWS, _LOW_COLUMNS = 128, 192
# From which rows on b is packed: one that is far, a large one, one that is near, and one of which
# each vector is in one line of the cache. Of vectors of half a line it is the same for all.
_FAR_ROWS, _PACKED_ROWS, _NEAR_ROWS, _ALIGNED_ROWS = 4, 12, 48, 192
_SHORT_ROWS = 40
_PAGE = 4096
_HEIGHT = 8  # a power of 2 that no tile has more rows than
_DOT_ROWS, _DOT_VECTORS = 8, 4  # up to which, and k from which on, columns of b along k are not
_SWEPT_FAR_ROWS = 3  # up to which a b that is far is swept
_FLAT = 4  # k, up to which it is, too
_NEAR_BYTES = 1 << 20  # b of no more is near
_FAR_BYTES = 8 << 20  # b of more is far: memory gives long pieces faster than those of a tile

_STRIDES = "a_row a_column b_row b_column c_row"
PARAMETERS = {
    "product": f"c a b packed scratch epilogue context | m n k {_STRIDES}",
    "pack": "packed b | n k b_row b_column",
    "product_scratch": "| m n k",
    "packed_bytes": "| n k",
    "shared_product": f"c a b packed scratch epilogue context | m n k {_STRIDES} bytes",
    "shared_scratch": "| m n k",
}
"""Of the functions for callers: pointers first, then i64."""

_EPILOGUE = ("ptr %epilogue", "ptr %context")


def library(processor: Processor, names: Iterable[str]) -> str:
    """The text of the functions of these names, and of all that they call, for one module."""
    wanted, found = list(names), dict[str, str]()
    while wanted:
        name = wanted.pop()
        if name not in found:
            stem, shape = _parts(name, processor)
            found[name] = _WRITERS[stem](shape)
            wanted += re.findall(r"@(\w+_f\d\d)\b", found[name])
    return "\n\n".join(found[name] for name in sorted(found))


@cache
def linked(processor: Processor, suffix: str) -> Library:
    """All functions of a dtype, "f32" or "f64", made once for all modules of the process."""
    names = [f"{stem}_{suffix}" for stem in PARAMETERS]
    text = library(processor, names)
    for name in names:
        text = re.sub(rf"define internal (\w+ @{name}\()", r"define \1", text)
    text += "\n@threads = external global i64\ndeclare void @parallel(ptr, ptr, i64)\n"
    text += "declare i64 @threads_for(i64, i64, i64)\n"
    helpers = pool(processor).addresses
    return load(object_of(text, processor, is_plain=True), names, helpers)


def declaration(name: str) -> str:
    """What a module says of a function that it takes from `linked`.

    >>> declaration("packed_bytes_f32")
    'declare i64 @packed_bytes_f32(i64, i64)'
    """
    pointers, _, sizes = PARAMETERS[name.rpartition("_")[0]].partition("|")
    types = ["ptr"] * len(pointers.split()) + ["i64"] * len(sizes.split())
    result = "void" if pointers else "i64"
    return f"declare {result} @{name}({', '.join(types)})"


def _parts(name: str, processor: Processor) -> tuple[str, Shape]:
    stem, _, suffix = name.rpartition("_")
    return stem, Shape.of(np.dtype(f"float{suffix[1:]}"), processor)


# -- blocks -----------------------------------------------------------------------------------


def _tiles(shape: Shape) -> str:
    """All tiles of a block of rows, panel by panel."""
    code = shape.code(
        "tiles",
        "c a b epilogue context | m n k a_tile a_row a_column b_row b_panel c_row more row column",
    )
    here = code.at("%c", code.plus(code.times("%row", "%c_row"), "%column"))
    is_last = code.let("icmp ne ptr %epilogue, null")
    with code.loop("0", "%n", str(shape.columns)) as at:
        _column_of_tiles(code, shape, here, at)
    with code.when(is_last):
        place = ("%c_row", "%row", "%m", "%column", "%n")
        listed = ", ".join(["ptr %context, ptr %c", *(f"i64 {size}" for size in place)])
        code.line(f"call void %epilogue({listed})")
    return code.end()


def _column_of_tiles(code: Code, shape: Shape, here: str, at: str) -> None:
    """The tiles of one panel."""
    # Panels are filled up with zeros; what is read as it is has `columns` from one to the next.
    is_packed = code.compare("ne", "%b_panel", shape.columns)
    panel = code.at("%b", code.times(code.over(at, shape.columns), "%b_panel"))
    columns = code.least(shape.columns, code.minus("%n", at))
    readable = code.choose(is_packed, shape.columns, columns)
    tallest = _narrowest(code, shape, columns)
    with code.walk("%m") as (row, following):
        tile_of_row, rows = _tallest(code, shape, tallest, code.minus("%m", row))
        to = code.at(here, code.plus(code.times(row, "%c_row"), at))
        own = code.at("%a", code.times(row, "%a_tile"))
        sizes = ["%k", "%a_row", "%a_column", "%b_row", "%c_row", columns, readable]
        listed = ", ".join(f"i64 {size}" for size in [*sizes, "%more", "%b_panel"])
        code.line(f"call void {tile_of_row}(ptr {to}, ptr {own}, ptr {panel}, {listed})")
        following.append(code.plus(row, rows))


def _narrowest(code: Code, shape: Shape, columns: str) -> str:
    """The tallest tile that is just wide enough for some columns."""
    name = f"@{shape.name(f'tile{shape.rows}')}"
    for vectors in range(shape.vectors - 1, 0, -1):
        fits = code.compare("sle", columns, vectors * shape.lanes)
        name = code.choose(fits, f"@{shape.name(f'narrow{vectors}')}", name, "ptr")
    return name


def _tallest(code: Code, shape: Shape, tallest: str, rest: str) -> tuple[str, str]:
    """The function of the tallest tile that has no more rows than are left, and its rows."""
    heights = shape.heights[::-1]
    name, rows = f"@{shape.name('tile1')}", "1"
    for height in heights[1:]:
        fits = code.compare("sge", rest, height)
        own = tallest if height == shape.rows else f"@{shape.name(f'tile{height}')}"
        name, rows = code.choose(fits, own, name, "ptr"), code.choose(fits, height, rows)
    return name, rows


def _blocks(shape: Shape) -> str:
    """A product block by block; b is packed, and a copied, where there is room for it.

    Without room b is read as it is: its panels are `b_panel` apart.
    """
    code = shape.code(
        "blocks",
        "c a b epilogue context room_a room_b | m n k a_row a_column b_row b_column b_panel c_row",
    )
    depth = _DEPTH_BYTES // shape.dtype.itemsize
    turns = code.most(1, code.over(code.plus("%k", depth - 1), depth))
    step = code.over(code.plus("%k", code.minus(turns, 1)), turns)
    packs = code.let("icmp ne ptr %room_b, null")
    b_row = code.choose(packs, shape.columns, "%b_row")
    is_low = code.compare("sle", "%m", _LOW_ROWS)
    wide = code.choose(is_low, _LOW_COLUMNS, _COLUMNS)
    with code.loop("0", "%n", wide) as column, code.loop("0", turns) as turn:
        at = code.times(turn, step)
        count = code.least(step, code.minus("%k", at))
        columns = code.least(wide, code.minus("%n", column))
        down = code.at("%b", code.times(at, "%b_row"))
        with code.when(packs):
            own = code.at(down, code.times(column, "%b_column"))
            sizes = (columns, count, "%b_row", "%b_column")
            _call(code, shape, "pack", ("%room_b", own), sizes)
        panel = code.choose(packs, code.times(count, shape.columns), "%b_panel")
        own = code.at(down, code.times(code.over(column, shape.columns), "%b_panel"))
        b = code.choose(packs, "%room_b", own, "ptr")
        is_last = code.compare("eq", code.plus(turn, 1), turns)
        epilogue = code.choose(is_last, "%epilogue", "null", "ptr")
        _rows_of_blocks(
            code, shape, (b, epilogue), (columns, count, b_row, panel, turn, column, at)
        )
    return code.end()


def _rows_of_blocks(
    code: Code, shape: Shape, pointers: tuple[str, str], sizes: tuple[str, ...]
) -> None:
    """The blocks of rows for one block of b."""
    b, epilogue = pointers
    columns, count, b_row, b_panel, turn, column, at = sizes
    copies = code.let("icmp ne ptr %room_a, null")
    a_tile, a_row = code.choose(copies, count, "%a_row"), code.choose(copies, 1, "%a_row")
    a_column = code.choose(copies, shape.rows, "%a_column")
    with code.loop("0", "%m", str(_ROWS)) as row:
        rows = code.least(_ROWS, code.minus("%m", row))
        own = code.at("%a", code.plus(code.times(row, "%a_row"), code.times(at, "%a_column")))
        with code.when(copies):
            _call(code, shape, "copy", ("%room_a", own), (rows, count, "%a_column"))
        a = code.choose(copies, "%room_a", own, "ptr")
        strides = (a_tile, a_row, a_column, b_row, b_panel, "%c_row")
        places = ("%c", a, b, epilogue, "%context")
        _call(code, shape, "tiles", places, (rows, columns, count, *strides, turn, row, column))


def _copy(shape: Shape) -> str:
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


# -- products ---------------------------------------------------------------------------------


def _product(shape: Shape) -> str:
    """A product; one column is made as a row of the product with both sides turned."""
    code = shape.code("product", PARAMETERS["product"])
    is_swept = is_row(code, shape)
    with code.when(is_swept):
        _sweep_all(code, shape)
        _finish(code)
    is_packed = code.both(code.let("icmp ne ptr %packed, null"), code.no(is_swept))
    with code.when(is_packed):
        own = ("%m", "%n", "%k", "%a_row", "%a_column", "%c_row")
        _call(code, shape, "packed", ("%c", "%a", "%packed", "%scratch", *_EPILOGUE), own)
    dense = code.both(code.compare("eq", "%c_row", 1), code.compare("eq", "%n", 1))
    is_done = code.either(is_swept, is_packed)
    dense = code.both(dense, code.no(is_done))
    with code.when(dense):
        turned = ("1", "%m", "%k", "0", "%b_row", "%a_column", "%a_row", "%m")
        _call(code, shape, "chosen", ("%c", "%b", "%a", "%scratch", "null", "null"), turned)
        _finish(code)
    with code.when(code.no(code.either(dense, is_done))):
        sizes = ("%m", "%n", "%k", *(f"%{name}" for name in _STRIDES.split()))
        _call(code, shape, "chosen", ("%c", "%a", "%b", "%scratch", *_EPILOGUE), sizes)
    return code.end()


def _chosen(shape: Shape) -> str:
    """The form that is fastest for the sizes and strides."""
    code = shape.code("chosen", f"c a b scratch epilogue context | m n k {_STRIDES}")
    has_rows = code.compare("eq", "%b_column", 1)
    along_k = code.compare("eq", "%a_column", 1)
    has_columns = code.both(code.compare("eq", "%b_row", 1), code.no(has_rows))
    is_long = code.compare("sge", "%k", shape.lanes)
    is_slim = code.both(code.compare("sle", "%n", shape.few), is_long)
    is_low = code.both(
        code.compare("sle", "%m", _DOT_ROWS),
        code.either(
            code.compare("sge", "%k", _DOT_VECTORS * shape.lanes), code.compare("sle", "%m", 3)
        ),
    )
    is_high = code.compare("sgt", "%m", shape.few)
    is_turned = code.both(code.compare("eq", "%a_row", 1), code.no(along_k))
    is_wide = code.compare("sge", "%n", LEAST_BYTES // shape.dtype.itemsize)
    is_swept = code.both(is_wide, _is_flat(code, shape))
    rest = "true"
    for applies, write in (
        (code.both(code.both(along_k, has_columns), code.either(is_low, is_slim)), _by_dots),
        (code.both(code.both(along_k, has_rows), code.both(is_slim, is_high)), _by_own_dots),
        (code.both(has_rows, is_swept), _sweep_all),
        (code.both(code.both(is_turned, is_slim), is_high), _turned),
    ):
        with code.when(code.both(rest, applies)):
            write(code, shape)
            _finish(code)
        rest = code.both(rest, code.no(applies))
    with code.when(rest):
        _by_blocks(code, shape, has_rows)
    return code.end()


def _is_flat(code: Code, shape: Shape) -> str:
    """Whether there are so few rows of a, or of b, that b is swept."""
    bytes_of_b = code.times("%n", code.times("%k", shape.dtype.itemsize))
    is_far = code.compare("sgt", bytes_of_b, _FAR_BYTES)
    most = code.choose(is_far, _SWEPT_FAR_ROWS, SWEPT_ROWS)
    return code.either(code.compare("sle", "%m", most), code.compare("sle", "%k", _FLAT))


def _by_blocks(code: Code, shape: Shape, has_rows: str) -> None:
    is_read_as_it_is = code.both(has_rows, code.compare("slt", "%m", _least_packed(code, shape)))
    room_b = code.choose(is_read_as_it_is, "null", "%scratch", "ptr")
    room_a = _room_for_rows(code, shape, code.at("%scratch", _panels(code, shape)))
    places = ("%c", "%a", "%b", *_EPILOGUE, room_a, room_b)
    sizes = ("%m", "%n", "%k", "%a_row", "%a_column", "%b_row", "%b_column")
    _call(code, shape, "blocks", places, (*sizes, shape.columns, "%c_row"))


def _least_packed(code: Code, shape: Shape) -> str | int:
    """From how many rows on b is packed, whose rows can be read as they are."""
    if shape.is_short:
        return _SHORT_ROWS
    bytes_of_b = code.times("%n", code.times("%k", shape.dtype.itemsize))
    is_near = code.compare("sle", bytes_of_b, _NEAR_BYTES)
    is_far = code.compare("sgt", bytes_of_b, _FAR_BYTES)
    large = code.choose(is_far, _FAR_ROWS, _PACKED_ROWS)
    unaligned = code.choose(is_near, _NEAR_ROWS, large)
    in_lines = code.both(_is_in_lines(code, shape), code.no(is_far))
    return code.choose(in_lines, _ALIGNED_ROWS, unaligned)


def _is_in_lines(code: Code, shape: Shape) -> str:
    """Whether each vector of b is in one line of the cache, not in two.

    Rows that are whole pages apart are not meant: they would all have the same places of it.
    """
    place = code.let("ptrtoint ptr %b to i64")
    row = code.times("%b_row", shape.dtype.itemsize)
    start = code.let(f"and i64 {code.let(f'or i64 {place}, {row}')}, {LINE - 1}")
    in_page = code.let(f"and i64 {row}, {_PAGE - 1}")
    return code.both(code.compare("eq", start, 0), code.compare("ne", in_page, 0))


def _by_dots(code: Code, shape: Shape, b: str = "%b", b_column: str = "%b_column") -> None:
    """Without laying out b, whose columns lie along k."""
    with code.walk("%m") as (row, following):
        name, rows = _most(code, shape, "dots", shape.dots, code.minus("%m", row))
        to = code.at("%c", code.times(row, "%c_row"))
        own = code.at("%a", code.times(row, "%a_row"))
        sizes = ("%n", "%k", "%a_row", b_column, "%c_row")
        listed = ", ".join([f"ptr {to}, ptr {own}, ptr {b}", *(f"i64 {size}" for size in sizes)])
        code.line(f"call void {name}({listed})")
        following.append(code.plus(row, rows))


def _most(code: Code, shape: Shape, stem: str, most: int, rest: str) -> tuple[str, str]:
    """The function for as many rows as there are left, and their number."""
    name, rows = f"@{shape.name(f'{stem}1')}", "1"
    for height in range(2, most + 1):
        fits = code.compare("sge", rest, height)
        name = code.choose(fits, f"@{shape.name(f'{stem}{height}')}", name, "ptr")
        rows = code.choose(fits, height, rows)
    return name, rows


def _by_own_dots(code: Code, shape: Shape) -> None:
    """The few columns of b are laid out along k before."""
    _call(code, shape, "move", ("%scratch", "%b"), ("%k", "%n", 1, "%k", "%b_row", 1))
    _by_dots(code, shape, "%scratch", "%k")


def _turned(code: Code, shape: Shape) -> None:
    """The rows of the product with both sides turned, which are its few columns."""
    room = code.at("%scratch", code.times("%m", shape.few))
    sizes = ("%n", "%m", "%k", "%b_column", "%b_row", "%a_column", "%a_row", "%m")
    _call(code, shape, "chosen", ("%scratch", "%b", "%a", room, "null", "null"), sizes)
    _call(code, shape, "move", ("%c", "%scratch"), ("%m", "%n", "%c_row", 1, 1, "%m"))


def _move(shape: Shape) -> str:
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
    _call(code, shape, "swept", ("%c", "%a", "%b"), sizes)


def _swept(shape: Shape) -> str:
    """The product by sweeps, some rows of a at once: each column has the same sum in any part."""
    code = shape.code("swept", "c a b | m n k a_row a_column b_row c_row")
    with code.walk("%m") as (row, following):
        name, rows = _most(code, shape, "sweep", _SWEPT_FAR_ROWS, code.minus("%m", row))
        to = code.at("%c", code.times(row, "%c_row"))
        own = code.at("%a", code.times(row, "%a_row"))
        sizes = ("%n", "%k", "%a_row", "%a_column", "%b_row", "%c_row")
        listed = ", ".join([f"ptr {to}, ptr {own}, ptr %b", *(f"i64 {size}" for size in sizes)])
        code.line(f"call void {name}({listed})")
        following.append(code.plus(row, rows))
    return code.end()


def _finish(code: Code) -> None:
    """Call the epilogue for the whole of c."""
    with code.when(code.let("icmp ne ptr %epilogue, null")):
        sizes = "i64 %c_row, i64 0, i64 %m, i64 0, i64 %n"
        code.line(f"call void %epilogue(ptr %context, ptr %c, {sizes})")


def _packed(shape: Shape) -> str:
    """A product whose b has been packed."""
    parameters = "c a packed scratch epilogue context | m n k a_row a_column c_row"
    code = shape.code("packed", parameters)
    room = _room_for_rows(code, shape, "%scratch")
    sizes = ("%m", "%n", "%k", "%a_row", "%a_column", shape.columns, 1)
    _call(
        code,
        shape,
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
    is_turned = code.both(code.compare("eq", "%a_row", 1), code.compare("ne", "%a_column", 1))
    return code.choose(code.both(is_turned, often), room, "null", "ptr")


# -- sizes ------------------------------------------------------------------------------------


def _panels(code: Code, shape: Shape, columns: str = "%n") -> str:
    """The elements of a packed block of b."""
    depth = _DEPTH_BYTES // shape.dtype.itemsize
    full = code.up_to(code.plus(code.least(columns, _COLUMNS), shape.columns - 1), shape.columns)
    return code.times(full, code.least("%k", depth))


def _scratch(shape: Shape) -> str:
    """The bytes of a packed block of b and of one of a."""
    code = shape.code("product_scratch", PARAMETERS["product_scratch"], "i64")
    depth = _DEPTH_BYTES // shape.dtype.itemsize
    rows = code.plus(code.least("%m", _ROWS), _HEIGHT)
    own = code.plus(code.times(rows, code.least("%k", depth)), _HEIGHT)
    longer = code.most("%m", "%n")
    columns = code.choose(code.compare("sle", "%n", shape.few), longer, "%n")
    total = code.plus(own, _panels(code, shape, columns))
    total = code.plus(total, code.times(code.most(longer, "%k"), shape.few))
    total = code.times(total, shape.dtype.itemsize)
    code.line(f"ret i64 {total}")
    return code.text()


def _packed_bytes(shape: Shape) -> str:
    """The bytes of all panels of b."""
    code = shape.code("packed_bytes", PARAMETERS["packed_bytes"], "i64")
    full = code.up_to(code.plus("%n", shape.columns - 1), shape.columns)
    total = code.times(code.times(full, "%k"), shape.dtype.itemsize)
    code.line(f"ret i64 {total}")
    return code.text()


def _call(
    code: Code, shape: Shape, stem: str, pointers: Iterable[str], sizes: Iterable[str | int]
) -> None:
    """Call one of these functions."""
    listed = [p if p.startswith("ptr ") else f"ptr {p}" for p in pointers]
    listed += [f"i64 {size}" for size in sizes]
    code.line(f"call void @{shape.name(stem)}({', '.join(listed)})")


def _tile(rows: int) -> Callable[[Shape], str]:
    return lambda shape: tile(shape, f"tile{rows}", rows, shape.vectors)


def _narrow(vectors: int) -> Callable[[Shape], str]:
    return lambda shape: tile(shape, f"narrow{vectors}", shape.rows, vectors)


_WRITERS: dict[str, Callable[[Shape], str]] = {
    "product": _product,
    "packed": _packed,
    "swept": _swept,
    "product_scratch": _scratch,
    "packed_bytes": _packed_bytes,
    "pack": pack,
    "shared_product": shared_product,
    "shared_scratch": shared_scratch,
    "part_of_product": part_of_product,
    "copy": _copy,
    "chosen": _chosen,
    "blocks": _blocks,
    "tiles": _tiles,
    "move": _move,
    **{f"dots{rows}": partial(dots, rows=rows) for rows in (1, 2, 3, 4)},
    **{f"tile{rows}": _tile(rows) for rows in range(1, 9)},
    **{f"narrow{vectors}": _narrow(vectors) for vectors in (1, 2)},
    **{f"sweep{rows}": partial(sweep, rows=rows) for rows in range(1, _SWEPT_FAR_ROWS + 1)},
}

__all__ = ["PARAMETERS", "declaration", "library", "linked"]
