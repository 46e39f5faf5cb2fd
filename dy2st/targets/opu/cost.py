"""Cost: what a convolution takes at least, and on two engines that wait for each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dy2st.targets.opu.machine import CHANNELS, Machine


@dataclass(frozen=True)
class ConvShape:
    """A convolution and the pooling behind it; height and width have the padding.

    >>> ConvShape(226, 226, 64, 64, 3, 3).out_height
    224
    """

    height: int
    width: int
    channels: int
    outputs: int
    kernel_h: int = 1
    kernel_w: int = 1
    stride: int = 1
    pool: int = 1
    pool_stride: int = 1

    @property
    def taps(self) -> int:
        """Elements of the kernel, one pass each."""
        return self.kernel_h * self.kernel_w

    @property
    def out_height(self) -> int:
        """Rows before pooling."""
        return (self.height - self.kernel_h) // self.stride + 1

    @property
    def out_width(self) -> int:
        """Columns before pooling."""
        return (self.width - self.kernel_w) // self.stride + 1

    @property
    def macs(self) -> int:
        """Useful multiplications."""
        return self.out_height * self.out_width * self.taps * self.channels * self.outputs

    @property
    def as_columns(self) -> ConvShape:
        """The same as 1 x 1 over the columns of its windows."""
        columns = self.channels * self.taps
        height, width = self.out_height, self.out_width
        return replace(
            self, height=height, width=width, channels=columns, kernel_h=1, kernel_w=1, stride=1
        )


def channel_tiles(channels: int) -> list[int]:
    """Cut into tiles of 64.

    >>> channel_tiles(150)
    [64, 64, 22]
    """
    return [min(CHANNELS, channels - c) for c in range(0, channels, CHANNELS)]


def weight_rows(channels: int, outputs: int, taps: int, machine: Machine) -> int:
    """Rows of the weight buffer that a tile of weights takes."""
    return machine.rounds(channels, outputs) * taps


def weight_words(channels: int, outputs: int, taps: int, machine: Machine) -> int:
    """Words of DRAM that a tile of weights takes."""
    return weight_rows(channels, outputs, taps, machine) * machine.macs // CHANNELS


def pooled(edge: int, pool: int, stride: int) -> int:
    """How many whole windows there are along an edge."""
    return edge if pool == 1 else max(0, (edge - pool) // stride + 1)


def compute_cycles(shape: ConvShape, machine: Machine) -> int:
    """What the multipliers take when nothing ever waits."""
    rounds = sum(
        machine.rounds(c, k)
        for k in channel_tiles(shape.outputs)
        for c in channel_tiles(shape.channels)
    )
    passes = shape.taps * len(channel_tiles(shape.outputs)) * len(channel_tiles(shape.channels))
    return shape.out_height * shape.out_width * shape.taps * rounds + passes * machine.pe_epilogue


@dataclass(frozen=True)
class Bound:
    """The roofline of a layer: no schedule is faster than the larger of the two."""

    pe: int
    dma: int

    @property
    def cycles(self) -> int:
        """The larger one."""
        return max(self.pe, self.dma)

    @property
    def label(self) -> str:
        """Which one it is."""
        return "pe" if self.pe >= self.dma else "dma"


def roofline(shape: ConvShape, machine: Machine) -> Bound:
    """Every word moved once, every pass done once."""
    pixels = shape.height * shape.width
    words = pixels * len(channel_tiles(shape.channels))
    for outputs in channel_tiles(shape.outputs):
        for channels in channel_tiles(shape.channels):
            words += weight_words(channels, outputs, shape.taps, machine)
    height = pooled(shape.out_height, shape.pool, shape.pool_stride)
    width = pooled(shape.out_width, shape.pool, shape.pool_stride)
    words += height * width * len(channel_tiles(shape.outputs))
    return Bound(compute_cycles(shape, machine), words)


@dataclass(frozen=True)
class Transfer:
    """A load or a store; it may start when compute number `after` is done, -1: at once."""

    cycles: int
    after: int


@dataclass(frozen=True)
class Work:
    """A compute; it may start when load number `load` and store number `store` are done."""

    cycles: int
    load: int
    store: int = -1


class _Engines:
    """Loads and stores share one engine, computes have the other; each queue keeps its order."""

    def __init__(self) -> None:
        self.loads: list[int] = []  # when they end
        self.computes: list[int] = []
        self.stores: list[int] = []
        self.dma = 0
        self.pe = 0

    def compute(self, works: Sequence[Work]) -> None:
        """All that can be computed with what is loaded and stored by now."""
        while len(self.computes) < len(works):
            work = works[len(self.computes)]
            if work.load >= len(self.loads) or work.store >= len(self.stores):
                return
            freed = self.stores[work.store] if work.store >= 0 else 0
            self.pe = max(self.pe, self.loads[work.load], freed) + work.cycles
            self.computes.append(self.pe)

    def start(self, queue: Sequence[Transfer], done: list[int]) -> int | None:
        """When the next of a queue could start, None if that is not known yet."""
        if len(done) == len(queue):
            return None
        after = queue[len(done)].after
        if after >= len(self.computes):
            return None
        return max(self.dma, self.computes[after] if after >= 0 else 0)


def two_engines(
    loads: Sequence[Transfer], works: Sequence[Work], stores: Sequence[Transfer]
) -> int:
    """Cycles until the last store is done; the earlier transfer first, a store wins ties."""
    engines = _Engines()
    while len(engines.stores) < len(stores):
        engines.compute(works)
        load = engines.start(loads, engines.loads)
        store = engines.start(stores, engines.stores)
        if store is not None and (load is None or store <= load):
            engines.dma = store + stores[len(engines.stores)].cycles
            engines.stores.append(engines.dma)
        elif load is not None:
            engines.dma = load + loads[len(engines.loads)].cycles
            engines.loads.append(engines.dma)
        else:
            raise RuntimeError("the transfers wait for each other")
    return engines.dma


__all__ = [
    "Bound",
    "ConvShape",
    "Transfer",
    "Work",
    "channel_tiles",
    "compute_cycles",
    "pooled",
    "roofline",
    "two_engines",
    "weight_rows",
    "weight_words",
]
