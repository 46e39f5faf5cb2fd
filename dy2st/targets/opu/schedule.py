"""Schedules the operations of steps, with exact waits, across all layers in one go.

First the order of all computes and stores is laid down; from it follows when everything that lies
in a buffer is used, so what must be loaded, where to, and what the load must wait for.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dy2st.targets.opu.machine import CHANNELS, Machine, weight_rows
from dy2st.targets.opu.operations import (
    Compute,
    Kind,
    Load,
    Operation,
    Origin,
    Store,
    Waits,
)
from dy2st.targets.opu.places import Places
from dy2st.targets.opu.residency import AccumulatorBanks, Buffer, Item, Ring, RoundRobinBanks
from dy2st.targets.opu.steps import Step, Tensor
from dy2st.targets.opu.tiling import Plan, Span, spans, taps_at_once
from dy2st.targets.opu.timing import duration, pooled_size

Array = np.ndarray[Any, Any]
BIAS_WORDS = 2


@dataclass(frozen=True)
class Need:
    """A rectangle of DRAM that must be in a buffer; key identifies equal ones."""

    key: Hashable
    kind: Kind
    tensor: Tensor | None
    address: int
    height: int
    width: int
    pitch: int
    rows: int
    box: tuple[int, int, int, int, int] | None = None  # group, row, row step, column, of the tensor


@dataclass(eq=False)
class Tile:
    """One rectangle of one tile of outputs: a run of computes and a store."""

    step: Step
    output: int
    rows: Span
    columns: Span
    number: int = -1  # of its store
    psum_row: int = 0
    psum_store: int = -1
    origin: Origin | None = None


@dataclass(eq=False)
class Event:
    """A compute or, with `operation` a Store, the end of a tile; waits and places come later."""

    tile: Tile
    operation: Compute | Store
    needs: list[Need]
    is_first: bool = False


@dataclass
class Addresses:
    """Where weights and biases are: by (output tile, source, first tap), and by output tile."""

    weights: dict[tuple[int, int, int], int] = field(default_factory=dict)
    biases: dict[int, int] = field(default_factory=dict)


def tap_slices(step: Step, machine: Machine) -> list[slice]:
    """The taps of one tile of weights after the other."""
    most = taps_at_once(step, machine)
    return [slice(t, min(t + most, len(step.taps))) for t in range(0, len(step.taps), most)]


def rows_of_weights(step: Step, output: int, source: int, taps: slice, machine: Machine) -> int:
    """Rows of the weight buffer of a tile."""
    count: int = taps.stop - taps.start
    if step.kind == "depthwise":
        return -(-count // (machine.macs // CHANNELS))
    return weight_rows(step.sources[source].channels, step.output_tiles[output], count, machine)


def sweep(step: Step, plan: Plan) -> Iterator[tuple[list[int], Span, Span]]:
    """Groups of output tiles with the rectangle that they are computed for, in order."""
    outputs = range(len(step.output_tiles))
    groups = [list(outputs[k : k + plan.group]) for k in range(0, len(outputs), plan.group)]
    rows, columns = spans(step, 0, plan.rows), spans(step, 1, plan.columns)
    rectangles = [(y, x) for y in rows for x in columns]
    if plan.outputs_outside:
        for group in groups:
            yield from ((group, y, x) for y, x in rectangles)
    else:
        for y, x in rectangles:
            yield from ((group, y, x) for group in groups)


class _Events:
    """The computes and stores of a step in their order, with what they need."""

    def __init__(self, number: int, step: Step, plan: Plan, at: Addresses, machine: Machine):
        self.number = number
        self.step = step
        self.plan = plan
        self.at = at
        self.machine = machine
        self.slices = tap_slices(step, machine)
        self.computes: dict[tuple[int, int, int, int, int], Compute] = {}

    def blocks(self) -> Iterator[list[Event]]:
        """All events, those of a group of output tiles together."""
        for group, y, x in sweep(self.step, self.plan):
            tiles = []
            for output in group:
                where = f"outputs {output} rows {y.made[0]} columns {x.made[0]}"
                tiles.append(Tile(self.step, output, y, x, origin=Origin(self.step.layer, where)))
            events: list[Event] = []
            sources = self.step.sources_of(tiles[0].output)
            for source in sources:
                for tile in tiles:
                    for taps in self.slices:
                        is_first = source == sources[0] and taps.start == 0
                        events.append(self._compute(tile, source, taps, is_first))
                    if source == sources[-1]:
                        events.append(self._store(tile))
            yield events

    def _compute(self, tile: Tile, source: int, taps: slice, is_first: bool) -> Event:
        step = self.step
        tensor, group = self.step.sources[source].tensor, self.step.sources[source].group
        y, x = tile.rows, tile.columns
        needs = [rectangle(tensor, group, (y.start, y.loaded, y.skip), (x.start, x.loaded))]
        if step.kind != "copy":
            needs.append(self._weights(tile.output, source, taps))
            if is_first:
                bias = ("bias", self.number, tile.output)
                address = self.at.biases[tile.output]
                needs.append(Need(bias, Kind.BIAS, None, address, 1, BIAS_WORDS, BIAS_WORDS, 1))
        key = (tile.output, source, taps.start, tile.rows.length, tile.columns.length)
        made = self.computes.get(key)
        if made is None:
            made = self.computes[key] = Compute(
                channels=step.sources[source].channels,
                outputs=step.output_tiles[tile.output],
                height=tile.rows.length,
                width=tile.columns.length,
                in_width=tile.columns.loaded,
                stride_y=tile.rows.stride,
                stride_x=tile.columns.stride,
                dilation_y=step.dilation[0],
                dilation_x=step.dilation[1],
                taps=step.taps[taps],
                is_first=is_first,
                is_weighted=step.kind != "copy",
                is_depthwise=step.kind == "depthwise",
                shift_features=step.shift_features,
                shift_bias=step.shift_bias if step.kind != "copy" else 0,
            )
        return Event(tile, made, needs, is_first)

    def _weights(self, output: int, source: int, taps: slice) -> Need:
        if self.step.scale is not None:
            return rectangle(self.step.scale, output, (0, 1, 1), (0, 1), Kind.WEIGHTS)
        rows = rows_of_weights(self.step, output, source, taps, self.machine)
        words = rows * self.machine.macs // CHANNELS
        address = self.at.weights[output, source, taps.start]
        key = ("weights", self.number, output, source, taps.start)
        return Need(key, Kind.WEIGHTS, None, address, 1, words, words, rows)

    def _store(self, tile: Tile) -> Event:
        step, post, target = self.step, self.step.post, self.step.target
        y, x = tile.rows, tile.columns
        needs = []
        if post.residual is not None:
            (a, b), (c, d) = (y.made, x.made) if post.order == 2 else (y.sums, x.sums)
            needs.append(
                rectangle(post.residual, tile.output, (a, b - a, 1), (c, d - c), Kind.RESIDUAL)
            )
        pool = post.pool
        if pool is not None:
            pool = replace(pool, padding=(y.before, y.after, x.before, x.after))
        top = step.at[0] + y.made[0] * post.upsample * step.by[0]
        left = step.at[1] + x.made[0] * post.upsample * step.by[1]
        # the target's border where the tile touches it
        touched = zip(target.border, (*self._edges(0, y), *self._edges(1, x)), strict=True)
        above, below, before, behind = (n if is_at else 0 for n, is_at in touched)
        store = Store(
            outputs=step.output_tiles[tile.output] // step.across,
            across=step.across,
            height=y.length,
            width=x.length,
            psum_row=0,
            address=target.word(tile.output, top, left),
            pitch=target.pitch,
            order=post.order,
            activation=post.activation,
            limit=post.limit,
            fraction=post.fraction,
            pool=pool,
            upsample=post.upsample,
            step_y=step.by[0],
            step_x=step.by[1],
            border=(above, below, before, behind),
            origin=tile.origin,
        )
        return Event(tile, store, needs)

    def _edges(self, axis: int, span: Span) -> tuple[bool, bool]:
        step = self.step
        times, by, at = step.post.upsample, step.by[axis], step.at[axis]
        last = at + (span.made[1] * times - 1) * by
        size = (step.target.height, step.target.width)[axis]
        return at + span.made[0] * times * by == 0, last == size - 1


def interleaved(first: list[list[Event]], then: list[list[Event]]) -> Iterator[Event]:
    """The events of two steps, the second of which reads what the first makes.

    Each block of the second comes behind those of the first that the block after it reads: they
    load and store while it computes.
    """
    made = [block[0].tile for block in first]
    needed = [_blocks_before(block[0].tile, made) for block in then]
    done = 0
    for number, block in enumerate(then):
        wanted = max(needed[: number + 2])
        for before in first[done:wanted]:
            yield from before
        done = max(done, wanted)
        yield from block
    for rest in first[done:]:
        yield from rest


def _blocks_before(tile: Tile, made: list[Tile]) -> int:
    """How many blocks must be there before a tile can be loaded."""
    top, left = tile.rows.start, tile.columns.start
    bottom = top + (tile.rows.loaded - 1) * tile.rows.skip + 1
    right = left + tile.columns.loaded
    times = max(1, made[0].step.post.upsample)
    last = 0
    for number, other in enumerate(made):
        (a, b), (c, d) = other.rows.made, other.columns.made
        if a * times < bottom and top < b * times and c * times < right and left < d * times:
            last = number + 1
    return last


def rectangle(
    tensor: Tensor,
    group: int,
    rows: tuple[int, int, int],
    columns: tuple[int, int],
    kind: Kind = Kind.FEATURES,
) -> Need:
    """A Need of (first, count, step) rows and (first, count) columns of the map."""
    (y, height, skip), (x, width) = rows, columns
    return Need(
        (tensor.name, group, y, height, skip, x, width),
        kind,
        tensor,
        tensor.word(group, y, x),
        height,
        width,
        tensor.pitch * skip,
        height * width,
        (group, y, skip, x, 0),
    )


@dataclass
class _Traffic:
    """What is known of a tensor: the store that wrote each word, the last load that read it."""

    stores: Array
    load: int = -1


class Scheduler:
    """Puts operations together; see the module."""

    def __init__(self, machine: Machine, places: Places | None = None, is_compat: bool = False):
        self.machine = machine
        self.is_compat = is_compat  # banks in turn, and no step begins before all stores
        self.barrier = 0
        self.step: Step | None = None
        self.places = places or Places()
        self.events: list[Event] = []
        self.operations: list[Operation] = []
        self.ends: list[int] = []
        self.begins: list[int] = []
        self.loads = self.computes = self.stores = 0
        self.before: list[tuple[int, int]] = []  # computes and stores done behind each position
        self.traffic: dict[Tensor, _Traffic] = {}

    def run(
        self, work: list[tuple[Step, Plan, Addresses]], pairs: Collection[int] = ()
    ) -> list[Operation]:
        """The operations of steps; each step of `pairs` is interleaved with the next one."""
        before: list[list[Event]] | None = None
        for number, (step, plan, at) in enumerate(work):
            blocks = list(_Events(number, step, plan, at, self.machine).blocks())
            if number in pairs:
                before = blocks
            elif before is not None:
                self.events += interleaved(before, blocks)
                before = None
            else:
                self.events += [event for block in blocks for event in block]
        ends = (event for event in self.events if isinstance(event.operation, Store))
        for number, event in enumerate(ends):
            event.tile.number = number
        uses: dict[Hashable, list[int]] = {}
        clock = 0
        for position, event in enumerate(self.events):
            for need in event.needs:
                uses.setdefault(need.key, []).append(position)
            self.begins.append(clock)
            if isinstance(event.operation, Compute):
                clock += duration(event.operation, self.machine)
                self.ends.append(clock)
            else:
                self.ends.append(clock + event.operation.height * event.operation.width)
        self._prepare(uses)
        for position, event in enumerate(self.events):
            if self.is_compat and event.tile.step is not self.step:
                self.barrier, self.step = self.stores, event.tile.step
            items = [self._bring(position, event, need) for need in event.needs]
            load = max((item.load for item in items), default=-1)
            if isinstance(event.operation, Store):
                self._store(event, event.operation, items, load)
            else:
                self._compute(event, event.operation, items, load)
            self.before.append((self.computes, self.stores))
        return self.operations

    def _prepare(self, uses: dict[Hashable, list[int]]) -> None:
        """Empty buffers."""
        machine = self.machine
        features: Buffer | RoundRobinBanks
        weights: Buffer | RoundRobinBanks
        bias: Buffer | RoundRobinBanks
        if self.is_compat:
            features = RoundRobinBanks(machine.fm_banks, is_kept=False)
            weights = RoundRobinBanks(machine.weight_banks, is_kept=True)
            bias = RoundRobinBanks(machine.bias_banks, is_kept=False)
        else:
            known = uses, self.begins, self.ends
            features = Buffer(machine.fm_banks, machine.fm_rows, *known)
            weights = Buffer(machine.weight_banks, machine.weight_rows, *known)
            bias = Buffer(machine.bias_banks, machine.bias_rows, *known)
        is_alternating = self.is_compat or machine.psum_waits
        kind: type[Ring] | type[AccumulatorBanks] = AccumulatorBanks if is_alternating else Ring
        self.sums = kind(machine.psum_banks, machine.psum_rows)
        self.buffers = {
            Kind.FEATURES: features,
            Kind.RESIDUAL: features,
            Kind.WEIGHTS: weights,
            Kind.BIAS: bias,
        }

    def _bring(self, position: int, event: Event, need: Need) -> Item:
        """The item of a need, loaded if it is not there."""
        buffer = self.buffers[need.kind]
        item = buffer.touch(need.key, position)
        if item is not None:
            return item
        words = need.height * need.width
        item = Item(need.key, 0, 0, need.rows, words, self.loads, position)
        pinned = {other.key for other in event.needs}
        evicted = buffer.put(item, position, pinned.__contains__)
        done = [self.before[other.position] for other in evicted]
        stores = max(self.barrier, self._written(need))
        waits = Waits(
            computes=max((computes for computes, _ in done), default=0),
            stores=max(stores, *(count for _, count in done)) if done else stores,
        )
        self.operations.append(
            Load(
                kind=need.kind,
                address=need.address,
                height=need.height,
                width=need.width,
                pitch=need.pitch,
                bank=item.bank,
                row=item.row,
                waits=waits,
                origin=event.tile.origin,
            )
        )
        self.loads += 1
        return item

    def _written(self, need: Need) -> int:
        """How many stores must be done before the words of a need are there."""
        if need.tensor is None or need.box is None:
            return 0
        traffic = self.traffic.get(need.tensor)
        if traffic is None:
            traffic = self.traffic[need.tensor] = _Traffic(_nobody(need.tensor))
        traffic.load = self.loads
        group, y, skip, x, _ = need.box
        top, left = y + need.tensor.border[0], x + need.tensor.border[2]
        rows = slice(top, top + (need.height - 1) * skip + 1, skip)
        return int(traffic.stores[group, rows, left : left + need.width].max()) + 1

    def _compute(self, event: Event, compute: Compute, items: list[Item], load: int) -> None:
        tile = event.tile
        if event.is_first:
            rows = tile.rows.length * tile.columns.length
            tile.psum_row, tile.psum_store = self.sums.take(rows, tile.number)
            if tile.psum_store >= self.stores:
                raise RuntimeError("partial sums are still in use")
        weights = items[1] if len(items) > 1 else None
        self.operations.append(
            replace(
                compute,
                feature_bank=items[0].bank,
                feature_row=items[0].row,
                weight_bank=weights.bank if weights else 0,
                weight_row=weights.row if weights else 0,
                bias_bank=items[2].bank if len(items) > 2 else 0,
                psum_row=tile.psum_row,
                waits=Waits(loads=load + 1, stores=tile.psum_store + 1 if event.is_first else 0),
                origin=tile.origin,
            )
        )
        self.computes += 1

    def _store(self, event: Event, store: Store, items: list[Item], load: int) -> None:
        target = event.tile.step.target
        for other in self.places.before.get(target, ()):
            if other in self.traffic:
                load = max(load, self.traffic[other].load)
        self.operations.append(
            replace(
                store,
                psum_row=event.tile.psum_row,
                residual_bank=items[0].bank if items else None,
                residual_row=items[0].row if items else 0,
                waits=Waits(loads=load + 1, computes=self.computes),
            )
        )
        # which words come from this store
        step, target = event.tile.step, event.tile.step.target
        if target not in self.traffic:
            self.traffic[target] = _Traffic(_nobody(target))
        tall, wide = (edge * store.upsample for edge in pooled_size(store))
        top, bottom, left, right = store.border
        y = step.at[0] + event.tile.rows.made[0] * store.upsample * step.by[0] + target.border[0]
        x = step.at[1] + event.tile.columns.made[0] * store.upsample * step.by[1] + target.border[2]
        down, across = (tall - 1) * step.by[0] + 1, (wide - 1) * step.by[1] + 1
        group = self.traffic[target].stores[event.tile.output]
        group[y : y + down : step.by[0], x : x + across : step.by[1]] = self.stores
        if any(store.border):
            columns = slice(x - left, x + across + right)
            group[y - top : y, columns] = group[y + down : y + down + bottom, columns] = self.stores
            rows = slice(y, y + down)
            group[rows, x - left : x] = self.stores
            group[rows, x + across : x + across + right] = self.stores
        self.stores += 1


def _nobody(tensor: Tensor) -> Array:
    return np.full((tensor.groups, tensor.rows, tensor.pitch), -1, np.int32)


__all__ = [
    "BIAS_WORDS",
    "Addresses",
    "Scheduler",
    "rows_of_weights",
    "sweep",
    "tap_slices",
]
