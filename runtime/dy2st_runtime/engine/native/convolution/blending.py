"""Rows or columns of an image that are sums of two, as it lies in memory: smooth resizing.

As in `picking`, an image lies as planes of rows of elements, whatever these are: to blend columns
each of them is a row of all channels of a pixel, or of a block of them.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from dy2st_runtime.engine.native.convolution.library import RESULT, SOURCE, Library
from dy2st_runtime.engine.native.convolution.picking import CALLED, FEW, HELPERS, Memories, about
from dy2st_runtime.engine.native.machine.llvm import Library as Code
from dy2st_runtime.engine.native.machine.llvm import Processor, load, object_of

PLACES, SHARES = (0, 3), (2, 4)
"""The arguments that say which rows are added up, and how much there is of them."""


class Blend(NamedTuple):
    """How much there is: in memory each plane has rows, each row elements."""

    planes: int
    rows: int
    elements: int
    new_rows: int

    def told(self, memories: Memories) -> Any:
        """What the code reads."""
        return about(self, [memories[n] for n in (SOURCE, RESULT, *PLACES, *SHARES)])

    def address(self, library: Library) -> int:
        """Where the code is."""
        return _code(library).addresses["blend"]


_TEXT = f"""\
{HELPERS}
define internal float @share_of(ptr %shares, i64 %n) {{
  %at = getelementptr float, ptr %shares, i64 %n
  %share = load float, ptr %at
  ret float %share
}}
define internal <8 x float> @all_of(float %share) alwaysinline {{
  %first = insertelement <8 x float> poison, float %share, i64 0
  %all = shufflevector <8 x float> %first, <8 x float> poison, <8 x i32> zeroinitializer
  ret <8 x float> %all
}}
define internal void @mix(ptr %x, ptr %y, float %s, float %t, ptr %to, i64 %count) alwaysinline {{
entry:
  %s8 = call <8 x float> @all_of(float %s)
  %t8 = call <8 x float> @all_of(float %t)
  %wide = and i64 %count, -8
  br label %head
head:
  %k = phi i64 [0, %entry], [%k8, %eight]
  %more = icmp slt i64 %k, %wide
  br i1 %more, label %eight, label %rest
eight:
  %at.x8 = getelementptr float, ptr %x, i64 %k
  %at.y8 = getelementptr float, ptr %y, i64 %k
  %to8 = getelementptr float, ptr %to, i64 %k
  %x8 = load <8 x float>, ptr %at.x8, align 4
  %y8 = load <8 x float>, ptr %at.y8, align 4
  %sx8 = fmul contract <8 x float> %s8, %x8
  %ty8 = fmul contract <8 x float> %t8, %y8
  %sum8 = fadd contract <8 x float> %sx8, %ty8
  store <8 x float> %sum8, ptr %to8, align 4
  %k8 = add i64 %k, 8
  br label %head
rest:
  %n = phi i64 [%k, %head], [%n1, %one]
  %left = icmp slt i64 %n, %count
  br i1 %left, label %one, label %end
one:
  %at.x1 = getelementptr float, ptr %x, i64 %n
  %at.y1 = getelementptr float, ptr %y, i64 %n
  %to1 = getelementptr float, ptr %to, i64 %n
  %x1 = load float, ptr %at.x1
  %y1 = load float, ptr %at.y1
  %sx1 = fmul contract float %s, %x1
  %ty1 = fmul contract float %t, %y1
  %sum1 = fadd contract float %sx1, %ty1
  store float %sum1, ptr %to1
  %n1 = add i64 %n, 1
  br label %rest
end:
  ret void
}}
; The share of this thread, among so many, of all rows of the result.
define internal void @blended(ptr %about, i64 %thread, i64 %threads) {{
entry:
  %planes = call i64 @number(ptr %about, i64 0)
  %rows = call i64 @number(ptr %about, i64 1)
  %elements = call i64 @number(ptr %about, i64 2)
  %rows1 = call i64 @number(ptr %about, i64 3)
  %source = call ptr @elements(ptr %about, i64 4)
  %result = call ptr @elements(ptr %about, i64 5)
  %low = call ptr @elements(ptr %about, i64 6)
  %high = call ptr @elements(ptr %about, i64 7)
  %shares.low = call ptr @elements(ptr %about, i64 8)
  %shares.high = call ptr @elements(ptr %about, i64 9)
  %lines = mul i64 %planes, %rows1
  %next = add i64 %thread, 1
  %begin0 = mul i64 %lines, %thread
  %begin = sdiv i64 %begin0, %threads
  %end0 = mul i64 %lines, %next
  %end = sdiv i64 %end0, %threads
  %plane0 = sdiv i64 %begin, %rows1
  %row0 = srem i64 %begin, %rows1
  br label %head
head:
  %line = phi i64 [%begin, %entry], [%line1, %row]
  %plane = phi i64 [%plane0, %entry], [%plane1, %row]
  %row.of = phi i64 [%row0, %entry], [%row.next, %row]
  %more = icmp slt i64 %line, %end
  br i1 %more, label %row, label %out
row:
  %first = mul i64 %plane, %rows
  %place.low = call i64 @place(ptr %low, i64 %row.of)
  %place.high = call i64 @place(ptr %high, i64 %row.of)
  %line.low = add i64 %first, %place.low
  %line.high = add i64 %first, %place.high
  %skip.low = mul i64 %line.low, %elements
  %skip.high = mul i64 %line.high, %elements
  %skip.to = mul i64 %line, %elements
  %x = getelementptr float, ptr %source, i64 %skip.low
  %y = getelementptr float, ptr %source, i64 %skip.high
  %to = getelementptr float, ptr %result, i64 %skip.to
  %s = call float @share_of(ptr %shares.low, i64 %row.of)
  %t = call float @share_of(ptr %shares.high, i64 %row.of)
  call void @mix(ptr %x, ptr %y, float %s, float %t, ptr %to, i64 %elements)
  %line1 = add i64 %line, 1
  %row1 = add i64 %row.of, 1
  %is.last = icmp eq i64 %row1, %rows1
  %row.next = select i1 %is.last, i64 0, i64 %row1
  %plane.next = add i64 %plane, 1
  %plane1 = select i1 %is.last, i64 %plane.next, i64 %plane
  br label %head
out:
  ret void
}}
define internal void @part(ptr %about) {{
  %thread = call i32 @omp_get_thread_num()
  %threads = call i32 @omp_get_num_threads()
  %n = sext i32 %thread to i64
  %m = sext i32 %threads to i64
  call void @blended(ptr %about, i64 %n, i64 %m)
  ret void
}}
define void @blend(ptr %about, i32 %threads) {{
  %planes = call i64 @number(ptr %about, i64 0)
  %elements = call i64 @number(ptr %about, i64 2)
  %rows = call i64 @number(ptr %about, i64 3)
  %lines = mul i64 %planes, %rows
  %count = mul i64 %lines, %elements
  %few = icmp slt i64 %count, {FEW}
  %one = icmp eq i32 %threads, 1
  %alone = or i1 %few, %one
  br i1 %alone, label %here, label %all
here:
  call void @blended(ptr %about, i64 0, i64 1)
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
    return load(object_of(_TEXT, Processor.host(), is_plain=True), ["blend"], symbols)


__all__ = ["PLACES", "SHARES", "Blend"]
