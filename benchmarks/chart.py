"""Draws docs/images/peers.svg: how many times as long as dy2st others take, from peers.md."""

from __future__ import annotations

import math
import re
from pathlib import Path

HERE = Path(__file__).parent
COLOURS = {"jax": "#7b3ff2", "onnxruntime": "#0a8f5b", "torch": "#e4572e", "openvino": "#2274a5"}
UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0}
LEFT, WIDTH, ROW, TOP = 330, 430, 22, 58
LOWEST, HIGHEST = 0.5, 500.0  # times our time, at the ends of the scale
TICKS = (1, 3, 10, 30, 100, 300)


def main() -> None:
    """Write the picture."""
    text = (HERE / "peers.md").read_text(encoding="utf-8")
    target = HERE.parent / "docs" / "images" / "peers.svg"
    target.write_text(chart(rows(text)), encoding="utf-8")


def rows(text: str) -> list[tuple[str, dict[str, float]]]:
    """Each case of the first table, with the time of each tool by ours."""
    table = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("|")]
    head, found = table[0], []
    for entries in table[2:]:
        if len(entries) != len(head):
            break
        times = {name: seconds(entry) for name, entry in zip(head, entries) if name in COLOURS}
        ours = seconds(entries[head.index("ours")])
        assert ours is not None
        found.append(
            (entries[0].replace("`", ""), {n: time / ours for n, time in times.items() if time})
        )
    return found


def seconds(entry: str) -> float | None:
    """The time in an entry, None where there is none."""
    number = re.match(r"([\d.]+) (us|ms|s)$", entry)
    return float(number[1]) * UNITS[number[2]] if number else None


def chart(cases: list[tuple[str, dict[str, float]]]) -> str:
    """The picture: a row for each case, a dot for each tool."""
    height = TOP + ROW * len(cases) + 30
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDTH + 20} {height}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="100%" height="{height}" fill="#ffffff"/>',
        '<text x="10" y="18" font-weight="bold">How many times as long others take '
        "(dy2st, engine native, is the line at 1)</text>",
    ]
    for number, (name, colour) in enumerate(COLOURS.items()):
        x = LEFT + 110 * number
        parts.append(f'<circle cx="{x}" cy="36" r="5" fill="{colour}"/>')
        parts.append(f'<text x="{x + 9}" y="40">{name}</text>')
    bottom = TOP + ROW * len(cases)
    for tick in TICKS:
        x, stroke = place(tick), "#222222" if tick == 1 else "#dddddd"
        parts.append(f'<path d="M{x:.1f} {TOP - 8}V{bottom}" stroke="{stroke}"/>')
        parts.append(f'<text x="{x:.1f}" y="{bottom + 16}" text-anchor="middle">{tick}</text>')
    for number, (case, times) in enumerate(cases):
        y = TOP + ROW * number + 8
        parts.append(f'<text x="{LEFT - 12}" y="{y + 4}" text-anchor="end">{case}</text>')
        for name, ratio in times.items():
            dot = f'cx="{place(ratio):.1f}" cy="{y}" r="5" fill="{COLOURS[name]}"'
            parts.append(f'<circle {dot} fill-opacity="0.85"/>')
    return "\n".join([*parts, "</svg>", ""])


def place(ratio: float) -> float:
    """Where a ratio lies on the scale, which is logarithmic."""
    share = math.log(ratio / LOWEST) / math.log(HIGHEST / LOWEST)
    return LEFT + WIDTH * min(max(share, 0.0), 1.0)


if __name__ == "__main__":
    main()
