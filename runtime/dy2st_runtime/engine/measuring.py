"""What engines say of the times of their steps, and the executables that there are.

An executable that can say more than how long a call took has two methods: `measure(clock)` lets it
read the clock before and after each step from then on, `measure(None)` ends that, and `spans()`
gives what was measured since it was asked last.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, runtime_checkable
from weakref import ref

from dy2st_runtime.ir.program import Operator

Clock = Callable[[], Any]
"""Seconds; or seconds and what else is to be known at that moment."""


@dataclass(eq=False, slots=True)
class Span:
    """A step that ran, from what the clock said before it to what it said after.

    what       what runs: `matmul`, `nest exp add`.
    operators  those of a Program that it computes; the last one says where it comes from.
    calls      how often it ran in that time. An engine that counts gives one Span for all of them,
               from 0.0 to their seconds.
    """

    what: str
    operators: Sequence[Operator]
    start: Any
    end: Any
    calls: int = 1
    is_counted: bool = False


@runtime_checkable
class Measurable(Protocol):
    """An executable that knows how long its steps take."""

    def measure(self, clock: Clock | None) -> None:
        """Measure from now on, or end it."""

    def spans(self) -> list[Span]:
        """What ran since this was asked last."""


class Compiled:
    """The executables that somebody holds, of all Programs of this process."""

    def __init__(self) -> None:
        """Start empty."""
        # Nothing of Python runs when one goes: see ByIdentity.
        self._held: dict[int, ref[Any]] = {}

    def add(self, executable: Any) -> None:
        """Note one; what takes no weak reference is not seen."""
        try:
            self._held[id(executable)] = ref(executable, partial(self._held.pop, id(executable)))
        except TypeError:
            return

    def now(self) -> list[Any]:
        """Those that there are."""
        found = [reference() for reference in list(self._held.values())]
        return [executable for executable in found if executable is not None]


COMPILED = Compiled()

__all__ = ["COMPILED", "Clock", "Measurable", "Span"]
