"""Keeps what is made of parameters alone, once for each array: see `recipes.py` for what that is.

The arrays of tensors do not change: a tensor of new numbers has a new array. So what was made of an
array is right for as long as that very array comes again, and code compares no more than addresses.
It is made when an array comes the second time, so a step of training, after which all arrays are
new, makes nothing. Where they have been new for some calls, only every sixteenth is looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any
from weakref import ref

import numpy as np

from dy2st_runtime import exported_buffers
from dy2st_runtime.engine.native.program.recipes import Recipe

Array = np.ndarray[Any, Any]

_IN_VAIN, _PAUSE = 8, 15
"""After so many calls with new arrays alone there is a pause of so many calls after each."""


class Keeper:
    """Keeps what is made for a Program, for all threads that call it.

    cell   of one tuple, never changed: how often memory was exported, then of each recipe what was
           made and the arrays of which; where there is nothing yet, arrays that are no one's.
    pause  for how many calls code does not ask, which counts them down.
    """

    def __init__(self, recipes: Iterable[Recipe]) -> None:
        """Nothing is kept at first."""
        self._slots = [_Slot(recipe) for recipe in recipes]
        self.pause = np.zeros((), np.int64)
        self._in_vain = 0
        self.cell: list[tuple[Array, ...]] = []
        self.cell.append(self._all(-1))

    def __call__(self, *arrays: Array) -> None:
        """Other arrays than those whose results are kept: see what is to be made of which."""
        count, rest = int(exported_buffers.COUNT), iter(arrays)
        are_new = [slot.see(list(islice(rest, slot.count))) for slot in self._slots]
        self.cell[0] = self._all(count)
        self._in_vain = self._in_vain + 1 if all(are_new) else 0
        self.pause[()] = _PAUSE if self._in_vain > _IN_VAIN else 0

    @property
    def bytes(self) -> int:
        """How large is what is kept now, without the arrays that it was made of."""
        return sum(slot.kept[0].nbytes for slot in self._slots)

    def _all(self, count: int) -> tuple[Array, ...]:
        entries = [entry for slot in self._slots for entry in slot.kept]
        return (np.array(count, np.int64), *entries)


class _Slot:
    """What is kept of a recipe, and the arrays that came last, held weakly.

    kept   what was made, then the arrays of which: one tuple, as several threads may look.
    """

    def __init__(self, recipe: Recipe) -> None:
        self._recipe, self.count = recipe, len(recipe.sources)
        nothing = np.empty(0, np.uint8)
        self.kept = self._nothing = (nothing,) * (1 + self.count)
        self._last = self._former = [ref(nothing)] * self.count
        self._times, self._wanted = 0, 2

    def see(self, arrays: Sequence[Array]) -> bool:
        """Note that arrays have come; the second time their result is made, and kept.

        Whether they are new.
        """
        _, *sources = self.kept
        if not all(map(exported_buffers.is_constant, arrays)):
            self.kept = self._nothing
            return False
        if all(one is own for one, own in zip(arrays, sources, strict=True)):
            return False
        # How often they have come in turn. After third ones, those kept will hardly come again.
        if not _are(self._last, arrays):
            if self._times:
                self.kept = self._nothing
            self._last, self._times = [ref(array) for array in arrays], 0
        self._times += 1
        is_new = self._times == 1
        if self._times >= self._wanted:
            # Keep their result instead of the other; less readily if they alternate.
            if _are(self._former, arrays):
                self._wanted *= 2
            if self.kept is not self._nothing:
                self._former = [ref(array) for array in self.kept[1:]]
            self._times = 0
            with suppress(MemoryError):  # then it is computed at each call
                self.kept = (self._recipe.make(arrays), *arrays)
        return is_new


def _are(known: Sequence[ref[Array]], arrays: Sequence[Array]) -> bool:
    return all(one() is array for one, array in zip(known, arrays, strict=True))


__all__ = ["Keeper"]
