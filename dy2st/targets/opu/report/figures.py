"""Computes the figures of a compiled network: for every layer, and in total.

Layers overlap, and every cycle is counted for one of them: a cycle in which something is multiplied
for the layer of the product, any other for the first layer that has not ended. So the times of all
layers add up to the time of the network, and no layer has more products than its time allows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from dy2st.targets.opu.layer import Layer, LayerType
from dy2st.targets.opu.machine import CHANNELS, WORD, Machine
from dy2st.targets.opu.network import Array, Network
from dy2st.targets.opu.operations import Compute, Kind, Load, Operation, Store
from dy2st.targets.opu.report.events import CAUSES, CLASSES, Events, events_of, gaps_of
from dy2st.targets.opu.report.shapes import described, part_of, products
from dy2st.targets.opu.sizes import input_size, tensor_size
from dy2st.targets.opu.timing import COMPUTE, Timeline, time_operations
from dy2st_runtime.errors import ArgumentError

MOVED = ("features", "weights", "bias", "residual", "store")
"""Classes of memory traffic."""

BUFFERS = ("features", "weights", "bias", "psum")
_BUSY = 0.9  # an engine that works so much of the time is what bounds a layer


@dataclass(frozen=True)
class LayerFigures:
    """One layer; times in cycles, traffic in bytes, peaks in rows of a buffer's bank.

    begin, end   from the end of the layers before it to its own end.
    cycles       its share of the network's time: `pe` and all of `idle`.
    efficiency   the run-time MAC efficiency: macs / (the machine's macs * cycles), at most 1.
    bound        "pe", "dma", "psum" (partial sums wait to be stored), "latency" (data is waited
                 for though the memory is idle, or most of the time is latency), "fetch" of
                 instructions, "none" if it takes no time.
    pe, dma      cycles that the multipliers and the memory are at work for it.
    idle         cycles that the multipliers stand still, by cause.
    part         what it is counted in: see `shapes.part_of`.
    fractions    fraction lengths of input, weights, bias and output.
    quantisation figures that the caller gave.
    """

    index: int
    name: str
    location: str
    operation: str
    kind: int
    input: tuple[int, int, int]
    output: tuple[int, int, int]
    macs: int
    cycles: int
    begin: int
    end: int
    share: float
    efficiency: float
    bound: str
    pe: int
    dma: int
    idle: dict[str, int]
    traffic: dict[str, int]
    peaks: dict[str, int]
    operations: int
    words: int
    part: str
    fractions: dict[str, int]
    quantisation: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Part:
    """All layers of one kind: how many, their multiplications, time and efficiency."""

    layers: int
    macs: int
    cycles: int
    efficiency: float


@dataclass(frozen=True)
class Totals:
    """The network; `gops` counts two operations a multiplication, bandwidths are in GB/s.

    parts       by the name of `shapes.part_of`, those that there are.
    host_words  words of columns that the host stores before the run; at a word a cycle, as the
                memory takes them, these are cycles that `cycles` leaves out.
    """

    macs: int
    cycles: int
    milliseconds: float
    frames_per_second: float
    gops: float
    peak_gops: float
    efficiency: float
    mean_layer_efficiency: float
    pe_share: float
    dma_share: float
    bandwidth: float
    peak_bandwidth: float
    traffic: dict[str, int]
    peaks: dict[str, int]
    operations: int
    words: int
    parts: dict[str, Part]
    host_words: int = 0


@dataclass(frozen=True)
class Report:
    """Everything that tables and pages show.

    other            totals of the same network where the machine's `psum_waits` is the other one.
    without_columns  totals where no layer reads columns that the host has made.
    """

    title: str
    machine: Machine
    layers: list[LayerFigures]
    totals: Totals
    events: Events
    other: Totals | None = None
    without_columns: Totals | None = None


def report_of(
    network: Network,
    machine: Machine,
    operations: Sequence[Operation],
    timeline: Timeline | None = None,
    fetch: Sequence[int] | None = None,
    quantisation: Mapping[int, Mapping[str, float]] | None = None,
    title: str = "network",
    host_words: int = 0,
) -> Report:
    """The figures of a program.

    timeline      of the operations; it is made if it is not given.
    fetch         instruction words of every operation.
    quantisation  by layer index: figures by name, as `{3: {"sqnr_db": 31.2}}`.
    host_words    of columns that the host stores.

    Raises ArgumentError for an operation of a layer that there is not.
    """
    timeline = time_operations(operations, machine, fetch) if timeline is None else timeline
    events = events_of(operations, timeline, machine)
    known = len(network.layers)
    if len(operations) and not 1 <= events.layers.min() <= events.layers.max() <= known:
        raise ArgumentError(f"operations are of layers 1 to {known} only, {title} has no others")
    words = np.zeros(len(operations), np.int64) if fetch is None else np.array(fetch, np.int64)
    maker = _Maker(network, machine, operations, events, words, quantisation or {})
    layers = maker.layers()
    return Report(title, machine, layers, _totals(layers, machine, host_words), events)


class _Maker:
    """What all layers need: the columns, and the gaps of the multipliers."""

    def __init__(
        self,
        network: Network,
        machine: Machine,
        operations: Sequence[Operation],
        events: Events,
        words: Array,
        quantisation: Mapping[int, Mapping[str, float]],
    ):
        self.network, self.machine, self.quantisation = network, machine, quantisation
        self.operations, self.events, self.words = operations, events, words
        self.gaps = gaps_of(operations, events)
        self.total = int(events.ends.max(initial=0))

    def layers(self) -> list[LayerFigures]:
        """In the order of their indices."""
        found, begin = [], 0
        for layer in self.network.layers:
            places = np.flatnonzero(self.events.layers == layer.index)
            end = max(begin, int(self.events.ends[places].max(initial=0)))
            found.append(self.layer(layer, places, begin, end))
            begin = end
        return found

    def layer(self, layer: Layer, places: Array, begin: int, end: int) -> LayerFigures:
        """One layer, whose operations are at the places."""
        events, macs = self.events, products(self.network, layer)
        is_compute = events.engines[places] == COMPUTE
        pe = int(events.times[places][is_compute].sum())
        dma = int(events.times[places][~is_compute].sum())
        idle = self.idle(begin, end)
        cycles = pe + sum(idle.values())
        # rows of a bank that are used at most
        peaks = dict.fromkeys(BUFFERS, 0)
        for operation in (self.operations[place] for place in places.tolist()):
            if isinstance(operation, Load):
                words = operation.words
                if operation.kind == Kind.WEIGHTS:
                    name, rows = "weights", -(-words * CHANNELS // self.machine.macs)
                elif operation.kind == Kind.BIAS:
                    name, rows = "bias", -(-words // 2)
                else:
                    name, rows = "features", words
                rows += operation.row
            elif isinstance(operation, (Compute, Store)):
                name, rows = "psum", operation.psum_row + operation.height * operation.width
            peaks[name] = max(peaks[name], rows)
        return LayerFigures(
            index=layer.index,
            name=layer.name or f"layer{layer.index}",
            location=layer.location,
            operation=described(layer),
            kind=layer.type,
            input=input_size(self.network, layer),
            output=tensor_size(self.network, layer.index),
            macs=macs,
            cycles=cycles,
            begin=begin,
            end=end,
            share=cycles / self.total if self.total else 0.0,
            efficiency=macs / (self.machine.macs * cycles) if cycles else 0.0,
            bound=self.bound(places, cycles, pe, dma, idle),
            pe=pe,
            dma=dma,
            idle=idle,
            traffic=self.traffic(places),
            peaks=peaks,
            operations=len(places),
            words=int(self.words[places].sum()),
            part=part_of(layer),
            fractions={
                "input": layer.input_fraclen,
                "weights": layer.weight_fraclen,
                "bias": layer.bias_fraclen,
                "output": layer.output_fraclen,
            },
            quantisation=dict(self.quantisation.get(layer.index, {})),
        )

    def idle(self, begin: int, end: int) -> dict[str, int]:
        """Cycles between two times in which nothing is multiplied, by cause."""
        gaps = self.gaps
        inside = np.minimum(gaps.ends, end) - np.maximum(gaps.begins, begin)
        inside = np.maximum(inside, 0)
        return {name: int(inside[gaps.causes == code].sum()) for code, name in enumerate(CAUSES)}

    def bound(self, places: Array, cycles: int, pe: int, dma: int, idle: dict[str, int]) -> str:
        """What the layer's time is made of."""
        if not cycles:
            return "none"
        is_compute = self.events.engines[places] == COMPUTE
        waiting = self.events.waiting[places]
        for name, busy, mask in (("pe", pe, is_compute), ("dma", dma, ~is_compute)):
            if busy >= _BUSY * cycles and busy == max(pe, dma):
                return "latency" if 2 * int(waiting[mask].sum()) > busy else name
        causes = {"psum": idle["store"], "latency": idle["load"], "fetch": idle["fetch"]}
        cause = max(causes, key=lambda name: causes[name])
        if causes[cause] >= idle["drain"] and causes[cause]:
            return cause
        return "pe" if pe >= dma else "dma"

    def traffic(self, places: Array) -> dict[str, int]:
        """Bytes by class."""
        classes, words = self.events.classes[places], self.events.words[places]
        sums = {name: int(words[classes == CLASSES.index(name)].sum()) for name in MOVED}
        return {name: WORD * count for name, count in sums.items()}


def _totals(layers: Sequence[LayerFigures], machine: Machine, host_words: int) -> Totals:
    macs, cycles = sum(layer.macs for layer in layers), sum(layer.cycles for layer in layers)
    seconds = cycles / machine.clock_hz
    traffic = {name: sum(layer.traffic[name] for layer in layers) for name in MOVED}
    multiplied = [layer.efficiency for layer in layers if layer.kind != LayerType.NONE]
    parts = {}
    for name in dict.fromkeys(layer.part for layer in layers):
        own = [layer for layer in layers if layer.part == name]
        work, busy = sum(layer.macs for layer in own), sum(layer.cycles for layer in own)
        parts[name] = Part(len(own), work, busy, work / (machine.macs * max(busy, 1)))
    return Totals(
        macs=macs,
        cycles=cycles,
        milliseconds=1e3 * seconds,
        frames_per_second=1 / seconds if cycles else 0.0,
        gops=2 * macs / seconds / 1e9 if cycles else 0.0,
        peak_gops=machine.peak_gops,
        efficiency=macs / (machine.macs * cycles) if cycles else 0.0,
        mean_layer_efficiency=sum(multiplied) / len(multiplied) if multiplied else 0.0,
        pe_share=sum(layer.pe for layer in layers) / cycles if cycles else 0.0,
        dma_share=sum(layer.dma for layer in layers) / cycles if cycles else 0.0,
        bandwidth=sum(traffic.values()) / seconds / 1e9 if cycles else 0.0,
        peak_bandwidth=WORD * machine.clock_hz / 1e9,
        traffic=traffic,
        peaks={name: max([0, *(layer.peaks[name] for layer in layers)]) for name in BUFFERS},
        operations=sum(layer.operations for layer in layers),
        words=sum(layer.words for layer in layers),
        parts=parts,
        host_words=host_words,
    )


def buffer_rows(machine: Machine) -> dict[str, int]:
    """Rows of a bank of every buffer."""
    rows = (machine.fm_rows, machine.weight_rows, machine.bias_rows, machine.psum_rows)
    return dict(zip(BUFFERS, rows, strict=True))


__all__ = [
    "BUFFERS",
    "MOVED",
    "LayerFigures",
    "Part",
    "Report",
    "Totals",
    "buffer_rows",
    "report_of",
]
