"""Collects what the OPU cannot do, to say all of it at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dy2st_runtime.errors import Location, PassError
from dy2st_runtime.ir import Operator


@dataclass(frozen=True)
class Unmapped:
    """An operator that no layer computes, and why."""

    operator: str
    location: Location | None
    reason: str

    def __str__(self) -> str:
        """`model.py:7: softmax: the OPU has no ...`."""
        place = f"{self.location}: " if self.location else ""
        return f"{place}{self.operator}: {self.reason}"


class UnmappedError(PassError):
    """Operators that the OPU cannot compute; `entries` has them."""

    def __init__(self, entries: Sequence[Unmapped]):
        """Word all entries, in the Program's order."""
        self.entries = list(entries)
        count = f"{len(self.entries)} operators" if len(self.entries) > 1 else "1 operator"
        lines = [f"{count} cannot be mapped to the OPU", *(f"  {e}" for e in self.entries)]
        lines.append("  instead: unmapped='host' computes them, and what follows, on the host")
        super().__init__("\n".join(lines))


class Unmappable(Exception):
    """Raised by the rule of an operator that has no layer, with the reason; never seen outside.

    `of` is what the user wrote, where that is not the operator.
    """

    def __init__(self, reason: str, of: str = ""):
        """Keep both."""
        super().__init__(reason)
        self.of = of


@dataclass(frozen=True)
class Failure:
    """Stands for a value that the OPU does not have; no reason: an operand was such a value."""

    operator: Operator
    reason: str = ""
    of: str = ""

    def entry(self) -> Unmapped:
        """What the user reads."""
        return Unmapped(self.of or self.operator.name, self.operator.location, self.reason)


__all__ = ["Failure", "Unmappable", "Unmapped", "UnmappedError"]
