"""Transposes squares of elements in registers: rows and columns trade places.

Element by element one side would be read or written far apart, which takes many times as long.
"""

from __future__ import annotations

from collections.abc import Callable

from dy2st_runtime.engine.native.text.function import Function

LINE = 64
"""The bytes of a row of a square: those of a line of the cache."""

Ends = tuple[str, str]


def transpose_square(
    function: Function, side: int, ends: tuple[Ends, Ends], square: Callable[[str, str], None]
) -> None:
    """Loops over squares of a side, which is no longer than what there is.

    The last ones begin so early that they are whole.
    """
    (start, end), (start_written, end_written) = ends
    last = function.let(f"sub i64 {end}, {side}")
    last_written = function.let(f"sub i64 {end_written}, {side}")
    with function.loop(start, end, str(side)) as read:
        first = function.let(f"call i64 @llvm.smin.i64(i64 {read}, i64 {last})")
        with function.loop(start_written, end_written, str(side)) as written:
            own = function.let(f"call i64 @llvm.smin.i64(i64 {written}, i64 {last_written})")
            square(first, own)


def write_square(
    function: Function, side: int, places: tuple[str, str], steps: tuple[str, str]
) -> None:
    """Turn a square: from the first place, whose rows are a step apart, to the other one.

    Each time row n is mixed with the one half of all rows further on; as often as the side can be
    halved, and each element is where it belongs.
    """
    (source, target), (step, far) = places, steps
    element, half = f"i{8 * LINE // side}", side // 2
    wide = f"<{side} x {element}>"

    def row(place: str, n: int, stride: str) -> str:
        offset = function.let(f"mul i64 {stride}, {n}")
        return function.let(f"getelementptr {element}, ptr {place}, i64 {offset}")

    rows = [function.let(f"load {wide}, ptr {row(source, n, step)}, align 4") for n in range(side)]
    for _ in range(side.bit_length() - 1):
        rows = [
            _mixed(function, wide, (rows[n], rows[n + half]), part)
            for n in range(half)
            for part in (0, half)
        ]
    for n, value in enumerate(rows):
        function.line(f"store {wide} {value}, ptr {row(target, n, far)}, align 4")


def _mixed(function: Function, wide: str, pair: tuple[str, str], first: int) -> str:
    """Half of the elements of two rows, alternating."""
    side = int(wide[1:].partition(" ")[0])
    places = (first + n + other for n in range(side // 2) for other in (0, side))
    mask = ", ".join(f"i32 {place}" for place in places)
    listed = f"{wide} {pair[0]}, {wide} {pair[1]}, <{side} x i32> <{mask}>"
    return function.let(f"shufflevector {listed}")


__all__ = ["LINE", "Ends", "transpose_square", "write_square"]
