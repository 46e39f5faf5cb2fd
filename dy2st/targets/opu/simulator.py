"""Executes a program's words on the bytes of DRAM and the banks of the buffers, and counts cycles.

Operations run in the order in which the event model begins them. Each access is checked: it must be
within its bank or region of DRAM, of rows that were written, of none that another operation writes
or reads in the same cycles, and in the order of the program among those of the same row. The
arithmetic is vectorised over a tile, one product of matrices for every pass; numbers are small
enough that float32 holds them exactly: a dot product of 64 terms is at most 2 ** 20.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from dy2st.errors import ArgumentError
from dy2st.targets.opu.buffers import (
    Bank,
    Buffers,
    Dram,
    Region,
    Rows,
    SimulationError,
    Span,
    bank_of,
)
from dy2st.targets.opu.layout import (
    BIAS_WORDS,
    unpack_bias,
    unpack_depthwise,
    unpack_weights,
    weight_rows,
)
from dy2st.targets.opu.machine import CHANNELS, Machine
from dy2st.targets.opu.network import Array
from dy2st.targets.opu.operations import Compute, Kind, Load, Operation, Origin, Pool, Store
from dy2st.targets.opu.timing import (
    NAMES,
    Timeline,
    engine_of,
    pooled_size,
    stored_box,
    stored_words,
    time_operations,
)
from dy2st.targets.opu.words import Block, blocks, fetch_times

MAX, AVERAGE = 1, 2
RELU, LEAKY, HARD_SWISH = 1, 2, 4
CUT = 10
"""Bits between the accumulator and a partial sum."""


@dataclass
class Execution:
    """What a run leaves.

    dram      uint8 (words, 64), the image with all that was stored.
    cycles    until the last operation ends; `timeline` has all times.
    checks    how many operations and rows were checked, by what was done with them.
    peaks     the most rows used of a bank of "features", "weights" (in words), "bias", "psum".
    """

    dram: Array
    cycles: int
    timeline: Timeline
    checks: dict[str, int]
    peaks: dict[str, int]


@dataclass(frozen=True)
class Prepared:
    """A program that is read and timed: for many images, as times do not depend on values."""

    blocks: list[Block]
    timeline: Timeline
    machine: Machine


def prepare(words: Array, machine: Machine, is_compat: bool = False) -> Prepared:
    """Read and time a program; FormatError for words that are none."""
    found = blocks(words, machine)
    operations = [block.operation for block in found]
    timeline = time_operations(operations, machine, fetch_times(found), is_compat)
    return Prepared(found, timeline, machine)


def simulate(
    words: Array | Prepared,
    dram: Array,
    machine: Machine,
    regions: Sequence[Region] | None = None,
    origins: Sequence[Origin | None] | None = None,
    is_compat: bool = False,
) -> Execution:
    """Run a program on an image of DRAM, uint8 (words, 64), which stays as it is.

    With `regions` every access must stay within one and read only what is there; `origins`, one for
    each operation, let errors say the layer and the tile. `prepare` saves work for many images.

    Raises FormatError for words that are no program, SimulationError for what the machine must not
    do.
    """
    ready = words if isinstance(words, Prepared) else prepare(words, machine, is_compat)
    if ready.machine != machine:
        raise ArgumentError(f"prepared for machine {ready.machine.name}, not for {machine.name}")
    timeline = ready.timeline
    engines = _Engines(Dram(dram, machine, regions), machine)
    for i in np.lexsort((timeline.ends, timeline.starts)).tolist():
        span = Span(int(timeline.starts[i]), int(timeline.ends[i]), i)
        block = ready.blocks[i]
        try:
            engines.run(block.operation, span)
        except SimulationError as error:
            origin = origins[i] if origins else None
            of = f" of layer {origin.layer} tile {origin.tile}" if origin else ""
            last = block.first + block.count - 1
            engine = NAMES[engine_of(block.operation)]
            place = f"operation {i} (words {block.first} to {last}), a {engine}{of}"
            raise SimulationError(f"{place}: {error}") from None
    return Execution(
        engines.dram.data, timeline.cycles, timeline, engines.checks, engines.buffers.peaks()
    )


class _Engines:
    """The state of the machine."""

    def __init__(self, dram: Dram, machine: Machine):
        self.dram = dram
        self.machine = machine
        self.buffers = Buffers(machine)
        names = ("loads", "computes", "stores", "words loaded", "words stored", "passes")
        self.checks = dict.fromkeys(names, 0)

    def run(self, operation: Operation, span: Span) -> None:
        """One operation, all at once."""
        if isinstance(operation, Load):
            self.load(operation, span)
        elif isinstance(operation, Compute):
            self.compute(operation, span)
        else:
            self.store(operation, span)

    # -- load --------------------------------------------------------------------------------------
    def load(self, load: Load, span: Span) -> None:
        """Bring words into a bank."""
        words = _words(load.address, load.height, load.width, load.pitch, 1)
        bank, first = self.target(load)
        rows = slice(first, first + load.words)
        bank.write(rows, rows.stop - 1, span)
        bank.data[rows] = self.dram.read(words, span)
        self.checks["loads"] += 1
        self.checks["words loaded"] += load.words

    def target(self, load: Load) -> tuple[Bank, int]:
        """The bank of a load, and the first of its words."""
        buffers = self.buffers
        if load.kind == Kind.WEIGHTS:
            bank = bank_of(buffers.weights, load.bank, "the weight buffer")
            return bank, load.row * (self.machine.macs // CHANNELS)
        if load.kind == Kind.BIAS:
            return bank_of(buffers.bias, load.bank, "the bias buffer"), load.row * BIAS_WORDS
        return bank_of(buffers.features, load.bank, "the feature buffer"), load.row

    # -- compute -----------------------------------------------------------------------------------
    def compute(self, compute: Compute, span: Span) -> None:
        """All passes over a tile."""
        x = self.tile(compute, span)
        if not compute.is_weighted:
            # a pass without weights
            shift = compute.shift_features - 16
            wide = _seen(x, compute, compute.taps[0]).astype(np.int64)
            wide = wide << 8 + shift if shift >= -8 else wide >> -8 - shift
            psum = _saturated(wide, 16)
        else:
            psum = self.passes(compute, x, span)
        rows = slice(compute.psum_row, compute.psum_row + compute.height * compute.width)
        sums = self.buffers.psum
        sums.write(rows, rows.stop - 1, span)
        sums.data[rows, : compute.outputs] = psum
        self.buffers.psum_lanes[rows] = compute.outputs
        self.checks["computes"] += 1

    def tile(self, compute: Compute, span: Span) -> Array:
        """float32 (height, in_width, channels) of the features that are computed."""
        if not compute.is_weighted and len(compute.taps) > 1:
            raise SimulationError(f"{len(compute.taps)} taps without weights")
        if compute.channels != compute.outputs and (
            compute.is_depthwise or not compute.is_weighted
        ):
            raise SimulationError(f"{compute.channels} channels to {compute.outputs} outputs")
        bank = bank_of(self.buffers.features, compute.feature_bank, "the feature buffer")
        read, height, width = _reached(
            (compute.height, compute.width),
            (compute.stride_y, compute.stride_x),
            (compute.dilation_y, compute.dilation_x),
            compute.taps,
            compute.in_width,
        )
        if width > compute.in_width:
            raise SimulationError(f"it reads column {width - 1} of a tile {compute.in_width} wide")
        rows = compute.feature_row + read
        bank.read(rows, int(rows[-1]), span)
        count = height * compute.in_width
        part = bank.data[compute.feature_row : compute.feature_row + count]
        x = np.zeros((count, compute.channels), np.float32)
        x[: len(part)] = part[:, ::-1][:, : compute.channels]
        return x.reshape(height, compute.in_width, -1)

    def passes(self, compute: Compute, x: Array, span: Span) -> Array:
        """Partial sums behind all passes of a tile with weights, (pixels, outputs)."""
        psum = None if compute.is_first else self.sums(compute, span)
        scale = np.float32(2.0 ** (compute.shift_features - CUT))
        for dot in self.dots(compute, x, span):
            self.checks["passes"] += 1
            if psum is None:
                # the bias has bits below a partial sum, so the first pass takes wide integers
                a = _saturated(dot.astype(np.int64) << compute.shift_features, 26)
                b = _saturated(self.bias(compute, span).astype(np.int64) << compute.shift_bias, 26)
                psum = _saturated((a + b) >> CUT, 16).astype(np.float32)
                continue
            dot *= scale
            if scale < 1:
                np.floor(dot, out=dot)
            np.clip(dot, -32768, 32767, out=dot)
            psum += dot
            np.clip(psum, -32768, 32767, out=psum)
        assert psum is not None  # there is a tap
        return psum

    def dots(self, compute: Compute, x: Array, span: Span) -> Iterator[Array]:
        """The dot products (pixels, outputs) of every pass."""
        weights = self.weights(compute, span).astype(np.float32)
        if not compute.is_depthwise:
            for tap, w in zip(compute.taps, weights, strict=True):
                yield _seen(x, compute, tap) @ w
            return
        a_pass = self.machine.macs // CHANNELS
        for first in range(0, len(compute.taps), a_pass):
            dot = np.zeros((compute.height * compute.width, compute.channels), np.float32)
            taps = compute.taps[first : first + a_pass]
            for tap, w in zip(taps, weights[first : first + a_pass], strict=True):
                dot += _seen(x, compute, tap) * w
            yield dot

    def weights(self, compute: Compute, span: Span) -> Array:
        """int8 weights of a tile: (taps, channels, outputs), or (taps, channels) of a depthwise."""
        machine, taps = self.machine, len(compute.taps)
        bank = bank_of(self.buffers.weights, compute.weight_bank, "the weight buffer")
        first = compute.weight_row * (machine.macs // CHANNELS)
        if compute.is_depthwise:
            rows = slice(first, first + taps)  # what is behind in the last row is not multiplied
        else:
            count = weight_rows(taps, compute.channels, compute.outputs, machine)
            rows = slice(first, first + count * (machine.macs // CHANNELS))
        bank.read(rows, rows.stop - 1, span)
        words = bank.data[rows].view(np.uint8)
        if compute.is_depthwise:
            return unpack_depthwise(words, compute.channels)
        return unpack_weights(words, (taps, compute.channels, compute.outputs), machine)

    def bias(self, compute: Compute, span: Span) -> Array:
        """int16 biases of a tile's outputs."""
        bank = bank_of(self.buffers.bias, compute.bias_bank, "the bias buffer")
        bank.read(slice(0, BIAS_WORDS), BIAS_WORDS - 1, span)
        return unpack_bias(bank.data[:BIAS_WORDS].view(np.uint8), compute.outputs)

    def sums(self, operation: Compute | Store, span: Span) -> Array:
        """float32 partial sums (pixels, outputs) that are there."""
        first, outputs = operation.psum_row, operation.outputs
        if isinstance(operation, Store):
            outputs *= operation.across
            if outputs > CHANNELS:
                raise SimulationError(f"it takes {outputs} lanes of partial sums, there are 64")
        rows = slice(first, first + operation.height * operation.width)
        bank = self.buffers.psum
        bank.read(rows, rows.stop - 1, span, is_rewritten=isinstance(operation, Compute))
        if (there := self.buffers.psum_lanes[rows].min()) < outputs:
            raise SimulationError(f"it reads {outputs} outputs of partial sums that have {there}")
        return bank.data[rows, :outputs].astype(np.float32)

    # -- store -------------------------------------------------------------------------------------
    def store(self, store: Store, span: Span) -> None:
        """Cut, post-process and write a tile."""
        sums = self.sums(store, span).astype(np.int32)
        y = _saturated((sums >> 8) + (sums >> 7 & 1), 8)
        y = self.post(store, y.reshape(store.height, -1, store.outputs), span)
        y = y.repeat(store.upsample, axis=0).repeat(store.upsample, axis=1)
        values = np.zeros((y.shape[0] * y.shape[1], CHANNELS), np.int8)
        values[:, CHANNELS - store.outputs :] = y.reshape(-1, store.outputs)[:, ::-1]
        pitch = store.pitch * store.step_y
        words = _words(store.address, y.shape[0], y.shape[1], pitch, store.step_x)
        self.dram.write(words, values, span)
        if any(store.border):
            # words of zeros around the part of the map that a store covers, from its address
            top, bottom, left, right = store.border
            rows, columns = stored_box(store)
            y, x = np.arange(-top, rows + bottom), np.arange(-left, columns + right)
            is_outside = np.logical_or.outer((y < 0) | (y >= rows), (x < 0) | (x >= columns))
            border = store.address + np.add.outer(y * store.pitch, x)[is_outside]
            self.dram.write(border, np.zeros((len(border), CHANNELS), np.int8), span)
        self.checks["stores"] += 1
        self.checks["words stored"] += stored_words(store)

    def post(self, store: Store, y: Array, span: Span) -> Array:
        """Residual, activation and pooling in their order."""
        if store.order == 3 and store.residual_bank is not None:
            raise SimulationError("a residual needs an order of 0 to 2, not 3")
        if store.order == 0:
            y = _activated(store, self.added(store, y, span))
        else:
            y = _activated(store, y)
        if store.order == 1:
            y = self.added(store, y, span)
        if store.pool:
            y = _pooled(store.pool, y, pooled_size(store))
        return self.added(store, y, span) if store.order == 2 else y

    def added(self, store: Store, y: Array, span: Span) -> Array:
        """With the residual, if there is one."""
        if store.residual_bank is None:
            return y
        bank = bank_of(self.buffers.features, store.residual_bank, "the feature buffer")
        rows = slice(store.residual_row, store.residual_row + y.shape[0] * y.shape[1])
        bank.read(rows, rows.stop - 1, span)
        residual = bank.data[rows, ::-1][:, : store.outputs].reshape(y.shape)
        return _saturated(y + residual, 8)


