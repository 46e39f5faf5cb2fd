"""Cuts a step into rectangles that fit in every buffer, and lists the cuts to try.

Cuts are along the map behind pooling, so a tile has whole windows; where windows overlap, tiles do.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, gcd

from dy2st.targets.opu.machine import CHANNELS, Machine, weight_words
from dy2st.targets.opu.steps import Step
from dy2st_runtime.errors import ArgumentError

EDGE = 4095
"""Rows and columns that fit in the fields of an instruction."""

FETCH = 1.0
"""Cycles that an operation is worth: its words have to be fetched."""

UNCOVERED = 0.125
"""How much of a step's first load and last store other steps leave uncovered, about."""


@dataclass(frozen=True)
class Span:
    """One direction of a tile: behind pooling, as partial sums, and as input pixels.

    skip is the step between the input's rows that are loaded; before and after say how much of the
    first and last window is in the pooling's padding.
    """

    made: tuple[int, int]
    sums: tuple[int, int]
    start: int
    loaded: int
    skip: int
    stride: int
    before: int
    after: int
    across: int = 1

    @property
    def length(self) -> int:
        """Rows or columns of partial sums, which may hold several pixels."""
        return (self.sums[1] - self.sums[0]) // self.across


@dataclass(frozen=True)
class Plan:
    """How a step is swept: tiles from the product of the cuts, and the order.

    outputs_outside  the loop over output tiles is outside of that over the map's tiles.
    group            so many output tiles share a pass over the input channels.
    """

    rows: tuple[int, ...]
    columns: tuple[int, ...]
    outputs_outside: bool = False
    group: int = 1

    @property
    def tiles(self) -> int:
        """Rectangles of the map."""
        return (len(self.rows) - 1) * (len(self.columns) - 1)

    def __str__(self) -> str:
        """Short, for reports."""
        tall = max(b - a for a, b in pairwise(self.rows))
        wide = max(b - a for a, b in pairwise(self.columns))
        outer = "outputs outside" if self.outputs_outside else "map outside"
        return f"{self.tiles} x {tall}x{wide}, {outer}, {self.group} together"


