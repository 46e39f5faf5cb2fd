"""Several threads work on a loop nest: the result has the bits that one thread gives it."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from dy2st_runtime import engine
from dy2st_runtime import ops as F
from dy2st_runtime.engine.native.executable import Executable
from dy2st_runtime.engine.native.machine.threads import set_num_threads
from dy2st_runtime.engine.native.nests import shares
from tests.recorded import program_of as traced

CASES = {
    "elementwise": (lambda x, y: x * 2 + y.exp(), [(7, "n")] * 2),
    "a long chain": (lambda x, y: (x.tanh().exp() + y).tanh().exp().tanh().sin(), [("n",)] * 2),
    "softmax": (lambda x, y: F.softmax(x, -1) + y, [("n", 33)] * 2),
    "rows and their sums": (lambda x, y: (x.sum(-1), (x * y).sum(-1)), [("n", 5)] * 2),
    "sums over the first axis": (lambda x, y: (x * y).sum(0), [(19, "n")] * 2),
    "leaves that broadcast": (lambda x, y: x + y, [("n", 1, 9), (4, 1)]),
    "transposed": (lambda x, y: x.transpose([1, 0]) - y, [("n", 6), (6, "n")]),
    "by columns of a block": (lambda x, y: x.sum(1) + y, [("n", 5, 70), (70,)]),
    "bools and integers": (lambda x, y: (x > y, x.cast("int8")), [("n", 3)] * 2),
    "many results": (lambda x, y: [x + n for n in range(9)] + [y * 2], [("n", 4)] * 2),
    "order": (lambda x, y: (x.argsort(1), y.argsort(0)), [(3, "n"), ("n", 5)]),
    "the first in order": (lambda x, y: (x.topk(2, 0)[1], y.topk(1)[1]), [(3, "n"), ("n", 5)]),
    "known sizes": (lambda x, y: F.gelu(x) / y, [(1030,)] * 2),
}


@pytest.fixture(autouse=True)
def shares_that_are_small(monkeypatch):
    monkeypatch.setattr(shares, "_LEAST_WORK", 1)
    yield
    set_num_threads(1)


@pytest.mark.parametrize("name", CASES)
def test_shares_together_give_the_bits_of_the_whole(name):
    function, shapes = CASES[name]
    executable = Executable(traced(function, *(("float32", shape) for shape in shapes)))
    assert "@shared_" in executable.source
    rng = np.random.default_rng(3)
    for n in (0, 1, 2, 63, 64, 511, 513, 5000):
        sizes = [[n if size == "n" else size for size in shape] for shape in shapes]
        inputs = [rng.standard_normal(size).astype(np.float32) for size in sizes]
        found = []
        for count in (1, 2, 3, 7):
            set_num_threads(count)
            found.append([(one.dtype, one.tobytes()) for one in executable.run(inputs, [])])
        assert all(one == found[0] for one in found)
        for have, want in zip(
            executable.run(inputs, []), executable.reference.run(inputs, []), strict=True
        ):
            np.testing.assert_allclose(have, want, rtol=2e-5, atol=1e-5)


def test_a_nest_that_is_never_large_is_not_cut(monkeypatch):
    monkeypatch.undo()
    small = engine.compile(traced(lambda x: x + 1, ("float32", (1000,))), "native")
    assert "@shared_nest_" not in small.source


def test_a_sum_of_everything_is_not_cut():
    executable = Executable(traced(lambda x: x.sum(), ("float32", ("n",))))
    assert "@shared_nest_" not in executable.source


PRINT = (
    "from dy2st_runtime.engine.native.machine.threads import get_num_threads as get; print(get())"
)


@pytest.mark.parametrize(("named", "count"), [("3", 3), ("2,4", 2), ("1", 1), ("999999", 256)])
def test_the_environment_says_how_many_threads_there_are_at_first(named, count):
    shown = subprocess.run(
        [sys.executable, "-c", PRINT],
        env={**os.environ, "OMP_NUM_THREADS": named},
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(shown.stdout) == count


def test_there_are_as_many_threads_as_cores_at_first():
    environment = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
    shown = subprocess.run(
        [sys.executable, "-c", PRINT],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert 1 <= int(shown.stdout) <= len(os.sched_getaffinity(0))
