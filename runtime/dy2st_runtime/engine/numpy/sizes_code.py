"""Code for sizes: all that follow from the shapes of a call, and what they must be, once a call.

    def sizes(s1, s2):                  # runs when the sizes are not those of the last call
        t1 = (s1 // 2)                  # equal parts of formulas are computed once
        t2 = (t1 == s2)
        if not t2: raise ShapeError
        return (t1, (t1, 4))

Which requirement failed, and the words for it, are found again from the Program, after a failure.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from dy2st_runtime.errors import ShapeError
from dy2st_runtime.ir.checks.broken_sizes import refusal
from dy2st_runtime.ir.program import Program
from dy2st_runtime.ir.sizes import origins

_INNERMOST = re.compile(r"(?:\b(?:min|max|broadcast))?\([^()]*\)")
_BARE = re.compile(r"(?<!\w)\((-?\d+|[a-z]\d+)\)")

Values = tuple[Any, ...]
Entry = tuple[tuple[int, ...] | None, Values]


@dataclass
class SizeCode:
    """The body of `sizes`: formulas taken apart so that equal parts have one name."""

    lines: list[str] = field(default_factory=list)
    results: dict[str, str] = field(default_factory=dict)
    _parts: dict[str, str] = field(default_factory=dict)

    def part(self, text: str) -> str:
        """The name of a formula's value, computed where it is first asked for."""
        text = _BARE.sub(r"\1", text)
        while match := _INNERMOST.search(text):
            inner = match.group()
            name = self._parts.get(inner)
            if name is None:
                name = self._parts[inner] = f"t{len(self._parts)}"
                self.lines.append(f"{name} = {inner}")
            text = _BARE.sub(r"\1", f"{text[: match.start()]}{name}{text[match.end() :]}")
        return text

    def require(self, text: str) -> None:
        """Fail unless a condition holds."""
        self.lines.append(f"if not {self.part(text)}: raise ShapeError")

    def result(self, text: str) -> str:
        """The name by which the Program's code knows the value of a formula."""
        part = self.part(text)
        return self.results.setdefault(part, f"e{len(self.results)}")

    def function(self, arguments: list[str]) -> list[str]:
        """The lines of `sizes`."""
        values = "".join(f"{part}, " for part in self.results)
        return [
            f"def sizes({', '.join(arguments)}):",
            *(f"    {line}" for line in self.lines),
            f"    return ({values})",
        ]


class SizesOfCalls:
    """The sizes that follow from those of the last call; computed anew when the sizes change."""

    def __init__(self, program: Program, compute: Callable[..., Values]):
        """`compute` is the generated `sizes`; it raises, without words, if the sizes do not fit."""
        self.last: Entry = (None, ())
        self._program, self._compute = program, compute

    def fit(self, key: tuple[int, ...]) -> bool:
        """Whether a call with these sizes would not be refused."""
        try:
            self._compute(*key)
        except (ShapeError, ZeroDivisionError):
            return False
        return True

    def renew(self, key: tuple[int, ...]) -> Entry:
        """Check and compute; ShapeError in the user's terms."""
        try:
            entry = (key, self._compute(*key))
        except (ShapeError, ZeroDivisionError):
            known = origins(self._program.block.parameters)
            error = refusal(self._program, dict(zip(known, key, strict=True)))
            assert error is not None, "a size fails that the Program does not need"
            raise error from None
        # One assignment: another thread sees the old sizes or the new ones.
        self.last = entry
        return entry


__all__ = ["Entry", "SizeCode", "SizesOfCalls"]
