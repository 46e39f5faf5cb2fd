"""Rows and columns of an image, picked as it lies in memory: pixels of a resized image.

An image lies in memory as planes of rows of columns of elements, whatever these are: in a layout
by channels all channels of a pixel, or a block of them. So no image is turned.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from math import prod
from typing import Any, NamedTuple

from dy2st_runtime.engine.native.convolution.library import (
    RESULT,
    SOURCE,
    Layout,
    Library,
    Refused,
)
from dy2st_runtime.engine.native.machine.llvm import Library as Code
from dy2st_runtime.engine.native.machine.llvm import Processor, load, object_of

Memories = Mapping[int, ctypes.c_void_p]

ROWS, COLUMNS = 0, 3
"""The arguments that say which; without columns those are all."""


class Picks(NamedTuple):
    """How much there is: in memory each plane has rows, each row columns, each column elements."""

    planes: int
    rows: int
    columns: int
    elements: int
    new_rows: int
    new_columns: int

    def told(self, memories: Memories) -> Any:
        """What the code reads."""
        return about(self, [memories.get(number) for number in (SOURCE, RESULT, ROWS, COLUMNS)])

    def address(self, library: Library) -> int:
        """Where the code is."""
        return _code(library).addresses["pick"]


def picks(layout: Layout, sizes: Sequence[int], first: int, numbers: Sequence[int]) -> Picks:
    """So many places along one axis, or along two that lie one in the other."""
    rows, columns = sizes[first], sizes[first + 1] if len(numbers) > 1 else 1
    elements = layout.strides[first + len(numbers) - 1]
    if len(numbers) > 1 and layout.strides[first] != columns * elements:
        raise Refused("rows do not lie one behind the other")
    planes = layout.bytes // (4 * rows * columns * elements)
    return Picks(planes, rows, columns, elements, numbers[0], prod(numbers[1:]))


def about(numbers: Sequence[int], memories: Iterable[ctypes.c_void_p | None]) -> Any:
    """What code reads: numbers, and the library's memories."""
    places = [memory.value or 0 if memory is not None else 0 for memory in memories]
    return (ctypes.c_int64 * (len(numbers) + len(places)))(*numbers, *places)


CALLED = (
    "dnnl_memory_get_data_handle",
    "omp_get_thread_num",
    "omp_get_num_threads",
    "GOMP_parallel",
)

FEW = 1 << 14
"""So many elements are copied before another thread is awake."""

HELPERS = """\
declare i32 @dnnl_memory_get_data_handle(ptr, ptr)
declare i32 @omp_get_thread_num()
declare i32 @omp_get_num_threads()
declare void @GOMP_parallel(ptr, ptr, i32, i32)

define internal i64 @number(ptr %about, i64 %n) {
  %at = getelementptr i64, ptr %about, i64 %n
  %number = load i64, ptr %at
  ret i64 %number
}
; Where the elements of the n-th memory are; null without one.
define internal ptr @elements(ptr %about, i64 %n) {
  %place = alloca ptr
  store ptr null, ptr %place
  %at = getelementptr ptr, ptr %about, i64 %n
  %memory = load ptr, ptr %at
  %none = icmp eq ptr %memory, null
  br i1 %none, label %end, label %ask
ask:
  %status = call i32 @dnnl_memory_get_data_handle(ptr %memory, ptr %place)
  br label %end
end:
  %found = load ptr, ptr %place
  ret ptr %found
}
define internal i64 @place(ptr %places, i64 %n) {
  %at = getelementptr i64, ptr %places, i64 %n
  %place = load i64, ptr %at
  ret i64 %place
}
"""

