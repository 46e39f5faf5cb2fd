"""Keeps what a loop knows of the loops inside of it from one round to the next.

A body is traced until it leaves what is assumed of the loop variables: mostly twice. A loop inside
of it that begins with what it has found in the round before has settled at once; else each level
of loops in loops would take twice as long.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dy2st.convert.values.layout import Leaf, Number, opened
from dy2st_runtime.errors import Location
from dy2st_runtime.ir import user_location

if TYPE_CHECKING:
    from dy2st.convert.stage.branch import JoinedVariable
    from dy2st.convert.trace import Place, Trace


@dataclass(eq=False)
class Rounds:
    """How a loop has settled.

    kinds   the kinds of layouts of its variables, and of the places outside that it writes.
    places  those places.
    inner   the loops inside, in the order in which a round meets them.
    met     how many of them this round has met.
    """

    kinds: list[type] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)
    inner: dict[tuple[int, Location | None], Rounds] = field(default_factory=dict)
    met: int = 0

    def next(self) -> Rounds:
        """Those of the loop that stands here."""
        key = self.met, user_location()
        self.met += 1
        return self.inner.setdefault(key, Rounds())

    def begin(self, slots: Sequence[JoinedVariable]) -> None:
        """Let variables and places begin as the tensors and numbers that they were found to be."""
        # In the first round of the loop around, nothing is known of this one.
        for slot, kind in zip(slots, self.kinds, strict=False):
            node = opened(slot.layout)
            if kind in (Leaf, Number) and type(node) is kind:
                slot.layout = node

    def note(self, trace: Trace, slots: Sequence[JoinedVariable]) -> None:
        """Note how a loop has settled."""
        known = [slot for slot in slots if slot.place is None or trace.is_outside(slot.place.owner)]
        self.kinds = [type(slot.layout) for slot in known]
        self.places = [slot.place for slot in known if slot.place is not None]


@contextmanager
def rounds_of_loop(trace: Trace) -> Iterator[Rounds]:
    """What is known of the loop that is staged here."""
    outer = trace.rounds
    trace.rounds = Rounds() if outer is None else outer.next()
    try:
        yield trace.rounds
    finally:
        trace.rounds = outer