def _words(first: int, height: int, width: int, pitch: int, step: int) -> Rows:
    """The words of a rectangle, row by row: a slice where they follow each other."""
    if step == 1 and (height == 1 or pitch == width):
        return slice(first, first + height * width)
    return first + np.add.outer(np.arange(height) * pitch, np.arange(width) * step).reshape(-1)


@lru_cache(maxsize=1024)
def _reached(
    size: tuple[int, int],
    stride: tuple[int, int],
    dilation: tuple[int, int],
    taps: tuple[tuple[int, int], ...],
    in_width: int,
) -> tuple[Array, int, int]:
    """Rows of a tile that its passes read, in order, and the height and width that they reach."""
    rows = {y * stride[0] + r * dilation[0] for y in range(size[0]) for r in {r for r, _ in taps}}
    columns = {
        x * stride[1] + s * dilation[1] for x in range(size[1]) for s in {s for _, s in taps}
    }
    found = np.add.outer(np.array(sorted(rows)) * in_width, np.array(sorted(columns)))
    return found.reshape(-1), max(rows) + 1, max(columns) + 1


def _seen(x: Array, compute: Compute, tap: tuple[int, int]) -> Array:
    """The features (pixels, channels) that a tap multiplies."""
    y0, x0 = tap[0] * compute.dilation_y, tap[1] * compute.dilation_x
    rows = slice(y0, y0 + (compute.height - 1) * compute.stride_y + 1, compute.stride_y)
    columns = slice(x0, x0 + (compute.width - 1) * compute.stride_x + 1, compute.stride_x)
    return x[rows, columns].reshape(-1, x.shape[2])


