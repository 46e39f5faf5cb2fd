"""`paddle.static.amp`: what models write around parts of theirs; mixed precision is `dy2st.amp`."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

from dy2st_runtime.lazy import public_dir


def fp16_guard() -> AbstractContextManager[None]:
    """Mark a part for 16 bits in static graphs made by hand, which are not here: no effect.

    `dy2st.amp.auto_cast` computes in 16 bits.

    >>> with dy2st.static.amp.fp16_guard():
    ...     dy2st.ones([1]).dtype
    dtype('float32')
    """
    return nullcontext()


__all__ = ["fp16_guard"]
__dir__ = public_dir(__name__)
