"""Tracebacks that show the user's lines and none of ours."""

from __future__ import annotations

import os
from types import TracebackType

from dy2st_runtime.ir.location import is_own_file


def hide_own_frames(error: BaseException) -> None:
    """Take our frames out of the traceback of an error, of its causes and of errors grouped in it.

    Call it in an `except` whose last statement is a bare `raise`: that adds no frame from Python
    3.11 on; on 3.10 the frame of the `except` itself stays. With DY2ST_DEBUG in the environment,
    and for failed assertions of dy2st itself, all frames stay.
    """
    if os.environ.get("DY2ST_DEBUG", "0") in ("", "0") and not _is_our_fault(error):
        _hide(error, set())


def _hide(error: BaseException | None, seen: set[int]) -> None:
    if error is None or id(error) in seen:
        return
    seen.add(id(error))
    error.__traceback__ = _without_own(error.__traceback__)
    related = (error.__cause__, error.__context__, *getattr(error, "exceptions", ()))
    for other in related:
        if isinstance(other, BaseException):
            _hide(other, seen)


def _without_own(trace: TracebackType | None) -> TracebackType | None:
    """The entries of the user; the first one leads to them even if it is ours."""
    entries = _entries(trace)
    kept = [entry for entry in entries if not is_own_file(entry.tb_frame.f_code.co_filename)]
    for entry, following in zip(kept, [*kept, None][1:], strict=True):
        entry.tb_next = following
    first = kept[0] if kept else None
    if entries and entries[0] is not first:
        entries[0].tb_next = first
    return first


def _entries(trace: TracebackType | None) -> list[TracebackType]:
    entries = []
    while trace is not None:
        entries.append(trace)
        trace = trace.tb_next
    return entries


def _is_our_fault(error: BaseException) -> bool:
    entries = _entries(error.__traceback__)
    return (
        type(error) is AssertionError
        and bool(entries)
        and is_own_file(entries[-1].tb_frame.f_code.co_filename)
    )
