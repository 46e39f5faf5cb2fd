"""Writes a report as text: a table, JSON, CSV, and a trace for Chrome's viewer."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from dy2st.targets.opu.machine import Machine
from dy2st.targets.opu.report.events import CAUSES, CLASSES
from dy2st.targets.opu.report.figures import (
    BUFFERS,
    MOVED,
    LayerFigures,
    Report,
    Totals,
    buffer_rows,
)
from dy2st.targets.opu.timing import NAMES

HEADINGS = (
    *("#", "layer", "operation", "input", "output", "MMAC", "cycles", "share", "RME"),
    *("bound", "pe", "dma", "read", "weights", "written", "fm", "psum"),
)
_WIDTH = 40


def as_table(report: Report) -> str:
    """A row for every layer, and the totals below."""
    rows = [HEADINGS, *(_row(report, layer) for layer in report.layers)]
    names = list(dict.fromkeys(name for layer in report.layers for name in layer.quantisation))
    if names:
        # what the caller gave, below its names
        rows[0] = (*rows[0], *names)
        for number, layer in enumerate(report.layers, 1):
            given = layer.quantisation
            figures = [f"{given[name]:.4g}" if name in given else "" for name in names]
            rows[number] = (*rows[number], *figures)
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [
            cell.ljust(width) if place in (1, 2) else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join([*lines, "", *total_lines(report)]) + "\n"


def _row(report: Report, layer: LayerFigures) -> tuple[str, ...]:
    rows = buffer_rows(report.machine)
    moved = layer.traffic
    busy = [f"{part / layer.cycles:.0%}" if layer.cycles else "" for part in (layer.pe, layer.dma)]
    return (
        str(layer.index),
        shortened(layer.name),
        shortened(layer.operation),
        shape_text(layer.input),
        shape_text(layer.output),
        f"{layer.macs / 1e6:.2f}",
        str(layer.cycles),
        f"{layer.share:.1%}",
        f"{layer.efficiency:.3f}" if layer.macs else "-",
        layer.bound,
        *busy,
        amount(moved["features"] + moved["residual"]),
        amount(moved["weights"] + moved["bias"]),
        amount(moved["store"]),
        *(f"{layer.peaks[name] / rows[name]:.0%}" for name in ("features", "psum")),
    )


def total_lines(report: Report) -> list[str]:
    """The totals in a few lines."""
    machine, totals = report.machine, report.totals
    moved = ", ".join(f"{name} {amount(totals.traffic[name])}" for name in MOVED)
    rows = buffer_rows(machine)
    peaks = ", ".join(f"{name} {totals.peaks[name]} of {rows[name]}" for name in BUFFERS)
    return [
        f"{report.title} on {machine.name}: {machine.macs} MACs, {machine.clock_hz / 1e6:g} MHz",
        f"  time       {totals.cycles} cycles, {totals.milliseconds:.3f} ms, "
        f"{totals.frames_per_second:.2f} frames a second",
        f"  work       {totals.macs / 1e9:.4f} GMAC, {totals.gops:.1f} of "
        f"{totals.peak_gops:.1f} GOPS, RME {totals.efficiency:.3f}, "
        f"mean of the layers {totals.mean_layer_efficiency:.3f}",
        *(f"    {text}" for text in part_texts(totals)),
        *([f"  sums       {other_text(report)}"] if report.other else []),
        *([f"  columns    {columns_text(report)}"] if totals.host_words else []),
        f"  at work    multipliers {totals.pe_share:.1%}, memory {totals.dma_share:.1%}",
        f"  bandwidth  {totals.bandwidth:.2f} of {totals.peak_bandwidth:.1f} GB/s",
        f"  traffic    {amount(sum(totals.traffic.values()))}: {moved}",
        f"  rows       {peaks}",
        f"  program    {totals.operations} operations"
        + (f", {totals.words} words" if totals.words else ""),
    ]


def part_texts(totals: Totals) -> list[str]:
    """Every part of the network, if there are several that multiply."""
    several = {name: part for name, part in totals.parts.items() if part.macs}
    return [
        f"{name:13s}RME {part.efficiency:.3f} in {part.cycles} cycles of {counted(part.layers)}"
        for name, part in (several if len(several) > 1 else {}).items()
    ]


def counted(layers: int) -> str:
    """`1 layer`, `2 layers`."""
    return f"{layers} layer{'' if layers == 1 else 's'}"


def other_text(report: Report) -> str:
    """What the other use of banks of partial sums would give."""
    assert report.other is not None
    waits = "tiles share a bank" if report.machine.psum_waits else "a tile waits for its bank"
    other = report.other
    flag = 1 - report.machine.psum_waits
    return f"RME {other.efficiency:.3f}, {other.cycles} cycles, if {waits} (psum_waits = {flag})"


def columns_text(report: Report) -> str:
    """What the host does for layers that read columns, and what the network takes without."""
    said = f"the host stores {report.totals.host_words} words, not in the time above"
    plain = report.without_columns
    if plain is None:
        return said
    return f"{said}; without RME {plain.efficiency:.3f}, {plain.cycles} cycles (--columns none)"


def shape_text(shape: Sequence[int]) -> str:
    """`56x56x64`."""
    return "x".join(map(str, shape))


def shortened(text: str) -> str:
    """At most 40 characters, the end of a name rather than its beginning."""
    return text if len(text) <= _WIDTH else "..." + text[3 - _WIDTH :]


def amount(size: int) -> str:
    """Bytes, KiB or MiB, with one digit behind the point."""
    if size < 1024:
        return f"{size} B"
    return f"{size / 1024:.1f} KiB" if size < 1 << 20 else f"{size / (1 << 20):.1f} MiB"


# -- for programs -----------------------------------------------------------------------------


def as_dict(report: Report) -> dict[str, Any]:
    """Plain numbers and names, without the single operations."""
    return {
        "format": "dy2st-opu-report/1",
        "title": report.title,
        "machine": asdict(report.machine),
        "totals": asdict(report.totals),
        "other_psum_waits": asdict(report.other) if report.other else None,
        "without_columns": asdict(report.without_columns) if report.without_columns else None,
        "layers": [asdict(layer) for layer in report.layers],
    }


def as_json(report: Report) -> str:
    """`as_dict` as JSON."""
    return json.dumps(as_dict(report), indent=1) + "\n"


def as_csv(report: Report) -> str:
    """A line for every layer; the columns are the same for every network."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    extra = list(dict.fromkeys(name for layer in report.layers for name in layer.quantisation))
    columns = [
        *("index", "name", "location", "operation"),
        *(f"{side}_{axis}" for side in ("input", "output") for axis in "hwc"),
        *("macs", "cycles", "begin", "end", "share", "efficiency", "bound", "pe", "dma"),
        *(f"idle_{name}" for name in CAUSES),
        *(f"bytes_{name}" for name in MOVED),
        *(f"rows_{name}" for name in BUFFERS),
        *("operations", "words", "part"),
        *(f"fraction_{name}" for name in ("input", "weights", "bias", "output")),
    ]
    writer.writerow([*columns, *extra])
    for layer in report.layers:
        values: list[Any] = [layer.index, layer.name, layer.location, layer.operation]
        values += [*layer.input, *layer.output]
        values += [layer.macs, layer.cycles, layer.begin, layer.end]
        values += [f"{layer.share:.6f}", f"{layer.efficiency:.6f}"]
        values += [layer.bound, layer.pe, layer.dma]
        for group in (layer.idle, layer.traffic, layer.peaks):
            values += group.values()
        values += [layer.operations, layer.words, layer.part, *layer.fractions.values()]
        writer.writerow([*values, *(layer.quantisation.get(name, "") for name in extra)])
    return text.getvalue()


