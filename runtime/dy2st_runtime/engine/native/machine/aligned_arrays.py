"""Lets arrays begin where a line of the cache does: what a vector reads is then in one line.

malloc gives places of 16 bytes. A vector as wide as a line is in two of them there, and products
and loops take up to a fifth more time. NumPy lets a thread say where its arrays come from (NEP 49):
each array keeps what frees it, so arrays from here and others live side by side.

Before the place of an array stands where its block of memory begins. Arrays of less than 256 bytes
are not worth the room.
"""

from __future__ import annotations

import ctypes
import sys
from typing import Any

import numpy as np

from dy2st_runtime.engine.native.machine import abi
from dy2st_runtime.engine.native.machine.llvm import Library, Processor, library_of
from dy2st_runtime.lazy import once

_FUNCTIONS = ("array_malloc", "array_calloc", "array_realloc", "array_free")

# More bytes than there are addresses are refused before something is added to them. An array that
# changes its size stays as far behind the start of its block, however small it becomes. Large pages
# are asked for as NumPy does: on Linux, from 4 MB on, which is 14 for madvise.
_TEXT = """\
declare ptr @malloc(i64)
declare ptr @calloc(i64, i64)
declare ptr @realloc(ptr, i64)
declare void @free(ptr)
declare i32 @madvise(ptr, i64, i32)
declare i64 @llvm.umax.i64(i64, i64)
declare { i64, i1 } @llvm.umul.with.overflow.i64(i64, i64)
define internal i64 @whole(i64 %bytes) {
  %fits = icmp ult i64 %bytes, 140737488355328
  %small = icmp ult i64 %bytes, 256
  %room = select i1 %small, i64 16, i64 80
  %more = add i64 %bytes, %room
  %whole = select i1 %fits, i64 %more, i64 -1
  ret i64 %whole
}
define internal ptr @placed(ptr %block, i64 %bytes) {
  %none = icmp eq ptr %block, null
  br i1 %none, label %failed, label %made
failed:
  ret ptr null
made:
  %start = ptrtoint ptr %block to i64
  %small = icmp ult i64 %bytes, 256
  %near = add i64 %start, 16
  %behind = add i64 %start, 79
  %next = and i64 %behind, -64
  %line = select i1 %small, i64 %near, i64 %next
  %place = inttoptr i64 %line to ptr
  %before = getelementptr i8, ptr %place, i64 -8
  store ptr %block, ptr %before
  %large = icmp uge i64 %bytes, SMALLEST
  br i1 %large, label %pages, label %done
pages:
  %up = add i64 %line, 4095
  %page = and i64 %up, -4096
  %first = inttoptr i64 %page to ptr
  %length = sub i64 %bytes, 4096
  %ignored = call i32 @madvise(ptr %first, i64 %length, i32 14)
  br label %done
done:
  ret ptr %place
}
define ptr @array_malloc(ptr %context, i64 %bytes) {
  %whole = call i64 @whole(i64 %bytes)
  %block = call ptr @malloc(i64 %whole)
  %place = call ptr @placed(ptr %block, i64 %bytes)
  ret ptr %place
}
define ptr @array_calloc(ptr %context, i64 %count, i64 %size) {
  %product = call { i64, i1 } @llvm.umul.with.overflow.i64(i64 %count, i64 %size)
  %number = extractvalue { i64, i1 } %product, 0
  %over = extractvalue { i64, i1 } %product, 1
  %bytes = select i1 %over, i64 -1, i64 %number
  %whole = call i64 @whole(i64 %bytes)
  %block = call ptr @calloc(i64 1, i64 %whole)
  %place = call ptr @placed(ptr %block, i64 %bytes)
  ret ptr %place
}
define ptr @array_realloc(ptr %context, ptr %old, i64 %bytes) {
  %is_new = icmp eq ptr %old, null
  br i1 %is_new, label %new, label %known
new:
  %first = call ptr @array_malloc(ptr %context, i64 %bytes)
  ret ptr %first
known:
  %before = getelementptr i8, ptr %old, i64 -8
  %block = load ptr, ptr %before
  %start = ptrtoint ptr %block to i64
  %here = ptrtoint ptr %old to i64
  %offset = sub i64 %here, %start
  %room = call i64 @llvm.umax.i64(i64 %bytes, i64 256)
  %whole = call i64 @whole(i64 %room)
  %moved = call ptr @realloc(ptr %block, i64 %whole)
  %none = icmp eq ptr %moved, null
  br i1 %none, label %failed, label %made
failed:
  ret ptr null
made:
  %place = getelementptr i8, ptr %moved, i64 %offset
  %own = getelementptr i8, ptr %place, i64 -8
  store ptr %moved, ptr %own
  ret ptr %place
}
define void @array_free(ptr %context, ptr %place, i64 %bytes) {
  %none = icmp eq ptr %place, null
  br i1 %none, label %done, label %some
some:
  %before = getelementptr i8, ptr %place, i64 -8
  %block = load ptr, ptr %before
  call void @free(ptr %block)
  br label %done
done:
  ret void
}
"""


class _Handler(ctypes.Structure):
    """`PyDataMem_Handler` of NumPy's C API, version 1."""

    _fields_ = (
        ("name", ctypes.c_char * 127),
        ("version", ctypes.c_uint8),
        ("context", ctypes.c_void_p),
        *((name, ctypes.c_void_p) for name in _FUNCTIONS),
    )


def align_arrays() -> None:
    """Let this thread's new arrays begin at a line, unless somebody else gives it their memory."""
    if np._core.multiarray.get_handler_name() == "default_allocator":  # type: ignore[attr-defined]
        _handler().use()


class _Capsule:
    """The handler as NumPy takes it; its code and memory stay as long as the process."""

    def __init__(self, processor: Processor) -> None:
        smallest = 1 << 22 if sys.platform == "linux" else (1 << 63) - 1
        text = _TEXT.replace("SMALLEST", str(smallest))
        self._library: Library = library_of(text, processor, _FUNCTIONS, {})
        addresses = (self._library.addresses[name] for name in _FUNCTIONS)
        self._handler = _Handler(b"dy2st", 1, None, *addresses)
        self._name = ctypes.create_string_buffer(b"mem_handler")
        make = ctypes.pythonapi.PyCapsule_New
        make.restype, make.argtypes = ctypes.py_object, (ctypes.c_void_p,) * 3
        self._object: Any = make(
            ctypes.addressof(self._handler), ctypes.addressof(self._name), None
        )

    def use(self) -> None:
        """From now on, in this thread."""
        set_handler = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)
        set_handler(abi.symbols()["PyDataMem_SetHandler"])(self._object)


@once
def _handler() -> _Capsule:
    return _Capsule(Processor.host())


__all__ = ["align_arrays"]