def span(step: Step, axis: int, first: int, last: int) -> Span:
    """Rows (axis 0) or columns (1) that make [first, last) of the map behind pooling."""
    total = (step.height, step.width)[axis]
    low, high, before, after = first, last, 0, 0
    pool = step.post.pool
    if pool is not None:
        size, stride = ((pool.height, pool.stride_y), (pool.width, pool.stride_x))[axis]
        low = first * stride - pool.padding[2 * axis]
        high = (last - 1) * stride - pool.padding[2 * axis] + size
        before, after = max(0, -low), max(0, high - total)
        low, high = max(0, low), min(total, high)
    stride, reach = step.stride[axis], step.reach[axis]
    across = step.across if axis else 1
    start = low // across * stride + step.offset[axis]
    loaded = ((high - low) // across - 1) * stride + reach
    skip = 1
    if axis == 0 and reach == 1:  # rows between are not read at all
        loaded, skip, stride = high - low, stride, 1
    return Span((first, last), (low, high), start, loaded, skip, stride, before, after, across)


def column_cuts(step: Step, pieces: int) -> tuple[int, ...]:
    """Cuts along rows, between whole partial sums."""
    unit = _unit(step)
    return tuple(unit * cut for cut in even_cuts(step.made[1] // unit, pieces))


def _unit(step: Step) -> int:
    """Pixels behind pooling that whole partial sums make."""
    pool = step.post.pool
    return step.across // gcd(step.across, pool.stride_x if pool else 1)


def spans(step: Step, axis: int, cuts: tuple[int, ...]) -> list[Span]:
    """The spans between cuts."""
    return [span(step, axis, a, b) for a, b in pairwise(cuts)]


def even_cuts(length: int, pieces: int) -> tuple[int, ...]:
    """Cuts into pieces of about the same length.

    >>> even_cuts(10, 3)
    (0, 4, 7, 10)
    """
    base, more = divmod(length, pieces)
    cuts = [0]
    for piece in range(pieces):
        cuts.append(cuts[-1] + base + (piece < more))
    return tuple(cuts)


def square_cuts(length: int, edge: int) -> tuple[int, ...]:
    """Cuts every `edge`, and what is left."""
    return (*range(0, length, edge), length)


def fits(step: Step, rows: list[Span], columns: list[Span], machine: Machine) -> bool:
    """Whether every tile fits in the buffers of features and sums, and in the fields."""
    tall, wide = max(r.loaded for r in rows), max(c.loaded for c in columns)
    high, broad = max(r.length for r in rows), max(c.length for c in columns)
    if max(tall, wide, high, broad) > EDGE or tall * wide > machine.fm_rows:
        return False
    if high * broad > machine.psum_rows:
        return False
    if step.post.residual is None:
        return True
    if step.post.order == 2:
        high = max(r.made[1] - r.made[0] for r in rows)
        broad = max(c.made[1] - c.made[0] for c in columns)
    return high * broad <= machine.fm_rows


def taps_at_once(step: Step, machine: Machine) -> int:
    """How many taps of a full tile of weights fit in a bank."""
    if step.kind == "depthwise":
        return len(step.taps)
    channels = max(source.channels for source in step.sources)
    rounds = max(machine.rounds(channels, outputs) for outputs in step.output_tiles)
    return min(len(step.taps), machine.weight_rows // rounds)


def check_weights(step: Step, machine: Machine) -> None:
    """ArgumentError if the weights of not even one tap fit."""
    rows = -(-len(step.taps) // (machine.macs // CHANNELS)) if step.kind == "depthwise" else 1
    if taps_at_once(step, machine) < 1 or rows > machine.weight_rows:
        raise ArgumentError(
            f"layer {step.layer} is larger than every tiling: the weights of one pass do not fit "
            f"in the {machine.weight_rows} rows of a bank of {machine.name}"
        )


def candidates(step: Step, machine: Machine) -> list[Plan]:
    """Cuts that fit, the fewest tiles first; ArgumentError if there are none."""
    check_weights(step, machine)
    found: list[Plan] = []
    for pieces in _pieces(step.made[0]):
        rows = even_cuts(step.made[0], pieces)
        found += _with_columns(step, rows, machine)
    if not found:
        # what single pixels take in the middle of the map, where windows are whole
        tall = spans(step, 0, even_cuts(step.made[0], step.made[0]))
        wide = spans(step, 1, column_cuts(step, step.made[1] // _unit(step)))
        loaded = max(r.loaded for r in tall) * max(c.loaded for c in wide)
        sums = max(r.length for r in tall) * max(c.length for c in wide)
        raise ArgumentError(
            f"layer {step.layer} is larger than every tiling: its smallest tile takes {loaded} "
            f"rows of features and {sums} partial sums, {machine.name} has {machine.fm_rows} and "
            f"{machine.psum_rows}"
        )
    found.sort(key=lambda plan: (estimate(step, plan, machine), plan.tiles))
    return found


def strips(step: Step, machine: Machine) -> list[Plan]:
    """Small tiles of a few rows: several fit in a bank beside each other."""
    found = []
    for pieces in _pieces(step.made[0]):
        rows = even_cuts(step.made[0], pieces)
        tall = spans(step, 0, rows)
        high = max(r.loaded for r in tall)
        if high > 16 * step.stride[0]:
            continue
        for parts in (1, 2, 3, 4, 6, 8):
            columns = column_cuts(step, min(parts, step.made[1] // _unit(step)))
            wide = spans(step, 1, columns)
            words = high * max(c.loaded for c in wide)
            if 0.1 < words / machine.fm_rows < 0.7 and fits(step, tall, wide, machine):
                found.append(Plan(rows, columns))
    return found


def _pieces(length: int) -> Iterator[int]:
    """Numbers of pieces that make different largest pieces."""
    last = 0
    for size in range(length, 0, -1):
        pieces = ceil(length / size)
        if pieces != last:
            yield pieces
        last = pieces


def _with_columns(step: Step, rows: tuple[int, ...], machine: Machine) -> list[Plan]:
    """The fewest columns that fit beside these rows, and one more."""
    found: list[Plan] = []
    tall = spans(step, 0, rows)
    if max(r.loaded for r in tall) > EDGE:
        return found
    for pieces in _pieces(step.made[1] // _unit(step)):
        columns = column_cuts(step, pieces)
        if fits(step, tall, spans(step, 1, columns), machine):
            found.append(Plan(rows, columns))
        if len(found) == 2:
            break
    return found


def estimate(step: Step, plan: Plan, machine: Machine) -> float:
    """Cycles of a plan without waiting, and what its first and last tile leave uncovered."""
    tall, wide = spans(step, 0, plan.rows), spans(step, 1, plan.columns)
    edges = tall[0].loaded * wide[0].loaded + tall[-1].length * wide[-1].length
    operations = plan.tiles * len(step.output_tiles) * (2 * len(step.sources) + 1)
    busy = max(passes(step, plan, machine), traffic(step, plan, machine))
    return busy + UNCOVERED * edges + FETCH * operations


def traffic(step: Step, plan: Plan, machine: Machine) -> int:
    """Cycles of all loads and stores, about."""
    tall, wide = spans(step, 0, plan.rows), spans(step, 1, plan.columns)
    loaded = sum(r.loaded for r in tall) * sum(c.loaded for c in wide)
    _, weights = _passes(step, 0, plan.tiles, machine)
    groups, outputs = len(step.sources), len(step.output_tiles)
    once = max(r.loaded for r in tall) * max(c.loaded for c in wide) * groups
    again = outputs if step.kind == "dense" and once > 2 * machine.fm_rows else 1
    kept = weights <= 2 * machine.weight_rows * machine.macs // CHANNELS
    streams = weights * (1 if kept else plan.tiles)
    stored = sum(r.length for r in tall) * sum(c.length for c in wide)
    stored = max(stored, step.made[0] * step.made[1]) * outputs
    added = stored if step.post.residual else 0
    moves = plan.tiles * (groups * again + outputs) * machine.dram_latency
    return loaded * groups * again + streams + stored + added + moves


def passes(step: Step, plan: Plan, machine: Machine) -> int:
    """Cycles of all passes."""
    tall, wide = spans(step, 0, plan.rows), spans(step, 1, plan.columns)
    pixels = sum(r.length for r in tall) * sum(c.length for c in wide)
    return _passes(step, pixels, plan.tiles, machine)[0]


def _passes(step: Step, pixels: int, tiles: int, machine: Machine) -> tuple[int, int]:
    """Cycles of all passes, and words of all weights."""
    cycles = words = 0
    for k, outputs in enumerate(step.output_tiles):
        for c in step.sources_of(k):
            channels = step.sources[c].channels
            count, rounds = len(step.taps), 1
            if step.kind == "dense":
                rounds = machine.rounds(channels, outputs)
                words += weight_words(channels, outputs, count, machine)
            if step.kind == "depthwise":
                count = -(-count // (machine.macs // CHANNELS))
                words += count * machine.macs // CHANNELS
            cycles += count * (pixels * rounds + tiles * machine.pe_epilogue)
    return cycles, words


__all__ = [
    "EDGE",
    "FETCH",
    "UNCOVERED",
    "Plan",
    "Span",
    "candidates",
    "check_weights",
    "estimate",
    "even_cuts",
    "fits",
    "passes",
    "span",
    "spans",
    "square_cuts",
    "strips",
    "taps_at_once",
    "traffic",
]
