"""Writes code for what oneDNN lacks: on lines of a tensor, shared by its threads.

    void NAME(about, threads)

`about` holds numbers, and behind them the library's memories, or nulls.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from dy2st_runtime.engine.native.convolution.library import Library
from dy2st_runtime.engine.native.machine.llvm import Library as Loaded
from dy2st_runtime.engine.native.machine.llvm import Processor, library_of
from dy2st_runtime.engine.native.text.code import Code
from dy2st_runtime.engine.native.text.lanes import Lanes
from dy2st_runtime.lazy import once

Memories = Mapping[int, ctypes.c_void_p]
"""The library's memories, by the numbers of arguments."""

Known = Mapping[str, str]
"""Numbers, and addresses of elements, by name."""

_CALLED = (
    "dnnl_memory_get_data_handle",
    "omp_get_thread_num",
    "omp_get_num_threads",
    "GOMP_parallel",
)

_FEW = 1 << 14
"""So many elements are done before another thread is awake."""

LANES = 8
"""Blocks of channels are 8 or 16 long."""

_HELPERS = """\
declare i32 @dnnl_memory_get_data_handle(ptr, ptr)
declare i32 @omp_get_thread_num()
declare i32 @omp_get_num_threads()
declare void @GOMP_parallel(ptr, ptr, i32, i32)

define internal ptr @elements(ptr %memory) {
  %place = alloca ptr
  store ptr null, ptr %place
  %none = icmp eq ptr %memory, null
  br i1 %none, label %end, label %ask
ask:
  %status = call i32 @dnnl_memory_get_data_handle(ptr %memory, ptr %place)
  br label %end
end:
  %found = load ptr, ptr %place
  ret ptr %found
}
define internal void @part(ptr %about) {
  %thread = call i32 @omp_get_thread_num()
  %threads = call i32 @omp_get_num_threads()
  %n = sext i32 %thread to i64
  %m = sext i32 %threads to i64
  call void @share(ptr %about, i64 %n, i64 %m)
  ret void
}
"""


def bind_arguments(numbers: Sequence[int], memories: Memories, arguments: Sequence[int]) -> Any:
    """What the code reads: numbers, and the memories of some arguments."""
    found = [memories.get(argument) for argument in arguments]
    places = [memory.value or 0 if memory is not None else 0 for memory in found]
    return (ctypes.c_int64 * (len(numbers) + len(places)))(*numbers, *places)


def text(
    name: str,
    numbers: Sequence[str],
    memories: Sequence[str],
    counts: Callable[[Code, Known], tuple[str, str, str]],
    line: Callable[[Code, Known, str, str], None],
) -> str:
    """The text of such a function.

    `counts` says how many lines there are, as a product of two numbers, and about how many
    elements one has; `line` writes what becomes of the one with these two places.
    """
    share = Code("share", [("ptr", "%about"), *(("i64", f"%{n}") for n in _OWN)], "float")
    # The lines of one thread, among so many.
    known = _known(share, numbers, memories)
    first, second, _ = counts(share, known)
    total = share.times(first, second)
    begin = share.over(share.times(total, "%thread"), "%threads")
    end = share.over(share.times(total, share.plus("%thread", 1)), "%threads")
    # Counted on, since to divide takes longer than a short line.
    outer, inner = share.alloca("i64"), share.alloca("i64")
    start = share.over(begin, share.most(second, 1))
    share.line(f"store i64 {start}, ptr {outer}")
    share.line(f"store i64 {share.minus(begin, share.times(start, second))}, ptr {inner}")
    with share.loop(begin, end):
        at, place = (share.let(f"load i64, ptr {one}") for one in (outer, inner))
        line(share, known, at, place)
        following = share.plus(place, 1)
        is_last = share.compare("eq", following, second)
        share.line(f"store i64 {share.choose(is_last, 0, following)}, ptr {inner}")
        share.line(f"store i64 {share.choose(is_last, share.plus(at, 1), at)}, ptr {outer}")
    share.line("ret void")
    whole = Code(name, [("ptr", "%about"), ("i32", "%threads")], "float")
    first, second, long = counts(whole, _known(whole, numbers, ()))
    few = whole.compare("slt", whole.times(whole.times(first, second), long), _FEW)
    alone = whole.either(few, whole.let("icmp eq i32 %threads, 1"))
    with whole.when(alone):
        whole.line("call void @share(ptr %about, i64 0, i64 1)")
    with whole.when(whole.no(alone)):
        whole.line("call void @GOMP_parallel(ptr @part, ptr %about, i32 %threads, i32 0)")
    public = whole.end().replace("define internal", "define", 1)
    return "\n".join([_HELPERS, share.text(), public])


_OWN = ("thread", "threads")


def _known(code: Code, numbers: Sequence[str], memories: Sequence[str]) -> Known:
    known = {}
    for place, name in enumerate((*numbers, *memories)):
        at = code.let(f"getelementptr i64, ptr %about, i64 {place}")
        if name in numbers:
            known[name] = code.let(f"load i64, ptr {at}")
        else:
            memory = code.let(f"load ptr, ptr {at}")
            known[name] = code.let(f"call ptr @elements(ptr {memory})")
    return known


def place_of(code: Code, places: str, index: str) -> str:
    """One of many places."""
    return code.let(f"load i64, ptr {code.let(f'getelementptr i64, ptr {places}, i64 {index}')}")


def vectors(code: Code, count: str) -> Iterator[tuple[Lanes, str]]:
    """Loops over elements, by vectors and then one by one: yields lanes and a place, twice."""
    whole = code.up_to(count, LANES)
    for start, end, size in (("0", whole, LANES), (whole, count, 1)):
        with code.loop(start, end, str(size)) as at:
            yield Lanes(code, size), at


@once
def loaded(library: Library, name: str, text: str) -> Loaded:
    """The code, kept as long as the process lives."""
    symbols = {one: library.address(one) for one in _CALLED}
    return library_of(text, Processor.host(), [name], symbols, is_plain=True)


__all__ = ["LANES", "Known", "Memories", "bind_arguments", "loaded", "place_of", "text", "vectors"]
