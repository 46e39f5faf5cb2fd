"""Memory that is taken for a call, and kept for the next one."""

from __future__ import annotations

# Whoever takes or gives holds the interpreter's lock, so the list of what is spare needs none.
# The 64 bytes before memory hold its size, and what follows in that list.
_POOL = """\
@NAME_spare = internal global ptr null
define internal ptr @NAME_take(i64 %bytes) {
entry:
  %first = load ptr, ptr @NAME_spare
  %empty = icmp eq ptr %first, null
  br i1 %empty, label %new, label %old
old:
  %next.place = getelementptr i8, ptr %first, i64 8
  %next = load ptr, ptr %next.place
  store ptr %next, ptr @NAME_spare
  %size = load i64, ptr %first
  %fits = icmp sge i64 %size, %bytes
  br i1 %fits, label %done, label %small
small:
  call void @free(ptr %first)
  br label %new
new:
  %made = call ptr @aligned_alloc(i64 64, i64 %bytes)
  %failed = icmp eq ptr %made, null
  br i1 %failed, label %none, label %fill
fill:
  store i64 %bytes, ptr %made
  br label %done
none:
  ret ptr null
done:
  %whole = phi ptr [%first, %old], [%made, %fill]
  %result = getelementptr i8, ptr %whole, i64 64
  ret ptr %result
}
define internal void @NAME_give(ptr %result) {
  %memory = getelementptr i8, ptr %result, i64 -64
  %first = load ptr, ptr @NAME_spare
  %next.place = getelementptr i8, ptr %memory, i64 8
  store ptr %first, ptr %next.place
  store ptr %memory, ptr @NAME_spare
  ret void
}
"""


def pool(name: str) -> str:
    """The functions `NAME_take` and `NAME_give`: bytes, 64 more than are used, and back.

    What is spare first is given again if it is large enough, else freed: sizes seldom shrink.
    """
    return _POOL.replace("@NAME", f"@{name}")


__all__ = ["pool"]
