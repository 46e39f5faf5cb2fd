"""Cost: how channels are cut into tiles, and what their weights take."""

from __future__ import annotations

from dy2st.targets.opu.machine import CHANNELS, Machine


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


__all__ = ["channel_tiles", "weight_rows", "weight_words"]
