"""Objects that a list or dict of a length keeps by value, and who else holds them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dy2st.convert.trace import Trace


def give(trace: Trace, owner: Any, index: Any, item: Any, parts: Sequence[Any]) -> None:
    """An element was put into a list of a length: until that changes, it may be changed."""
    is_elsewhere = is_fragile(trace, *parts)
    trace.note_copied(parts)
    if parts and not is_elsewhere:
        trace.lend(owner, index, item)


def is_fragile(trace: Trace, *values: Any) -> bool:
    """Whether one of some objects may not change."""
    return any(id(value) in trace.marks.fragile for value in values)


__all__ = ["give", "is_fragile"]
