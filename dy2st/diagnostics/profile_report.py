"""Shows what a profile has measured: as tables, as a page, and as a trace for viewers."""

from __future__ import annotations

import html
import json
import linecache
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dy2st.diagnostics.recorder import EAGER, Event
from dy2st_runtime.files import named, naming, replacing
from dy2st_runtime.ir.program import Operator, Program

BETWEEN = "between operators"
_BETWEEN_MEANS = "Python, copies, and what a call checks and gives"
_SHOWN = 20


@dataclass(frozen=True)
class Part:
    """What a line, a Layer or an operator takes of a call.

    name     `model.py:12`, `layers.0.conv1`, `matmul`.
    seconds  of a call.
    share    of the call.
    calls    how often it ran; 0 where nobody counts.
    text     the line itself.
    """

    name: str
    seconds: float
    share: float
    calls: int = 0
    text: str = ""


@dataclass(eq=False)
class Profile:
    """What was measured of a call: print it, or save it.

    name     what was called.
    seconds  of the fastest call, while nothing was measured.
    events   what ran in the fastest call that was measured, in order.
    repeat   how many calls there were of each kind.
    memory   seconds and bytes: what arrays take after each event, beside what was there before.
    peak     the most bytes at any moment of a call.
    scale    what times are multiplied by, where a call takes longer while it is measured.
    """

    name: str
    seconds: float
    events: list[Event]
    repeat: int = 1
    memory: list[tuple[float, int]] = field(default_factory=list)
    peak: int = 0
    scale: float = 1.0

    @property
    def between(self) -> float:
        """The seconds of a call in which no operator runs."""
        return max(0.0, self.seconds - sum(event.own for event in self.events))

    @property
    def by_operator(self) -> list[Part]:
        """The parts of operators, or of what an engine runs as one; what takes longest first."""
        return self._parts(lambda event: (event.what, ""))

    @property
    def by_line(self) -> list[Part]:
        """The parts of the user's lines, with their text."""
        return self._parts(_line)

    @property
    def by_layer(self) -> list[Part]:
        """The parts of Layers, by their paths."""
        return self._parts(lambda event: (event.layer or "in no inner Layer", ""))

    @property
    def engines(self) -> list[str]:
        """What ran: names of engines, and `eager` for operators of no Program."""
        return sorted({event.engine for event in self.events})

    @property
    def programs(self) -> list[Program]:
        """The Programs whose operators ran, in order."""
        found: dict[int, Program] = {}
        for operator in self.of_operators():
            *_, block = operator.block.outwards()  # which alone knows the Program
            if block.program is not None:
                found.setdefault(id(block.program), block.program)
        return [*found.values()]

    def of_operators(self) -> dict[Operator, float]:
        """Seconds of the operators of Programs; what ran as one is shared evenly."""
        found: dict[Operator, float] = {}
        for event in self.events:
            for operator in event.operators:
                # Nobody measures inside of code that an engine has made of several.
                seconds = event.own / len(event.operators)
                found[operator] = found.get(operator, 0.0) + seconds
        return found

    def _parts(self, key: Callable[[Event], tuple[str, str]]) -> list[Part]:
        seconds: dict[tuple[str, str], float] = {}
        calls: dict[tuple[str, str], int] = {}
        for event in self.events:
            found = key(event)
            seconds[found] = seconds.get(found, 0.0) + event.own
            calls[found] = calls.get(found, 0) + event.calls
        whole = self.seconds or 1.0  # a call that the clock cannot tell from none
        parts = [
            Part(one[0], time, time / whole, calls[one], one[1]) for one, time in seconds.items()
        ]
        if self.between:
            parts.append(Part(BETWEEN, self.between, self.between / whole, 0, _BETWEEN_MEANS))
        return sorted(parts, key=lambda part: -part.seconds)

    # -- as text -----------------------------------------------------------------------------

    def __str__(self) -> str:
        """The tables, in plain text."""
        tables = [text_table(title, parts) for title, parts in self._tables()]
        return "\n\n".join([self._head(), *tables])

    __repr__ = __str__

    def _head(self) -> str:
        ran = ", ".join(self.engines) or "nothing that is known"
        # What measuring adds to a step is seen where steps are short.
        ran += f" (times are scaled by {self.scale:.2f})" if self.scale < 0.995 else ""
        return (
            f"{self.name}: {time_text(self.seconds)} a call, the fastest of {self.repeat}; "
            f"ran: {ran}; memory at most {bytes_text(self.peak)}"
        )

    def _tables(self) -> list[tuple[str, list[Part]]]:
        found = [("line", self.by_line), ("operator", self.by_operator)]
        if any(event.layer for event in self.events):
            found.insert(1, ("layer", self.by_layer))
        return found

    # -- as a page, and for viewers ----------------------------------------------------------

    def _repr_html_(self) -> str:
        tables = [html_table(title, parts) for title, parts in self._tables()]
        return f"<div><p>{html.escape(self._head())}</p>{''.join(tables)}</div>"

    def page(self, path: str | os.PathLike[str]) -> None:
        """Write the tables, and a curve of the memory, as a page that needs no network.

        Raises FileAccessError if the disk refuses.
        """
        title, curve = html.escape(self.name), ""
        if len(self.memory) > 1 and self.peak:
            start, width = self.memory[0][0], self.memory[-1][0] - self.memory[0][0]
            top = max(self.peak, *(held for _, held in self.memory))
            points = " ".join(
                f"{800 * (at - start) / (width or 1):.1f},{100 - 100 * held / top:.1f}"
                for at, held in self.memory
            )
            curve = (
                f"<p>Memory over a call, at most {bytes_text(self.peak)}</p>"
                f'<svg viewBox="0 0 800 100" width="800" height="100"><polyline points="{points}" '
                'fill="none" stroke="currentColor"/></svg>'
            )
        text = (
            f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>'
            f"<style>{_STYLE}</style><h1>{title}</h1>{self._repr_html_()}{curve}</html>\n"
        )
        _write(path, text)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a trace that Perfetto and chrome://tracing open.

        What an engine only counts lies one after the other in its call. Raises FileAccessError if
        the disk refuses.
        """
        start = min((event.start for event in self.events), default=0.0)
        engines = self.engines
        entries: list[dict[str, Any]] = [
            {"name": "process_name", "ph": "M", "pid": 1, "args": {"name": self.name}}
        ]
        for number, engine in enumerate(engines, 1):
            entries.append(
                {
                    "name": "thread_name",
                    "ph": "M",
                    "pid": 1,
                    "tid": number,
                    "args": {"name": engine},
                }
            )
        for event in self.events:
            line, text = _line(event)
            said = {"line": line, "text": text, "layer": event.layer, "calls": event.calls}
            entries.append(
                {
                    "name": event.what,
                    "cat": "operator" if event.engine == EAGER else "step",
                    "ph": "X",
                    "ts": round(1e6 * (event.start - start), 3),  # of microseconds, with ns
                    "dur": round(1e6 * (event.end - event.start), 3),
                    "pid": 1,
                    "tid": engines.index(event.engine) + 1,
                    "args": {key: value for key, value in said.items() if value},
                }
            )
        # The memory is that of another call: where the same ran, it stands at the same steps.
        ends = [event.end - start for event in self.events]
        is_same = len(ends) == len(self.memory)
        first = self.memory[0][0] if self.memory else 0.0
        for number, (at, held) in enumerate(self.memory):
            at = ends[number] if is_same else at - first
            entries.append(
                {"name": "memory", "ph": "C", "pid": 1, "ts": round(1e6 * at, 3)}
                | {"args": {"bytes": held}}
            )
        _write(path, json.dumps({"traceEvents": entries, "displayTimeUnit": "ms"}))


def _line(event: Event) -> tuple[str, str]:
    place = event.place
    if place is None:
        return f"{event.engine}: no line is known", ""
    text = "" if place.is_text else linecache.getline(place.file, place.line).strip()
    return f"{place.file_name}:{place.line}", text


def text_table(title: str, parts: Sequence[Part]) -> str:
    """Parts in columns, those that take least as one."""
    rows = [("time", "share", "calls", title, "")]
    rows += [
        (
            time_text(part.seconds),
            f"{part.share:.1%}",
            str(part.calls or ""),
            part.name,
            part.text,
        )
        for part in parts[:_SHOWN]
    ]
    if len(parts) > _SHOWN:
        others = parts[_SHOWN:]
        seconds, share = sum(p.seconds for p in others), sum(p.share for p in others)
        rows.append((time_text(seconds), f"{share:.1%}", "", f"{len(others)} more", ""))
    widths = [max(len(row[place]) for row in rows) for place in range(4)]
    lines = []
    for *numbers, name, text in rows:
        cells = [one.rjust(width) for one, width in zip(numbers, widths, strict=False)]
        lines.append("  ".join([*cells, name.ljust(widths[3]), text]).rstrip())
    return "\n".join(lines)


def html_table(title: str, parts: Sequence[Part]) -> str:
    """The same for a page, whole."""
    rows = [
        f"<tr><td>{time_text(part.seconds)}<td>{part.share:.1%}<td>{part.calls or ''}"
        f"<td>{html.escape(part.name)}<td><code>{html.escape(part.text)}</code></tr>"
        for part in parts
    ]
    head = f"<tr><th>time<th>share<th>calls<th>{title}<th></tr>"
    return f"<table>{head}{''.join(rows)}</table>"


_STYLE = (
    "body{font:14px system-ui;margin:2em}table{border-collapse:collapse;margin:1em 0}"
    "td,th{padding:2px 10px;text-align:left}td:nth-child(-n+3),th:nth-child(-n+3){text-align:right}"
    "tr:nth-child(even){background:#8881}"
)


def time_text(seconds: float) -> str:
    """`12.3 us`, `4.56 ms`, `1.23 s`."""
    if seconds < 1e-3:
        return f"{1e6 * seconds:.1f} us"
    return f"{1e3 * seconds:.2f} ms" if seconds < 1 else f"{seconds:.2f} s"


def bytes_text(count: int) -> str:
    """`512 B`, `4.2 kB`, `1.5 MB`."""
    if count < 1000:
        return f"{count} B"
    return f"{count / 1e3:.1f} kB" if count < 10**6 else f"{count / 1e6:.1f} MB"


def _write(path: str | os.PathLike[str], text: str) -> None:
    file = named(os.fspath(path))
    with replacing(Path(file)) as (temporary,), naming(file):
        temporary.write_text(text, encoding="utf-8")


__all__ = ["BETWEEN", "Part", "Profile", "bytes_text", "time_text"]
