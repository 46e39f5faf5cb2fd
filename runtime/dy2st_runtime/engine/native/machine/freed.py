"""Memory that arrays have left, kept by the process for the next arrays.

glibc gives memory of large arrays back to the system, and takes new pages for the next call's,
which the system fills with zeros: that takes several times as long as writing results to them. By
its own rules it keeps some more with each array that is freed, but not what a call leaves at once.
"""

from __future__ import annotations

import ctypes
import os

from dy2st_runtime.once import once

# Of glibc's mallopt, whose oldest versions take no larger size for what goes back by itself.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
_KEPT, _LARGEST = 256 << 20, 32 << 20

_SETTINGS = ("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "GLIBC_TUNABLES")


@once
def keep_freed_memory() -> None:
    """Let the process keep up to 256 MB that is free, unless the environment says what it keeps."""
    if any(name in os.environ for name in _SETTINGS):
        return
    set_option = getattr(ctypes.CDLL(None), "mallopt", None)
    if set_option is not None:  # glibc
        set_option(_MMAP_THRESHOLD, _LARGEST)
        set_option(_TRIM_THRESHOLD, _KEPT)


__all__ = ["keep_freed_memory"]
