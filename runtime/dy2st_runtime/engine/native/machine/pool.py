"""Memory that is taken for a call, or was freed by arrays, and is kept for the next ones."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable

from dy2st_runtime.lazy import once

# Several threads may take at once, with and without the interpreter's lock: what is spare is taken
# and given by exchange, so nobody else has it. The 64 bytes before memory hold its size.
_POOL = """\
@NAME_spare = internal global ptr null
define internal ptr @NAME_take(i64 %bytes) noinline {
entry:
  %spare = atomicrmw xchg ptr @NAME_spare, ptr null acquire
  %empty = icmp eq ptr %spare, null
  br i1 %empty, label %new, label %old
old:
  %size = load i64, ptr %spare
  %fits = icmp sge i64 %size, %bytes
  br i1 %fits, label %done, label %small
small:
  call void @free(ptr %spare)
  br label %new
new:
  %up = add i64 %bytes, 127
  %room = and i64 %up, -64
  %made = call ptr @aligned_alloc(i64 64, i64 %room)
  %failed = icmp eq ptr %made, null
  br i1 %failed, label %none, label %fill
fill:
  store i64 %bytes, ptr %made
  br label %done
none:
  ret ptr null
done:
  %whole = phi ptr [%spare, %old], [%made, %fill]
  %result = getelementptr i8, ptr %whole, i64 64
  ret ptr %result
}
define internal void @NAME_give(ptr %result) noinline {
  %memory = getelementptr i8, ptr %result, i64 -64
  %other = atomicrmw xchg ptr @NAME_spare, ptr %memory release
  call void @free(ptr %other)
  ret void
}
"""


def pool(name: str) -> str:
    """The functions `NAME_take`, which gives memory for so many bytes, and `NAME_give`.

    What is spare is given again if it is large enough, else freed: sizes seldom shrink.
    """
    return _POOL.replace("@NAME", f"@{name}")


def drop(names: Iterable[str]) -> str:
    """The function `drop`, which frees what is spare when code is not used any more."""
    lines = []
    for name in names:
        lines.append(f"  %{name} = atomicrmw xchg ptr @{name}_spare, ptr null acquire")
        lines.append(f"  call void @free(ptr %{name})")
    return "\n".join(["define void @drop() {", *lines, "  ret void", "}"])


# glibc gives memory of large arrays back to the system, which fills new pages with zeros: that
# takes several times as long as writing results to them.
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


__all__ = ["drop", "keep_freed_memory", "pool"]