_TEXT = f"""\
{HELPERS}
define internal void @copy(ptr %from, ptr %to, i64 %count) {{
entry:
  %wide = and i64 %count, -8
  br label %head
head:
  %k = phi i64 [0, %entry], [%k8, %eight]
  %more = icmp slt i64 %k, %wide
  br i1 %more, label %eight, label %rest
eight:
  %from8 = getelementptr float, ptr %from, i64 %k
  %to8 = getelementptr float, ptr %to, i64 %k
  %x8 = load <8 x float>, ptr %from8, align 4
  store <8 x float> %x8, ptr %to8, align 4
  %k8 = add i64 %k, 8
  br label %head
rest:
  %n = phi i64 [%k, %head], [%n1, %one]
  %left = icmp slt i64 %n, %count
  br i1 %left, label %one, label %end
one:
  %from1 = getelementptr float, ptr %from, i64 %n
  %to1 = getelementptr float, ptr %to, i64 %n
  %x1 = load float, ptr %from1
  store float %x1, ptr %to1
  %n1 = add i64 %n, 1
  br label %rest
end:
  ret void
}}
; The share of this thread, among so many, of all rows of the result.
define internal void @picked(ptr %about, i64 %thread, i64 %threads) {{
entry:
  %planes = call i64 @number(ptr %about, i64 0)
  %rows = call i64 @number(ptr %about, i64 1)
  %columns = call i64 @number(ptr %about, i64 2)
  %elements = call i64 @number(ptr %about, i64 3)
  %rows1 = call i64 @number(ptr %about, i64 4)
  %columns1 = call i64 @number(ptr %about, i64 5)
  %source = call ptr @elements(ptr %about, i64 6)
  %result = call ptr @elements(ptr %about, i64 7)
  %which.rows = call ptr @elements(ptr %about, i64 8)
  %which.columns = call ptr @elements(ptr %about, i64 9)
  %all = icmp eq ptr %which.columns, null
  %long = mul i64 %columns, %elements
  %long1 = mul i64 %columns1, %elements
  %lines = mul i64 %planes, %rows1
  %next = add i64 %thread, 1
  %begin0 = mul i64 %lines, %thread
  %begin = sdiv i64 %begin0, %threads
  %end0 = mul i64 %lines, %next
  %end = sdiv i64 %end0, %threads
  br label %head
head:
  %line = phi i64 [%begin, %entry], [%line1, %done]
  %more = icmp slt i64 %line, %end
  br i1 %more, label %row, label %out
row:
  %plane = sdiv i64 %line, %rows1
  %row.of = srem i64 %line, %rows1
  %place = call i64 @place(ptr %which.rows, i64 %row.of)
  %line0 = mul i64 %plane, %rows
  %line.from = add i64 %line0, %place
  %offset.from = mul i64 %line.from, %long
  %offset.to = mul i64 %line, %long1
  %from = getelementptr float, ptr %source, i64 %offset.from
  %to = getelementptr float, ptr %result, i64 %offset.to
  br i1 %all, label %whole, label %each
whole:
  call void @copy(ptr %from, ptr %to, i64 %long)
  br label %done
each:
  %c = phi i64 [0, %row], [%c1, %column]
  %some = icmp slt i64 %c, %columns1
  br i1 %some, label %column, label %done
column:
  %place.c = call i64 @place(ptr %which.columns, i64 %c)
  %skip.from = mul i64 %place.c, %elements
  %skip.to = mul i64 %c, %elements
  %from.c = getelementptr float, ptr %from, i64 %skip.from
  %to.c = getelementptr float, ptr %to, i64 %skip.to
  call void @copy(ptr %from.c, ptr %to.c, i64 %elements)
  %c1 = add i64 %c, 1
  br label %each
done:
  %line1 = add i64 %line, 1
  br label %head
out:
  ret void
}}
define internal void @share(ptr %about) {{
  %thread = call i32 @omp_get_thread_num()
  %threads = call i32 @omp_get_num_threads()
  %n = sext i32 %thread to i64
  %m = sext i32 %threads to i64
  call void @picked(ptr %about, i64 %n, i64 %m)
  ret void
}}
define void @pick(ptr %about, i32 %threads) {{
  %planes = call i64 @number(ptr %about, i64 0)
  %elements = call i64 @number(ptr %about, i64 3)
  %rows = call i64 @number(ptr %about, i64 4)
  %columns = call i64 @number(ptr %about, i64 5)
  %lines = mul i64 %planes, %rows
  %long = mul i64 %columns, %elements
  %count = mul i64 %lines, %long
  %few = icmp slt i64 %count, {FEW}
  %one = icmp eq i32 %threads, 1
  %alone = or i1 %few, %one
  br i1 %alone, label %here, label %all
here:
  call void @picked(ptr %about, i64 0, i64 1)
  ret void
all:
  call void @GOMP_parallel(ptr @share, ptr %about, i32 %threads, i32 0)
  ret void
}}
"""


@cache
def _code(library: Library) -> Code:
    """Kept as long as the process lives."""
    symbols = {name: library.address(name) for name in CALLED}
    return load(object_of(_TEXT, Processor.host(), is_plain=True), ["pick"], symbols)


__all__ = ["CALLED", "COLUMNS", "FEW", "HELPERS", "ROWS", "Memories", "Picks", "about", "picks"]
