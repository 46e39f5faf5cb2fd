"""The Programs of a StaticFunction, found again by what they depend on."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

from dy2st_runtime.identity_tables import ByIdentity

if TYPE_CHECKING:
    from dy2st.convert.call_context import CallContext
    from dy2st.jit.concrete_program import ConcreteProgram

# A Program is some 100 KB with its code; who needs more than 64 at a time has one for each call.
MOST_PROGRAMS = 64
# Shapes of calls that were found to fit a Program; forgotten ones are found out again.
MOST_CALLS = 1024
# Programs of one key, of which each fits other values outside of the function.
MOST_ALTERNATIVES = 8


class ProgramCache:
    """Programs by key, the ones used last. Several kinds of calls may lead to one Program.

    Threads share it without a lock, for each step leaves it whole: what one drops while another
    uses it is made again.
    """

    def __init__(self) -> None:
        """Start empty."""
        self._programs: dict[Hashable, list[ConcreteProgram]] = {}
        self._calls: dict[Hashable, list[ConcreteProgram]] = {}
        self._used: ByIdentity[ConcreteProgram, int] = ByIdentity()
        self._last: ConcreteProgram | None = None
        self._clock = itertools.count()

    def find(self, key: Hashable, call: CallContext | None = None) -> ConcreteProgram | None:
        """The Program of a key; None without one, or if a value it was traced with changed."""
        # Keys of calls and keys of InputSpecs differ: at most one of the tables knows it.
        for known in self._calls.get(key) or self._programs.get(key) or ():
            if known.is_current() and (call is None or known.gets_the_same(call)):
                # Most calls take the Program that was used last, whose tick is the highest already.
                if known is not self._last:
                    self._use(known)
                return known
        return None

    def is_spent(self, key: Hashable) -> bool:
        """Whether the Program of a key was for one call, which it has served."""
        return any(known.is_spent for known in self._programs.get(key, ()))

    def why_none(self, key: Hashable) -> str:
        """What has changed outside, where there is a Program of a key and none that fits."""
        for known in self._programs.get(key, ()):
            for guard in known.guards:
                if getattr(guard, "why", ""):
                    return str(guard.why)
        return ""

    def add(self, key: Hashable, program: ConcreteProgram) -> None:
        """Keep a Program; the one that was not used for longest may go for it.

        Those of the key that fit other values stay behind it.
        """
        others = self._programs.get(key, [])
        others = others[: MOST_ALTERNATIVES - 1]
        self._drop(key, others)  # if it is traced anew
        self._programs[key] = [program, *others]
        self._use(program)
        while len(self._programs) > MOST_PROGRAMS:
            last_use = {
                kept: max(self._used.get(one) or 0 for one in programs)
                for kept, programs in list(self._programs.items())
            }
            self._drop(min(last_use, key=last_use.__getitem__))

    def add_call(self, key: Hashable, program: ConcreteProgram) -> None:
        """Note that calls of this key are for a Program that is kept."""
        if len(self._calls) >= MOST_CALLS:
            self._calls.clear()
        others = [one for one in self._calls.get(key, ()) if one is not program]
        self._calls[key] = [program, *others[: MOST_ALTERNATIVES - 1]]
        self._use(program)

    def _use(self, program: ConcreteProgram) -> None:
        self._last = program
        self._used[program] = next(self._clock)

    def discard(self, program: ConcreteProgram) -> None:
        """Forget a Program."""
        for key, known in list(self._programs.items()):
            if any(one is program for one in known):
                self._drop(key, [one for one in known if one is not program])

    def _drop(self, key: Hashable, kept: Sequence[ConcreteProgram] = ()) -> None:
        """Forget the Programs of a key but for those that are kept."""
        gone = {id(one) for one in self._programs.pop(key, ())} - {id(one) for one in kept}
        if kept:
            self._programs[key] = list(kept)
        # Calls that led to what is dropped would find it still, and keep it alive.
        for call, known in list(self._calls.items()):
            left = [one for one in known if id(one) not in gone]
            if not left:
                self._calls.pop(call, None)
            elif len(left) < len(known):
                self._calls[call] = left

    def last(self) -> ConcreteProgram | None:
        """The Program that was used last."""
        return self._last

    def concrete_programs(self) -> list[ConcreteProgram]:
        """Every Program once, oldest first."""
        # Under one key the newest stands first.
        known = list(self._programs.values())
        return list(dict.fromkeys(one for programs in known for one in programs[::-1]))

    def clear(self) -> None:
        """Forget all."""
        self._programs.clear()
        self._calls.clear()
        self._last = None

    def __len__(self) -> int:
        """How many different Programs there are."""
        return len(self.concrete_programs())