def _saturated(x: Array, bits: int) -> Array:
    """In the range of a two's complement of so many bits."""
    found: Array = np.clip(x, -(1 << bits - 1), (1 << bits - 1) - 1)
    return found


def _activated(store: Store, y: Array) -> Array:
    if store.activation == RELU:
        return np.minimum(np.maximum(y, 0), store.limit)
    if store.activation == LEAKY:
        return np.where(y < 0, (y >> 3) + (y >> 2 & 1), y)
    if store.activation == HARD_SWISH:
        # numbers with `fraction` bits behind the point get as many as make them whole
        x = y.astype(np.int64)
        bits = max(store.fraction, 0)
        whole = x << bits - store.fraction
        gate = np.minimum(np.maximum(whole + (3 << bits), 0), 6 << bits)
        scale = ((1 << 16) + 3) // 6
        return _saturated((x * gate * scale + (1 << 15 + bits)) >> 16 + bits, 8)
    return y


def _pooled(pool: Pool, y: Array, size: tuple[int, int]) -> Array:
    """Windows over the map; what lies outside is the least number, or 0 for an average."""
    top, bottom, left, right = pool.padding
    outside = -128 if pool.kind == MAX else 0
    y = np.pad(y, ((top, bottom), (left, right), (0, 0)), constant_values=outside)
    found = None
    for r in range(pool.height):
        for s in range(pool.width):
            rows = slice(r, r + (size[0] - 1) * pool.stride_y + 1, pool.stride_y)
            columns = slice(s, s + (size[1] - 1) * pool.stride_x + 1, pool.stride_x)
            part = y[rows, columns]
            if found is None:
                found = part.copy()
            elif pool.kind == MAX:
                np.maximum(found, part, out=found)
            else:
                found += part
    assert found is not None  # a window has a pixel
    if pool.kind == MAX:
        return found
    scale = round((1 << 16) / (pool.height * pool.width))
    return _saturated((found.astype(np.int64) * scale + (1 << 15)) >> 16, 8)


__all__ = ["Execution", "Prepared", "prepare", "simulate"]
