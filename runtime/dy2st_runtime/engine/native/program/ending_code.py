"""The ending of a product as a function that products call for each part: see `product.py`.

    void name(ptr context, ptr c, i64 c_row, i64 row, i64 rows, i64 column, i64 columns)

The context is a table of 64 bits each: of each leaf but the product its address, or its value if it
is passed by value; the addresses of outputs but the first; then the sizes that are not the part's.
"""

from __future__ import annotations

from dy2st_runtime.dims import Dim, Size
from dy2st_runtime.engine.native.machine.llvm import Processor
from dy2st_runtime.engine.native.machine.module import Module
from dy2st_runtime.engine.native.nests import emit
from dy2st_runtime.engine.native.nests.access import stored
from dy2st_runtime.engine.native.nests.endings import COLUMNS, ROWS
from dy2st_runtime.engine.native.nests.nests import Nest
from dy2st_runtime.engine.native.program.places import Places
from dy2st_runtime.engine.native.text.code import Code
from dy2st_runtime.engine.native.text.function import Function
from dy2st_runtime.engine.native.text.lanes import element
from dy2st_runtime.engine.native.text.sizes import Sizes
from dy2st_runtime.ir.program import Variable

_PARAMETERS = ("c_row", "row", "rows", "column", "columns")


class EndingCode:
    """Writes the function of an ending, and its context where a product is called."""

    def __init__(self, module: Module, nest: Nest, result: Variable, processor: Processor) -> None:
        """`result` is the leaf that is the product."""
        self._nest, self._result = nest, result
        self._sizes = [size for size in nest.sizes if size is not ROWS and size is not COLUMNS]
        self._leaves = [leaf for leaf in nest.leaves if leaf.variable is not result]
        name = module.shared(emit.function(nest, "NAME", processor), "nest")
        parameters = [("ptr", "%context"), ("ptr", "%c")]
        parameters += [("i64", f"%{own}") for own in _PARAMETERS]
        code = Code("NAME", parameters, "i8", attributes="noinline nounwind")
        first = len(self._leaves) + len(self._nest.outputs) - 1
        known = {size: self._entry(code, first + n, "i64") for n, size in enumerate(self._sizes)}
        known |= {ROWS: "%rows", COLUMNS: "%columns"}
        dtype = self._result.tensor_type.dtype
        c = self._at(code, "%c", element(dtype), ("%c_row", "1"))
        given, number = [], 0
        for leaf in self._nest.leaves:
            if leaf.variable is self._result:
                given.append(f"ptr {c}")
                continue
            given.append(self._leaf(code, number, known))
            number += 1
        given.append(f"ptr {c}")
        for output in self._nest.outputs[1:]:
            to = self._entry(code, number, "ptr")
            type = stored(output.tensor_type.dtype)
            given.append(f"ptr {self._at(code, to, type, ('%c_row', '1'))}")
            number += 1
        given += [f"i64 {known[size]}" for size in self._nest.sizes]
        code.line(f"call void @{name}({', '.join(given)})")
        self.name = module.shared(code.end(), "ending")

    @property
    def _count(self) -> int:
        return len(self._leaves) + len(self._nest.outputs) - 1 + len(self._sizes)

    # -- where the product is called ---------------------------------------------------------------

    def context(self, function: Function, places: Places, sizes: Sizes, outputs: list[str]) -> str:
        """Fill in a context: the addresses of outputs but the first are given."""
        values = []
        for leaf in self._leaves:
            if leaf.is_scalar:
                type = stored(leaf.variable.tensor_type.dtype)
                values.append(f"{type} {places.load(leaf.variable)}")
            else:
                values.append(f"ptr {places.address(leaf.variable)}")
        values += [f"ptr {output}" for output in outputs]
        values += [f"i64 {sizes.value(size)}" for size in self._sizes]
        context = function.alloca(f"[{max(self._count, 1)} x i64]", 8)
        for number, value in enumerate(values):
            place = function.let(f"getelementptr i64, ptr {context}, i64 {number}")
            function.line(f"store {value}, ptr {place}")
        return context

    # -- the function ------------------------------------------------------------------------------

    def _leaf(self, code: Code, number: int, known: dict[Dim, str]) -> str:
        """The argument that is a leaf: its value, or where the part of it begins."""
        leaf = self._leaves[number]
        dtype = leaf.variable.tensor_type.dtype
        if leaf.is_scalar:
            value = self._entry(code, number, stored(dtype))
            if dtype.kind == "b":
                value = code.let(f"trunc i8 {value} to i1")
            return f"{element(dtype)} {value}"

        def text(size: Size) -> str:
            return known[size] if isinstance(size, Dim) else str(size)

        row, column = map(text, leaf.strides)
        start = self._entry(code, number, "ptr")
        return f"ptr {self._at(code, start, stored(dtype), (row, column))}"

    @staticmethod
    def _at(code: Code, start: str, type: str, strides: tuple[str, str]) -> str:
        """Where the part begins, of what begins there."""
        row, column = strides
        offset = code.plus(code.times("%row", row), code.times("%column", column))
        return code.let(f"getelementptr {type}, ptr {start}, i64 {offset}")

    @staticmethod
    def _entry(code: Code, number: int, type: str) -> str:
        place = code.let(f"getelementptr i64, ptr %context, i64 {number}")
        return code.let(f"load {type}, ptr {place}")


__all__ = ["EndingCode"]
