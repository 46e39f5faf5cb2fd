"""Memory that is taken for a call, and kept for the next one."""

from __future__ import annotations

from collections.abc import Iterable

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


__all__ = ["drop", "pool"]
