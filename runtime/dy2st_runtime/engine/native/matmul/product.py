"""Matrix products as machine code: `c = a @ b` of float32 or float64, for any sizes and strides.

    product          the product; it packs what pays for it, by the sizes of the call
    pack             lays b out in panels once, for any number of products
    packed_bytes     the bytes of the panels
    product_scratch  the bytes that a product takes as `scratch`
    shared_product   a product on which `set_num_threads` threads work, if it is large; `bytes`
                     says how much scratch it has
    shared_scratch   the bytes that it takes: no fewer than `product_scratch`

Names end with `_f32` or `_f64`, PARAMETERS says what they take. The rows of c lie `c_row` elements
after one another, each side by side; a and b have any strides, counted in elements. k may be 0: c
is zeros. Where `packed` is not null, it is the panels of b, which may then be null; if it is not,
the faster one of both is read.

`epilogue` is null, or what is done to each part of c as soon as it is complete:
`void (ptr context, ptr c, i64 c_row, i64 row, i64 rows, i64 column, i64 columns)`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import partial

import numpy as np

from dy2st_runtime.engine.native.machine.llvm import Library, Processor, library_of
from dy2st_runtime.engine.native.machine.threads import pool
from dy2st_runtime.engine.native.matmul import blocks, forms
from dy2st_runtime.engine.native.matmul.dots import dots
from dy2st_runtime.engine.native.matmul.panels import pack
from dy2st_runtime.engine.native.matmul.shape import Shape
from dy2st_runtime.engine.native.matmul.shared_product import (
    part_of_product,
    shared_product,
    shared_scratch,
)
from dy2st_runtime.engine.native.matmul.sweeps import MOST_ROWS, sweep, swept
from dy2st_runtime.engine.native.matmul.tiles import tile
from dy2st_runtime.lazy import once

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


def library(processor: Processor, names: Iterable[str]) -> str:
    """The text of the functions of these names, and of all that they call, for one module."""
    wanted, found = list(names), dict[str, str]()
    while wanted:
        name = wanted.pop()
        if name not in found:
            stem, _, suffix = name.rpartition("_")
            shape = Shape.of(np.dtype(f"float{suffix[1:]}"), processor)
            found[name] = _WRITERS[stem](shape)
            # What it calls stands in its text.
            wanted += re.findall(r"@(\w+_f\d\d)\b", found[name])
    return "\n\n".join(found[name] for name in sorted(found))


@once
def linked(processor: Processor, suffix: str) -> Library:
    """All functions of a dtype, "f32" or "f64", made once for all modules of the process."""
    names = [f"{stem}_{suffix}" for stem in PARAMETERS]
    text = library(processor, names)
    # Only what other modules call is seen from outside: LLVM may take all else apart.
    for name in names:
        text = re.sub(rf"define internal (\w+ @{name}\()", r"define \1", text)
    text += "\n@threads = external global i64\ndeclare void @parallel(ptr, ptr, i64)\n"
    text += "declare i64 @threads_for(i64, i64, i64)\n"
    helpers = pool(processor).addresses
    return library_of(text, processor, names, helpers, is_plain=True)


def declaration(name: str) -> str:
    """What a module says of a function that it takes from `linked`.

    >>> declaration("packed_bytes_f32")
    'declare i64 @packed_bytes_f32(i64, i64)'
    """
    pointers, _, sizes = PARAMETERS[name.rpartition("_")[0]].partition("|")
    types = ["ptr"] * len(pointers.split()) + ["i64"] * len(sizes.split())
    result = "void" if pointers else "i64"
    return f"declare {result} @{name}({', '.join(types)})"


def _tile(rows: int) -> Callable[[Shape], str]:
    return lambda shape: tile(shape, f"tile{rows}", rows, shape.vectors)


def _narrow(vectors: int) -> Callable[[Shape], str]:
    return lambda shape: tile(shape, f"narrow{vectors}", shape.rows, vectors)


_WRITERS: dict[str, Callable[[Shape], str]] = {
    "product": forms.product,
    "packed": forms.packed,
    "swept": swept,
    "product_scratch": blocks.product_scratch,
    "packed_bytes": blocks.packed_bytes,
    "pack": pack,
    "shared_product": shared_product,
    "shared_scratch": shared_scratch,
    "part_of_product": part_of_product,
    "copy": blocks.copy,
    "chosen": forms.chosen,
    "blocks": blocks.blocks,
    "tiles": blocks.tiles,
    "move": forms.move,
    **{f"dots{rows}": partial(dots, rows=rows) for rows in (1, 2, 3, 4)},
    **{f"tile{rows}": _tile(rows) for rows in range(1, 9)},
    **{f"narrow{vectors}": _narrow(vectors) for vectors in (1, 2)},
    **{f"sweep{rows}": partial(sweep, rows=rows) for rows in range(1, MOST_ROWS + 1)},
}

__all__ = ["PARAMETERS", "declaration", "library", "linked"]
