"""The Programs of a StaticFunction, found again by what they depend on."""

from __future__ import annotations

import struct
from collections.abc import Hashable
from typing import Any

import numpy as np

from dy2st.jit.concrete_program import ConcreteProgram
from dy2st.jit.input_spec import InputSpec
from dy2st_runtime.ir import Output


class ProgramCache:
    """Programs by key. Several keys may lead to one Program."""

    def __init__(self) -> None:
        """Start empty."""
        self._programs: dict[Hashable, ConcreteProgram] = {}
        self._last: ConcreteProgram | None = None

    def find(self, key: Hashable) -> ConcreteProgram | None:
        """The Program of a key."""
        known = self._programs.get(key)
        if known is not None:
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


def constant_key(value: Any) -> Hashable:
    """A key that is equal only for Python values that a trace cannot tell apart.

    Types count (1, 1.0 and True differ), floats count by their bits (0.0 and -0.0 differ), and
    objects that are not plain values count by identity; the key keeps them alive.

    >>> constant_key((1, "a")) == constant_key((1, "a"))
    True
    >>> constant_key(1) == constant_key(True)
    False
    """
    kind = type(value)
    if kind is float:
        return kind, struct.pack("<d", value)
    if kind in (int, bool, str, bytes, type(None), type(Ellipsis)):
        return kind, value
    if kind in (list, tuple):
        return kind, tuple(constant_key(entry) for entry in value)
    if kind is dict:
        return kind, tuple((constant_key(k), constant_key(v)) for k, v in value.items())
    if kind in (set, frozenset):
        return kind, frozenset(constant_key(entry) for entry in value)
    if kind is Output or kind is InputSpec:
        return kind, value
    if isinstance(value, np.dtype):
        return np.dtype, value.str
    if isinstance(value, np.generic):
        return kind, value.tobytes()
    return _Identity(value)


class _Identity:
    """Equal to another only for the same object."""

    __slots__ = ("value",)

    def __init__(self, value: Any):
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Identity) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)
