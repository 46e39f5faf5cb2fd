"""Programs as machine code give what NumPy's engine gives: numbers, errors, the same arrays."""

from __future__ import annotations

import gc
import os
import pickle
import random
import signal
import sys
import threading
from functools import partial

import numpy as np
import pytest

from dy2st_runtime import ops
from dy2st_runtime.engine.native.executable import Executable
from dy2st_runtime.errors import ShapeError, SpecError
from dy2st_runtime.ir import apply
from dy2st_runtime.ir.definition import Effect
from dy2st_runtime.ir.tracing.gradient_flow import SETTER
from dy2st_runtime.ops import matrices
from dy2st_runtime.ops.control_flow import cond, while_loop
from dy2st_runtime.ops.dynamic import TABLE
from tests.effort import effort
from tests.random_programs import random_program
from tests.recorded import program_of as traced
from tests.runtime.engine.exactly import flat
from tests.runtime.engine.native.random_runs import check
from tests.runtime.ops.test_commuting_square import SAMPLES, Square, apply_all, drawn

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def outcome(run):
    """Arrays, or the class of the error."""
    try:
        return flat(run()), None
    except Exception as error:
        return None, type(error)


def assert_alike(executable, inputs):
    (have, error) = outcome(lambda: executable.run(inputs, []))
    (want, raised) = outcome(lambda: executable.reference.run(inputs, []))
    assert error is raised
    for left, right in zip(have or (), want or (), strict=True):
        assert (left.dtype, left.shape) == (right.dtype, right.shape)
        if left.dtype.kind in "fc":
            rtol = {2: 1e-2, 4: 2e-5, 8: 1e-12}.get(left.dtype.itemsize, 2e-5)
            np.testing.assert_allclose(left, right, rtol=rtol, atol=rtol)
        else:
            np.testing.assert_array_equal(left, right)


CHOSEN = [
    pytest.param(*one.values, id=one.id)
    for one in SAMPLES[:: effort(5, 1)]
    if one.values[0].effect is not Effect.RANDOM
]


def square_of(definition, sample, is_fixed):
    """An operator traced on the sizes of a sample, or on symbols for them."""
    dtypes = sample.dtypes or ("float64",) * len(sample.shapes)
    function = partial(apply_all, definition.name, dict(sample.attributes))
    ranks = [len(shape) for shape in sample.shapes]
    options = TABLE[definition.name].arguments if definition.name in TABLE else ()
    fixed = [
        shape if is_fixed or i in options else [None] * len(shape)
        for i, shape in enumerate(sample.shapes)
    ]
    square = Square(function, ranks, dtypes, sample.low, sample.high, fixed)
    block = square.program.block
    block.yields = list(block.operators[-1].results)
    return square


def arrays_of(definition, square, sizes):
    """Arrays that an operator takes."""
    arrays = list(square.arrays(sizes, np.random.default_rng(0)))
    if definition.name == "searchsorted":  # else NumPy's places depend on the values before
        arrays[0] = np.sort(arrays[0])
    return arrays


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("definition", "sample"), CHOSEN)
def test_an_operator_of_known_sizes_computes_what_its_kernel_does(definition, sample):
    square = square_of(definition, sample, True)
    assert_alike(Executable(square.program), arrays_of(definition, square, {}))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("definition", "sample"), CHOSEN)
def test_an_operator_of_unknown_sizes_computes_what_its_kernel_does(definition, sample):
    square, generator = square_of(definition, sample, False), random.Random(0)
    executable = Executable(square.program)
    for _ in range(4):
        sizes = drawn(square, generator, sample.shapes)
        assert_alike(executable, arrays_of(definition, square, sizes))


def test_a_norm_takes_weights_whose_sizes_have_names_of_their_own():
    (definition, sample) = next(one.values for one in SAMPLES if one.id == "layer_norm-0")
    square = square_of(definition, sample, False)
    sizes = {s: 5 if shape is not square.shapes[0] else 3 for shape in square.shapes for s in shape}
    sizes[square.shapes[0][-1]] = 5
    inputs = list(square.arrays(sizes, np.random.default_rng(0)))
    assert_alike(Executable(square.program), inputs)


@pytest.mark.parametrize("block", range(effort(2, 24)))
def test_random_programs_give_what_numpys_engine_gives(block):
    for seed in range(block * 10, block * 10 + 10):
        check(random_program(seed, 10 + seed % 3 * 15))


def counting(x):
    """A loop that doubles until the sum is large, with a branch inside."""

    def body(i, v):
        return i + 1, *cond(v.sum() < 3, lambda: [v + 1], lambda: [v * 2])

    return while_loop(lambda i, v: v.sum() < 100, body, [ops.full([], 0, "int64"), x])


