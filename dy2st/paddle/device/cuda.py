"""Answers what scripts ask GPUs: there are none, and nothing is to wait for."""

from __future__ import annotations

from typing import Any, NoReturn

from dy2st.paddle.device.streams import Event, Stream, current_stream, stream_guard
from dy2st_runtime.place import refuse_device


def device_count() -> int:
    """How many GPUs there are.

    >>> device_count()
    0
    """
    return 0


def synchronize(device: Any = None) -> None:
    """Wait until all is computed: it is, when a function returns."""


def empty_cache() -> None:
    """Give back memory that is kept: none is."""


def memory_allocated(device: Any = None) -> int:
    """Bytes of a GPU in use: 0."""
    return 0


def max_memory_allocated(device: Any = None) -> int:
    """The most bytes of a GPU that were in use: 0."""
    return 0


memory_reserved, max_memory_reserved = memory_allocated, max_memory_allocated


def reset_max_memory_allocated(device: Any = None) -> None:
    """Forget the most: it was 0."""


reset_max_memory_reserved = reset_max_memory_allocated


def get_device_properties(device: Any = None) -> NoReturn:
    """Raise ArgumentError: there is no GPU."""
    refuse_device("gpu" if device is None else device)


def get_device_name(device: Any = None) -> NoReturn:
    """Raise ArgumentError: there is no GPU."""
    refuse_device("gpu" if device is None else device)


def get_device_capability(device: Any = None) -> NoReturn:
    """Raise ArgumentError: there is no GPU."""
    refuse_device("gpu" if device is None else device)


def is_available() -> bool:
    """Whether there is a GPU: False."""
    return False


__all__ = [
    "Event",
    "Stream",
    "current_stream",
    "device_count",
    "empty_cache",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "is_available",
    "max_memory_allocated",
    "max_memory_reserved",
    "memory_allocated",
    "memory_reserved",
    "reset_max_memory_allocated",
    "reset_max_memory_reserved",
    "stream_guard",
    "synchronize",
]
