"""The compiled engine: exact, frees what is dead, nests deeply, grows linearly, names lines."""

from __future__ import annotations

import sys
import threading
import time

import numpy as np
import pytest

from dy2st_runtime import engine, ops
from dy2st_runtime.dims import symbol
from dy2st_runtime.errors import ArgumentError, ShapeError, SpecError
from dy2st_runtime.ir.functions import inlined
from dy2st_runtime.ir.interpret import interpret
from dy2st_runtime.ops.control_flow import while_loop
from dy2st_runtime.tensor import EagerTensor
from tests.recorded import program_of
from tests.runtime.ir.test_functions import factorial, powers

N = symbol("n")
F32 = ("float32", (N, 3))


def test_it_computes_what_the_interpreter_computes():
    def model(x):
        y = ops.gelu(x) + x.mean(axis=1, keepdim=True)
        return ops.softmax(y), y.reshape([-1]), ops.zeros([x.shape[0] * 2])

    program = program_of(model, F32)
    executable = engine.compile(program)
    for rows in (0, 1, 5):
        x = np.random.default_rng(0).standard_normal((rows, 3)).astype("float32")
        expected, _ = interpret(program, [EagerTensor(x)], {})
        for have, want in zip(executable.run([x], []), expected, strict=True):
            np.testing.assert_array_equal(have, want.array)


def test_a_constant_is_not_the_number_of_an_attribute_that_equals_it():
    def model(x):
        return ops.softplus(x, beta=1.5), x + ops.reshape(ops.assign(np.float64(1.5)), [1])

    program = program_of(model, ("float64", (2,)))
    found = engine.compile(program, "numpy").run([np.zeros(2)], [])
    assert found[1].tolist() == [1.5, 1.5]


def test_results_never_share_memory_with_inputs():
    program = program_of(lambda x: (x, x.reshape([-1]), x[0:1], x.transpose([1, 0])), F32)
    x = np.ones((2, 3), "float32")
    for result in engine.compile(program).run([x], []):
        assert not np.shares_memory(result, x)
        result += 1
    assert (x == 1).all()


def test_values_are_freed_after_their_last_use():
    def chain(x):
        for _ in range(5):
            x = x.exp()
        return x

    program = program_of(chain, ("float32", (1000,)))
    lines = engine.compile(program).source.splitlines()
    assert sum(line.strip().startswith("del ") for line in lines) == 5


def test_loops_nest_deeper_than_python_allows():
    def nest(x, depth):
        if depth == 0:
            return x + 1.0

        def more(i, value):
            return [i < 1]

        def iteration(i, value):
            return [i + 1, nest(value, depth - 1)]

        zero = ops.zeros([], "int64")
        return while_loop(more, iteration, [zero, x])[1]

    program = program_of(lambda x: nest(x, 30), ("float32", (2,)))
    (result,) = engine.compile(program).run([np.zeros(2, "float32")], [])
    np.testing.assert_array_equal(result, [1.0, 1.0])


@pytest.mark.slow
def test_twenty_thousand_operators_compile_in_linear_time():
    def chain(count):
        def model(x):
            for _ in range(count):
                x = x.tanh()
            return x

        return program_of(model, ("float32", (4,)))

    def seconds(count):
        program = chain(count)
        start = time.perf_counter()
        engine.compile(program)
        return time.perf_counter() - start

    seconds(100)
    assert seconds(20_000) < 40 * seconds(2_000)


def test_a_failing_kernel_keeps_its_error_and_names_the_operator():
    program = program_of(lambda x, i: ops.gather(x, i), ("float32", (3,)), ("int64", (1,)))
    with pytest.raises(IndexError) as caught:
        engine.compile(program).run([np.ones(3, "float32"), np.array([7])], [])
    if sys.version_info >= (3, 11):
        assert any("test_numpy_engine.py" in note for note in caught.value.__notes__)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ([], r"takes 2 tensors"),
        ([np.ones(3, "float32"), np.ones((2, 3), "float32")], r"`x0` has the shape \[3\]"),
        ([np.ones((2, 4), "float32"), np.ones((2, 3), "float32")], r"`x0`, axis 1: 4; .* 3"),
        ([np.ones((2, 3)), np.ones((2, 3), "float32")], r"`x0` has dtype float64"),
        ([np.ones((2, 3), "float32"), np.ones((5, 3), "float32")], r"`x1`, axis 0: 5; must equal"),
    ],
)
def test_inputs_that_do_not_fit_name_the_argument(arrays, message):
    executable = engine.compile(program_of(lambda x, y: x + y, F32, F32))
    with pytest.raises(SpecError, match=message):
        executable.run(arrays, [])


def test_sizes_have_limits():
    size = symbol("rows", 1, 4)
    executable = engine.compile(program_of(lambda x: x + 1.0, ("float32", (size,))))
    with pytest.raises(SpecError, match="`rows` is from 1 to 4"):
        executable.run([np.ones(5, "float32")], [])


def test_a_requirement_on_sizes_is_checked_and_names_its_line():
    a, b = symbol("a"), symbol("b")
    program = program_of(lambda x, y: ops.matmul(x, y), ("float32", (2, a)), ("float32", (b, 2)))
    executable = engine.compile(program)
    executable.run([np.ones((2, 3), "float32"), np.ones((3, 2), "float32")], [])
    with pytest.raises(ShapeError, match=r"(?s)test_numpy_engine.py:\d+.*because: matmul"):
        executable.run([np.ones((2, 3), "float32"), np.ones((4, 2), "float32")], [])


def test_sizes_that_the_data_decides_are_bound_when_they_are_known():
    def model(x):
        places = ops.nonzero(x)
        return places, ops.zeros([places.shape[0] + 1])

    places, zeros = engine.compile(program_of(model, ("float32", (N,)))).run(
        [np.array([0, 1, 1, 0, 1], "float32")], []
    )
    assert places.shape == (3, 1) and zeros.shape == (4,)


def test_threads_may_call_one_executable_at_once():
    executable = engine.compile(program_of(lambda x: ops.softmax(x.exp()), F32))
    x = np.random.default_rng(0).standard_normal((50, 3)).astype("float32")
    expected = executable.run([x], [])[0]
    wrong = []

    def work():
        for _ in range(100):
            if not np.array_equal(executable.run([x], [])[0], expected):
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_there_is_one_engine_and_others_are_refused_by_name():
    with pytest.raises(ArgumentError, match="numpy"):
        engine.compile(program_of(lambda x: x, F32), engine="other")


def memory_of(program):
    return engine.compile(program, "numpy").explain().rpartition("memory of a call: ")[2]


def test_memory_is_counted_for_each_call_of_a_function():
    program = program_of(powers(4), ("float32", (2,)))
    assert memory_of(program) == memory_of(inlined(program))


def test_memory_of_what_is_too_much_or_calls_itself_is_not_counted():
    assert memory_of(factorial()) == "grows with the depth of the calls of `factorial`"
    assert memory_of(program_of(powers(40), ("float32", (2,)))).startswith("not counted, since ")
