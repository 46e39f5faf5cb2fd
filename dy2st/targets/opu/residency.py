"""Residency: what lies in which rows of the banks while a program is put together.

The order of all uses is known, so what is used no more gives way first, and what was read longest
ago before what has just been read: its load can begin early.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Hashable
from dataclasses import dataclass

RELOAD = 0.5
"""Cycles that a word is worth which has to be loaded again: the DMA may have nothing else to do."""


@dataclass(eq=False)
class Item:
    """Something in `rows` rows of a bank; `load` is its load's number, `position` the last use."""

    key: Hashable
    bank: int
    row: int
    rows: int
    words: int
    load: int
    position: int

    @property
    def end(self) -> int:
        """The row behind it."""
        return self.row + self.rows


class Buffer:
    """Banks of rows; `uses` has the positions where every key is used."""

    def __init__(
        self,
        banks: int,
        rows: int,
        uses: dict[Hashable, list[int]],
        begins: list[int],
        ends: list[int],
    ):
        self.rows = rows
        self.banks: list[list[Item]] = [[] for _ in range(banks)]
        self.items: dict[Hashable, Item] = {}
        self.uses = uses
        self.begins = begins  # about when the operation at a position begins
        self.ends = ends

    def touch(self, key: Hashable, position: int) -> Item | None:
        """The item, used at a position; None if it is not there."""
        item = self.items.get(key)
        if item is not None:
            item.position = position
        return item

    def put(self, item: Item, position: int, pinned: Callable[[Hashable], bool]) -> list[Item]:
        """Give the item a place; returns what gave way to it."""
        best: tuple[tuple[float, float, int, int], list[Item]] | None = None
        for bank, present in enumerate(self.banks):
            starts = {0, *(other.end for other in present)}
            starts |= {other.row - item.rows for other in present}
            for row in starts:
                if row < 0 or row + item.rows > self.rows:
                    continue
                found = self._score(item, bank, row, position, pinned)
                if found is not None and (best is None or found[0] < best[0]):
                    best = found
        if best is None:
            raise RuntimeError(f"{item.rows} rows do not fit beside what is in use")
        (_, _, item.bank, item.row), evicted = best
        for other in evicted:
            self.banks[item.bank].remove(other)
            del self.items[other.key]
        self.banks[item.bank].append(item)
        self.items[item.key] = item
        return evicted

    def _score(
        self, item: Item, bank: int, row: int, position: int, pinned: Callable[[Hashable], bool]
    ) -> tuple[tuple[float, float, int, int], list[Item]] | None:
        """How bad a place is: cycles of waiting and reloading, then when it is free."""
        evicted = []
        free, again = -1, 0.0
        for other in self.banks[bank]:
            if other.row >= row + item.rows or other.end <= row:
                continue
            if pinned(other.key):
                return None
            evicted.append(other)
            free = max(free, other.position)
            if self._is_used_after(other.key, position):
                again += other.words
        slack = self.begins[position] - (self.ends[free] if free >= 0 else -item.words)
        late = max(0.0, 1.25 * item.words - slack)
        return (late + RELOAD * again, free, bank, row), evicted

    def _is_used_after(self, key: Hashable, position: int) -> bool:
        return self.uses[key][-1] > position

    def next_use(self, key: Hashable, position: int) -> int | None:
        """The next position that uses a key."""
        positions = self.uses[key]
        at = bisect_right(positions, position)
        return positions[at] if at < len(positions) else None


class Ring:
    """Rows of partial sums, given out in turn; each is free when its store is done."""

    def __init__(self, rows: int):
        self.rows = rows
        self.next = 0
        self.live: list[tuple[int, int, int]] = []  # first row, end, store

    def take(self, rows: int, store: int) -> tuple[int, int]:
        """First row of a free place, and the last store that it must wait for, -1 if none."""
        if self.next + rows > self.rows:
            self.next = 0
        first, end = self.next, self.next + rows
        over = [entry for entry in self.live if entry[0] < end and first < entry[1]]
        self.live = [entry for entry in self.live if entry not in over]
        self.live.append((first, end, store))
        self.next = end
        return first, max((entry[2] for entry in over), default=-1)


__all__ = ["RELOAD", "Buffer", "Item", "Ring"]
