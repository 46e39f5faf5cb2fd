"""Writes the machine code that lets oneDNN compute all steps of a plan, in one call.

    int run(stream, steps, count, arrays, number, threads)

    steps     of each: its primitive, the number of its arguments, the arguments; or none, a
              function that takes arguments and the number of threads, and the arguments
    arrays    of each tensor that changes from call to call: the library's memory, the elements

It gives the flags of floating-point arithmetic that were raised, or 256 and more if a step failed.
An activation makes 0 of NaN, for the library as for the processor; but then the flag of invalid
operations is raised, as it is where a NaN is made. Helping threads have flags of their own.
"""

from __future__ import annotations

import ctypes
from typing import Any

from dy2st_runtime.engine.native.convolution.library import Library
from dy2st_runtime.engine.native.machine.llvm import Processor, compile_object, load
from dy2st_runtime.lazy import once

INVALID, OVERFLOW, FAILED = 1, 8, 256

_CALLED = (
    "dnnl_memory_set_data_handle",
    "dnnl_primitive_execute",
    "omp_get_max_threads",
    "omp_set_num_threads",
    "GOMP_parallel",
)

_TEXT = """\
declare i32 @dnnl_memory_set_data_handle(ptr, ptr)
declare i32 @dnnl_primitive_execute(ptr, ptr, i32, ptr)
declare i32 @omp_get_max_threads()
declare void @omp_set_num_threads(i32)
declare void @GOMP_parallel(ptr, ptr, i32, i32)
declare void @llvm.x86.sse.stmxcsr(ptr)
declare void @llvm.x86.sse.ldmxcsr(ptr)

; Lower all flags of this thread, or gather those that are raised in *%all.
define internal void @lower(ptr %all) {
  %place = alloca i32
  call void @llvm.x86.sse.stmxcsr(ptr %place)
  %word = load i32, ptr %place
  %low = and i32 %word, -64
  store i32 %low, ptr %place
  call void @llvm.x86.sse.ldmxcsr(ptr %place)
  ret void
}
define internal void @gather(ptr %all) {
  %place = alloca i32
  call void @llvm.x86.sse.stmxcsr(ptr %place)
  %word = load i32, ptr %place
  %raised = and i32 %word, 63
  %before = atomicrmw or ptr %all, i32 %raised monotonic
  ret void
}
define internal void @each(ptr %function, ptr %data, i32 %threads) {
  %alone = icmp eq i32 %threads, 1
  br i1 %alone, label %one, label %all
one:
  call void %function(ptr %data)
  ret void
all:
  call void @GOMP_parallel(ptr %function, ptr %data, i32 %threads, i32 0)
  ret void
}
define i32 @run(ptr %stream, ptr %steps, i64 %count, ptr %arrays, i64 %number, i32 %threads) {
entry:
  %flags = alloca i32
  %before = alloca i32
  store i32 0, ptr %flags
  %others = call i32 @omp_get_max_threads()
  call void @omp_set_num_threads(i32 %threads)
  call void @llvm.x86.sse.stmxcsr(ptr %before)
  call void @each(ptr @lower, ptr %flags, i32 %threads)
  br label %give
give:
  %i = phi i64 [0, %entry], [%i1, %given]
  %more = icmp slt i64 %i, %number
  br i1 %more, label %given, label %begin
given:
  %pair = getelementptr [2 x ptr], ptr %arrays, i64 %i
  %memory = load ptr, ptr %pair
  %second = getelementptr ptr, ptr %pair, i64 1
  %elements = load ptr, ptr %second
  %set = call i32 @dnnl_memory_set_data_handle(ptr %memory, ptr %elements)
  %i1 = add i64 %i, 1
  br label %give
begin:
  br label %head
head:
  %k = phi i64 [0, %begin], [%k1, %next]
  %left = icmp slt i64 %k, %count
  br i1 %left, label %step, label %end
step:
  %at = getelementptr [3 x i64], ptr %steps, i64 %k
  %primitive = load ptr, ptr %at
  %at1 = getelementptr i64, ptr %at, i64 1
  %size = load i64, ptr %at1
  %size32 = trunc i64 %size to i32
  %at2 = getelementptr i64, ptr %at, i64 2
  %list = load ptr, ptr %at2
  %own = icmp eq ptr %primitive, null
  br i1 %own, label %ours, label %call
ours:
  %function = inttoptr i64 %size to ptr
  call void %function(ptr %list, i32 %threads)
  br label %next
call:
  %status = call i32 @dnnl_primitive_execute(ptr %primitive, ptr %stream, i32 %size32, ptr %list)
  %good = icmp eq i32 %status, 0
  br i1 %good, label %next, label %end
next:
  %k1 = add i64 %k, 1
  br label %head
end:
  %failed = phi i32 [0, %head], [%status, %call]
  call void @each(ptr @gather, ptr %flags, i32 %threads)
  call void @llvm.x86.sse.ldmxcsr(ptr %before)
  call void @omp_set_num_threads(i32 %others)
  %raised = load i32, ptr %flags
  %high = mul i32 %failed, 256
  %result = or i32 %high, %raised
  ret i32 %result
}
"""


@once
def runner(library: Library) -> Any:
    """The function, which lets the interpreter's lock go; kept as long as the process lives."""
    symbols = {name: library.address(name) for name in _CALLED}
    code = compile_object(_TEXT, Processor.host(), is_plain=True)
    loaded = load(code, ["run"], symbols)
    pointer, number, narrow = ctypes.c_void_p, ctypes.c_int64, ctypes.c_int32
    make = ctypes.CFUNCTYPE(narrow, pointer, pointer, number, pointer, number, narrow)
    function = make(loaded.addresses["run"])
    # The machine code lives as long as what calls it.
    function.owner = loaded  # type: ignore[attr-defined]
    return function


__all__ = ["FAILED", "INVALID", "OVERFLOW", "runner"]
