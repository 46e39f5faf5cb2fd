"""Answers what scripts ask GPUs, of those that jax finds."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from dy2st.paddle.device.streams import Event, Stream, current_stream, stream_guard
from dy2st_runtime import devices
from dy2st_runtime.lazy import public_dir
from dy2st_runtime.place import as_place


def device_count() -> int:
    """How many GPUs this process has: jax is asked, where it is installed.

    >>> device_count() >= 0
    True
    """
    return len(devices.found("gpu"))


def is_available() -> bool:
    """Whether there is a GPU.

    >>> isinstance(dy2st.device.is_available(), bool)
    True
    """
    return device_count() > 0


def synchronize(device: Any = None) -> None:
    """Wait until all is computed that devices were asked for.

    >>> dy2st.device.synchronize()
    """
    devices.wait()


def empty_cache() -> None:
    """Nothing: jax keeps memory that is free for what comes next.

    >>> dy2st.device.empty_cache()
    """


def _number(device: Any) -> int:
    if isinstance(device, int):
        return device
    return 0 if device is None else as_place(device).get_device_id()


def memory_allocated(device: Any = None) -> int:
    """Bytes of a GPU in use; 0 if nothing was computed there.

    >>> dy2st.device.memory_allocated() >= 0
    True
    """
    return devices.memory("gpu", _number(device), "bytes_in_use")


def max_memory_allocated(device: Any = None) -> int:
    """The most bytes of a GPU that were in use since the process began.

    >>> dy2st.device.max_memory_allocated() >= 0
    True
    """
    return devices.memory("gpu", _number(device), "peak_bytes_in_use")


def memory_reserved(device: Any = None) -> int:
    """Bytes of a GPU that jax has taken for its own.

    >>> dy2st.device.memory_reserved() >= 0
    True
    """
    return devices.memory("gpu", _number(device), "pool_bytes")


def max_memory_reserved(device: Any = None) -> int:
    """The most bytes of a GPU that jax had taken for its own.

    >>> dy2st.device.max_memory_reserved() >= 0
    True
    """
    return devices.memory("gpu", _number(device), "peak_pool_bytes")


def reset_max_memory_allocated(device: Any = None) -> None:
    """Nothing: jax counts the most from the beginning of the process.

    >>> dy2st.device.reset_max_memory_allocated()
    """


reset_max_memory_reserved = reset_max_memory_allocated


def get_device_properties(device: Any = None) -> SimpleNamespace:
    """`name`, `major`, `minor` and `total_memory` of a GPU; ArgumentError if it is not there.

    >>> dy2st.device.get_device_properties(0).name  # doctest: +SKIP
    'NVIDIA H200'
    """
    major, minor = get_device_capability(device)
    total = devices.memory("gpu", _number(device), "bytes_limit")
    name = get_device_name(device)
    return SimpleNamespace(name=name, major=major, minor=minor, total_memory=total)


def get_device_name(device: Any = None) -> str:
    """What a GPU is called; ArgumentError if it is not there.

    >>> dy2st.device.get_device_name(0)  # doctest: +SKIP
    'NVIDIA H200'
    """
    return str(devices.the_one("gpu", _number(device)).device_kind)


def get_device_capability(device: Any = None) -> tuple[int, int]:
    """The compute capability of a GPU, (9, 0) say; ArgumentError if it is not there.

    (0, 0) of a GPU that has none, as those of AMD.

    >>> dy2st.device.get_device_capability(0)  # doctest: +SKIP
    (9, 0)
    """
    found = devices.the_one("gpu", _number(device))
    major, _, minor = str(getattr(found, "compute_capability", "")).partition(".")
    is_known = major.isdecimal() and minor.isdecimal()
    return (int(major), int(minor)) if is_known else (0, 0)


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
__dir__ = public_dir(__name__)
