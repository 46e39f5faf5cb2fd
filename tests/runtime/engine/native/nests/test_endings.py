"""What is done to the result of a product, part by part, gives what it gives afterwards."""

from __future__ import annotations

import numpy as np
import pytest

from dy2st_runtime import ops
from dy2st_runtime.dims import symbol
from dy2st_runtime.engine.native.executable import Executable
from dy2st_runtime.engine.native.machine.threads import set_num_threads
from dy2st_runtime.engine.native.program.planner import planned
from dy2st_runtime.ir import Program, TensorType, Tracer
from dy2st_runtime.ops.control_flow import cond, while_loop
from tests.recorded import program_of as traced

SIZES = [
    (3, 0, 50),
    (0, 4, 50),
    (3, 4, 0),
    (1, 5, 1),
    (1, 40, 300),
    (2, 7, 16),
    (9, 33, 40),
    (64, 30, 33),
    (100, 600, 1030),
]


def endings(executable):
    """For each product the operators of its ending."""
    steps = planned(executable.program.block).all()
    products = [s for s in steps if s.operator is not None and s.operator.name == "matmul"]
    return [[one.name for one in step.operators] for step in products]


def drawn(seed, *shape, dtype="float32"):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def assert_right(executable, *inputs):
    for _ in range(3):
        have, want = executable.run(inputs, []), executable.reference.run(inputs, [])
        for one, other in zip(have, want, strict=True):
            assert one.dtype == other.dtype
            tolerance = 2e-4 if inputs[0].dtype == np.float32 else 1e-12
            np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)


def biased(x, w, b):
    return ops.relu(x @ w + b)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_a_bias_and_an_activation_end_a_product(sizes, dtype):
    m, k, n = sizes
    given = [drawn(0, m, k, dtype=dtype), drawn(1, k, n, dtype=dtype), drawn(2, n, dtype=dtype)]
    known = Executable(traced(biased, *((dtype, array.shape) for array in given)))
    unknown = Executable(traced(biased, (dtype, ("m", "k")), (dtype, ("k", "n")), (dtype, ("n",))))
    assert endings(unknown) == [["add", "relu"]]
    assert_right(unknown, *given)
    assert_right(known, *given)


@pytest.mark.parametrize("count", [1, 3])
def test_parts_of_several_threads_end_where_they_lie(count):
    set_num_threads(count)
    try:
        executable = Executable(
            traced(biased, ("float32", ("m", 64)), ("float32", (64, 700)), ("float32", (700,)))
        )
        for m in (1, 50, 400):
            assert_right(executable, drawn(0, m, 64), drawn(1, 64, 700), drawn(2, 700))
    finally:
        set_num_threads(1)


def test_leading_axes_are_rows():
    def function(x, w, residual):
        return ops.tanh(x @ w * 0.5) + residual

    executable = Executable(
        traced(
            function, ("float32", ("a", "b", 6)), ("float32", (6, 20)), ("float32", ("a", 1, 20))
        )
    )
    for a, b in [(2, 3), (1, 1), (0, 3), (5, 40)]:
        assert_right(executable, drawn(0, a, b, 6), drawn(1, 6, 20), drawn(2, a, 1, 20))


def test_numbers_and_masks_are_passed_along():
    def function(x, w, scale, mask):
        return ops.where(mask, x @ w * scale, scale)

    executable = Executable(
        traced(
            function,
            *(("float32", ("m", 8)), ("float32", (8, 50)), ("float32", ()), ("bool", ("m", 50))),
        )
    )
    assert endings(executable) == [["multiply", "where"]]
    mask = np.arange(15 * 50).reshape(15, 50) % 3 == 0
    assert_right(executable, drawn(0, 15, 8), drawn(1, 8, 50), np.float32(1.5).reshape(()), mask)


def test_several_results_are_written():
    def function(x, w):
        y = x @ w + 1.0
        return y, y > 0, y * y

    executable = Executable(traced(function, ("float32", ("m", 8)), ("float32", (8, 50))))
    assert endings(executable) == [["add", "greater_than", "multiply"]]
    assert_right(executable, drawn(0, 15, 8), drawn(1, 8, 50))


