"""Writes a report as one page of HTML that needs nothing else: figures, timeline, layers."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from dy2st.targets.opu.network import Array
from dy2st.targets.opu.report.events import CAUSES, CLASSES, Events
from dy2st.targets.opu.report.figures import BUFFERS, MOVED, Report, buffer_rows
from dy2st.targets.opu.report.overview import COLOURS, MEANINGS, overview_svg
from dy2st.targets.opu.report.tables import (
    amount,
    columns_text,
    counted,
    machine_text,
    other_text,
    shape_text,
)
from dy2st.targets.opu.timing import NAMES
from dy2st.viewer.template import as_json, filled

_TEMPLATE = Path(__file__).with_name("page.html")
_HEADINGS = (
    *("#", "layer", "operation", "input", "output", "MMAC", "cycles", "share", "RME", "bound by"),
    *("multipliers", "memory", "waits", "features", "weights", "written", "buffers", "fractions"),
)


def as_page(report: Report) -> str:
    """The page; the same report gives the same bytes."""
    text = _TEMPLATE.read_text(encoding="utf-8")
    tiles = list(dict.fromkeys(report.events.tiles))
    places = {tile: place for place, tile in enumerate(tiles)}
    tile_places = np.array([places[tile] for tile in report.events.tiles], np.int64)
    data = as_json(
        {
            "total": report.totals.cycles,
            "clock": report.machine.clock_hz,
            "classes": list(CLASSES),
            "tiles": tiles,
            "bounds": {name: [COLOURS[name], MEANINGS.get(name, name)] for name in COLOURS},
            "layers": [
                [layer.index, layer.name, layer.operation, layer.begin, layer.end, layer.bound]
                for layer in report.layers
            ],
            "lanes": [
                _lane(report.events, engine, name, tile_places) for engine, name in enumerate(NAMES)
            ],
        }
    )
    values = {
        "TITLE": escape(report.title),
        "MACHINE": escape(machine_text(report.machine)),
        "CARDS": "\n".join(_cards(report)),
        "OVERVIEW": overview_svg(report),
        "ROWS": "\n".join(_rows(report)),
        "TOTALS": "\n".join(_total_rows(report)),
        "DATA": data,
    }
    return filled(text, values)


def _cards(report: Report) -> Iterable[str]:
    totals = report.totals
    rows = [
        ("time", f"{totals.milliseconds:.3f} ms", f"{totals.cycles} cycles"),
        ("frames a second", f"{totals.frames_per_second:.2f}", "one image at a time"),
        ("speed", f"{totals.gops:.1f} GOPS", f"of {totals.peak_gops:.1f}"),
        ("RME", f"{totals.efficiency:.3f}", f"layers: {totals.mean_layer_efficiency:.3f}"),
        ("work", f"{totals.macs / 1e9:.3f} GMAC", f"{len(report.layers)} layers"),
        ("bandwidth", f"{totals.bandwidth:.2f} GB/s", f"of {totals.peak_bandwidth:.1f}"),
        ("traffic", amount(sum(totals.traffic.values())), "an image"),
        ("at work", f"{totals.pe_share:.1%}", f"multipliers; memory {totals.dma_share:.1%}"),
    ]
    for name, value, below in rows:
        yield f'<div class="card"><span>{name}</span><b>{value}</b><i>{below}</i></div>'


def _rows(report: Report) -> Iterable[str]:
    extra = list(dict.fromkeys(name for layer in report.layers for name in layer.quantisation))
    heads = "".join(f"<th>{escape(name)}</th>" for name in (*_HEADINGS, *extra))
    yield f"<thead><tr>{heads}</tr></thead><tbody>"
    for layer in report.layers:
        figures = layer.quantisation
        rows = buffer_rows(report.machine)
        moved, fractions = layer.traffic, layer.fractions
        peaks = " ".join(
            f"{name[0]} {layer.peaks[name] / rows[name]:.0%}"
            for name in BUFFERS
            if layer.peaks[name]
        )
        waits = ", ".join(f"{name} {layer.idle[name]}" for name in CAUSES if layer.idle[name])
        place = f' title="{escape(layer.location)}"' if layer.location else ""
        meter = ""
        if layer.macs:
            part = f"{100 * min(layer.efficiency, 1):.1f}%"
            style = f"background:linear-gradient(90deg,#cfe8d6 {part},transparent {part})"
            meter = f'<td style="{style}">{layer.efficiency:.3f}</td>'
        cells = [
            str(layer.index),
            f'<td class="text"{place}>{escape(layer.name)}</td>',
            f'<td class="text">{escape(layer.operation)}</td>',
            shape_text(layer.input),
            shape_text(layer.output),
            f"{layer.macs / 1e6:.2f}",
            str(layer.cycles),
            f"{layer.share:.1%}",
            meter,
            f'<td class="text" style="color:{COLOURS[layer.bound]}">{layer.bound}</td>',
            _part(layer.pe, layer.cycles),
            _part(layer.dma, layer.cycles),
            f'<td class="text">{waits}</td>',
            amount(moved["features"] + moved["residual"]),
            amount(moved["weights"] + moved["bias"]),
            amount(moved["store"]),
            f'<td class="text">{peaks}</td>',
            "/".join(str(fractions[name]) for name in ("input", "weights", "bias", "output")),
            *(f"{figures[name]:.4g}" if name in figures else "" for name in extra),
        ]
        texts = "".join(cell if cell.startswith("<td") else f"<td>{cell}</td>" for cell in cells)
        yield f'<tr class="layer" data-index="{layer.index}">{texts}</tr>'
    yield "</tbody>"


def _part(busy: int, cycles: int) -> str:
    return f"{busy / cycles:.0%}" if cycles else ""


def _total_rows(report: Report) -> Iterable[str]:
    totals, rows = report.totals, buffer_rows(report.machine)
    for name, part in totals.parts.items():
        said = f"{counted(part.layers)}, {part.cycles} cycles"
        said += f", RME {part.efficiency:.3f}" if part.macs else ""
        yield f"<tr><td>{name}</td><td>{said}</td></tr>"
    if report.other:
        yield f"<tr><td>banks of partial sums</td><td>{other_text(report)}</td></tr>"
    if totals.host_words:
        yield f"<tr><td>columns</td><td>{columns_text(report)}</td></tr>"
    for name in MOVED:
        yield f"<tr><td>moved: {name}</td><td>{amount(totals.traffic[name])}</td></tr>"
    for name in BUFFERS:
        said = f"{totals.peaks[name]} of {rows[name]} rows of a bank"
        yield f"<tr><td>buffer: {name}</td><td>{said}</td></tr>"
    yield f"<tr><td>operations</td><td>{totals.operations}</td></tr>"
    if totals.words:
        yield f"<tr><td>instruction words</td><td>{totals.words}</td></tr>"


# -- what the script of the page draws --------------------------------------------------------


def _lane(events: Events, engine: int, name: str, tiles: Array) -> dict[str, Any]:
    """One engine's operations; starts are differences to the one before, to be short."""
    mine = events.engines == engine
    starts = events.starts[mine]
    return {
        "name": name,
        "starts": np.diff(starts, prepend=0).tolist(),
        "times": events.times[mine].tolist(),
        "classes": events.classes[mine].tolist(),
        "layers": events.layers[mine].tolist(),
        "words": events.words[mine].tolist(),
        "tiles": tiles[mine].tolist(),
    }


__all__ = ["as_page"]
