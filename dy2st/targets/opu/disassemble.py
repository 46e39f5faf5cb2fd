"""Writes a program as text: one line an operation."""

from __future__ import annotations

from dy2st.errors import ArgumentError
from dy2st.targets.opu.debug_map import DebugMap
from dy2st.targets.opu.machine import CHANNELS, Machine
from dy2st.targets.opu.network import Array
from dy2st.targets.opu.operations import Compute, Kind, Load, Operation, Store
from dy2st.targets.opu.timing import NAMES, engine_of, stored_words
from dy2st.targets.opu.words import blocks

POOLS = ("", "max", "average")
ACTIVATIONS = ("", "relu", "leaky", "", "hard swish")
ORDERS = ("residual activation pool", "activation residual pool", "activation pool residual", "")


def disassemble(words: Array, machine: Machine, debug: DebugMap | None = None) -> str:
    """One line for every operation: block, words, engine, what it does, waits; layer and tile."""
    found = blocks(words, machine)
    if debug and [(e.first, e.last) for e in debug.entries] != [
        (block.first, block.first + block.count - 1) for block in found
    ]:
        raise ArgumentError("the debug map is of another program")
    lines = [f"; {len(found)} operations in {len(words)} words for {machine.name}"]
    for i, block in enumerate(found):
        operation = block.operation
        last = block.first + block.count - 1
        head = f"{i:6d}  {block.first:7d}-{last:<7d} {NAMES[engine_of(operation)]:7s} "
        counts = operation.waits
        named = zip(("ld", "pe", "st"), (counts.loads, counts.computes, counts.stores), strict=True)
        said = " ".join(f"{name} {count}" for name, count in named if count)
        parts = [_text(operation, machine), f"after {said}" if said else ""]
        if debug and debug.entries[i].place:
            entry = debug.entries[i]
            parts.append(f"; {entry.place} {entry.operator} {entry.location}".rstrip())
        lines.append(head + "  ".join(part for part in parts if part))
    return "\n".join([*lines, f"{len(found):6d}  {len(words) - 1:7d}         done", ""])


def _text(operation: Operation, machine: Machine) -> str:
    if isinstance(operation, Load):
        rows = {Kind.WEIGHTS: machine.macs // CHANNELS, Kind.BIAS: 2}.get(operation.kind, 1)
        last = operation.row - (-operation.words // rows) - 1
        size = (
            f"{operation.height} x {operation.width} pitch {operation.pitch}"
            if operation.height > 1
            else operation.width
        )
        place = f"{operation.kind.name.lower()}[{operation.bank}] {operation.row}..{last}"
        return f"{place} = dram {operation.address} ({size})"
    if isinstance(operation, Compute):
        kind = (
            "unweighted"
            if not operation.is_weighted
            else "depthwise" * operation.is_depthwise or "dot"
        )
        (r0, s0), (r1, s1) = operation.taps[0], operation.taps[-1]
        taps = f"{len(operation.taps)} taps ({r0},{s0})..({r1},{s1})"
        steps = f"stride {operation.stride_y},{operation.stride_x}"
        if (operation.dilation_y, operation.dilation_x) != (1, 1):
            steps += f" dilation {operation.dilation_y},{operation.dilation_x}"
        size = f"{operation.height} x {operation.width}"
        wide = f"(width {operation.in_width})"
        parts = [
            f"psum {operation.psum_row} {'=' if operation.is_first else '+='} {kind}",
            f"{operation.channels} to {operation.outputs} channels, {size}",
            f"of features[{operation.feature_bank}] {operation.feature_row} {wide}",
            f"{taps} {steps} shift {operation.shift_features}",
        ]
        if operation.is_weighted:
            parts.append(f"weights[{operation.weight_bank}] {operation.weight_row}")
            parts += [f"bias[{operation.bias_bank}] << {operation.shift_bias}"] * operation.is_first
            rounds = machine.rounds(operation.channels, operation.outputs)
            parts += [f"{rounds} rounds"] * (not operation.is_depthwise)
        return ", ".join(parts)
    return _store(operation)


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


__all__ = ["disassemble"]
