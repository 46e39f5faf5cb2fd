"""The Programs of a StaticFunction, found again by what they depend on."""

from __future__ import annotations

from collections.abc import Hashable

from dy2st.jit.concrete_program import ConcreteProgram


class ProgramCache:
    """Programs by key. Several keys may lead to one Program."""

    def __init__(self) -> None:
        """Start empty."""
        self._programs: dict[Hashable, ConcreteProgram] = {}
        self._last: ConcreteProgram | None = None

    def find(self, key: Hashable) -> ConcreteProgram | None:
        """The Program of a key; None without one, or if a value it was traced with changed."""
        known = self._programs.get(key)
        if known is None or not known.is_current():
            return None
        self._last = known
        return known

    def add(self, key: Hashable, program: ConcreteProgram) -> None:
        """Keep a Program."""
        self._programs[key] = program
        self._last = program

    def last(self) -> ConcreteProgram | None:
        """The Program that was used last."""
        return self._last

    def concrete_programs(self) -> list[ConcreteProgram]:
        """Every Program once, oldest first."""
        return list(dict.fromkeys(self._programs.values()))

    def clear(self) -> None:
        """Forget all."""
        self._programs.clear()
        self._last = None

    def __len__(self) -> int:
        """How many different Programs there are."""
        return len(self.concrete_programs())
