"""Debuggers, coverage and profilers see converted code as the user's own lines."""

from __future__ import annotations

import bdb
import cProfile
import inspect
import io
import os
import pdb
import pstats
import pydoc
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import dy2st

HERE = __file__
X = np.ones(3, "float32")


def by_python(items, limit):
    total = 0
    for item in items:
        if item > limit:
            continue
        elif item < 0:
            break
        total += item
    else:
        total = -total
    while total > 10:
        total -= 7
        if total == 5:
            return "five"
    try:
        total = [total][limit]
    except IndexError:
        total = None
    return total


def on_tensors(x):
    if x.sum() > 0:
        y = x + 1
    else:
        y = x - 1
    while y.sum() < 20:
        y = y * 2
    return y


def lines_of(function, *arguments):
    """The lines of this file's functions that run in a call, in the order of the first time."""
    seen: dict[int, None] = {}

    def trace(frame, event, _):
        if frame.f_code.co_filename != HERE:
            return None
        if event == "line":
            seen.setdefault(frame.f_lineno)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        function(*arguments)
    finally:
        sys.settrace(before)
    return list(seen)


@pytest.mark.parametrize(
    "arguments",
    [([1, 2, 30], 0), ([1, 2, 30], 5), ([-1], 0), ([-1], 3), ([5, 7], 9), ([20, 13], 50), ([], 0)],
)
def test_coverage_counts_the_lines_that_python_runs(arguments):
    static, first = dy2st.to_static(by_python), by_python.__code__.co_firstlineno
    assert {*lines_of(static, *arguments)} - {first} == {*lines_of(by_python, *arguments)}


def test_coverage_counts_every_line_of_staged_statements():
    lines, first = inspect.getsourcelines(on_tensors)
    code = {first + n for n, line in enumerate(lines) if line.strip() not in ("else:",)} - {first}
    static = dy2st.to_static(on_tensors)
    assert code <= set(lines_of(static, X)) <= code | {first, first + 3}


@pytest.mark.skipif(sys.version_info < (3, 12), reason="sys.monitoring is new in 3.12")
def test_monitoring_counts_every_line_of_staged_statements():
    seen = set()
    monitoring = sys.monitoring

    def note(code, line):
        if code.co_filename == HERE:
            seen.add(line)

    monitoring.use_tool_id(monitoring.COVERAGE_ID, "test")
    try:
        monitoring.register_callback(monitoring.COVERAGE_ID, monitoring.events.LINE, note)
        monitoring.set_events(monitoring.COVERAGE_ID, monitoring.events.LINE)
        dy2st.to_static(on_tensors)(X)
    finally:
        monitoring.set_events(monitoring.COVERAGE_ID, 0)
        monitoring.free_tool_id(monitoring.COVERAGE_ID)
    lines, first = inspect.getsourcelines(on_tensors)
    assert {first + n for n, line in enumerate(lines) if line.strip() != "else:"} - {first} <= seen


class Stops(bdb.Bdb):
    """A debugger that notes where it stops, and the variables there."""

    def __init__(self):
        super().__init__()
        self.stops = []

    def user_line(self, frame):
        if self.get_break(frame.f_code.co_filename, frame.f_lineno):
            self.stops.append((frame.f_lineno, frame.f_locals.get("x"), frame.f_locals.get("y")))
        self.set_continue()


@pytest.mark.parametrize("text", ["y = x + 1", "y = x - 1", "y = y * 2", "return y"])
def test_a_breakpoint_by_file_and_line_stops_in_converted_code(text):
    lines, first = inspect.getsourcelines(on_tensors)
    line = first + [entry.strip() for entry in lines].index(text)
    debugger = Stops()
    before = sys.gettrace()
    assert debugger.set_break(HERE, line) is None
    try:
        debugger.runcall(dy2st.to_static(on_tensors), X)
    finally:
        debugger.clear_all_breaks()
        sys.settrace(before)
    assert {stop[0] for stop in debugger.stops} == {line}
    assert all(any(isinstance(v, dy2st.Tensor) for v in stop[1:]) for stop in debugger.stops)


