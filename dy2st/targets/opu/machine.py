"""Describes one OPU, from a TOML file, for compiler, simulators and reports."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from dy2st_runtime.errors import ArgumentError, FormatError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PRESETS = Path(__file__).parent / "presets"
WORD = 64
"""Bytes of a DRAM word, and of a row of the feature buffer: one int8 of 64 channels."""

CHANNELS = 64
"""Channels of a word: input channels of a pass at most, output channels of a tile at most."""


@dataclass(frozen=True)
class Machine:
    """Sizes in rows, times in cycles.

    macs             8-bit multipliers; a row of the weight buffer is as many bytes.
    fm_rows, ...     rows of one bank: features 64 x int8, weights macs x int8, bias 64 x int16,
                     partial sums 64 x int16.
    fm_banks, ...    how many banks there are.
    psum_waits       1: a tile begins when the tile before it in its bank of partial sums is stored;
                     0: tiles lie beside each other in a bank, as far as its rows go.
    dram_latency     cycles before the first word of a transfer; a transfer then moves one word of
                     64 bytes a cycle, `dram_row_latency` more for every row of a rectangle.
    pe_epilogue      cycles between the passes of a compute operation.
    queue            operations that wait for an engine at most; then fetching stalls.

    >>> wide = machine({"name": "mine", "macs": 2048, "weight_rows": 18})
    >>> wide.name, wide.macs
    ('mine', 2048)
    """

    name: str
    clock_hz: float = 200e6
    macs: int = 1024
    fm_rows: int = 1444
    fm_banks: int = 2
    weight_rows: int = 36
    weight_banks: int = 2
    bias_rows: int = 1
    bias_banks: int = 2
    psum_rows: int = 4096
    psum_banks: int = 1
    psum_waits: int = 0
    dram_words: int = 1 << 25
    dram_latency: int = 0
    dram_row_latency: int = 0
    pe_epilogue: int = 0
    instruction_words: int = 1 << 20
    queue: int = 32

    def __post_init__(self) -> None:
        """ArgumentError for a machine that cannot be."""
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name not in ("name",) and value < 0:
                raise ArgumentError(f"machine {self.name}: {field.name} is {value}")
        if self.psum_waits > 1:
            raise ArgumentError(f"machine {self.name}: psum_waits is 0 or 1, not {self.psum_waits}")
        if self.macs % CHANNELS or self.macs > CHANNELS * CHANNELS or not self.macs:
            raise ArgumentError(f"machine {self.name}: macs is a multiple of 64, at most 4096")

    def lanes(self, channels: int) -> int:
        """How many lanes a pass over so many input channels takes: 16, 32 or 64."""
        return 16 if channels <= 16 else 32 if channels <= 32 else CHANNELS

    def outputs(self, channels: int) -> int:
        """Output channels a cycle when a pass has so many input channels, at most 64."""
        return min(CHANNELS, self.macs // self.lanes(channels))

    def rounds(self, channels: int, outputs: int) -> int:
        """Cycles a pixel of one pass with so many input and output channels."""
        return -(-outputs // self.outputs(channels))

    @property
    def peak_gops(self) -> float:
        """2 * macs * clock / 1e9."""
        return 2 * self.macs * self.clock_hz / 1e9

    def but(self, **changes: Any) -> Machine:
        """The machine with other values."""
        return replace(self, **changes)


def machine(source: str | Path | Mapping[str, Any] | Machine = "opu1024") -> Machine:
    """A machine by the name of a preset, from a TOML file, or from a mapping.

    Raises ArgumentError if there is no such preset, FormatError for a file that is wrong.

    >>> machine("opu1024").peak_gops
    409.6
    """
    if isinstance(source, Machine):
        return source
    if isinstance(source, Mapping):
        return _made(source, "the mapping")
    path = Path(source)
    if path.suffix != ".toml":
        path = PRESETS / f"{source}.toml"
        if not path.exists():
            known = ", ".join(sorted(entry.stem for entry in PRESETS.glob("*.toml")))
            raise ArgumentError(f"there is no machine {str(source)!r}; there are {known}")
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise FormatError(f"{path} is no TOML: {error}") from None
    return _made(values, path)


_KINDS: dict[str, tuple[type, ...]] = {"str": (str,), "float": (int, float), "int": (int,)}


def _made(values: Mapping[str, Any], where: Any) -> Machine:
    kinds = {field.name: field.type for field in fields(Machine)}
    for name, value in values.items():
        if name not in kinds:
            raise FormatError(f"{where}: a machine has no {name!r}")
        wanted: tuple[type, ...] = _KINDS[str(kinds[name])]
        if not isinstance(value, wanted) or isinstance(value, bool):
            raise FormatError(f"{where}: {name} is {value!r}, a {kinds[name]} is wanted")
    if "name" not in values:
        raise FormatError(f"{where}: the machine has no name")
    return Machine(**values)


def as_toml(machine: Machine) -> str:
    """The text that `machine` reads."""
    rows = (f"{k} = {v!r}".replace("'", '"') for k, v in asdict(machine).items())
    return "\n".join(rows) + "\n"


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


__all__ = [
    "CHANNELS",
    "PRESETS",
    "WORD",
    "Machine",
    "as_toml",
    "channel_tiles",
    "machine",
    "weight_rows",
    "weight_words",
]
