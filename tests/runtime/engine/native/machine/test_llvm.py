"""Text of LLVM becomes functions that run."""

from __future__ import annotations

import ctypes
import gc
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from dy2st_runtime import ops
from dy2st_runtime.engine.native.executable import Executable
from dy2st_runtime.engine.native.machine import llvm
from dy2st_runtime.engine.native.machine.llvm import Processor, compile_object, load
from dy2st_runtime.engine.native.text.function import Function
from dy2st_runtime.errors import ArgumentError
from tests.recorded import program_of as traced

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


@pytest.mark.parametrize("name", ["haswell", "nehalem"])
def test_programs_run_on_older_processors(name, monkeypatch):
    monkeypatch.setenv("DY2ST_NATIVE_CPU", name)

    def function(x, w):
        y = ops.matmul(ops.gelu(x), w)
        return ops.softmax(y) * ops.sin(y), y.sum(axis=0), y.argmax(axis=1)

    program = traced(function, ("float32", ("n", 20)), ("float32", (20, 33)))
    executable = Executable(program)
    random = np.random.default_rng(0)
    for rows in (0, 1, 40):
        arrays = [random.normal(size=size).astype(np.float32) for size in ((rows, 20), (20, 33))]
        expected = executable.reference.run(arrays, [])
        for have, want in zip(executable.run(arrays, []), expected, strict=True):
            np.testing.assert_allclose(have, want, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("name", ["nonsense", "haswell"])
def test_a_processor_that_this_one_cannot_stand_for_is_refused(name, monkeypatch):
    poor = Processor("poor", "+sse4.2,-avx2")
    monkeypatch.setattr(llvm, "_own", lambda: poor)
    monkeypatch.setenv("DY2ST_NATIVE_CPU", name)
    with pytest.raises(ArgumentError, match=f"DY2ST_NATIVE_CPU='{name}': it names a processor"):
        Processor.host()


def test_a_processor_without_wide_vectors_is_enough(monkeypatch):
    monkeypatch.setattr(llvm, "_own", lambda: Processor("nehalem", "+sse4.2,-avx2"))
    program = traced(lambda x: ops.exp(x) + 1, ("float32", ("n",)))
    x = np.linspace(-3, 3, 50, dtype=np.float32)
    np.testing.assert_allclose(Executable(program).run([x], [])[0], np.exp(x) + 1, rtol=1e-6)


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ImportError("no module"), "needs llvmlite, which is not installed: pip install 'dy2st[na"),
        (OSError("no such file"), "cannot load llvmlite: no such file; install it again"),
    ],
)
def test_a_missing_library_is_one_clear_line(error, text, monkeypatch):
    def fail():
        raise error

    monkeypatch.setattr(llvm, "binding", SimpleNamespace(initialize_native_target=fail))
    monkeypatch.setattr(llvm, "_check_installed", llvm._check_installed.__wrapped__)
    with pytest.raises(ArgumentError, match=re.escape(text)) as caught:
        llvm._check_installed()
    assert "\n" not in str(caught.value)


WITHOUT = """
import sys
sys.modules["llvmlite"] = None
import numpy, dy2st
from dy2st_runtime.errors import ArgumentError
try:
    dy2st.to_static(lambda x: x + 1, engine="native")(dy2st.ones([2]))
except ArgumentError as error:
    print(error)
print(float(dy2st.to_static(lambda x: x + 1, engine="auto")(dy2st.ones([2])).sum()))
"""


def test_without_the_extra_scripts_are_told_so_and_auto_is_numpy(tmp_path):
    (tmp_path / "script.py").write_text(WITHOUT)
    command = [sys.executable, str(tmp_path / "script.py")]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert said.splitlines() == [
        "the engine 'native' needs llvmlite, which is not installed: "
        "pip install 'dy2st[native]', or take the engine 'numpy'",
        "4.0",
    ]


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read as Linux tells it")
def test_code_that_nobody_holds_leaves_nothing():
    code = compile_object(summing(), Processor.host())

    def taken():
        for _ in range(200):
            load(code, ["total"], {})
        gc.collect()
        return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

    taken()
    assert taken() - taken() > -400_000
