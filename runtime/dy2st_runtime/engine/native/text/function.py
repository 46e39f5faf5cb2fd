"""The text of one LLVM function while it is written: lines, and names that are given once.

>>> double = Function("double", [("i64", "%x")], "i64")
>>> double.line(f"ret i64 {double.let('add i64 %x, %x')}")
>>> print(double.text())
define internal i64 @double(i64 %x) {
entry:
  %v1 = add i64 %x, %x
  ret i64 %v1
}
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

Lines = list[Any]
"""Lines of text, and among them sections, which are such lists."""


class Function:
    """A function of LLVM: allocas first, then blocks in the order in which they are begun."""

    def __init__(
        self,
        name: str,
        parameters: Sequence[tuple[str, str]],
        result: str = "void",
        linkage: str = "internal",
        attributes: str = "",
    ) -> None:
        """`parameters` are types and names, as ("ptr noalias", "%x")."""
        listed = ", ".join(f"{type} {name}" for type, name in parameters)
        words = ["define", *([linkage] if linkage else []), result, f"@{name}({listed})"]
        self.name = name
        self.current = "entry"
        self.scales = False  # whether the processor multiplies by 2**n in one instruction
        self.helpers: dict[str, str] | None = None  # functions that it calls; None has none
        self._head = " ".join([*words, *([attributes] if attributes else [])])
        self._allocas: list[str] = []
        self._lines: Lines = []
        self._whole = self._lines
        self._count = 0

    def fresh(self, stem: str = "v") -> str:
        """A name for a value that no other has."""
        self._count += 1
        return f"%{stem}{self._count}"

    def line(self, text: str) -> None:
        """An instruction without a result."""
        self._lines.append(f"  {text}")

    def let(self, instruction: str, stem: str = "v") -> str:
        """The name of an instruction's result."""
        name = self.fresh(stem)
        self._lines.append(f"  {name} = {instruction}")
        return name

    def alloca(self, type: str, align: int = 0, stem: str = "a") -> str:
        """A place on the stack, made where the function is entered."""
        name = self.fresh(stem)
        self._allocas.append(f"  {name} = alloca {type}{f', align {align}' if align else ''}")
        return name

    def section(self) -> Lines:
        """A part in the middle of the current block that instructions may be added to later."""
        part: Lines = []
        self._lines.append(part)
        return part

    @contextmanager
    def writing(self, section: Lines) -> Iterator[None]:
        """Instructions go to the end of a section; it begins and ends no blocks."""
        outside, self._lines = self._lines, section
        yield
        self._lines = outside

    def reserve(self, name: str, type: str) -> None:
        """A place on the stack of a name that instructions use already."""
        self._allocas.append(f"  {name} = alloca {type}")

    # -- blocks --------------------------------------------------------------------------------

    def label(self, stem: str) -> str:
        """A name for a block that is begun later."""
        self._count += 1
        return f"{stem}{self._count}"

    def begin(self, label: str) -> None:
        """What follows belongs to this block; the one before must have ended."""
        self._lines.append(f"{label}:")
        self.current = label

    def jump(self, label: str) -> None:
        """End the block: go on there."""
        self.line(f"br label %{label}")

    def branch(self, condition: str, yes: str, no: str) -> None:
        """End the block: go on where the condition says."""
        self.line(f"br i1 {condition}, label %{yes}, label %{no}")

    @contextmanager
    def loop(self, start: str, end: str, step: str = "1", stem: str = "i") -> Iterator[str]:
        """`for i in range(start, end, step)` over i64: yields the name of i."""
        head, body, after = (self.label(stem + part) for part in ("head", "body", "end"))
        before = self.current
        self.jump(head)
        self.begin(head)
        index, following = self.fresh(stem), self.fresh(stem)
        place = len(self._lines)
        self._lines.append("")  # the phi, when the last block of the body is known
        self.branch(self.let(f"icmp slt i64 {index}, {end}"), body, after)
        self.begin(body)
        yield index
        self._lines.append(f"  {following} = add nsw i64 {index}, {step}")
        last = self.current
        self.jump(head)
        self._lines[place] = f"  {index} = phi i64 [{start}, %{before}], [{following}, %{last}]"
        self.begin(after)

    def text(self) -> str:
        """The whole function, then those that it calls."""
        lines, helpers = _flat(self._whole), (self.helpers or {}).values()
        return "\n".join([f"{self._head} {{", "entry:", *self._allocas, *lines, "}", *helpers])


def _flat(lines: Lines) -> Iterator[str]:
    for line in lines:
        if isinstance(line, str):
            yield line
        else:
            yield from _flat(line)


__all__ = ["Function", "Lines"]
