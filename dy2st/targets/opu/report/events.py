"""Lists what every operation of a program did and when, as columns of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dy2st.targets.opu.machine import Machine
from dy2st.targets.opu.network import Array
from dy2st.targets.opu.operations import Compute, Kind, Load, Operation
from dy2st.targets.opu.timing import (
    COMPUTE,
    LOAD,
    STORE,
    Timeline,
    engine_of,
    pass_count,
    stored_words,
)

CLASSES = ("features", "weights", "bias", "residual", "compute", "store")
"""What an operation moves, or does; a number in `Events.classes`."""

CAUSES = ("load", "store", "fetch", "drain")
"""Why the multipliers stand still; `drain`: nothing is left to multiply, results are stored."""

_LOADED = {
    Kind.FEATURES: "features",
    Kind.WEIGHTS: "weights",
    Kind.BIAS: "bias",
    Kind.RESIDUAL: "residual",
}


@dataclass(frozen=True)
class Events:
    """One entry for every operation, in the order of the program.

    layers   the index of the layer that it belongs to.
    engines  LOAD, COMPUTE or STORE.
    classes  places in CLASSES.
    words    of 64 bytes that are moved, 0 for a compute.
    waiting  cycles of its time that are latency: of the memory, or between passes.
    """

    layers: Array
    engines: Array
    classes: Array
    words: Array
    starts: Array
    ends: Array
    waiting: Array
    tiles: list[str]

    @property
    def times(self) -> Array:
        """How long each takes."""
        times: Array = self.ends - self.starts
        return times


def events_of(operations: Sequence[Operation], timeline: Timeline, machine: Machine) -> Events:
    """The columns; an operation without an origin belongs to the layer before it."""
    layers, layer = [], 1
    for operation in operations:
        layer = operation.origin.layer if operation.origin else layer
        layers.append(layer)
    return Events(
        np.array(layers, np.int64),
        np.array([engine_of(operation) for operation in operations], np.int64),
        np.array([CLASSES.index(class_of(operation)) for operation in operations], np.int64),
        np.array([words_of(operation) for operation in operations], np.int64),
        np.asarray(timeline.starts, np.int64),
        np.asarray(timeline.ends, np.int64),
        np.array([_waiting(operation, machine) for operation in operations], np.int64),
        [operation.origin.tile if operation.origin else "" for operation in operations],
    )


def class_of(operation: Operation) -> str:
    """One of CLASSES."""
    if isinstance(operation, Load):
        return _LOADED[operation.kind]
    return "compute" if isinstance(operation, Compute) else "store"


def words_of(operation: Operation) -> int:
    """How many words of the DRAM an operation reads or writes."""
    if isinstance(operation, Load):
        return operation.words
    return 0 if isinstance(operation, Compute) else stored_words(operation)


def _waiting(operation: Operation, machine: Machine) -> int:
    if isinstance(operation, Compute):
        return pass_count(operation, machine) * machine.pe_epilogue
    rows = operation.height * machine.dram_row_latency if isinstance(operation, Load) else 0
    return rows + machine.dram_latency


@dataclass(frozen=True)
class Gaps:
    """When the multipliers stand still; `causes` are places in CAUSES."""

    begins: Array
    ends: Array
    causes: Array


def gaps_of(operations: Sequence[Operation], events: Events) -> Gaps:
    """All gaps, that behind the last compute among them."""
    rows, free = [], 0
    ends = [events.ends[events.engines == engine] for engine in (LOAD, STORE)]
    for place in np.flatnonzero(events.engines == COMPUTE).tolist():
        start, waits = int(events.starts[place]), operations[place].waits
        if start > free:
            awaited = [
                bool(count) and int(times[count - 1]) == start
                for count, times in zip((waits.loads, waits.stores), ends, strict=True)
            ]
            cause = awaited.index(True) if any(awaited) else CAUSES.index("fetch")
            rows.append((free, start, cause))
        free = int(events.ends[place])
    rows.append((free, int(events.ends.max(initial=0)), CAUSES.index("drain")))
    return Gaps(*np.array(rows, np.int64).T)


__all__ = ["CAUSES", "CLASSES", "Events", "Gaps", "class_of", "events_of", "gaps_of", "words_of"]
