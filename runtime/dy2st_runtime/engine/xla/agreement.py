"""Sees that all processes of a mesh run the same, before they run it.

A part of a Program waits for the parts that others compute, for ever if they run something else;
and where each has a copy of a value, such as a batch, other copies would be used unnoticed.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from dy2st_runtime.ir.definition import Effect, lookup
from dy2st_runtime.ir.program import Program
from dy2st_runtime.ops.generator import get_rng_state
from dy2st_runtime.processes.group import is_joined, world

_HINT = (
    "on a mesh all processes run the same Programs on the same values: each reads whole batches, "
    "and all begin with one seed"
)
_SHOWN = 4  # of so many values the types are written out: those of the batch


def are_several() -> bool:
    """Whether there are other processes to agree with."""
    return is_joined() and world().nranks > 1


def meet(what: str) -> None:
    """Let all processes come here, to do the same; else PeerError on all, or PeerTimeout."""
    group = world()
    group.finish(group.start(what, lambda channel: channel.meet(what, 0, _HINT)))


class Agreement:
    """What processes compare of a Program before each call."""

    def __init__(self, program: Program) -> None:
        """Take the Program; its text is compared by a checksum."""
        self._name = program.name
        self._program = f"{zlib.crc32(str(program).encode()):08x}"
        self._draws = any(lookup(o.name).effect is Effect.RANDOM for o in program.block.walk())

    def reach(self, values: Sequence[Any]) -> None:
        """Let all call this Program with these values; else PeerError on all, or PeerTimeout."""
        # Numbers that it draws would differ as well.
        checksum = zlib.crc32(str(get_rng_state()).encode()) if self._draws else 0
        for one in values:
            checksum = zlib.crc32(
                np.ascontiguousarray(one).reshape(-1).view(np.uint8).data, checksum
            )
        types = [f"{one.dtype}{[*one.shape]}" for one in values[:_SHOWN]]
        types += ["..."] if len(values) > _SHOWN else []
        meet(
            f"{self._name}({', '.join(types)}) of the Program {self._program} on {len(values)} "
            f"values {checksum:08x}"
        )


__all__ = ["Agreement", "are_several", "meet"]
