"""Dots: one row by a few columns that lie along k, as of `x @ w.T` and of a matrix by a vector.

Nothing is packed: each element of b is read once, by vectors along k, and a row of sums is added up
at the end.
"""

from __future__ import annotations

from dy2st_runtime.engine.native.code import Code, first_lanes
from dy2st_runtime.engine.native.lanes import Lanes, Value
from dy2st_runtime.engine.native.tiles import Shape

_PARAMETERS = "c a b | n k b_column"
_TOGETHER = 4
_VECTORS = 2


def dots(shape: Shape) -> str:
    """`c = a @ b` of one row a, side by side, and columns b, each side by side."""
    code = shape.code("dots", _PARAMETERS)
    with code.loop("0", "%n", str(_TOGETHER)) as column:
        _columns(code, shape, column)
    return code.end()


def _columns(code: Code, shape: Shape, first: str) -> None:
    """The products with some columns; where there are fewer, the last one is made again."""
    lanes, dtype = Lanes(code, shape.lanes), shape.dtype
    wide, step = lanes.type(dtype), _VECTORS * shape.lanes
    last = code.minus("%n", 1)
    places = [code.least(code.plus(first, index), last) for index in range(_TOGETHER)]
    columns = [code.at("%b", code.times(place, "%b_column")) for place in places]
    sums = [[code.alloca(wide) for _ in range(_VECTORS)] for _ in columns]
    for name in (name for names in sums for name in names):
        code.line(f"store {wide} zeroinitializer, ptr {name}")
    whole = code.up_to("%k", step)
    with code.loop("0", whole, str(step)) as at:
        for vector in range(_VECTORS):
            _add(lanes, shape, code.plus(at, vector * shape.lanes), columns, (sums, vector, None))
    with code.loop(whole, "%k", str(shape.lanes)) as at:
        mask = first_lanes(lanes, code.minus("%k", at))
        _add(lanes, shape, at, columns, (sums, 0, mask))
    for place, names in zip(places, sums, strict=True):
        total = lanes.load(names[0], dtype)
        for name in names[1:]:
            total = lanes.add(total, lanes.load(name, dtype))
        reduced = f"@llvm.vector.reduce.fadd.{lanes.suffix(dtype)}"
        zero = f"{code.element} -0.0, {wide} {total.text}"
        one = code.let(f"call reassoc {code.element} {reduced}({zero})")
        code.line(f"store {code.element} {one}, ptr {code.at('%c', place)}")


def _add(
    lanes: Lanes,
    shape: Shape,
    at: str,
    columns: list[str],
    part: tuple[list[list[str]], int, str | None],
) -> None:
    """Add the products of one vector of k to the sums of all columns."""
    code, (sums, vector, mask) = lanes.function, part
    assert isinstance(code, Code)
    left = lanes.load(code.at("%a", at), shape.dtype, mask)
    for column, names in zip(columns, sums, strict=True):
        right = lanes.load(code.at(column, at), shape.dtype, mask)
        total: Value = lanes.load(names[vector], shape.dtype)
        lanes.store(lanes.fma(left, right, total), names[vector])


__all__ = ["dots"]