@pytest.mark.parametrize("size", [1, 2, 7, 16, 33, 1000])
def test_loops_and_branches_run_as_the_data_says(size):
    executable = Executable(traced(counting, ("float32", ("n",))))
    assert_alike(executable, [np.linspace(0.01, 0.02, size, dtype=np.float32)])


@pytest.mark.parametrize("iterations", [0, 1, 2, 3])
def test_a_loop_in_a_loop_begins_with_memory_of_its_own_each_time(iterations):
    """Its values exchange their places at each iteration, an odd number of times too."""

    def inner(i, a, b):
        return [i + 1, b, ops.flip(b, [0]) + a]

    def outer(i, a, b):
        _, a, b = while_loop(lambda i, a, b: i < iterations, inner, [x0 * 0, a, b])
        return [i + 1, ops.tanh(a), b]

    def function(x):
        nonlocal x0
        x0 = ops.cast(ops.sum(x), "int64")
        return while_loop(lambda i, a, b: i < 3, outer, [x0 * 0, x, x + 1.0])[1:]

    x0 = None
    executable = Executable(traced(function, ("float32", (20, 20))))
    assert_alike(executable, [np.random.default_rng(0).standard_normal((20, 20), np.float32)])


def test_a_loop_without_iterations_gives_what_was_given():
    program = traced(lambda x: while_loop(lambda v: v.sum() < 0, lambda v: [v * 2], [x])[0],
                     ("float32", ("n",)))  # fmt: skip
    executable, x = Executable(program), np.ones(5, np.float32)
    assert executable.run([x], [], as_is={0})[0] is x
    assert executable.run([x], [])[0] is not x


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "int64"])
def test_a_loop_reads_a_size_as_a_number_of_any_dtype(dtype):
    def iteration(i, v):
        return i + 1, v + v.shape[0]

    def grown(x):
        return while_loop(lambda i, v: i < 3, iteration, [ops.full([], 0, "int64"), x])[1]

    executable = Executable(traced(grown, (dtype, ("n",))))
    assert_alike(executable, [np.ones(5, dtype)])


def test_a_result_without_elements_may_have_a_size_that_data_tells():
    def chosen(x):
        return ops.masked_select(x, x > 0).reshape([-1, 1])[:, :0]

    executable = Executable(traced(chosen, ("float32", ("n",))))
    assert_alike(executable, [np.array([1, -1, 2], np.float32)])


def test_arrays_in_another_order_are_taken():
    executable = Executable(traced(lambda x: x * 2, ("float32", ("n", "m"))))
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.testing.assert_array_equal(executable.run([x.T], [])[0], x.T * 2)
    np.testing.assert_array_equal(executable.run([x[:, ::-1]], [])[0], x[:, ::-1] * 2)


@pytest.mark.parametrize("turned", [np.asarray, np.transpose])
def test_arrays_that_were_pickled_are_taken(turned, monkeypatch):
    executable = Executable(traced(lambda x: x * 2, ("float32", ("n", "m"))))
    x = turned(pickle.loads(pickle.dumps(np.ones((2, 3), np.float32))))
    monkeypatch.setattr(Executable, "reference", None)  # NumPy's engine
    np.testing.assert_array_equal(executable.run([x], [])[0], x * 2)


def test_a_dtype_that_was_pickled_is_that_of_all_arrays(monkeypatch):
    dtype = pickle.loads(pickle.dumps(np.ones(1, np.float32))).dtype
    executable = Executable(traced(lambda x: x * 2, (dtype, ("n",))))
    monkeypatch.setattr(Executable, "reference", None)
    found = executable.run([np.ones(2, np.float32)], [])[0]
    assert found.tolist() == [2, 2] and found.dtype is np.dtype("float32")


@pytest.mark.parametrize(
    ("array", "error"),
    [
        (np.ones((2, 3), np.float64), SpecError),
        (np.ones(3, np.float32), SpecError),
        (np.ones((2, 4), np.float32), SpecError),
    ],
)
def test_what_does_not_fit_is_refused_as_by_numpys_engine(array, error):
    executable = Executable(traced(lambda x: x + 1, ("float32", ("n", 3))))
    with pytest.raises(error) as found:
        executable.run([array], [])
    with pytest.raises(error) as wanted:
        executable.reference.run([array], [])
    assert str(found.value) == str(wanted.value)


def test_sizes_that_break_a_constraint_are_refused():
    executable = Executable(traced(lambda x, y: x + y, ("float32", ("n",)), ("float32", (4,))))
    with pytest.raises(ShapeError):
        executable.run([np.ones(3, np.float32), np.ones(4, np.float32)], [])


