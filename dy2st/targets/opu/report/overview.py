"""Draws a schedule: how long every layer takes, and what bounds it."""

from __future__ import annotations

from html import escape
from itertools import accumulate

from dy2st.targets.opu.report.figures import LayerFigures, Report
from dy2st.targets.opu.report.tables import machine_text

COLOURS = {
    "pe": "#2f7d4f",
    "dma": "#c0622d",
    "psum": "#7a4fa3",
    "latency": "#b8a02a",
    "fetch": "#4a6fa5",
    "none": "#999999",
}
MEANINGS = {
    "pe": "multipliers",
    "dma": "memory",
    "psum": "partial sums wait to be stored",
    "latency": "latency",
    "fetch": "instructions",
}
WIDTH, _HEIGHT, _TOP, _LEFT, _RIGHT, _STRIP = 1000, 170, 34, 44, 10, 14


def overview_svg(report: Report) -> str:
    """A bar for every layer: its width is its time, its height its MAC efficiency.

    Two strips below show how much of the time multipliers and memory are at work.
    """
    total = max(report.totals.cycles, 1)
    scale = (WIDTH - _LEFT - _RIGHT) / total
    height = _TOP + _HEIGHT + 2 * _STRIP + 46
    # layers that take time, each with the sum of the times before it
    layers = [layer for layer in report.layers if layer.cycles]
    places = list(zip(layers, accumulate((y.cycles for y in layers), initial=0), strict=False))
    lines = []
    for part in (0.0, 0.25, 0.5, 0.75, 1.0):
        y = _TOP + _HEIGHT * (1 - part)
        lines.append(
            f'<line x1="{_LEFT}" x2="{WIDTH - _RIGHT}" y1="{y:g}" y2="{y:g}" stroke="#dddddd"/>'
            f'<text x="{_LEFT - 6}" y="{y + 4:g}" text-anchor="end" fill="#666666">{part:g}</text>'
        )
    middle = _TOP + _HEIGHT / 2
    lines.append(
        f'<text transform="translate(11 {middle:g}) rotate(-90)" text-anchor="middle" '
        f'fill="#666666">RME</text>'
    )
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'font-family="sans-serif" font-size="11" role="img">',
        f"<title>{escape(report.title)}: MAC efficiency of every layer over time</title>",
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
        f'<text x="{_LEFT}" y="14" font-size="12" fill="#333333">'
        f"{escape(report.title)} on {escape(machine_text(report.machine))}</text>",
        *lines,
        *(_bar(layer, at, scale) for layer, at in places),
        *_strips(places, scale),
        *_legend(report, height - 8),
    ]
    return "\n".join([*parts, "</svg>"]) + "\n"


def _bar(layer: LayerFigures, at: int, scale: float) -> str:
    x, width = _LEFT + at * scale, layer.cycles * scale
    tall = max(1.5, _HEIGHT * layer.efficiency)
    y = _TOP + _HEIGHT - tall
    said = (
        f"{layer.index} {layer.name}: {layer.operation}\n{layer.cycles} cycles, "
        f"{layer.share:.1%}, RME {layer.efficiency:.3f}, bound by {layer.bound}"
    )
    bar = (
        f'<g class="layer" data-index="{layer.index}"><title>{escape(said)}</title>'
        f'<rect x="{x:.2f}" y="{y:.2f}" width="{max(width, 0.2):.2f}" height="{tall:.2f}" '
        f'fill="{COLOURS[layer.bound]}" stroke="#ffffff" stroke-width="0.5"/>'
    )
    if width >= 18:
        bar += (
            f'<text x="{x + width / 2:.2f}" y="{max(y + 13, _TOP + 13):.2f}" fill="#ffffff" '
            f'text-anchor="middle">{layer.index}</text>'
            if tall >= 18
            else f'<text x="{x + width / 2:.2f}" y="{y - 3:.2f}" fill="#333333" '
            f'text-anchor="middle">{layer.index}</text>'
        )
    return bar + "</g>"


def _strips(places: list[tuple[LayerFigures, int]], scale: float) -> list[str]:
    parts: list[str] = []
    for number, (name, colour) in enumerate((("pe", COLOURS["pe"]), ("dma", COLOURS["dma"]))):
        y = _TOP + _HEIGHT + 6 + number * (_STRIP + 2)
        parts.append(
            f'<text x="{_LEFT - 6}" y="{y + 11}" text-anchor="end" fill="#666666">{name}</text>'
        )
        for layer, at in places:
            busy = min(1.0, getattr(layer, name) / layer.cycles)
            parts.append(
                f'<rect x="{_LEFT + at * scale:.2f}" y="{y}" height="{_STRIP}" '
                f'width="{layer.cycles * scale:.2f}" fill="{colour}" '
                f'fill-opacity="{0.08 + 0.92 * busy:.3f}"/>'
            )
    return parts


def _legend(report: Report, y: int) -> list[str]:
    used = [name for name in MEANINGS if any(layer.bound == name for layer in report.layers)]
    parts: list[str] = []
    x = _LEFT
    for name in used:
        text = f"bound by {MEANINGS[name]}" if not parts else MEANINGS[name]
        parts.append(
            f'<rect x="{x}" y="{y - 9}" width="10" height="10" fill="{COLOURS[name]}"/>'
            f'<text x="{x + 14}" y="{y}" fill="#333333">{text}</text>'
        )
        x += 32 + int(5.8 * len(text))
    parts.append(
        f'<text x="{WIDTH - _RIGHT}" y="{y}" text-anchor="end" fill="#666666">'
        f"width: time, {report.totals.cycles} cycles = {report.totals.milliseconds:.3f} ms</text>"
    )
    return parts


__all__ = ["COLOURS", "MEANINGS", "WIDTH", "overview_svg"]
