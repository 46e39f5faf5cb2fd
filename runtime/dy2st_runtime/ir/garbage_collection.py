"""Pauses Python's search for garbage while many Operators are made."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

from dy2st_runtime.thread_state import ThreadState


class _Paused(ThreadState):
    """Whether there was a search for garbage before it was paused."""

    was_enabled = False


_paused = _Paused()


@contextmanager
def without_collection() -> Iterator[None]:
    """What is made inside is kept: to look for garbage among it costs up to twice the time."""
    outer, was_enabled = _paused.was_enabled, gc.isenabled()
    _paused.was_enabled = outer or was_enabled
    gc.disable()
    try:
        yield
    finally:
        _paused.was_enabled = outer
        if was_enabled:
            gc.enable()


@contextmanager
def collection_as_before() -> Iterator[None]:
    """What asks for it inside finds the search for garbage as it was before it was paused."""
    is_paused = _paused.was_enabled and not gc.isenabled()
    if is_paused:
        gc.enable()
    try:
        yield
    finally:
        if is_paused:
            gc.disable()


__all__ = ["collection_as_before", "without_collection"]