def as_chrome_trace(report: Report) -> str:
    """Events for chrome://tracing and Perfetto, in microseconds of the machine's clock."""
    micro = 1e6 / report.machine.clock_hz
    events: list[dict[str, Any]] = [_named("process_name", 0, report.title)]
    lanes = ("layers", *NAMES)
    events += [_named("thread_name", lane, name) for lane, name in enumerate(lanes)]
    for layer in report.layers:
        if layer.end > layer.begin:
            text = f"{layer.index} {layer.name}"
            args = {"operation": layer.operation, "efficiency": round(layer.efficiency, 6)}
            args |= {"bound": layer.bound, "cycles": layer.cycles}
            events.append(_span(text, 0, layer.begin, layer.end - layer.begin, micro, args))
    found = report.events
    columns = (found.layers, found.engines, found.classes, found.words, found.starts, found.times)
    operations = zip(*(column.tolist() for column in columns), found.tiles, strict=True)
    for number, engine, kind, words, start, cycles, tile in operations:
        args = {"layer": number, "tile": tile, "cycles": cycles}
        if words:
            args["words"] = words
        events.append(_span(CLASSES[kind], engine + 1, start, cycles, micro, args))
    rows = ",\n".join(json.dumps(event, separators=(",", ":")) for event in events)
    return f'{{"displayTimeUnit":"ns","traceEvents":[\n{rows}\n]}}\n'


def _named(what: str, lane: int, name: str) -> dict[str, Any]:
    return {"ph": "M", "name": what, "pid": 1, "tid": lane, "args": {"name": name}}


def _span(
    name: str, lane: int, start: int, cycles: int, micro: float, args: dict[str, Any]
) -> dict[str, Any]:
    begin, length = round(start * micro, 6), round(cycles * micro, 6)
    return {
        "ph": "X",
        "name": name,
        "pid": 1,
        "tid": lane,
        "ts": begin,
        "dur": length,
        "args": args,
    }


def machine_text(machine: Machine) -> str:
    """What matters of a machine, in a line."""
    return (
        f"{machine.name}: {machine.macs} MACs at {machine.clock_hz / 1e6:g} MHz, memory latency "
        f"{machine.dram_latency}, pass latency {machine.pe_epilogue}"
    )


__all__ = [
    "HEADINGS",
    "amount",
    "as_chrome_trace",
    "as_csv",
    "as_dict",
    "as_json",
    "as_table",
    "columns_text",
    "counted",
    "machine_text",
    "other_text",
    "shape_text",
    "shortened",
    "total_lines",
]