def test_calls_leave_no_memory_behind():
    executable = Executable(traced(counting, ("float32", ("n",))))
    x = np.ones(300, np.float32)
    executable.run([x], [])
    gc.collect()
    before, count = sys.getrefcount(x), sys.getallocatedblocks()
    for _ in range(2000):
        executable.run([x], [])
    assert sys.getrefcount(x) == before
    assert sys.getallocatedblocks() - count < 1000  # less than one for each call


def test_threads_call_one_executable_at_sizes_of_their_own():
    executable = Executable(traced(counting, ("float32", ("n",))))
    wrong = []

    def work(size):
        x = np.full(size, 0.5 / size, np.float32)
        want = executable.reference.run([x], [])[1]
        for _ in range(200):
            if not np.allclose(executable.run([x], [])[1], want, rtol=1e-5):
                wrong.append(size)

    threads = [threading.Thread(target=work, args=(size,)) for size in (1, 5, 64, 333, 1000, 4000)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_equal_programs_have_equal_texts():
    texts = [Executable(traced(counting, ("float32", ("n",)))).source for _ in range(2)]
    assert texts[0] == texts[1]


def test_an_operator_that_fails_names_the_users_line():
    executable = Executable(traced(lambda x, i: x[i], ("float32", (3,)), ("int64", ())))
    inputs = [np.arange(3, dtype=np.float32), np.array(7)]
    with pytest.raises(IndexError) as found:
        executable.run(inputs, [])
    with pytest.raises(IndexError) as wanted:
        executable.reference.run(inputs, [])
    assert str(found.value) == str(wanted.value)


def test_a_turn_that_fails_raises_and_leaves_the_loop():
    def rows(x):
        def iteration(i, v):
            return [i + 1, v + x[i]]

        return while_loop(lambda i, v: i < 5, iteration, [ops.full([], 0, "int64"), x[0]])[1]

    executable = Executable(traced(rows, ("float32", ("n", 4))))
    assert_alike(executable, [np.ones((5, 4), np.float32)])
    for _ in range(3):
        with pytest.raises(IndexError):
            executable.run([np.ones((3, 4), np.float32)], [])


@pytest.mark.parametrize("is_quiet", [True, False])
def test_a_loop_without_end_is_interrupted(is_quiet):
    def iteration(v):
        return [v + 1 if is_quiet else ops.sort(v) + 1]

    program = traced(lambda x: while_loop(lambda v: v.sum() > 0, iteration, [x])[0],
                     ("float32", (4,)))  # fmt: skip
    executable = Executable(program)
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    # Who starts the tests in the background lets them ignore it.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            executable.run([np.ones(4, np.float32)], [])
        timer.join()
    finally:
        signal.signal(signal.SIGINT, before)


def test_it_says_what_numpy_computes():
    def function(x):
        return while_loop(lambda v: v.sum() < 10, lambda v: [v * 2 + matrices.det(v) + 1], [x])[0]

    text = Executable(traced(function, ("float32", ("n", "n")))).explain()
    assert "nest   sum" in text and "code   while" in text
    assert text.splitlines()[-1] == "computed by NumPy: det (1)"


def test_a_loop_is_given_a_number_of_a_type_that_is_foreign_to_code():
    def function(x):
        first = x[0]

        def iteration(i, v):
            return [i + 1, ops.cast(ops.logical_not(first), "float16") + v]

        return while_loop(lambda i, v: i < 3, iteration, [ops.full([], 0, "int64"), first])[1]

    executable = Executable(traced(function, ("float16", (2,))))
    assert_alike(executable, [np.zeros(2, np.float16)])


def test_a_tensor_with_another_stop_gradient_is_the_same_memory():
    def opened(x):
        return (apply(SETTER, x * 2, value=False) + 1).exp()

    executable = Executable(traced(opened, ("float32", ("n",))))
    assert "computed by NumPy: nothing" in executable.explain()
    assert_alike(executable, [np.linspace(0, 1, 7, dtype=np.float32)])


def test_what_follows_a_condition_on_sizes_is_computed_behind_it():
    def function(x, flag):
        def repeated():
            y = ops.broadcast_to(x, [4, 4])
            return [y * 2]

        return cond(flag, repeated, lambda: [ops.zeros([4, 4])])[0]

    executable = Executable(traced(function, ("float32", ("n",)), ("bool", ())))
    for flag in (False, True):
        for size in (1, 4, 3):
            assert_alike(executable, [np.ones(size, np.float32), np.array(flag)])
