"""Text of LLVM becomes functions that run."""

from __future__ import annotations

import ctypes

import pytest

from dy2st_runtime.engine.native.function import Function
from dy2st_runtime.engine.native.llvm import Processor, compile_object, load

SIGNATURE = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)


def summing():
    """The sum of 0, 1, ..., n - 1, by a loop."""
    function = Function("total", [("i64", "%n")], "i64", linkage="")
    place = function.alloca("i64")
    function.line(f"store i64 0, ptr {place}")
    with function.loop("0", "%n") as i:
        before = function.let(f"load i64, ptr {place}")
        function.line(f"store i64 {function.let(f'add i64 {before}, {i}')}, ptr {place}")
    function.line(f"ret i64 {function.let(f'load i64, ptr {place}')}")
    return function.text()


@pytest.mark.parametrize("n", [0, 1, 10])
def test_a_loop_runs_as_often_as_it_says(n):
    library = load(compile_object(summing(), Processor.host()), ["total"], {})
    assert SIGNATURE(library.addresses["total"])(n) == sum(range(n))


def test_code_calls_addresses_by_name():
    text = """
declare i64 @outside(i64)
define i64 @twice(i64 %n) {
  %v = call i64 @outside(i64 %n)
  %w = add i64 %v, %v
  ret i64 %w
}"""
    outside = SIGNATURE(lambda n: n + 1)
    address = ctypes.cast(outside, ctypes.c_void_p).value
    library = load(compile_object(text, Processor.host()), ["twice"], {"outside": address})
    assert SIGNATURE(library.addresses["twice"])(4) == 10


def test_code_for_another_processor_is_as_right(monkeypatch):
    monkeypatch.setenv("DY2ST_NATIVE_CPU", "haswell")
    processor = Processor.host()
    assert processor.vector_bytes == 32
    library = load(compile_object(summing(), processor), ["total"], {})
    assert SIGNATURE(library.addresses["total"])(5) == 10


def test_constants_are_operands_of_instructions():
    text = """
define float @bent(float %x) {
  %y = fmul float %x, 0x3FB99999A0000000
  %z = fadd float %y, 0x3FC3333340000000
  ret float %z
}"""
    processor = Processor.host()
    code = compile_object(text, processor)
    library = load(code, ["bent"], {})
    bent = ctypes.CFUNCTYPE(ctypes.c_float, ctypes.c_float)(library.addresses["bent"])
    assert bent(2.0) == pytest.approx(0.35)
    assert b"_GLOBAL_OFFSET_TABLE_" not in code
