"""Products of rows that a loop takes one by one: made ahead, and never others than it asks for."""

from __future__ import annotations

import numpy as np
import pytest

from dy2st_runtime import ops
from dy2st_runtime.engine.native.executable import Executable
from dy2st_runtime.engine.native.machine.threads import set_num_threads
from dy2st_runtime.engine.native.program.planner import planned
from dy2st_runtime.ops.control_flow import while_loop
from tests.effort import effort
from tests.recorded import program_of as traced

K, N = 40, 130


def drawn(seed, *shape, dtype="float32"):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def loop(xs, w, u, place, count, start=0):
    """The last state of a recurrence that reads `xs` at `place(iteration)`, `count` times."""

    def iteration(i, h):
        return [i + 1, ops.tanh(ops.matmul(xs[place(i)], w) + ops.matmul(h, u) * 0.1)]

    first = ops.zeros([*xs.shape[1:-1], w.shape[1]], str(xs.dtype))
    return while_loop(lambda i, h: i < count, iteration, [ops.full([], start, "int64"), first])[1]


def aheads(program):
    """What is made ahead in the loops of a Program."""
    steps = [step for step in planned(program.block).all() if step.operator is not None]
    return [step.ahead for step in steps if step.ahead is not None]


def assert_right(executable, *inputs):
    have, want = executable.run(inputs, []), executable.reference.run(inputs, [])
    for one, other in zip(have, want, strict=True):
        tolerance = {"float32": 2e-5, "float64": 1e-12}[one.dtype.name]
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)


def arrays(length, rows=1, dtype="float32"):
    shape = (length, rows, K)
    return [drawn(n, *s, dtype=dtype) for n, s in enumerate([shape, (K, N), (N, N)])]


def compiled(function, length, rows=1, dtype="float32"):
    types = [(dtype, s) for s in ((length, rows, K), (K, N), (N, N))]
    program = traced(function, *types)
    return program, Executable(program)


PLACES = {
    "one by one": lambda i: i,
    "backwards": lambda i: 29 - i,
    "counted from the end": lambda i: i - 30,
    "every second one": lambda i: (2 * i) % 30,
    "the same one": lambda i: i * 0 + 7,
    "in rounds": lambda i: i % 5,
    "to and fro": lambda i: ops.abs(i - 15),
}


@pytest.mark.parametrize("length", [30, "n"])
@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_rows_in_any_order_are_those_that_are_asked_for(place, length):
    program, executable = compiled(lambda x, w, u: loop(x, w, u, place, 30), length)
    assert len(aheads(program)) == 1
    assert "matmul, up to 64 iterations ahead" in executable.explain()
    assert_right(executable, *arrays(30))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("rows", [1, 2, 3, 8, 9])
def test_several_rows_are_taken_at_once(rows, dtype):
    program, executable = compiled(
        lambda x, w, u: loop(x, w, u, lambda i: i, x.shape[0]), "n", rows, dtype
    )
    assert len(aheads(program)) == (1 if rows < 9 else 0)
    for length in (1, 2, 3, 70, 7):
        assert_right(executable, *arrays(length, rows, dtype))


def test_a_loop_that_ends_early_takes_nothing_behind_the_last_row():
    _, executable = compiled(lambda x, w, u: loop(x, w, u, lambda i: i, 5), "n")
    for length in (5, 6, 8, 20):
        xs, w, u = arrays(length)
        xs[5:] = np.nan
        assert_right(executable, xs, w, u)


def test_a_loop_that_goes_backwards_and_ends_early_takes_nothing_in_front_of_the_last_row():
    def function(x, w, u):
        return loop(x, w, u, lambda i: x.shape[0] - 1 - i, 5)

    _, executable = compiled(function, "n")
    for length in (5, 6, 8, 20):
        xs, w, u = arrays(length)
        xs[: length - 5] = np.nan
        assert_right(executable, xs, w, u)


def test_a_row_that_is_not_there_is_refused_as_numpy_does():
    _, executable = compiled(lambda x, w, u: loop(x, w, u, lambda i: i, 9), "n")
    for length in (0, 4, 8):
        inputs = arrays(length)
        with pytest.raises(IndexError) as wanted:
            executable.reference.run(inputs, [])
        with pytest.raises(IndexError) as raised:
            executable.run(inputs, [])
        assert str(raised.value) == str(wanted.value)
    assert_right(executable, *arrays(9))


def test_each_time_that_a_loop_begins_nothing_is_made_yet():
    def function(x, w, u):
        def iteration(i, total):
            inner = loop(x * ops.cast(i + 1, "float32"), w, u, lambda j: j, 6)
            return [i + 1, total + inner]

        first = [ops.full([], 0, "int64"), ops.zeros([1, N])]
        return while_loop(lambda i, total: i < 3, iteration, first)[1]

    program, executable = compiled(function, 6)
    assert len(aheads(program)) == 1
    assert_right(executable, *arrays(6))


def test_rows_of_what_the_loop_changes_are_not_made_ahead():
    def function(x, w, u):
        def iteration(i, xs, total):
            y = ops.matmul(xs[i], w)
            return [i + 1, xs * 0.5, total + y]

        first = [ops.full([], 0, "int64"), x, ops.zeros([1, N])]
        return while_loop(lambda i, xs, total: i < 6, iteration, first)[2]

    program, executable = compiled(function, 6)
    assert aheads(program) == []
    assert_right(executable, *arrays(6))


def test_along_another_axis_rows_are_made_ahead_if_they_lie_one_behind_the_other():
    def function(x, w):
        def iteration(i, total):
            return [i + 1, total + ops.matmul(x[:, i], w)]

        first = [ops.full([], 0, "int64"), ops.zeros([x.shape[0], N])]
        return while_loop(lambda i, total: i < 9, iteration, first)[1]

    for lead, count in ((1, 1), (2, 0), ("batch", 0)):
        program = traced(function, ("float32", (lead, 9, K)), ("float32", (K, N)))
        assert len(aheads(program)) == count
        rows = 3 if lead == "batch" else lead
        assert_right(Executable(program), drawn(0, rows, 9, K), drawn(1, K, N))


def test_several_products_of_one_row_have_rooms_of_their_own():
    def function(x, w, u):
        def iteration(i, h):
            one, other = ops.matmul(x[i], w), ops.matmul(x[i], w * 1.0 + 0.5)
            return [i + 1, ops.tanh(h + one) - ops.matmul(x[i], w) * other]

        first = [ops.full([], 0, "int64"), ops.zeros([1, N])]
        return while_loop(lambda i, h: i < 20, iteration, first)[1]

    program, executable = compiled(function, 20)
    assert len(aheads(program)) >= 2
    assert_right(executable, *arrays(20))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("seed", range(effort(10, 200)))
def test_any_recurrence_is_numpys(seed, threads):
    random = np.random.default_rng(seed)
    length, count = int(random.integers(1, 90)), int(random.integers(0, 90))
    rows, start = (int(n) for n in random.integers(1, 5, 2))
    step = int(random.choice([-1, 0, 1, 1, 2, 3]))
    named = "n" if random.random() < 0.5 else length

    def function(x, w, u):
        return loop(x, w, u, lambda i: (i * step + start) % x.shape[0], count)

    _, executable = compiled(function, named, rows)
    set_num_threads(threads)
    try:
        assert_right(executable, *arrays(length, rows))
    finally:
        set_num_threads(1)
