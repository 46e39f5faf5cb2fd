"""Leads from a source line to operator, layer, tile, block, words and cycles, and back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from itertools import groupby
from typing import Any

from dy2st.errors import ArgumentError, FormatError
from dy2st.targets.opu.machine import Machine
from dy2st.targets.opu.network import Array, Network
from dy2st.targets.opu.operations import Origin
from dy2st.targets.opu.timing import NAMES, Timeline, engine_of, time_operations
from dy2st.targets.opu.words import blocks, fetch_times


@dataclass(frozen=True)
class Entry:
    """One block: the operation of that number, its words [first, last], its cycles [start, end)."""

    block: int
    engine: str
    layer: int
    tile: str
    operator: str
    location: str
    first: int
    last: int
    start: int
    end: int

    @property
    def place(self) -> str:
        """Layer and tile in words."""
        return f"layer {self.layer} tile {self.tile}".removesuffix(" tile ") if self.layer else ""


@dataclass
class DebugMap:
    """Entries in the order of the program; a layer of 0 is one that is not known."""

    entries: list[Entry] = field(default_factory=list)

    def at_word(self, word: int) -> Entry:
        """The block that a word belongs to; ArgumentError for a word of none."""
        for entry in self.entries:
            if entry.first <= word <= entry.last:
                return entry
        last = self.entries[-1].last if self.entries else -1
        raise ArgumentError(f"word {word} belongs to no operation: they have 0 to {last}")

    def at_cycle(self, cycle: int) -> list[Entry]:
        """The blocks that are at work in a cycle."""
        return [entry for entry in self.entries if entry.start <= cycle < entry.end]

    def of_line(self, location: str) -> list[Entry]:
        """The blocks of a source line: `model.py:31`, with or without its column."""
        return [
            entry
            for entry in self.entries
            if entry.location == location or entry.location.startswith(f"{location}:")
        ]

    def of_layer(self, layer: int) -> list[Entry]:
        """The blocks of a layer."""
        return [entry for entry in self.entries if entry.layer == layer]

    def cycles(self, layer: int) -> tuple[int, int]:
        """First and last cycle in which a layer is at work; (0, 0) if it has no blocks."""
        own = self.of_layer(layer)
        return min((e.start for e in own), default=0), max((e.end for e in own), default=0)

    def tree(self) -> list[dict[str, Any]]:
        """Source line, operator, layer, its tiles and their blocks, as JSON has them."""
        found = []
        by_layer = sorted(self.entries, key=lambda entry: (entry.layer, entry.block))
        for layer, group in groupby(by_layer, key=lambda entry: entry.layer):
            own = list(group)
            tiles: dict[str, list[dict[str, Any]]] = {}
            for entry in own:
                block = {"block": entry.block, "engine": entry.engine}
                place = {"words": [entry.first, entry.last], "cycles": [entry.start, entry.end]}
                tiles.setdefault(entry.tile, []).append({**block, **place})
            found.append(
                {
                    "location": own[0].location,
                    "operator": own[0].operator,
                    "layer": layer,
                    "cycles": list(self.cycles(layer)),
                    "tiles": [{"tile": tile, "blocks": rows} for tile, rows in tiles.items()],
                }
            )
        return found

    def dump(self) -> str:
        """One line of JSON for every block."""
        return "".join(json.dumps(asdict(entry)) + "\n" for entry in self.entries)


def load_debug_map(text: str) -> DebugMap:
    """The map that `dump` wrote; FormatError, with the line, for another text."""
    names = {f.name: str(f.type) for f in fields(Entry)}
    entries = []
    for number, line in enumerate(text.splitlines(), 1):
        try:
            values = json.loads(line)
        except json.JSONDecodeError as error:
            raise FormatError(f"line {number} of the debug map is no JSON: {error}") from None
        kinds = {n: type(v).__name__ for n, v in values.items()} if type(values) is dict else {}
        if kinds != names:
            raise FormatError(f"line {number} of the debug map has {kinds}, not {names}")
        entries.append(Entry(**values))
    return DebugMap(entries)


def debug_map(
    words: Array,
    machine: Machine,
    origins: Sequence[Origin | None],
    network: Network | None = None,
    timeline: Timeline | None = None,
) -> DebugMap:
    """The map of a program's words, whose operations have these origins.

    Operators and source lines are those of the network's layers; times are those of the event model
    if there is no timeline.
    """
    found = blocks(words, machine)
    if len(found) != len(origins):
        raise ArgumentError(f"{len(found)} operations have {len(origins)} origins")
    if timeline is None:
        operations = [block.operation for block in found]
        timeline = time_operations(operations, machine, fetch_times(found))
    entries = []
    for i, (block, origin) in enumerate(zip(found, origins, strict=True)):
        layer = network.layer(origin.layer) if network and origin and origin.layer else None
        entry = Entry(
            block=i,
            engine=NAMES[engine_of(block.operation)],
            layer=origin.layer if origin else 0,
            tile=origin.tile if origin else "",
            operator=layer.name if layer else "",
            location=layer.location if layer else "",
            first=block.first,
            last=block.first + block.count - 1,
            start=int(timeline.starts[i]),
            end=int(timeline.ends[i]),
        )
        entries.append(entry)
    return DebugMap(entries)


__all__ = ["DebugMap", "Entry", "debug_map", "load_debug_map"]
