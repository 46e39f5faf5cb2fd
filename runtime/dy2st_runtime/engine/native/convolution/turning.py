"""Images turned: channels beside each other of what lies plane by plane, and back.

The library's own reorders do that, four to nine times slower where there are many channels.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import prod
from typing import Any, NamedTuple

from dy2st_runtime.engine.native.convolution.library import RESULT, SOURCE, Layout, Library
from dy2st_runtime.engine.native.convolution.picking import CALLED, FEW, HELPERS, Memories, about
from dy2st_runtime.engine.native.machine.llvm import Library as Code
from dy2st_runtime.engine.native.machine.llvm import Processor, load, object_of
from dy2st_runtime.engine.native.text.function import Function
from dy2st_runtime.engine.native.text.squares import LINE, write_square

_BLOCK = LINE // 4
"""Rows and columns that are turned at once, in registers."""


class Turn(NamedTuple):
    """Matrices one after the other, each to be transposed."""

    matrices: int
    rows: int
    columns: int

    def told(self, memories: Memories) -> Any:
        """What the code reads."""
        return about(self, [memories[number] for number in (SOURCE, RESULT)])

    def address(self, library: Library) -> int:
        """Where the code is."""
        return _code(library).addresses["turn"]


def turn_between(
    library: Library, source: Layout, result: Layout, sizes: Sequence[int]
) -> Turn | None:
    """How an image comes from one layout into another, if it is to be turned."""
    if len(sizes) < 3 or min(sizes[1], prod(sizes[2:])) < _BLOCK:
        return None
    plain, last = library.plain(tuple(sizes)), library.channels_last(tuple(sizes))
    images, channels, places = sizes[0], sizes[1], prod(sizes[2:])
    if source.is_like(plain) and result.is_like(last):
        return Turn(images, channels, places)
    if source.is_like(last) and result.is_like(plain):
        return Turn(images, places, channels)
    return None


def _block() -> str:
    """A function that turns one block."""
    parameters = [("ptr", "%x"), ("i64", "%row"), ("ptr", "%y"), ("i64", "%column")]
    function = Function("block", parameters, attributes="noinline nounwind")
    write_square(function, _BLOCK, ("%x", "%y"), ("%row", "%column"))
    function.line("ret void")
    return function.text()


# The last block of a row, and the last row of blocks, begin so early that they are whole.
_TEXT = f"""\
{HELPERS}
declare i64 @llvm.smin.i64(i64, i64)
{_block()}
; The share of this thread, among so many, of all columns of blocks.
define internal void @turned(ptr %about, i64 %thread, i64 %threads) {{
entry:
  %matrices = call i64 @number(ptr %about, i64 0)
  %rows = call i64 @number(ptr %about, i64 1)
  %columns = call i64 @number(ptr %about, i64 2)
  %source = call ptr @elements(ptr %about, i64 3)
  %result = call ptr @elements(ptr %about, i64 4)
  %size = mul i64 %rows, %columns
  %last.row = sub i64 %rows, {_BLOCK}
  %last.column = sub i64 %columns, {_BLOCK}
  %up = add i64 %columns, {_BLOCK - 1}
  %blocks = sdiv i64 %up, {_BLOCK}
  %lines = mul i64 %matrices, %blocks
  %next = add i64 %thread, 1
  %begin0 = mul i64 %lines, %thread
  %begin = sdiv i64 %begin0, %threads
  %end0 = mul i64 %lines, %next
  %end = sdiv i64 %end0, %threads
  br label %head
head:
  %line = phi i64 [%begin, %entry], [%line1, %done]
  %more = icmp slt i64 %line, %end
  br i1 %more, label %line.of, label %out
line.of:
  %matrix = sdiv i64 %line, %blocks
  %block.of = srem i64 %line, %blocks
  %column0 = mul i64 %block.of, {_BLOCK}
  %column = call i64 @llvm.smin.i64(i64 %column0, i64 %last.column)
  %start = mul i64 %matrix, %size
  br label %each
each:
  %r = phi i64 [0, %line.of], [%r1, %turn]
  %some = icmp slt i64 %r, %rows
  br i1 %some, label %turn, label %done
turn:
  %row = call i64 @llvm.smin.i64(i64 %r, i64 %last.row)
  %row.start = mul i64 %row, %columns
  %from0 = add i64 %start, %row.start
  %from = add i64 %from0, %column
  %column.start = mul i64 %column, %rows
  %to0 = add i64 %start, %column.start
  %to = add i64 %to0, %row
  %x = getelementptr float, ptr %source, i64 %from
  %y = getelementptr float, ptr %result, i64 %to
  call void @block(ptr %x, i64 %columns, ptr %y, i64 %rows)
  %r1 = add i64 %r, {_BLOCK}
  br label %each
done:
  %line1 = add i64 %line, 1
  br label %head
out:
  ret void
}}
define internal void @part(ptr %about) {{
  %thread = call i32 @omp_get_thread_num()
  %threads = call i32 @omp_get_num_threads()
  %n = sext i32 %thread to i64
  %m = sext i32 %threads to i64
  call void @turned(ptr %about, i64 %n, i64 %m)
  ret void
}}
define void @turn(ptr %about, i32 %threads) {{
  %matrices = call i64 @number(ptr %about, i64 0)
  %rows = call i64 @number(ptr %about, i64 1)
  %columns = call i64 @number(ptr %about, i64 2)
  %size = mul i64 %rows, %columns
  %count = mul i64 %matrices, %size
  %few = icmp slt i64 %count, {4 * FEW}
  %one = icmp eq i32 %threads, 1
  %alone = or i1 %few, %one
  br i1 %alone, label %here, label %all
here:
  call void @turned(ptr %about, i64 0, i64 1)
  ret void
all:
  call void @GOMP_parallel(ptr @part, ptr %about, i32 %threads, i32 0)
  ret void
}}
"""


@cache
def _code(library: Library) -> Code:
    """Kept as long as the process lives."""
    symbols = {name: library.address(name) for name in CALLED}
    return load(object_of(_TEXT, Processor.host(), is_plain=True), ["turn"], symbols)


__all__ = ["Turn", "turn_between"]
