"""Statements of the user's that are staged: where they are, and what errors in them tell."""

from __future__ import annotations

import linecache
import sys

from dy2st.convert.stage.outcome import AlwaysRaises, Carried, Refused
from dy2st.convert.trace import Trace
from dy2st_runtime.ir import user_location


class staging:
    """A statement or expression is staged: an error that leaves it gets a note of where it is."""

    def __init__(self, trace: Trace, kind: str):
        """`kind` is its word in Python."""
        self._trace, self._kind = trace, kind
        self._place = user_location()

    def __enter__(self) -> None:
        """Note where it is."""
        place = self._place
        if place is not None:
            self._trace.staged[self._kind, place.file, place.line, place.column] = None

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        """Leave it; what the trace itself raises is no error."""
        if isinstance(error, Refused):
            error = error.error
        if error is not None and not isinstance(error, (AlwaysRaises, Carried)) and self._place:
            place = self._place
            text = linecache.getline(place.file, place.line).strip()
            note = f"in the staged `{self._kind}` of {place}" + (f": {text}" if text else "")
            # 3.10 has no notes.
            if sys.version_info >= (3, 11) and note not in getattr(error, "__notes__", ()):
                error.add_note(note)
