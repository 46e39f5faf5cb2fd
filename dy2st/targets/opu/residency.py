"""Tracks what lies in which rows of the banks while a program is put together.

The order of all uses is known, so what is used no more gives way first, and what was read longest
ago before what has just been read: its load can begin early.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, replace
from heapq import nsmallest

RELOAD = 0.5
"""Cycles that a word is worth which has to be loaded again: the DMA may have nothing else to do."""


CROWD = 24
"""Items of a bank before those that are used no more are joined."""

TRIED = 8
"""Items beside which a place is looked for."""


@dataclass(eq=False)
class Item:
    """Something in `rows` rows of a bank; `load` is its load's number, `position` the last use.

    The key is None where several things were that are used no more.
    """

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


@dataclass(frozen=True, order=True)
class _Found:
    """A place; items [first, last) of the bank give way."""

    cost: float
    free: int
    bank: int
    row: int
    first: int
    last: int


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
        best: _Found | None = None
        for number, row in self._places(item):
            found = self._score(item, number, row, position, pinned)
            if found is not None and (best is None or found < best):
                best = found
            if best is not None and not best.cost:
                break
        if best is None:
            raise RuntimeError(f"{item.rows} rows do not fit beside what is in use")
        item.bank, item.row = best.bank, best.row
        bank = self.banks[item.bank]
        evicted = bank[best.first : best.last]
        for other in evicted:
            self.items.pop(other.key, None)
        bank[best.first : best.last] = [item]
        self.items[item.key] = item
        if len(bank) > CROWD:
            # neighbours that are used no more are joined
            joined: list[Item] = []
            for entry in self.banks[item.bank]:
                is_over = entry.position < position - CROWD
                is_over = is_over and not self._is_used_after(entry.key, position)
                if is_over and joined and joined[-1].key is None and joined[-1].end == entry.row:
                    self.items.pop(entry.key, None)
                    joined[-1].rows += entry.rows
                    joined[-1].position = max(joined[-1].position, entry.position)
                elif is_over:
                    self.items.pop(entry.key, None)
                    joined.append(replace(entry, key=None))
                else:
                    joined.append(entry)
            self.banks[item.bank] = joined
        return evicted

    def _places(self, item: Item) -> Iterator[tuple[int, int]]:
        """Places to look at: free ends of banks, then beside what was used longest ago."""
        last = self.rows - item.rows
        for bank, present in enumerate(self.banks):
            if not present or present[-1].end <= last:
                yield bank, present[-1].end if present else 0
        everything = (other for bank in self.banks for other in bank)
        for other in nsmallest(TRIED, everything, key=lambda item: item.position):
            if other.row <= last:
                yield other.bank, other.row
            if other.end > item.rows:
                yield other.bank, other.end - item.rows
        for bank in range(len(self.banks)):
            yield bank, 0
            yield bank, last

    def _score(
        self, item: Item, bank: int, row: int, position: int, pinned: Callable[[Hashable], bool]
    ) -> _Found | None:
        """How bad a place is: cycles of waiting and reloading, then when it is free."""
        present = self.banks[bank]
        first = bisect_right(present, row, key=lambda item: item.end)
        last = first
        free, again = -1, 0
        while last < len(present) and present[last].row < row + item.rows:
            other = present[last]
            if pinned(other.key):
                return None
            free = max(free, other.position)
            if self._is_used_after(other.key, position):
                again += other.words
            last += 1
        slack = self.begins[position] - self.ends[free] if free >= 0 else 2 * item.words
        late = max(0.0, 1.25 * item.words - slack)
        return _Found(late + RELOAD * again, free, bank, row, first, last)

    def _is_used_after(self, key: Hashable, position: int) -> bool:
        return key is not None and self.uses[key][-1] > position


class RoundRobinBanks:
    """Banks that are filled in turn, one thing each, as in the public tool chain.

    Without `is_kept` everything is loaded again for each use.
    """

    def __init__(self, banks: int, is_kept: bool):
        self.banks: list[Item | None] = [None] * banks
        self.is_kept = is_kept
        self.filled = 0

    def touch(self, key: Hashable, position: int) -> Item | None:
        """The item, used at a position; None if it must be loaded."""
        for item in self.banks if self.is_kept else []:
            if item is not None and item.key == key:
                item.position = position
                return item
        return None

    def put(self, item: Item, position: int, pinned: Callable[[Hashable], bool]) -> list[Item]:
        """Give the item the bank whose turn it is; returns what gave way to it."""
        item.bank = self.filled % len(self.banks)
        self.filled += 1
        before, self.banks[item.bank] = self.banks[item.bank], item
        return [before] if before is not None else []


class AccumulatorBanks:
    """Banks of partial sums that are taken in turn."""

    def __init__(self, banks: int, rows: int):
        self.banks = banks
        self.rows = rows

    def take(self, rows: int, store: int) -> tuple[int, int]:
        """First row of the bank of a store, and the store that must free it, -1 if none."""
        return store % self.banks * self.rows, max(-1, store - self.banks)


class Ring:
    """Rows of partial sums, given out in turn; each is free when its store is done."""

    def __init__(self, banks: int, rows: int):
        self.rows = banks * rows
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


__all__ = ["RELOAD", "AccumulatorBanks", "Buffer", "Item", "Ring", "RoundRobinBanks"]
