"""Buffers and DRAM of the simulated OPU: rows that know whether, until when and by whom in time
they are written and read, so that every access is checked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dy2st.errors import ArgumentError, Dy2stError
from dy2st.targets.opu.machine import CHANNELS, WORD, Machine
from dy2st.targets.opu.network import Array

NOBODY, OUTSIDE = -2, -1
"""Who wrote a row: nobody yet, or the world outside before the program."""

Rows = slice | Array
"""Which rows of a bank: a slice, or their numbers."""


class SimulationError(Dy2stError, RuntimeError):
    """A program does what the machine must not: the message names the operation and its words."""


@dataclass(frozen=True)
class Span:
    """An operation's number and the cycles [start, end) in which it may access."""

    start: int
    end: int
    operation: int


class Log:
    """The last operations, by number, that wrote and read each row: out of order is an error.

    Any order that the waits allow must give what the order of the program gives: so nothing may
    overtake an operation that it depends on, whether or not this run shows wrong numbers.
    """

    def __init__(self, name: str, rows: int):
        """No row is written or read."""
        self.name = name
        self.writer = np.full(rows, NOBODY, np.int32)
        self.reader = np.full(rows, NOBODY, np.int32)

    def read(self, rows: Rows, operation: int, is_rewritten: bool = False) -> None:
        """Refuse a read of nothing or behind a later write; note it, unless it is written too."""
        writers = self.writer[rows]
        if writers.min() == NOBODY:
            bad = row_number(rows, writers == NOBODY, len(self.writer))
            raise SimulationError(f"it reads row {bad} of {self.name}, which is not written")
        self.in_order(rows, operation, self.writer, "reads", "wrote")
        if not is_rewritten:
            self.reader[rows] = np.maximum(self.reader[rows], operation)

    def write(self, rows: Rows, operation: int) -> None:
        """Refuse a write behind a later access, and note it."""
        self.in_order(rows, operation, self.writer, "writes", "wrote")
        self.in_order(rows, operation, self.reader, "writes", "read")
        self.writer[rows] = operation

    def in_order(self, rows: Rows, operation: int, last: Array, what: str, did: str) -> None:
        """Refuse an access if a later operation of the program has done its own already."""
        others = last[rows]
        if others.max() > operation:
            bad = row_number(rows, others > operation, len(last))
            raise SimulationError(
                f"it {what} row {bad} of {self.name}, which operation {last[bad]}, behind it in "
                f"the program, already {did}: a wait is missing there"
            )


def row_number(rows: Rows, bad: Array, count: int) -> int:
    """The number of the first bad one of some rows."""
    every = np.arange(count)[rows] if isinstance(rows, slice) else rows
    return int(every[bad][0])


class Bank:
    """Rows of one bank, and until when they are written and read."""

    def __init__(self, name: str, rows: int, lanes: int, dtype: str):
        """A bank of which nothing is written yet."""
        self.name = name
        self.data = np.zeros((rows, lanes), dtype)
        self.log = Log(name, rows)
        self.until = {"writes": np.zeros(rows, np.int64), "reads": np.zeros(rows, np.int64)}
        self.latest = {"writes": 0, "reads": 0}
        self.peak = 0

    def read(self, rows: Rows, last: int, span: Span, is_rewritten: bool = False) -> None:
        """Check a read of rows up to `last`, and note it, unless the reader writes them too."""
        self.within(last)
        self.log.read(rows, span.operation, is_rewritten)
        self.alone(rows, span, "reads", "writes")
        if not is_rewritten:
            until = self.until["reads"]
            until[rows] = np.maximum(until[rows], span.end)
            self.latest["reads"] = max(self.latest["reads"], span.end)

    def write(self, rows: Rows, last: int, span: Span) -> None:
        """Check a write of rows up to `last`, and note it."""
        self.within(last)
        self.log.write(rows, span.operation)
        self.alone(rows, span, "writes", "reads")
        self.alone(rows, span, "writes", "writes")
        self.until["writes"][rows] = span.end
        self.latest["writes"] = max(self.latest["writes"], span.end)

    def alone(self, rows: Rows, span: Span, what: str, other: str) -> None:
        """Refuse an access while another operation is at work on a row."""
        if self.latest[other] <= span.start:
            return
        until = self.until[other][rows]
        if until.max() > span.start:
            bad = row_number(rows, until > span.start, len(self.data))
            raise SimulationError(
                f"it {what} row {bad} of {self.name} from cycle {span.start} on, while another "
                f"operation {other} it until {self.until[other][bad]}"
            )

    def within(self, last: int) -> None:
        """Refuse rows that the bank does not have."""
        if last >= len(self.data):
            raise SimulationError(f"row {last} of {self.name}: there are {len(self.data)}")
        self.peak = max(self.peak, last + 1)


