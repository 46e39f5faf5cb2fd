"""Times every operation: three queues, one DMA, one array of multipliers.

Instructions are fetched in order, one word a cycle. An operation enters its engine's queue with
its last word, if fewer than `machine.queue` operations wait there; until then fetching stands
still. The DMA, when it is free, takes of the two heads the one that was ready first, a store before
a load.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dy2st.errors import ArgumentError
from dy2st.targets.opu.machine import CHANNELS, Machine
from dy2st.targets.opu.operations import Compute, Load, Operation, Store

Array = np.ndarray[Any, Any]
LOAD, COMPUTE, STORE = 0, 1, 2
NAMES = ("load", "compute", "store")


@dataclass
class Timeline:
    """Times in cycles, for every operation in the order of the program.

    starts, ends  of each operation; enters says when it came into its queue.
    cycles        when the last operation ends.
    busy          cycles that "load", "compute", "store" and "dma" (load + store) are at work.
    stalls        cycles in which the multipliers stand still before a compute, by what they wait
                  for in the end: "fetch", "load", "store"; and "queue": fetching stands still.
    """

    enters: Array
    starts: Array
    ends: Array
    cycles: int
    busy: dict[str, int] = field(default_factory=dict)
    stalls: dict[str, int] = field(default_factory=dict)


def engine_of(operation: Operation) -> int:
    """LOAD, COMPUTE or STORE: the queue of an operation."""
    return (
        LOAD if isinstance(operation, Load) else STORE if isinstance(operation, Store) else COMPUTE
    )


def pooled_size(store: Store) -> tuple[int, int]:
    """Height and width behind the pooling of a store, without upsampling.

    Raises ArgumentError for a window that is larger than the tile with its padding.
    """
    pool = store.pool
    if pool is None:
        return store.height, store.width * store.across
    top, bottom, left, right = pool.padding
    height, width = store.height + top + bottom, store.width * store.across + left + right
    if pool.height > height or pool.width > width:
        raise ArgumentError(
            f"a window of {pool.height} x {pool.width} over {height} x {width} pixels"
        )
    return (height - pool.height) // pool.stride_y + 1, (width - pool.width) // pool.stride_x + 1


def stored_box(store: Store) -> tuple[int, int]:
    """Height and width of the part of the map that a store covers, steps included, no border."""
    height, width = pooled_size(store)
    rows = (height * store.upsample - 1) * store.step_y + 1
    return rows, (width * store.upsample - 1) * store.step_x + 1


def stored_words(store: Store, with_border: bool = True) -> int:
    """How many DRAM words a store writes."""
    height, width = pooled_size(store)
    words = height * width * store.upsample**2
    if not with_border or not any(store.border):
        return words
    top, bottom, left, right = store.border
    rows, columns = stored_box(store)
    return words + (rows + top + bottom) * (columns + left + right) - rows * columns


def pass_count(compute: Compute, machine: Machine) -> int:
    """How many passes, each with a cut of its own, a compute takes."""
    if not compute.is_depthwise:
        return len(compute.taps)
    return -(-len(compute.taps) // (machine.macs // CHANNELS))


def duration(operation: Operation, machine: Machine, is_compat: bool = False) -> int:
    """Cycles from begin to end; `is_compat` leaves out what the public estimator leaves out."""
    if isinstance(operation, Load):
        per_row = operation.width + machine.dram_row_latency
        return operation.height * per_row + machine.dram_latency
    if isinstance(operation, Compute):
        one = operation.height * operation.width
        if operation.is_weighted and not operation.is_depthwise:
            one *= machine.rounds(operation.channels, operation.outputs)
        return pass_count(operation, machine) * (one + machine.pe_epilogue)
    if is_compat:
        return stored_words(operation, with_border=False) + machine.dram_latency
    height, width = pooled_size(operation)
    pool = operation.pool
    area = pool.height * pool.width if pool else 1
    rows = -(-height * width * area // operation.across)
    return max(stored_words(operation), rows) + machine.dram_latency


def time_operations(
    operations: Sequence[Operation],
    machine: Machine,
    fetch: Sequence[int] | None = None,
    is_compat: bool = False,
) -> Timeline:
    """The Timeline of a program; `fetch` has the instruction words of each operation, 0 if None.

    Raises ArgumentError for a wait for an operation that does not come before.
    """
    if fetch is not None and len(fetch) != len(operations):
        raise ArgumentError(f"{len(fetch)} fetch times for {len(operations)} operations")
    model = _Engines(operations, machine, fetch, is_compat)
    model.run()
    return model.timeline()


class _Engines:
    """State of the event model; lists of starts and ends are by queue, in its order."""

    def __init__(
        self,
        operations: Sequence[Operation],
        machine: Machine,
        fetch: Sequence[int] | None,
        is_compat: bool,
    ):
        if machine.queue < 1:
            raise ArgumentError(f"machine {machine.name}: queue is {machine.queue}, 1 at least")
        self.queue = machine.queue
        self.fetch = fetch or [0] * len(operations)
        self.kinds = [engine_of(operation) for operation in operations]
        self.waits = waits_of(operations, self.kinds)
        self.members: tuple[list[int], ...] = ([], [], [])
        self.ranks = []
        for i, kind in enumerate(self.kinds):
            self.ranks.append(len(self.members[kind]))
            self.members[kind].append(i)
        self.durations = [duration(operation, machine, is_compat) for operation in operations]
        self.starts: tuple[list[int], ...] = ([], [], [])
        self.ends: tuple[list[int], ...] = ([], [], [])
        self.enters: list[int] = []
        self.now = 0  # of the fetch unit
        self.free = 0  # when the DMA is
        self.stalls = dict.fromkeys(("fetch", "load", "store", "queue"), 0)

    def run(self) -> None:
        """Begin every operation: computes as soon as they can, then the next turn of the DMA."""
        while True:
            self.advance()
            load, store = self.ready(LOAD), self.ready(STORE)
            if load is None and store is None:
                return
            is_store = load is None or (store is not None and store <= load)
            kind, at = (STORE, store) if is_store else (LOAD, load)
            self.free = self.begin(kind, max(self.free, at or 0))

    def advance(self) -> None:
        """Fetch and compute as far as is known without another turn of the DMA."""
        ends = self.ends[COMPUTE]
        self.fetch_more()
        while (at := self.ready(COMPUTE)) is not None:
            free = ends[-1] if ends else 0
            if at > free:
                self.blame(at, at - free)
            self.begin(COMPUTE, max(free, at))
            self.fetch_more()

    def fetch_more(self) -> None:
        """Put operations into their queues until one must wait for an unknown time."""
        for i in range(len(self.enters), len(self.kinds)):
            starts = self.starts[self.kinds[i]]
            at = self.now + self.fetch[i]
            leaving = self.ranks[i] - self.queue
            if leaving >= 0:
                if leaving >= len(starts):
                    return
                if starts[leaving] > at:
                    self.stalls["queue"] += starts[leaving] - at
                    at = starts[leaving]
            self.now = at
            self.enters.append(at)

    def ready(self, kind: int) -> int | None:
        """When the head of a queue is ready, None if there is none or it is not known yet."""
        starts = self.starts[kind]
        members = self.members[kind]
        rank = len(starts)
        if rank == len(members) or members[rank] >= len(self.enters):
            return None
        at = self.enters[members[rank]]
        if rank and starts[-1] > at:
            at = starts[-1]
        for count, ends in zip(self.waits[members[rank]], self.ends, strict=True):
            if count > len(ends):
                return None
            if count and ends[count - 1] > at:
                at = ends[count - 1]
        return at

    def begin(self, kind: int, at: int) -> int:
        """The head of a queue begins; returns when it ends."""
        end = at + self.durations[self.members[kind][len(self.starts[kind])]]
        self.starts[kind].append(at)
        self.ends[kind].append(end)
        return end

    def blame(self, at: int, cycles: int) -> None:
        """Count a gap of the multipliers before the head compute, which is ready at a time."""
        waits = self.waits[self.members[COMPUTE][len(self.starts[COMPUTE])]]
        for name, kind in (("load", LOAD), ("store", STORE)):
            if waits[kind] and self.ends[kind][waits[kind] - 1] == at:
                self.stalls[name] += cycles
                return
        self.stalls["fetch"] += cycles

    def timeline(self) -> Timeline:
        """Everything in the order of the program."""
        starts, ends = (np.zeros(len(self.kinds), np.int64) for _ in range(2))
        busy = {}
        for kind, name in enumerate(NAMES):
            starts[self.members[kind]] = self.starts[kind]
            ends[self.members[kind]] = self.ends[kind]
            busy[name] = sum(self.durations[i] for i in self.members[kind])
        busy["dma"] = busy["load"] + busy["store"]
        enters = np.array(self.enters, np.int64)
        return Timeline(enters, starts, ends, int(max(ends, default=0)), busy, self.stalls)


def waits_of(
    operations: Sequence[Operation], kinds: Sequence[int] | None = None
) -> list[tuple[int, int, int]]:
    """What every operation waits for, as counts of loads, computes and stores.

    Raises ArgumentError if that is more than come before it: it could wait for ever.
    """
    kinds = [engine_of(operation) for operation in operations] if kinds is None else kinds
    before = [0, 0, 0]
    found = []
    for i, (operation, kind) in enumerate(zip(operations, kinds, strict=True)):
        waits = operation.waits
        if waits.loads > before[0] or waits.computes > before[1] or waits.stores > before[2]:
            wanted = operation.waits
            origin = operation.origin
            place = f" (layer {origin.layer} {origin.tile})".replace(" )", ")") if origin else ""
            raise ArgumentError(
                f"operation {i}{place}, a {NAMES[kind]}, waits for {wanted.loads} loads, "
                f"{wanted.computes} computes and {wanted.stores} stores, but {before[0]}, "
                f"{before[1]} and {before[2]} come before it: it would wait for ever"
            )
        found.append((waits.loads, waits.computes, waits.stores))
        before[kind] += 1
    return found


__all__ = [
    "COMPUTE",
    "LOAD",
    "NAMES",
    "STORE",
    "Timeline",
    "duration",
    "engine_of",
    "pass_count",
    "pooled_size",
    "stored_box",
    "stored_words",
    "time_operations",
    "waits_of",
]
