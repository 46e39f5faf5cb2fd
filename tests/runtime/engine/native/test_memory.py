"""A run takes the memory that is planned, and gives it back, however often and by how many."""

from __future__ import annotations

import ctypes
import gc
import re
import subprocess
import sys
import threading
from time import monotonic

import numpy as np
import pytest

from dy2st_runtime import ops
from dy2st_runtime.engine.native.executable import Executable
from dy2st_runtime.errors import SpecError
from dy2st_runtime.ops.control_flow import cond, while_loop
from tests.effort import effort
from tests.recorded import program_of as traced

STATM = "/proc/self/statm"
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="it reads /proc")


def chained(x):
    """Many values, of which two or three live at a time."""
    y = x
    for number in range(5):
        y = ops.matmul(ops.tanh(y), x) + number
        y = ops.softmax(y) - ops.mean(y, axis=0)
    return y.sum()


def looped(x):
    return while_loop(lambda v, i: i < 5, lambda v, i: [ops.matmul(v, x) / 9, i + 1], [x, 0])[0]


def branched(x):
    (y,) = cond(x.sum() > 0, lambda: [ops.exp(x) * 2], lambda: [ops.sort(x) + 1])
    return ops.transpose(y, [1, 0]).cumsum(axis=0), y.max()


def mixed(x):
    return chained(x), looped(x), *branched(x)


PEAK = """
import sys
import numpy as np
from dy2st_runtime.engine.native.executable import Executable
from tests.runtime.engine.native import test_memory
from tests.recorded import program_of as traced

def peak():
    with open("/proc/self/status") as file:
        return next(1024 * int(line.split()[1]) for line in file if line.startswith("VmHWM"))

executable = Executable(traced(getattr(test_memory, sys.argv[1]), ("float32", ("n", "n"))))
x = np.ones((int(sys.argv[2]),) * 2, np.float32)
executable.run([x[:8, :8].copy()], [])
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")
before = peak()
results = executable.run([x], [])
print(peak() - before - sum(result.nbytes for result in results))
"""


def planned(executable, n):
    """The bytes of the arena for n."""
    text = re.search(r"memory of a call: (.*) bytes", executable.explain())[1]
    return eval(text, {"n": n})


@on_linux
@pytest.mark.parametrize("name", ["chained", "looped"])
def test_a_run_takes_no_more_than_is_planned(name):
    n = 1500
    command = [sys.executable, "-c", PEAK, name, str(n)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    executable = Executable(traced(globals()[name], ("float32", ("n", "n"))))
    assert int(said) <= 1.1 * planned(executable, n) + (8 << 20)  # and scratch of products


def resident():
    """The bytes of memory that this process has, without what is free in it."""
    if hasattr(ctypes.CDLL(None), "malloc_trim"):  # glibc keeps it for the next who asks
        ctypes.CDLL(None).malloc_trim(0)
    with open(STATM) as file:
        return int(file.read().split()[1]) * 4096


@on_linux
@pytest.mark.parametrize("function", [chained, looped, branched])
def test_many_calls_leave_nothing_behind(function):
    executable = Executable(traced(function, ("float32", ("n", "n"))))
    arrays = [np.ones((n, n), np.float32) * sign for n in (1, 3, 8) for sign in (1, -1)]

    def calls(count):
        for number in range(count):
            executable.run([arrays[number % len(arrays)]], [])
        return resident()

    first = calls(2_000)
    assert calls(effort(10_000, 100_000)) - first < 1 << 20


@on_linux
def test_calls_that_are_refused_or_fail_leave_nothing_behind():
    def function(x, i):
        return ops.gather(x * 2, i) + ops.matmul(x, x)[0]

    executable = Executable(traced(function, ("float32", ("n", "n")), ("int64", ("m",))))
    x, i = np.ones((8, 8), np.float32), np.array([1])

    def calls(count):
        for _ in range(count):
            for arrays, error in [
                ([x, i + 100], IndexError),
                ([x.astype(np.float64), i], SpecError),
                ([x[:, 1:].copy(), i], SpecError),
            ]:
                with pytest.raises(error):
                    executable.run(arrays, [])
        gc.collect()
        return resident()

    first = calls(effort(100, 5_000))
    assert calls(effort(500, 30_000)) - first < 2 << 20


@on_linux
def test_memory_is_freed_with_its_executable(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))  # LLVM's passes keep 70 KB each time
    monkeypatch.setenv("DY2ST_CACHE", "")
    program = traced(looped, ("float32", ("n", "n")))
    x = np.full((400, 400), 0.01, np.float32)  # more than 1 MB each time

    def executables(count):
        for _ in range(count):
            Executable(program).run([x], [])
        gc.collect()
        return resident()

    first, count = executables(effort(5, 10)), effort(15, 300)
    assert (
        executables(count) - first < (1 << 20) + count * 40_000
    )  # its linker keeps 10 KB each time


def test_threads_share_a_function_at_sizes_of_their_own():
    executable = Executable(traced(mixed, ("float32", ("n", "n"))))
    random, wrong = np.random.default_rng(0), []
    given = [random.normal(size=(n, n)).astype(np.float32) for n in (1, 2, 7, 16, 33, 100, 150)]
    wanted = [[np.copy(one) for one in executable.run([x], [])] for x in given]
    end = monotonic() + effort(1, 60)

    def work(seed):
        order = np.random.default_rng(seed)
        while monotonic() < end and not wrong:
            number = int(order.integers(len(given)))
            for have, want in zip(executable.run([given[number]], []), wanted[number], strict=True):
                if not np.array_equal(have, want):
                    wrong.append((number, have, want))

    threads = [threading.Thread(target=work, args=[seed]) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_results_that_nobody_reads_take_the_memory_of_no_other():
    def run(x):
        y, z = -x, ops.pad(x, [1, 0]) * 2

        def other():
            a, b = while_loop(lambda a, b: a.sum() > 1e9, lambda a, b: [a, b], [y, z])
            return [a, ops.exp(b) + 1, a - x]

        kept, _, _ = cond(x.sum() > 0, lambda: [y, ops.relu(z), y * 3], other)
        return kept

    executable = Executable(traced(run, ("float32", (20, 30))))
    for x in (np.full((20, 30), 2.0, np.float32), np.full((20, 30), -2.0, np.float32)):
        np.testing.assert_array_equal(executable.run([x], [])[0], -x)
