"""Compat: the tiles and cycles of the public tool chain, as a yardstick.

Square tiles; weights are kept while they are in one of two banks, features are loaded again for
every tile of outputs; one layer after the other. Strides are counted as they are, not as the tool
chain does.
"""

from __future__ import annotations

from dataclasses import dataclass

from dy2st.targets.opu.cost import (
    ConvShape,
    Transfer,
    Work,
    channel_tiles,
    pooled,
    two_engines,
    weight_words,
)
from dy2st.targets.opu.machine import CHANNELS, Machine
from dy2st_runtime.errors import ArgumentError


@dataclass(frozen=True)
class CompatCost:
    """Cycles of a layer, the edge of its tiles, and the words that it moves."""

    cycles: int
    edge: int
    feature_words: int
    weight_words: int
    store_words: int


def enhanced(shape: ConvShape) -> ConvShape:
    """The layer as columns of its windows, where the tool chain does that."""
    small = shape.taps > 1 and shape.taps * shape.channels < CHANNELS
    return shape.as_columns if small else shape


def tile_edge(shape: ConvShape, machine: Machine) -> int:
    """The edge that the tool chain chooses, in input pixels without the kernel's overlap."""
    total = shape.height - shape.kernel_h + 1
    best = (float("inf"), 0)
    for edge in range(min(shape.kernel_h + 1, total), total + 1):
        if (edge + shape.kernel_h - 1) * (edge + shape.kernel_w - 1) > machine.fm_rows:
            break
        count, rest = divmod(total, edge)
        cost = count * count * _tile_cost(shape, edge, edge, machine)
        if rest:
            cost += 2 * count * _tile_cost(shape, edge, rest, machine)
            cost += _tile_cost(shape, rest, rest, machine)
        if cost <= best[0]:
            best = (cost, edge)
    if not best[1]:
        raise ArgumentError(f"no square tile of {shape} fits in {machine.fm_rows} rows")
    return best[1]


def _tile_cost(shape: ConvShape, height: int, width: int, machine: Machine) -> float:
    lanes = min(machine.macs // CHANNELS, shape.outputs)
    pixels = -(-height // shape.stride) * -(-width // shape.stride)
    compute = shape.taps * pixels * CHANNELS / lanes
    features = (height + shape.kernel_h - 1) * (width + shape.kernel_w - 1)
    return max(compute, (features + shape.taps * CHANNELS * CHANNELS) / CHANNELS)


class _Schedule:
    """The transfers and computes of a layer, in the tool chain's order."""

    def __init__(self, shape: ConvShape, machine: Machine) -> None:
        self.shape = shape
        self.machine = machine
        self.loads: list[Transfer] = []
        self.works: list[Work] = []
        self.stores: list[Transfer] = []
        self.banks: list[tuple[int, int] | None] = [None] * machine.weight_banks
        self.last_use = [-1] * machine.weight_banks
        self.filled = 0
        self.feature_words = self.weight_words = self.store_words = 0

    def weights(self, tile: tuple[int, int], words: int) -> None:
        """Load a tile of weights unless it is still in a bank."""
        if tile not in self.banks:
            bank = self.filled % len(self.banks)
            self.filled += 1
            self.banks[bank] = tile
            self.weight_words += words
            self.loads.append(Transfer(words + self.machine.dram_latency, self.last_use[bank]))
        self.last_use[self.banks.index(tile)] = len(self.works)

    def features(self, height: int, width: int) -> None:
        """Load a tile of features into the bank whose turn it is."""
        shape, machine = self.shape, self.machine
        rows = (height - 1) * shape.stride + shape.kernel_h
        words = rows * ((width - 1) * shape.stride + shape.kernel_w)
        self.feature_words += words
        cycles = words + rows * machine.dram_row_latency + machine.dram_latency
        self.loads.append(Transfer(cycles, len(self.works) - machine.fm_banks))

    def tile(self, height: int, width: int, output: int, outputs: int) -> None:
        """All channel tiles of one tile of outputs, and its store."""
        shape, machine = self.shape, self.machine
        before = len(self.stores) - machine.psum_banks
        for number, channels in enumerate(channel_tiles(shape.channels)):
            self.features(height, width)
            words = weight_words(channels, outputs, shape.taps, machine)
            self.weights((output, number), words)
            if not number:
                self.loads.append(Transfer(2 + machine.dram_latency, -1))
            each = height * width * machine.rounds(channels, outputs) + machine.pe_epilogue
            wait = before if not number else -1
            self.works.append(Work(shape.taps * each, len(self.loads) - 1, wait))
        words = pooled(height, shape.pool, shape.pool_stride)
        words *= pooled(width, shape.pool, shape.pool_stride)
        self.store_words += words
        self.stores.append(Transfer(words + machine.dram_latency, len(self.works) - 1))


def compat_cost(shape: ConvShape, machine: Machine) -> CompatCost:
    """What the public tool chain's schedule of one layer takes."""
    shape = enhanced(shape)
    edge = tile_edge(shape, machine)
    step = max(1, edge // shape.stride)
    schedule = _Schedule(shape, machine)
    for top in range(0, shape.out_height, step):
        for left in range(0, shape.out_width, step):
            height = min(step, shape.out_height - top)
            width = min(step, shape.out_width - left)
            for output, outputs in enumerate(channel_tiles(shape.outputs)):
                schedule.tile(height, width, output, outputs)
    cycles = two_engines(schedule.loads, schedule.works, schedule.stores)
    return CompatCost(
        cycles, edge, schedule.feature_words, schedule.weight_words, schedule.store_words
    )


__all__ = ["CompatCost", "compat_cost", "enhanced", "tile_edge"]
