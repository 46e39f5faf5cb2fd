"""Places everything in DRAM; maps that are not needed any more give their places away."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from dy2st.targets.opu.machine import Machine
from dy2st.targets.opu.steps import Lowered, Tensor
from dy2st_runtime.errors import ArgumentError


@dataclass
class Places:
    """Words in use, and for every tensor the earlier ones whose words it takes over."""

    words: int = 0
    before: dict[Tensor, list[Tensor]] = field(default_factory=dict)
    lives: dict[Tensor, tuple[int, int]] = field(default_factory=dict)


def lifetimes(lowered: Lowered, pairs: Collection[int] = ()) -> dict[Tensor, tuple[int, int]]:
    """First and last step of every tensor; inputs and outputs live for ever.

    Each step of `pairs` and the next one run together.
    """
    end = len(lowered.steps)
    lives: dict[Tensor, tuple[int, int]] = {}
    for given in lowered.inputs:
        lives[given.tensor] = (-1, end)
    for number, step in enumerate(lowered.steps):
        begin, stop = number - (number - 1 in pairs), number + (number in pairs)
        first, last = lives.get(step.target, (begin, stop))
        lives[step.target] = (first, max(last, stop))
        for tensor in step.reads():
            lives[tensor] = (lives[tensor][0], max(lives[tensor][1], stop))
    for index in lowered.outputs:
        tensor = lowered.tensors[index]
        lives[tensor] = (lives[tensor][0], end)
    return lives


def place(lowered: Lowered, start: int, machine: Machine, pairs: Collection[int] = ()) -> Places:
    """Give every tensor an address from word `start` on: the lowest that is free in its life."""
    places = Places(start, lives=lifetimes(lowered, pairs))
    placed: list[Tensor] = []
    for tensor, (first, last) in sorted(places.lives.items(), key=lambda entry: entry[1][0]):
        alive = [
            (other.address, other.address + other.words)
            for other in placed
            if places.lives[other][1] >= first and places.lives[other][0] <= last
        ]
        address = start
        for begin, end in sorted(alive):
            if begin - address >= tensor.words:
                break
            address = max(address, end)
        tensor.address = address
        places.before[tensor] = [
            other
            for other in placed
            if places.lives[other][1] < first
            and (
                tensor.address < other.address + other.words
                and other.address < tensor.address + tensor.words
            )
        ]
        placed.append(tensor)
        places.words = max(places.words, tensor.address + tensor.words)
    if places.words > machine.dram_words:
        raise ArgumentError(
            f"the program needs {places.words} words of DRAM, {machine.name} has "
            f"{machine.dram_words}"
        )
    return places


__all__ = ["Places", "lifetimes", "place"]