def test_of_two_products_the_last_one_ends_with_both():
    def function(x, w, h, v, b):
        return ops.sigmoid(x @ w + h @ v + b)

    types = [("m", 8), (8, 50), ("m", 9), (9, 50), (50,)]
    executable = Executable(traced(function, *(("float32", shape) for shape in types)))
    assert endings(executable) == [[], ["add", "add", "sigmoid"]]
    given = [(15, 8), (8, 50), (15, 9), (9, 50), (50,)]
    assert_right(executable, *(drawn(i, *shape) for i, shape in enumerate(given)))


def test_a_long_chain_ends_a_product():
    def function(x, w):
        y = x @ w
        for _ in range(4):
            y = ops.gelu(y) + 0.1
        return y

    executable = Executable(traced(function, ("float32", ("m", 8)), ("float32", (8, 600))))
    assert_right(executable, drawn(0, 15, 8), drawn(1, 8, 600))


@pytest.mark.parametrize(
    "function",
    [
        lambda x, w: (x @ w, x @ w + 1.0),
        lambda x, w: (lambda y: (y, y + 1.0))(x @ w),
        lambda x, w: ops.softmax(x @ w),
        lambda x, w: ops.transpose(x @ w, [1, 0]) + 1.0,
        lambda x, w: ops.cast(x @ w, "float64"),
        lambda x, w: (x @ w)[1:] + 1.0,
        lambda x, w: (lambda y: y + ops.flip(y, [0]))(x @ w),
        lambda x, w: ops.sum(x @ w, axis=0),
    ],
)
def test_what_does_not_fit_is_computed_afterwards(function):
    executable = Executable(traced(function, ("float32", ("m", 8)), ("float32", (8, 33))))
    assert_right(executable, drawn(0, 15, 8), drawn(1, 8, 33))


def test_products_in_branches_and_loops_have_endings():
    def function(x, w):
        def iteration(i, y):
            return [i + 1, ops.tanh(y @ w + 0.5)]

        y = while_loop(lambda i, y: i < 3, iteration, [x.shape[0] * 0, x])[1]
        return cond(y.sum() > 0, lambda: [y @ w * 2.0], lambda: [y @ w - 1.0])

    executable = Executable(traced(function, ("float32", ("m", 8)), ("float32", (8, 8))))
    assert [["tanh"] == names[-1:] for names in endings(executable)].count(True) == 1
    assert_right(executable, drawn(0, 5, 8), drawn(1, 8, 8) / 3)
    assert_right(executable, -drawn(0, 5, 8), drawn(1, 8, 8) / 3)


def test_panels_that_are_kept_have_endings_too():
    program = Program()
    x = program.block.add_parameter(TensorType("float32", [symbol("m"), 40]), "x")
    program.inputs.append(x)
    for name, shape in (("w", (40, 50)), ("b", (50,))):
        program.parameters[name] = program.block.add_parameter(TensorType("float32", shape), name)
    with Tracer(program).tracing():
        program.block.yields = [biased(x, *program.parameters.values())]
    executable = Executable(program)
    given, weights = drawn(0, 7, 40), [drawn(1, 40, 50), drawn(2, 50)]
    for _ in range(3):
        have, want = executable.run([given], weights), executable.reference.run([given], weights)
        np.testing.assert_allclose(have[0], want[0], rtol=1e-4, atol=1e-4)


def test_what_is_not_finite_goes_where_numpy_has_it():
    executable = Executable(
        traced(biased, ("float32", ("m", 8)), ("float32", (8, 33)), ("float32", (33,)))
    )
    x, w, b = drawn(0, 9, 8), drawn(1, 8, 33), drawn(2, 33)
    x[2, 3], w[4, 5], b[6] = np.nan, np.inf, -np.inf
    with np.errstate(invalid="ignore"):
        have, want = executable.run([x, w, b], [])[0], executable.reference.run([x, w, b], [])[0]
    np.testing.assert_array_equal(np.isnan(have), np.isnan(want))
    np.testing.assert_array_equal(np.isinf(have), np.isinf(want))


@pytest.mark.parametrize("lead", [(), ("b",)])
def test_of_a_matrix_and_a_vector_every_row_is_done(lead):
    executable = Executable(
        traced(
            lambda x, y: ops.matmul(x, y) - 1, ("float32", (*lead, "m", "k")), ("float32", ("k",))
        )
    )
    for rows, inner in ((1, 3), (2, 3), (40, 300), (0, 2)):
        assert_right(executable, drawn(0, *(2,) * len(lead), rows, inner), drawn(1, inner))
