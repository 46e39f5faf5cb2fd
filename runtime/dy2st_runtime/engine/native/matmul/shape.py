"""Chooses the sizes of tiles for a dtype and a processor, and names the functions made for them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from dy2st_runtime.engine.native.machine.llvm import Processor
from dy2st_runtime.engine.native.text.code import Code
from dy2st_runtime.engine.native.text.lanes import DType, element
from dy2st_runtime.lazy import cached_property

LINE = 64
"""Bytes of a line of the cache."""

_LONG = ("blocks", "packed", "swept")
"""The functions whose loops ask whether to leave. What is packed may be kept, so it is whole."""


@dataclass(frozen=True)
class Shape:
    """The sizes of tiles for a dtype on a processor."""

    dtype: DType
    lanes: int
    rows: int
    vectors: int

    @classmethod
    def of(cls, dtype: DType, processor: Processor) -> Shape:
        """The one whose sums fill the registers: 32 of the widest ones, or 16."""
        width = processor.vector_bytes
        rows, vectors = (8, 3) if width == 64 else (6, 2)
        return cls(dtype, width // dtype.itemsize, rows, vectors)

    @property
    def is_short(self) -> bool:
        """Whether a register is shorter than a line, and there are 16 of them and not 32."""
        return self.lanes * self.dtype.itemsize < LINE

    @property
    def columns(self) -> int:
        """Of a tile."""
        return self.vectors * self.lanes

    @property
    def long(self) -> int:
        """From how many rows on a tile has the time to fetch what comes next."""
        return self.rows * 3 // 4

    @property
    def few(self) -> int:
        """So few columns leave most of a vector empty."""
        return self.lanes // 2

    @property
    def dots(self) -> int:
        """How many rows the registers have room for in a product by dots."""
        return self.rows // 2

    @property
    def suffix(self) -> str:
        """What names of functions end with."""
        return f"f{8 * self.dtype.itemsize}"

    @property
    def element(self) -> str:
        """LLVM's type of one element."""
        return element(self.dtype)

    @cached_property
    def heights(self) -> list[int]:
        """The rows of all tiles that there are: a rest has one of its own."""
        return list(range(self.rows, 0, -1))

    def name(self, stem: str) -> str:
        """The name of a function."""
        return f"{stem}_{self.suffix}"

    def code(self, stem: str, parameters: str, result: str = "void") -> Code:
        """A function that is not put inline: pointers first, as "c a | m n" says, then sizes."""
        pointers, _, sizes = parameters.partition("|")
        listed = [("ptr", f"%{name}") for name in pointers.split()]
        listed += [("i64", f"%{name}") for name in sizes.split()]
        code = Code(self.name(stem), listed, self.element, result, "noinline nounwind")
        code.polls = stem.rstrip("0123456789") in _LONG
        return code

    def call(
        self, code: Code, stem: str, pointers: Iterable[str], sizes: Iterable[str | int]
    ) -> None:
        """Call one of these functions."""
        listed = [f"ptr {pointer}" for pointer in pointers]
        listed += [f"i64 {size}" for size in sizes]
        code.line(f"call void @{self.name(stem)}({', '.join(listed)})")

    def most(self, code: Code, stem: str, most: int, rest: str) -> tuple[str, str]:
        """The function for as many rows as there are left, at most so many, and their number."""
        name, rows = f"@{self.name(f'{stem}1')}", "1"
        for height in range(2, most + 1):
            fits = code.compare("sge", rest, height)
            name = code.choose(fits, f"@{self.name(f'{stem}{height}')}", name, "ptr")
            rows = code.choose(fits, height, rows)
        return name, rows


__all__ = ["LINE", "Shape"]
