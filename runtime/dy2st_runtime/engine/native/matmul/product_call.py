"""Writes calls of matrix products in the code of a Program, and the axes of batches."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass

from dy2st_runtime.engine.native.text.function import Function
from dy2st_runtime.engine.native.text.lanes import DType, element


@dataclass(frozen=True)
class Call:
    """A product `c = a @ b`: names or numbers of i64, in elements.

    sizes     m, n and k.
    a, b      strides of a row and of a column.
    batch     of each leading axis: its size, and the strides in c, in a and in b; 0 where an
              operand has the same for all.
    packed    the panels of b, where they have been made; else null.
    epilogue, context   what is done to the results, and what it gets; null if nothing is.
    is_shared           whether several threads may work on it.
    """

    dtype: DType
    sizes: tuple[str, str, str]
    a: tuple[str, str]
    b: tuple[str, str]
    c_row: str
    batch: tuple[tuple[str, str, str, str], ...] = ()
    packed: str = "null"
    epilogue: str = "null"
    context: str = "null"
    is_shared: bool = False

    @property
    def function(self) -> str:
        """The name of what is called."""
        return f"{'shared_' * self.is_shared}product_f{8 * self.dtype.itemsize}"


def emit(
    function: Function,
    call: Call,
    pointers: tuple[str, str, str],
    scratch: str,
    bytes: str = "0",
) -> None:
    """Call a product for every index of the batch axes: pointers are those of c, a and b.

    One that is shared is given how many bytes of scratch there are.
    """
    places = list(pointers)
    with ExitStack() as loops:
        for size, *strides in call.batch:
            index = loops.enter_context(function.loop("0", size))
            places = [
                _moved(function, call, place, index, stride)
                for place, stride in zip(places, strides, strict=True)
            ]
        listed = [*places, call.packed, scratch, call.epilogue, call.context]
        sizes = [*call.sizes, *call.a, *call.b, call.c_row, *([bytes] * call.is_shared)]
        arguments = [f"ptr {p}" for p in listed] + [f"i64 {size}" for size in sizes]
        function.line(f"call void @{call.function}({', '.join(arguments)})")


def _moved(function: Function, call: Call, place: str, index: str, stride: str) -> str:
    if stride == "0":
        return place
    offset = function.let(f"mul nsw i64 {index}, {stride}")
    return function.let(f"getelementptr {element(call.dtype)}, ptr {place}, i64 {offset}")


__all__ = ["Call", "emit"]
