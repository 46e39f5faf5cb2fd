"""`paddle.static.amp`: what models write around parts of theirs; mixed precision is `dy2st.amp`."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext


def fp16_guard() -> AbstractContextManager[None]:
    """Mark a part for 16 bits in static graphs made by hand, which are not here: no effect."""
    return nullcontext()


__all__ = ["fp16_guard"]
