"""Large Programs run in NumPy's engine until their machine code is there."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
import warnings
from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest

from dy2st_runtime import engine
from dy2st_runtime.engine import background
from dy2st_runtime.engine.background import Background, compile_program
from dy2st_runtime.engine.native.executable import Executable
from dy2st_runtime.engine.native.machine import subprocess_compiler
from dy2st_runtime.engine.native.machine.llvm import Processor, compile_object
from dy2st_runtime.engine.native.machine.subprocess_compiler import Elsewhere
from dy2st_runtime.errors import ArgumentError, SpecError
from tests.recorded import program_of as traced

X = np.linspace(-1, 1, 50, dtype=np.float32)
LONGEST = 60


def long(iterations=60):
    def function(x):
        y = x
        for number in range(iterations):
            y = y / 2 + number / 8
        return y

    return traced(function, ("float32", ("n",)))


@pytest.fixture(autouse=True)
def without_disk(monkeypatch):
    monkeypatch.setenv("DY2ST_CACHE", "off")


@pytest.fixture(autouse=True)
def programs_are_large_soon(monkeypatch):
    monkeypatch.setattr(background, "_MANY", 100)


@pytest.fixture
def gate(monkeypatch):
    """LLVM is not done before the gate is set."""
    gate = threading.Event()

    def compile(self, text, processor, is_plain):
        assert gate.wait(LONGEST)
        return compile_object(text, processor, is_plain)

    monkeypatch.setattr(Elsewhere, "compile", compile)
    yield gate
    gate.set()


def test_numpy_runs_it_until_code_is_there(gate):
    executable = compile_program(long())
    (want,) = executable.run([X], [])
    assert "def run(" in executable.source
    gate.set()
    assert executable.wait(LONGEST)
    assert "define ptr @run(" in executable.source
    np.testing.assert_allclose(executable.run([X], [])[0], want, rtol=2e-5, atol=2e-5)


def test_calls_are_right_while_the_engine_changes(gate):
    executable = compile_program(long())
    (want,) = executable.run([X], [])
    found, is_over = [], threading.Event()

    def call():
        while not is_over.is_set():
            found.append(executable.run([X], [])[0])

    threads = [threading.Thread(target=call) for _ in range(3)]
    for thread in threads:
        thread.start()
    gate.set()
    executable.wait(LONGEST)
    is_over.set()
    for thread in threads:
        thread.join()
    np.testing.assert_allclose(np.array(found), np.array([want] * len(found)), rtol=2e-5, atol=2e-5)


def test_a_small_one_is_compiled_meanwhile(gate):
    large = compile_program(long())
    small = compile_program(long(5))
    assert isinstance(small, Executable)
    np.testing.assert_allclose(small.run([X], [])[0], small.reference.run([X], [])[0], rtol=2e-5)
    assert not large.wait(0)


def test_it_is_asked_for_what_fits_before_and_after(gate):
    executable = compile_program(long())
    for _ in range(2):
        with pytest.raises(SpecError):
            executable.check([X.astype(np.int64)])
        assert executable.takes_shapes([[3]])
        gate.set()
        executable.wait(LONGEST)


def test_an_error_of_the_compiler_is_one_warning_and_numpy_goes_on(monkeypatch):
    class Refused(Executable):
        def __init__(self, program):
            raise ValueError("no code for this")

    monkeypatch.setattr(background, "native", SimpleNamespace(Executable=Refused))
    executable = compile_program(long())
    assert not executable.wait(LONGEST)
    with pytest.warns(RuntimeWarning, match="'native' could not compile.*ValueError: no code"):
        executable.run([X], [])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        executable.run([X], [])
    assert "ValueError: no code for this" in executable.explain()
    with pytest.raises(ArgumentError, match="ValueError: no code for this"):
        executable.profile()


def test_the_other_process_tells_why_it_fails(monkeypatch):
    monkeypatch.setattr(subprocess_compiler, "_SHORT", 0)
    with pytest.raises(RuntimeError, match="expected top-level entity"):
        Elsewhere(nullcontext()).compile("nonsense", Processor.host(), False)


def test_the_other_process_compiles_what_this_one_would(monkeypatch):
    monkeypatch.setattr(subprocess_compiler, "_SHORT", 0)
    executable = compile_program(long())
    assert executable.wait(LONGEST)
    (want,) = Executable(long()).run([X], [])
    np.testing.assert_array_equal(executable.run([X], [])[0], want)


def test_it_can_be_switched_off(monkeypatch):
    monkeypatch.setenv("DY2ST_NATIVE_BACKGROUND", "off")
    assert isinstance(engine.compile(long(), "native"), Executable)


def test_one_thread_compiles_all_and_ends(gate):
    executables = [compile_program(long()) for _ in range(3)]
    names = [thread.name for thread in threading.enumerate()]
    assert names.count("dy2st compiles") == 1
    (thread,) = [one for one in threading.enumerate() if one.name == "dy2st compiles"]
    gate.set()
    assert all(executable.wait(LONGEST) for executable in executables)
    thread.join(LONGEST)
    assert not thread.is_alive() and thread.daemon


def test_what_nobody_holds_is_not_compiled(gate, monkeypatch):
    first, second = compile_program(long()), compile_program(long())
    del second
    gc.collect()
    made = []
    monkeypatch.setattr(Background, "_compile", lambda self: made.append(self))
    third = compile_program(long())
    gate.set()
    assert first.wait(LONGEST)
    while not made:
        threading.Event().wait(0.01)
    assert made == [third]


def test_its_profile_waits_for_the_code():
    executable = compile_program(long())
    executable.profile()
    executable.run([X], [])
    assert "divide" in executable.explain(profile=True)
    assert "computed by NumPy: nothing" in executable.explain()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing forks")
@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_a_forked_child_compiles_by_itself(gate):
    executable = compile_program(long())
    child = os.fork()
    if not child:
        is_right = False
        gate.set()
        try:
            is_right = executable.wait() and np.isfinite(executable.run([X], [])[0]).all()
        finally:  # whatever happens, a child runs no tests
            os._exit(0 if is_right else 1)
    assert os.waitpid(child, 0)[1] == 0


ENDING = """
import sys, threading
from dy2st_runtime.engine.background import compile_program
from dy2st_runtime.engine.native.machine.subprocess_compiler import subprocess
from tests.runtime.engine.test_background import long

has_begun, begin = threading.Event(), subprocess.Popen
def popen(*args, **kwargs):
    child = begin(*args, **kwargs)
    print(child.pid)
    has_begun.set()
    return child

subprocess.Popen = popen
executable = compile_program(long(510))
if sys.argv[1] == "compiles":
    has_begun.wait()
"""


@pytest.mark.parametrize("when", ["begins", "compiles"])
def test_a_process_that_ends_waits_for_nobody(when, tmp_path):
    command = [sys.executable, "-c", ENDING, when]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST)
    assert (ended.returncode, ended.stderr) == (0, "")
    for number in ended.stdout.split():
        with pytest.raises(ProcessLookupError):
            for _ in range(100):  # it was asked to end
                os.kill(int(number), 0)
                threading.Event().wait(0.05)
