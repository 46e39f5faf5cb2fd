"""What the examples show of a training: a progress bar, a curve in a line, and one as a picture."""

from __future__ import annotations

import codecs
import contextlib
import io
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

BARS = " ▁▂▃▄▅▆▇█"
WIDTH, HEIGHT, EDGE = 480, 240, 30


def progress(values: Iterable, title: str) -> Iterable:
    """A progress bar, if tqdm is there."""
    try:
        from tqdm import tqdm
    except ImportError:
        return values
    return tqdm(values, title, leave=False)


def sparkline(values: Sequence[float], width: int = 40) -> str:
    """A curve in one line of text, on a logarithmic scale."""
    means = [np.mean(part) for part in np.array_split(np.log(values), min(width, len(values)))]
    heights = np.array(means) - min(means)
    steps = np.round(heights / max(heights.max(), 1e-9) * (len(BARS) - 2)).astype(int)
    return "".join(BARS[step + 1] for step in steps)


def picture(values: Sequence[float], path: Path, title: str) -> None:
    """A curve as a picture, an SVG file."""
    across = np.linspace(EDGE, WIDTH - EDGE, len(values))
    top = max(values)
    down = HEIGHT - EDGE - np.array(values) / top * (HEIGHT - 2 * EDGE)
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in zip(across, down, strict=True))
    axes = f"{EDGE},{EDGE} {EDGE},{HEIGHT - EDGE} {WIDTH - EDGE},{HEIGHT - EDGE}"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
        'font-family="sans-serif" font-size="12">\n'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>\n'
        f'<polyline points="{axes}" fill="none" stroke="gray"/>\n'
        f'<polyline points="{points}" fill="none" stroke="steelblue" stroke-width="2"/>\n'
        f'<text x="{EDGE}" y="20">{title}</text>\n'
        f'<text x="2" y="{EDGE + 4}">{top:.2f}</text>\n'
        f'<text x="{WIDTH - 2 * EDGE}" y="{HEIGHT - 10}">{len(values)} steps</text>\n'
        "</svg>\n",
        encoding="utf-8",
    )


def zen() -> str:
    """The Zen of Python by Tim Peters, in the public domain, which ships with Python."""
    with contextlib.redirect_stdout(io.StringIO()):
        import this
    return codecs.decode(this.s, "rot13")
