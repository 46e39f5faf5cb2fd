"""The Programs of a StaticFunction, found again by what they depend on."""

from __future__ import annotations

import itertools
from collections.abc import Hashable
from typing import TYPE_CHECKING

from dy2st_runtime.by_identity import ByIdentity

if TYPE_CHECKING:
    from dy2st.convert.once import OneCall
    from dy2st.jit.concrete_program import ConcreteProgram

# A Program is some 100 KB with its code; who needs more than 64 at a time has one for each call.
MOST_PROGRAMS = 64
# Shapes of calls that were found to fit a Program; forgotten ones are found out again.
MOST_CALLS = 1024


class ProgramCache:
    """Programs by key, the ones used last. Several kinds of calls may lead to one Program.

    Threads share it without a lock, for each step leaves it whole: what one drops while another
    uses it is made again.
    """

    def __init__(self) -> None:
        """Start empty."""
        self._programs: dict[Hashable, ConcreteProgram] = {}
        self._calls: dict[Hashable, ConcreteProgram] = {}
        self._used: ByIdentity[ConcreteProgram, int] = ByIdentity()
        self._last: ConcreteProgram | None = None
        self._clock = itertools.count()

    def find(self, key: Hashable, call: OneCall) -> ConcreteProgram | None:
        """The Program of a key; None without one, or if a value it was traced with changed."""
        known = self._calls.get(key) or self._programs.get(key)
        if known is None or not known.is_current() or not known.gets_the_same(call):
            return None
        if known is not self._last:
            self._use(known)
        return known

    def is_spent(self, key: Hashable) -> bool:
        """Whether the Program of a key was for one call, which it has served."""
        known = self._programs.get(key)
        return known is not None and known.is_spent

    def add(self, key: Hashable, program: ConcreteProgram) -> None:
        """Keep a Program; the one that was not used for longest may go for it."""
        self._drop(key)  # if it is traced anew
        self._programs[key] = program
        self._use(program)
        while len(self._programs) > MOST_PROGRAMS:
            kept = list(self._programs.items())
            self._drop(min(kept, key=lambda entry: self._used.get(entry[1]) or 0)[0])

    def add_call(self, key: Hashable, program: ConcreteProgram) -> None:
        """Note that calls of this key are for a Program that is kept."""
        if len(self._calls) >= MOST_CALLS:
            self._calls.clear()
        self._calls[key] = program
        self._use(program)

    def _use(self, program: ConcreteProgram) -> None:
        self._last = program
        self._used[program] = next(self._clock)

    def discard(self, program: ConcreteProgram) -> None:
        """Forget a Program."""
        for key, known in list(self._programs.items()):
            if known is program:
                self._drop(key)

    def _drop(self, key: Hashable) -> None:
        gone = self._programs.pop(key, None)
        for call, known in list(self._calls.items()):
            if known is gone:
                self._calls.pop(call, None)

    def last(self) -> ConcreteProgram | None:
        """The Program that was used last."""
        return self._last

    def concrete_programs(self) -> list[ConcreteProgram]:
        """Every Program once, oldest first."""
        return list(dict.fromkeys(list(self._programs.values())))

    def clear(self) -> None:
        """Forget all."""
        self._programs.clear()
        self._calls.clear()
        self._last = None

    def __len__(self) -> int:
        """How many different Programs there are."""
        return len(self.concrete_programs())