class Buffers:
    """All banks of a machine. Features and bias are in words, weights in the words of their rows.

    Partial sums are one space of rows, bank after bank; `psum_lanes` says how many outputs of each
    row are there.
    """

    def __init__(self, machine: Machine):
        """Banks with nothing in them."""
        self.features = _banks("the feature buffer", machine.fm_banks, machine.fm_rows, "int8")
        words = machine.weight_rows * (machine.macs // CHANNELS)
        self.weights = _banks("the weight buffer", machine.weight_banks, words, "int8")
        self.bias = _banks("the bias buffer", machine.bias_banks, machine.bias_rows * 2, "int8")
        rows = machine.psum_rows * machine.psum_banks
        self.psum = Bank("the partial sums", rows, CHANNELS, "int16")
        self.psum_lanes = np.zeros(rows, np.int64)

    def peaks(self) -> dict[str, int]:
        """The most rows of a bank that are used: features, weights (in words), bias, psum."""
        kinds = (("features", self.features), ("weights", self.weights), ("bias", self.bias))
        found = {name: max((bank.peak for bank in banks), default=0) for name, banks in kinds}
        return {**found, "psum": self.psum.peak}


def _banks(name: str, count: int, rows: int, dtype: str) -> list[Bank]:
    return [Bank(f"bank {i} of {name}", rows, WORD, dtype) for i in range(count)]


def bank_of(banks: Sequence[Bank], index: int, what: str) -> Bank:
    """A bank, if there is one of that number."""
    if index >= len(banks):
        raise SimulationError(f"it names bank {index} of {what}: there are {len(banks)}")
    return banks[index]


@dataclass(frozen=True)
class Region:
    """Words of DRAM that belong together: an operation's access stays within one region.

    is_initial   something is there before the program: weights, biases, inputs.
    is_writable  stores may write it.
    """

    name: str
    first: int
    words: int
    is_initial: bool = False
    is_writable: bool = True


class Dram:
    """Bytes, and who owns them; without regions all of them are one that is initial."""

    def __init__(self, image: Array, machine: Machine, regions: Sequence[Region] | None):
        """A copy of the image."""
        if image.dtype != np.uint8 or image.ndim != 2 or image.shape[1] != WORD:
            raise ArgumentError(
                f"DRAM is an array of uint8 (words, 64), not {image.dtype} {image.shape}"
            )
        if len(image) > machine.dram_words:
            raise ArgumentError(
                f"the image has {len(image)} words, machine {machine.name} has {machine.dram_words}"
            )
        self.data = image.copy()
        whole = Region("DRAM", 0, len(image), is_initial=True)
        self.regions = [whole] if regions is None else list(regions)
        self.log = Log("DRAM", len(image))
        self.owner = np.full(len(image), -1, np.int32)
        for i, region in enumerate(self.regions):
            part = slice(region.first, region.first + region.words)
            if region.first < 0 or part.stop > len(image) or (self.owner[part] >= 0).any():
                raise ArgumentError(f"{region} leaves DRAM or overlaps another region")
            self.owner[part] = i
            self.log.writer[part] = OUTSIDE if region.is_initial else NOBODY

    def read(self, words: Rows, span: Span) -> Array:
        """The int8 bytes of words by their numbers."""
        self.region(words, "reads")
        self.log.read(words, span.operation)
        return self.data.view(np.int8)[words]

    def write(self, words: Rows, values: Array, span: Span) -> None:
        """Put int8 bytes into words by their numbers."""
        region = self.region(words, "writes")
        if not region.is_writable:
            raise SimulationError(f"it writes {region.name}, which stays as it is")
        self.log.write(words, span.operation)
        self.data.view(np.int8)[words] = values

    def region(self, words: Rows, what: str) -> Region:
        """The region of the first and the last word, and so of all between."""
        if isinstance(words, slice):
            least, most = words.start, words.stop - 1
        else:
            least, most = int(words.min()), int(words.max())
        if least < 0 or most >= len(self.owner):
            raise SimulationError(
                f"it {what} words {least} to {most} of DRAM, which has {len(self.owner)}"
            )
        owner = int(self.owner[least])
        if owner != self.owner[most] or owner < 0:
            raise SimulationError(
                f"it {what} words {least} to {most} of DRAM, which are of no one region"
            )
        return self.regions[owner]


__all__ = [
    "Bank",
    "Buffers",
    "Dram",
    "Log",
    "Region",
    "Rows",
    "SimulationError",
    "Span",
    "bank_of",
]
