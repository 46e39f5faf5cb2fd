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
    whole = code.up_to("%n", _TOGETHER)
    with code.loop("0", whole, str(_TOGETHER)) as column:
        _columns(code, shape, column, _TOGETHER)
    with code.loop(whole, "%n") as column:
        _columns(code, shape, column, 1)
    return code.end()


def _columns(code: Code, shape: Shape, first: str, count: int) -> None:
    """The products with some columns."""
    lanes, dtype = Lanes(code, shape.lanes), shape.dtype
    wide, step = lanes.type(dtype), _VECTORS * shape.lanes
    columns = [
        code.at("%b", code.times(code.plus(first, index), "%b_column")) for index in range(count)
    ]
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
    for index, names in enumerate(sums):
        total = lanes.load(names[0], dtype)
        for name in names[1:]:
            total = lanes.add(total, lanes.load(name, dtype))
        reduced = f"@llvm.vector.reduce.fadd.{lanes.suffix(dtype)}"
        zero = f"{code.element} -0.0, {wide} {total.text}"
        one = code.let(f"call reassoc {code.element} {reduced}({zero})")
        code.line(f"store {code.element} {one}, ptr {code.at('%c', code.plus(first, index))}")


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
