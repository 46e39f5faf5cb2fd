"""What is done to threads while dy2st works."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import pytest

from dy2st_runtime.thread_state import room_for_frames

resource = pytest.importorskip("resource")
R = TypeVar("R")


def _below(depth: int, function: Callable[[], R]) -> R:
    """What a function returns that is called from so many frames further below."""
    return _below(depth - 1, function) if depth else function()


def _new_pages() -> int:
    """How many pages of memory the system gives for many short calls."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(2_000):
        _below(3, int)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


def test_calls_take_no_new_memory_for_their_frames_at_any_depth():
    @room_for_frames
    def roomy() -> int:
        return _new_pages()

    assert max(_below(depth, roomy) for depth in range(200)) < 1_000


def test_a_function_with_room_takes_and_returns_what_it_did():
    @room_for_frames
    def add(x: int, *, y: int = 2) -> int:
        return x + y

    assert (add(1), add(1, y=3)) == (3, 4)
