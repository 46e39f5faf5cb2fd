"""The engine `auto`: NumPy's at first, and machine code when calls have taken long enough."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
import time
import warnings
from types import SimpleNamespace

import numpy as np
import pytest

from dy2st_runtime import engine
from dy2st_runtime.engine import background
from dy2st_runtime.engine.background import Background
from dy2st_runtime.engine.native.executable import Executable
from dy2st_runtime.engine.numpy import executable as numpy_engine
from dy2st_runtime.errors import ArgumentError, SpecError
from tests.recorded import program_of as traced

X = np.linspace(-1, 1, 50, dtype=np.float32)
LONGEST = 60


def program():
    return traced(lambda x: (x * 2.0 + 1.0).exp(), ("float32", ("n",)))


def compiled(worth=0.0):
    return Background(program(), worth)


@pytest.fixture(autouse=True)
def own_hints(monkeypatch):
    hints = []
    monkeypatch.setattr(background, "_said", lambda: hints)
    return hints


@pytest.fixture
def gate(monkeypatch):
    """No code is made before the gate is set."""
    gate = threading.Event()

    def made(program):
        assert gate.wait(LONGEST)
        return Executable(program)

    monkeypatch.setattr(background, "native", SimpleNamespace(Executable=made))
    yield gate
    gate.set()


def without_llvm(monkeypatch):
    monkeypatch.setattr(background, "is_installed", lambda: False)


def test_a_call_or_two_are_numpys():
    executable = engine.compile(program(), "auto")
    for _ in range(3):
        executable.run([X], [])
    assert "NumPy's engine runs it: its calls have taken" in executable.status
    assert executable.source.startswith("def run(")


def test_what_takes_long_is_compiled_and_runs_from_then_on():
    executable = compiled()
    (want,) = executable.run([X], [])
    assert executable.wait(LONGEST)
    (found,) = executable.run([X], [])
    np.testing.assert_allclose(found, want, rtol=2e-5)
    assert executable.source.startswith(";") or "define" in executable.source
    assert executable.status == "" and "computed by NumPy: nothing" in executable.explain()


def test_its_entry_asks_run_first_and_is_that_of_code_then():
    executable = compiled()
    assert executable.entry(X) is None
    assert executable.wait(LONGEST)
    np.testing.assert_array_equal(executable.entry(X)[0], executable.run([X], [])[0])


def test_calls_go_on_in_numpy_while_it_is_compiled(gate):
    executable = compiled()
    wants = [executable.run([X], [])[0] for _ in range(3)]
    assert not executable.wait(0)
    assert all((want == wants[0]).all() for want in wants)
    assert "machine code is being compiled in the background, for" in executable.explain()
    assert "NumPy multiply" in executable.explain()


def test_a_program_is_compiled_once_though_many_ask(gate, monkeypatch):
    executable, made = compiled(), []
    put = background._Worker.put
    monkeypatch.setattr(background._Worker, "put", lambda *a: (made.append(a), put(*a)))
    threads = [threading.Thread(target=executable.run, args=([X], [])) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1


def test_it_is_asked_for_what_fits_without_code():
    executable = compiled()
    with pytest.raises(SpecError):
        executable.check([X.astype(np.int64)])
    assert executable.takes_shapes([[3]]) and not executable._begun


def test_a_profile_waits_for_code():
    executable = compiled(1e9)
    executable.profile()
    executable.run([X], [])
    assert "multiply" in executable.explain(profile=True)


def test_what_runs_it_is_measured_and_goes_on(gate):
    executable = compiled()
    executable.run([X], [])
    executable.measure(time.perf_counter)
    gate.set()
    executable.run([X], [])
    executable.wait(LONGEST)
    executable.run([X], [])
    assert [span.what for span in executable.spans()] == ["multiply", "add", "exp"] * 2
    executable.measure(None)
    executable.run([X], [])
    assert executable.wait(LONGEST) and not executable.spans()


def test_lists_are_numpys_alone():
    given = SimpleNamespace(type=background.ArrayType(None))
    only = program()
    only.inputs = [given]
    assert isinstance(background.compile_when_it_pays(program()), Background)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(numpy_engine, "Executable", lambda program: "NumPy's")
        assert background.compile_when_it_pays(only) == "NumPy's"


def test_where_nothing_is_compiled_in_the_background_it_is_at_once(monkeypatch):
    monkeypatch.setenv("DY2ST_NATIVE_BACKGROUND", "off")
    assert isinstance(engine.compile(program(), "auto"), Executable)


def test_a_hint_says_once_a_process_what_is_missing(monkeypatch, caplog):
    without_llvm(monkeypatch)
    for executable in (compiled(), compiled()):
        for _ in range(3):
            executable.run([X], [])
        assert "pip install 'dy2st[native]'" in executable.explain()
        assert not executable.wait()
    (record,) = caplog.records
    assert record.name == "dy2st" and record.levelno == logging.WARNING
    assert "calls of main() have taken" in record.getMessage()
    assert record.getMessage().endswith("(said once; DY2ST_ENGINE=numpy says nothing)")
    with pytest.raises(ArgumentError, match="there is no machine code"):
        executable.profile()


def test_the_hint_is_not_for_who_asks_for_numpy_or_takes_little_time(monkeypatch, caplog):
    without_llvm(monkeypatch)
    engine.compile(program(), "numpy").run([X], [])
    engine.compile(program(), "auto").run([X], [])
    assert not caplog.records


@pytest.mark.parametrize("kind", [ArgumentError, ValueError])
def test_what_stops_the_compiler_is_a_hint_to_who_has_not_asked(kind, monkeypatch, caplog):
    def refused(program):
        raise kind("cannot load llvmlite")

    monkeypatch.setattr(background, "native", SimpleNamespace(Executable=refused))
    executable = compiled()
    executable.run([X], [])
    assert not executable.wait(LONGEST)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        executable.run([X], [])
    assert "cannot load llvmlite" in caplog.text


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing forks")
@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_a_forked_child_compiles_by_itself(gate):
    executable = compiled()
    executable.run([X], [])
    child = os.fork()
    if not child:
        is_right = False
        try:
            executable.run([X], [])
            gate.set()
            is_right = executable.wait(LONGEST) and np.isfinite(executable.run([X], [])[0]).all()
        finally:  # whatever happens, a child runs no tests
            os._exit(0 if is_right else 1)
    assert os.waitpid(child, 0)[1] == 0


BEGINNING = """
import sys, threading
import dy2st
f = dy2st.to_static(lambda x: (x * 2.0 + 1.0).exp())
x = dy2st.ones([50])
f(x), f(x)
loaded = [name for name in sys.modules if "llvm" in name or name.startswith("dy2st_runtime.engine.native.")]
print(*sorted(loaded), threading.active_count())
"""


def test_a_function_that_is_called_twice_loads_and_begins_nothing():
    ended = subprocess.run([sys.executable, "-c", BEGINNING], capture_output=True, text=True)
    assert ended.stdout.split() == ["1"]
    assert ended.stderr == ""


ENDING = """
import os
os.environ["DY2ST_CACHE"] = "off"
from tests.runtime.engine.native.test_best_engine import X, compiled
executable = compiled()
executable.run([X], [])
executable.run([X], [])
executable.wait({seconds})
"""


@pytest.mark.parametrize("seconds", [0.0, 0.05, 0.2])
def test_a_process_may_end_at_any_time(seconds):
    code = ENDING.format(seconds=seconds)
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
