"""A program as text: one line an operation for people, lines of JSON ("line code") for tools."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from dy2st.errors import ArgumentError
from dy2st.targets.opu.debug_map import DebugMap
from dy2st.targets.opu.machine import CHANNELS, Machine
from dy2st.targets.opu.network import Array
from dy2st.targets.opu.operations import Compute, Kind, Load, Operation, Store
from dy2st.targets.opu.timing import NAMES, engine_of, stored_words, waits_of
from dy2st.targets.opu.words import Block, blocks, registers

POOLS = ("", "max", "average")
ACTIVATIONS = ("", "relu", "leaky")
ORDERS = ("residual activation pool", "activation residual pool", "activation pool residual", "")


def disassemble(words: Array, machine: Machine, debug: DebugMap | None = None) -> str:
    """One line for every operation: block, words, engine, what it does, waits; layer and tile."""
    found = blocks(words, machine)
    _matching(found, debug)
    lines = [f"; {len(found)} operations in {len(words)} words for {machine.name}"]
    for i, block in enumerate(found):
        operation = block.operation
        last = block.first + block.count - 1
        head = f"{i:6d}  {block.first:7d}-{last:<7d} {NAMES[engine_of(operation)]:7s} "
        parts = [_text(operation, machine), _waits(operation)]
        if debug and debug.entries[i].place:
            entry = debug.entries[i]
            parts.append(f"; {entry.place} {entry.operator} {entry.location}".rstrip())
        lines.append(head + "  ".join(part for part in parts if part))
    return "\n".join([*lines, f"{len(found):6d}  {len(words) - 1:7d}         done", ""])


def line_code(words: Array, machine: Machine, debug: DebugMap | None = None) -> str:
    """Lines of JSON: load, compute and store with the names of their fields, and barriers.

    Operations of one phase need none of another engine's: a machine that runs phase after phase,
    with a barrier between and each engine in order, gives the same result. `bank`, `layer` and
    `tile` are beside the fields.
    """
    found = blocks(words, machine)
    _matching(found, debug)
    phases = phases_of([block.operation for block in found], machine)
    lines: list[dict[str, Any]] = []
    now = 0
    for i in sorted(range(len(found)), key=lambda i: (phases[i], i)):
        if phases[i] != now:
            lines.append({"opcode": "barrier", "phase": now})
            now = phases[i]
        lines.append(_line(i, found[i], now, machine, debug))
    return "".join(json.dumps(line) + "\n" for line in lines)


def phases_of(operations: Sequence[Operation], machine: Machine) -> list[int]:
    """The phase of each operation: behind all that it waits for, not before its engine's last.

    Words leave out the waits that bounded queues make true; here they count.
    """
    phases: tuple[list[int], ...] = ([], [], [])
    found = []
    for operation, waits in zip(operations, waits_of(operations), strict=True):
        kind = engine_of(operation)
        phase = phases[kind][-1] if phases[kind] else 0
        for other, count in enumerate(waits):
            bounded = 0 if other == kind else len(phases[other]) - machine.queue - 1
            if last := max(count, bounded, 0):
                phase = max(phase, phases[other][last - 1] + 1)
        phases[kind].append(phase)
        found.append(phase)
    return found


def _matching(found: Sequence[Block], debug: DebugMap | None) -> None:
    if debug and [(e.first, e.last) for e in debug.entries] != [
        (block.first, block.first + block.count - 1) for block in found
    ]:
        raise ArgumentError("the debug map is of another program")


def _line(
    index: int, block: Block, phase: int, machine: Machine, debug: DebugMap | None
) -> dict[str, Any]:
    operation = block.operation
    line: dict[str, Any] = {"opcode": NAMES[engine_of(operation)], "phase": phase, "block": index}
    if isinstance(operation, Load):
        line |= {"type": operation.kind.name.lower(), "bank": operation.bank}
    elif isinstance(operation, Compute):
        line["bank"] = operation.feature_bank
    elif operation.residual_bank is not None:
        line["bank"] = operation.residual_bank
    if debug:
        line |= {"layer": debug.entries[index].layer, "tile": debug.entries[index].tile}
    return line | registers(operation, machine)


def _waits(operation: Operation) -> str:
    counts = operation.waits
    named = zip(("ld", "pe", "st"), (counts.loads, counts.computes, counts.stores), strict=True)
    said = " ".join(f"{name} {count}" for name, count in named if count)
    return f"after {said}" if said else ""


def _text(operation: Operation, machine: Machine) -> str:
    if isinstance(operation, Load):
        return _load(operation, machine)
    if isinstance(operation, Compute):
        return _compute(operation, machine)
    return _store(operation)


def _load(load: Load, machine: Machine) -> str:
    rows = {Kind.WEIGHTS: machine.macs // CHANNELS, Kind.BIAS: 2}.get(load.kind, 1)
    last = load.row - (-load.words // rows) - 1
    size = f"{load.height} x {load.width} pitch {load.pitch}" if load.height > 1 else load.width
    return (
        f"{load.kind.name.lower()}[{load.bank}] {load.row}..{last} = dram {load.address} ({size})"
    )


def _compute(compute: Compute, machine: Machine) -> str:
    kind = "unweighted" if not compute.is_weighted else "depthwise" * compute.is_depthwise or "dot"
    (r0, s0), (r1, s1) = compute.taps[0], compute.taps[-1]
    taps = f"{len(compute.taps)} taps ({r0},{s0})..({r1},{s1})"
    steps = f"stride {compute.stride_y},{compute.stride_x}"
    if (compute.dilation_y, compute.dilation_x) != (1, 1):
        steps += f" dilation {compute.dilation_y},{compute.dilation_x}"
    parts = [
        f"psum {compute.psum_row} {'=' if compute.is_first else '+='} {kind}",
        f"{compute.channels} to {compute.outputs} channels, {compute.height} x {compute.width}",
        f"of features[{compute.feature_bank}] {compute.feature_row} (width {compute.in_width})",
        f"{taps} {steps} shift {compute.shift_features}",
    ]
    if compute.is_weighted:
        parts.append(f"weights[{compute.weight_bank}] {compute.weight_row}")
        parts += [f"bias[{compute.bias_bank}] << {compute.shift_bias}"] * compute.is_first
        rounds = machine.rounds(compute.channels, compute.outputs)
        parts += [f"{rounds} rounds"] * (not compute.is_depthwise)
    return ", ".join(parts)


def _store(store: Store) -> str:
    parts = [
        f"dram {store.address} pitch {store.pitch} = psum {store.psum_row}",
        f"{store.outputs} channels, {store.height} x {store.width}",
        f"{stored_words(store)} words",
    ]
    if store.activation:
        limit = f" to {store.limit}" if store.activation == 1 and store.limit != 127 else ""
        parts.append(ACTIVATIONS[store.activation] + limit)
    if pool := store.pool:
        size = f"{pool.height} x {pool.width} stride {pool.stride_y},{pool.stride_x}"
        around = f" padding {pool.padding}" if any(pool.padding) else ""
        parts.append(f"{POOLS[pool.kind]} pool {size}{around}")
    if store.residual_bank is not None:
        parts.append(f"residual features[{store.residual_bank}] {store.residual_row}")
        parts.append(ORDERS[store.order])
    if store.upsample != 1:
        parts.append(f"upsample {store.upsample}")
    if store.across != 1:
        parts.append(f"{store.across} pixels across")
    if (store.step_y, store.step_x) != (1, 1):
        parts.append(f"steps {store.step_y},{store.step_x}")
    if any(store.border):
        parts.append(f"border {store.border}")
    return ", ".join(parts)


__all__ = ["disassemble", "line_code", "phases_of"]
