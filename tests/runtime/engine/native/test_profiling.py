"""A profile tells how often each step ran and for how long, and changes nothing else."""

from __future__ import annotations

import platform
import re
import threading

import numpy as np
import pytest

from dy2st_runtime import ops
from dy2st_runtime.engine.native.executable import Executable
from dy2st_runtime.ops import matrices
from dy2st_runtime.ops.control_flow import while_loop
from tests.recorded import program_of as traced

COLUMNS = re.compile("  +")


def rows_of(text):
    """{what a step does: (microseconds, share, calls, bytes)} of a table."""
    found = {}
    for line in text.splitlines()[1:]:
        time, share, calls, size, words = COLUMNS.split(line.strip(), maxsplit=4)
        place = " ".join(words.partition("(")[0].split())
        found[place] = (float(time[:-3]), float(share[:-2]), int(calls), size)
    return found


def growing(x):
    y = while_loop(lambda v: v.sum() < 100, lambda v: [(v + matrices.det(v)) * 2], [ops.exp(x)])[0]
    return ops.matmul(y, y)


@pytest.fixture
def grown():
    return Executable(traced(growing, ("float32", ("n", "n"))))


ZEROS = np.zeros((3, 3), np.float32)  # 9 at first: 4 iterations
REST = "what a run checks, takes and gives"


def test_each_step_is_counted_as_often_as_it_runs(grown):
    grown.profile()
    for _ in range(5):
        grown.run([ZEROS], [])
    found = rows_of(grown.explain(profile=True))
    calls = {words: row[2] for words, row in found.items()}
    assert calls[REST] == calls["code while"] == calls["code matmul"] == 5
    assert calls["NumPy det"] == 5 * 4
    assert calls["nest sum"] == 5 * 5
    assert found["code matmul"][3] == "4*n*n"


def test_shares_are_of_own_time_and_make_the_whole(grown):
    grown.profile()
    grown.run([ZEROS], [])
    found = rows_of(grown.explain(profile=True))
    assert sum(row[1] for row in found.values()) == pytest.approx(100, abs=1)
    assert found["code while"][0] < found["NumPy det"][0]
    times = [row[0] for row in found.values()]
    assert times == sorted(times, reverse=True)


def test_nothing_is_measured_before_it_is_asked_for(grown):
    grown.run([ZEROS], [])
    assert list(rows_of(grown.explain(profile=True))) == [REST]
    grown.run([ZEROS], [])
    assert rows_of(grown.explain(profile=True))[REST][2] == 1


def test_the_ordinary_code_looks_at_no_clock_and_comes_back(grown):
    assert "@now" not in grown.source
    grown.profile()
    grown.profile(on=False)
    grown.run([ZEROS], [])
    assert rows_of(grown.explain(profile=True))[REST][2] == 0


def test_results_are_the_same_to_the_bit(grown):
    x = np.random.default_rng(0).normal(size=(40, 40)).astype(np.float32)
    (want,) = grown.run([x], [])
    grown.profile()
    (have,) = grown.run([x], [])
    np.testing.assert_array_equal(have, want)


def test_errors_are_the_same():
    def function(x, i):
        return ops.gather(x * 2, i)

    executable = Executable(traced(function, ("float32", ("n",)), ("int64", ("m",))))
    executable.profile()
    with pytest.raises(IndexError):
        executable.run([np.ones(3, np.float32), np.array([7])], [])
    assert rows_of(executable.explain(profile=True))[REST][2] == 1


def test_several_threads_count_together(grown):
    grown.profile()
    x = np.full((100, 100), 1e4, np.float32)

    def many():
        for _ in range(50):
            grown.run([x], [])

    threads = [threading.Thread(target=many) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    calls = {words: row[2] for words, row in rows_of(grown.explain(profile=True)).items()}
    assert calls[REST] == calls["code matmul"] == 200


def test_processors_without_a_counter_have_a_clock(grown, monkeypatch):
    monkeypatch.setattr(platform, "machine", lambda: "another")
    grown.profile()
    grown.run([ZEROS], [])
    found = rows_of(grown.explain(profile=True))
    assert found["NumPy det"][0] > 0 and found["NumPy det"][2] == 4


def test_memory_is_told_as_far_as_sizes_are_known():
    def function(x):
        return ops.matmul(ops.exp(x), np.ones((40, 40), np.float32))

    text = Executable(traced(function, ("float32", ("n", 40)))).explain()
    assert "memory of a call: 160*n bytes in 1 part" in text
    assert "constants: 6400 bytes" in text
    text = Executable(
        traced(lambda x: ops.softmax(ops.matmul(x, x)), ("float32", (30, 30)))
    ).explain()
    assert "memory of a call: 3648 bytes in 1 part, and 0 of the stack" in text