@pytest.mark.parametrize("call", ["pdb.set_trace()", "breakpoint()"])
def test_a_breakpoint_in_the_code_stops_on_the_users_line(tmp_path, call):
    (tmp_path / "program.py").write_text(
        "import pdb, numpy, dy2st\n\n@dy2st.to_static\ndef f(x):\n    if x.sum() > 0:\n"
        f"        {call}\n        y = x + 1\n    else:\n        y = x\n    return y\n\n"
        "print(f(numpy.ones(2, 'float32')).numpy())\n"
    )
    result = subprocess.run(
        [sys.executable, "program.py"],
        cwd=tmp_path,
        input="where\np x.shape\nnext\ncontinue\n",
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert f"{tmp_path / 'program.py'}(" in result.stdout
    assert "-> y = x + 1" in result.stdout or f"-> {call}" in result.stdout
    assert "(Pdb) [2]" in result.stdout
    assert result.stdout.rstrip().endswith("[2. 2.]"), result.stderr


def test_a_debugger_of_the_users_frame_shows_the_source():
    shown = io.StringIO()

    @dy2st.to_static
    def f(x):
        pdb.Pdb(stdin=io.StringIO("list\ncontinue\n"), stdout=shown, nosigint=True).set_trace()
        return x + 1

    before = sys.gettrace()
    try:
        f(X)
    finally:
        sys.settrace(before)
    assert "return x + 1" in shown.getvalue()


def test_the_frames_of_the_caller_are_the_users():
    frames = []

    def helper(x):
        frame = inspect.currentframe()
        while frame is not None:
            if frame.f_code.co_filename == HERE:
                frames.append((frame.f_code.co_name, frame.f_lineno))
            frame = frame.f_back
        return x

    @dy2st.to_static
    def f(x):
        return helper(x)

    f(X)
    first = helper.__code__.co_firstlineno
    assert [name for name, _ in frames[:2]] == ["helper", "f"]
    assert first < frames[0][1] < frames[1][1] == f.dygraph_function.__code__.co_firstlineno + 2


def test_a_profiler_counts_the_users_functions():
    profile = cProfile.Profile()
    profile.runcall(dy2st.to_static(by_python), [1, 2], 5)
    names = {(Path(file).name, name) for file, _, name in pstats.Stats(profile).stats}
    assert (Path(HERE).name, "by_python") in names


@dy2st.to_static
def documented(x, y: int = 2, *rest, k=1, **more) -> tuple:
    """What it says."""
    return x, y, rest, k, more


class Documented:
    @dy2st.to_static
    def method(self, x: float, /):
        """What it says."""
        return x

    @dy2st.to_static
    def many(*args):
        return args[1]


def test_inspect_and_help_see_the_users_function():
    plain = documented.dygraph_function
    assert inspect.signature(documented) == inspect.signature(plain)
    assert inspect.getsource(documented) == inspect.getsource(plain)
    assert inspect.getdoc(documented) == "What it says."
    assert documented.__annotations__ == plain.__annotations__
    shown = pydoc.render_doc(documented, renderer=pydoc.plaintext)
    assert "documented(x, y: 'int' = 2, *rest, k=1, **more)" in shown and "What it says." in shown
    assert repr(documented) == "StaticFunction(documented)"


def test_inspect_sees_a_bound_method_as_python_does():
    owner = Documented()
    for name in ("method", "many"):
        static, plain = getattr(owner, name), getattr(owner, name).dygraph_function
        assert inspect.signature(static) == inspect.signature(plain)
        assert inspect.signature(getattr(Documented, name)) == inspect.signature(plain.__func__)
        assert inspect.getsource(static) == inspect.getsource(plain)


def test_a_line_of_the_program_is_shown_without_the_file_above_it():
    @dy2st.to_static
    def f(x):
        assert x.sum() > 0
        return x

    with pytest.raises(AssertionError) as caught:
        f(-X)
    shown = caught.traceback[-1]
    assert str(shown.statement).strip() == "assert x.sum() > 0"
    assert shown.frame.code.firstlineno == shown.lineno
