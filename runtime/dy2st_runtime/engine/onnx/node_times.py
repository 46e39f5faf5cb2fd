"""Reads how long each node of a model took, from what onnxruntime writes down of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from dy2st_runtime.engine.runner import Clock, Span
from dy2st_runtime.ir.program import Operator

_FIRST = 3
"""Runs of a new session that do not count."""


class NodeTimes:
    """Runs models by sessions that write down the times of their nodes."""

    def __init__(self, clock: Clock) -> None:
        """Take what says the time."""
        self._clock = clock
        self._folder = TemporaryDirectory(prefix="dy2st-")
        self._sessions: dict[int, tuple[Any, Mapping[str, Operator], list[Any]]] = {}

    def run(
        self,
        like: Any,
        load: Callable[[str], Any],
        made_by: Mapping[str, Operator],
        feeds: Mapping[str, Any],
    ) -> list[Any]:
        """What a session gives that is loaded as another one was, but measures."""
        if id(like) not in self._sessions:
            session = load(str(Path(self._folder.name) / "times"))
            for _ in range(_FIRST):  # which are slower, and change nothing
                session.run(None, feeds)
            self._sessions[id(like)] = (session, made_by, [])
        session, _, ends = self._sessions[id(like)]
        found: list[Any] = session.run(None, feeds)
        ends.append(self._clock())
        return found

    def close(self) -> None:
        """Measure no more, and leave no file."""
        self.spans()
        self._folder.cleanup()

    def spans(self) -> list[Span]:
        """The nodes that ran since this was asked last: a session writes its file once."""
        held, self._sessions = self._sessions, {}
        return [
            span
            for session, made_by, ends in held.values()
            for span in spans_of(session.end_profiling(), made_by, ends)
        ]


_END, _RUN = "_kernel_time", "model_run"


def spans_of(file: str, made_by: Mapping[str, Operator], ends: Sequence[Any]) -> list[Span]:
    """The nodes that ran, by the clock that said `ends` at the end of each run; the file goes.

    `made_by` has the operators of nodes by name. onnxruntime makes one node of several, with the
    name of the first in its own, and renames others: what nobody knows any more has no operator.
    """
    place = Path(file)
    entries = json.loads(place.read_text(encoding="utf-8"))
    place.unlink()
    found: list[Span] = []
    runs: list[Span] = []
    count = sum(entry["name"] == _RUN for entry in entries)
    ends_left = [end[0] if isinstance(end, tuple) else end for end in ends]
    ends_left = [None] * (count - len(ends_left)) + ends_left  # of the first ones nobody asked
    for entry in entries:
        name = entry["name"]
        start, end = 1e-6 * entry["ts"], 1e-6 * (entry["ts"] + entry["dur"])
        if name == _RUN and ends_left:
            now = ends_left.pop(0)
            shift = (now or 0.0) - end
            if now is not None:
                found += [Span(s.what, s.operators, s.start + shift, s.end + shift) for s in runs]
            runs = []
        elif name.endswith(_END):
            operator = operator_of(name.removesuffix(_END).removeprefix("fused "), made_by)
            what = entry["args"]["op_name"]
            runs.append(Span(what, () if operator is None else (operator,), start, end))
    return found


def operator_of(name: str, made_by: Mapping[str, Operator]) -> Operator | None:
    """The operator of a node: that of the longest name with which the node's begins."""
    while name and name not in made_by:
        name = name.rpartition("/")[0]
    return made_by.get(name)


__all__ = ["NodeTimes"]
