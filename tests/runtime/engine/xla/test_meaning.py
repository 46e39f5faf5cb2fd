"""Where XLA by itself would give other values than NumPy, or raise nothing."""

from __future__ import annotations

import gc
import itertools
import sys
from types import FrameType
from typing import Any

import numpy as np
import pytest

from dy2st_runtime import engine, ops
from dy2st_runtime.dims import symbol
from dy2st_runtime.engine.xla.library import exactly
from dy2st_runtime.errors import DivisionByZero, EngineError
from dy2st_runtime.ir import F, TensorType, Tracer, apply
from dy2st_runtime.ir.checks.verifier import verify
from dy2st_runtime.ops.control_flow import cond, while_loop

jax = pytest.importorskip("jax", reason="the engine xla needs jax: pip install 'dy2st[jax]'")

INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "int64", "uint64")
LIMITS = [0, 1, -1, 2.5, -2.5, 44.9, 300, -129, 70000, -70000, 2**31, 2**31 - 1, -(2.0**31)]
LIMITS += [
    -(2.0**31) - 0.5,
    3e9,
    -3e9,
    2.0**63,
    -(2.0**63),
    1e19,
    1e30,
    -1e30,
    np.inf,
    -np.inf,
    np.nan,
]


def program_of(function, *arrays, sizes=None):
    """The Program of a function of tensors like these arrays."""
    tracer = Tracer()
    program = tracer.program
    for number, array in enumerate(arrays):
        shape = array.shape if sizes is None else sizes[number]
        variable = program.block.add_parameter(TensorType(array.dtype, shape), f"x{number}")
        program.inputs.append(variable)
    with tracer.tracing():
        results = function(*program.inputs)
        results = results if isinstance(results, (tuple, list)) else (results,)
        program.block.yields = [tracer.variable(result) for result in results]
    return verify(program)


def both(function, *arrays, sizes=None):
    """What both engines give; XLA without asking a kernel."""
    program = program_of(function, *arrays, sizes=sizes)
    wanted = engine.compile(program, "numpy").run(arrays, [])
    executable = engine.compile(program, "xla")
    found = executable.run(arrays, [])
    for compiled in compiled_of(executable):
        assert compiled._failure is None
    return found, wanted


def compiled_of(executable):
    return [one for kept in executable._islands._compiled.values() for one in kept.values()]


def assert_equal(function, *arrays, sizes=None):
    for have, want in zip(*both(function, *arrays, sizes=sizes), strict=True):
        assert (have.dtype, have.shape) == (want.dtype, want.shape)
        np.testing.assert_array_equal(have, want)


def raises(kind, function, *arrays, match=None):
    """Both engines raise the same, in the same words."""
    program = program_of(function, *arrays)
    words = []
    for name in ("numpy", "xla"):
        with pytest.raises(kind, match=match) as caught:
            engine.compile(program, name).run(arrays, [])
        words.append((str(caught.value), getattr(caught.value, "__notes__", [])))
    assert words[0] == words[1]


@pytest.mark.filterwarnings("ignore:(invalid|overflow)")
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
def test_casts_of_what_does_not_fit_wrap_as_the_processor_does(dtype):
    x = np.array(LIMITS).astype(dtype)
    assert_equal(lambda x: [F.cast(x, to) for to in INTEGERS], x)


def test_casts_between_integers_and_to_bools_keep_the_lower_bits():
    x = np.array([0, 1, -1, 255, 256, -129, 2**31, -(2**63), 2**63 - 1])
    dtypes = ("int8", "uint8", "int16", "uint32", "int32", "uint64", "bool", "float32")
    assert_equal(lambda x: [F.cast(x, to) for to in dtypes], x)


@pytest.mark.parametrize("name", ["floor_divide", "remainder"])
def test_an_integer_that_is_divided_by_zero_raises(name):
    x, y = np.array([7, -7, 0]), np.array([2, 0, 1])
    raises(DivisionByZero, lambda x, y: apply(name, x, y), x, y)


@pytest.mark.filterwarnings("ignore:(divide|invalid)")
def test_floats_are_divided_as_numpy_divides_them():
    numbers = np.array([0.0, -0.0, 1, -1, 2.5, -2.5, 7, 1e30, np.inf, -np.inf, np.nan])
    x, y = np.meshgrid(numbers, numbers)
    for dtype in ("float64", "float32"):
        assert_equal(
            lambda x, y: [F.floor_divide(x, y), F.remainder(x, y), F.divide(x, y)],
            x.astype(dtype),
            y.astype(dtype),
        )


def test_an_exact_quotient_by_a_constant_is_exact():
    x = np.arange(1.0, 200.0)
    divisors = np.array([3.0, 10.0, 49.0, 103.0])

    def function(x):
        return [F.floor(x / one) for one in divisors]

    assert_equal(function, x)


def test_a_diagonal_of_unknown_sizes_is_taken():
    rows, columns = symbol("rows"), symbol("columns")
    for shape in ((4, 3), (2, 5), (3, 3)):
        x = np.arange(shape[0] * shape[1]).reshape(shape)
        assert_equal(ops.diag, x, sizes=[(rows, columns)])


def test_a_mean_of_float32_is_rounded_as_numpy_rounds_it():
    x = np.arange(480, dtype="float32").reshape(80, 6) % 37  # sums are exact

    def function(x):
        return [F.mean(x[:, :count], [1]) for count in (3, 5, 6)]

    assert_equal(function, x)


def test_what_is_behind_an_exception_in_a_branch_need_not_make_sense():
    n = symbol("n")
    program = program_of(
        lambda x: cond(F.sum(x) > 1.0, lambda: [x[0] * 1.0], lambda: [F.sum(x)]),
        np.zeros(0),
        sizes=[(n,)],
    )
    executable = engine.compile(program, "xla")
    (found,) = executable.run([np.zeros(0)], [])
    assert found == 0 and compiled_of(executable)[0]._failure is None


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64"])
def test_shifts_by_more_than_the_width_leave_nothing_but_the_sign(dtype):
    counts = np.array([0, 1, 7, 8, 31, 32, 63, 64, 100]).astype(dtype)
    x = np.array([1, 3, 127, -1, -128] if dtype[0] == "i" else [1, 3, 127, 255]).astype(dtype)
    assert_equal(
        lambda x, y: [apply("left_shift", x, y), apply("right_shift", x, y)], x[:, None], counts
    )


def test_nan_is_the_largest_of_all_in_orders_and_the_result_of_extremes():
    x = np.array([[1, np.nan, 3, -np.inf], [np.nan, 2, np.nan, 0], [3, 3, -0.0, 0.0]], "float32")

    def function(x):
        extremes = [F.max(x, 1), F.min(x, 1), F.argmax(x, 1), F.argmin(x, 1)]
        extremes += [F.maximum(x, 1.0), F.minimum(x, 1.0), *F.cummax(x, 1), *F.cummin(x, 1)]
        return [*extremes, F.argsort(x, 1), F.argsort(x, 1, descending=True), *F.topk(x, 3, 1)]

    assert_equal(function, x)


def test_of_windows_nan_is_the_largest_and_the_first_of_equal_ones_is_named():
    x = np.array([1, 1, np.nan, 0, 2, 2, 2, np.nan, np.nan, 5, 5, 1], "float32").reshape(1, 1, 3, 4)
    window = {"kernel": (2, 2), "strides": (1, 2), "pads": ((0, 0), (1, 1))}
    assert_equal(lambda x: apply("max_pool", x, **window), x)
    assert_equal(lambda x: apply("window_max", x, **window), x)


@pytest.mark.parametrize("place", [3, -4])
def test_a_place_outside_raises_with_the_words_of_numpy(place):
    x, index = np.arange(3.0), np.array([0, place])
    raises(IndexError, lambda x, i: x[i], x, index, match="out of bounds")
    raises(IndexError, lambda x, i: F.setitem(x, i, 1.0), x, index, match="out of bounds")


def test_places_from_the_end_are_inside():
    x, index = np.arange(6.0).reshape(3, 2), np.array([-3, 2, -1])
    assert_equal(lambda x, i: [x[i], F.setitem(x, i, 7.0), x[i, F.cast(i < 0, "int64")]], x, index)


def test_a_place_outside_in_a_branch_raises_only_where_the_branch_is_taken():
    x, index = np.arange(3.0), np.array(5)

    def function(x, i):
        return cond(F.sum(x) > 100.0, lambda: [x[i]], lambda: [x[0]])

    assert_equal(function, x, index)
    raises(IndexError, function, x + 100, index)


def test_an_assertion_in_a_loop_ends_it():
    def function(x):
        def body(i, x):
            apply("assert", F.sum(x) < 9.0, message="too large")
            return [i + 1, x + 1.0]

        return while_loop(lambda i, x: i < 10**9, body, [ops.zeros([], "int64"), x])

    raises(AssertionError, function, np.zeros(3), match="too large")


def test_a_condition_of_a_loop_that_reads_outside_raises():
    def function(x):
        return while_loop(lambda i: x[i] < 5.0, lambda i: [i + 1], [ops.zeros([], "int64")])

    raises(IndexError, function, np.zeros(3))
    assert_equal(function, np.array([0.0, 1.0, 9.0, 0.0]))


def test_a_matrix_without_an_inverse_raises():
    raises(np.linalg.LinAlgError, F.inverse, np.ones((2, 2)))
    raises(np.linalg.LinAlgError, F.cholesky, -np.eye(2))


def test_a_negative_power_of_an_integer_raises():
    raises(ValueError, F.pow, np.array([2, 3]), np.array([1, -1]))


def test_64_bits_stay_64_bits_and_no_flag_of_jax_is_changed():
    big = np.array([2**40 + 1, -(2**40)])
    assert_equal(lambda x: [x * 3, F.cast(x, "float64") + 0.25], big)
    assert jax.numpy.ones(1).dtype == np.float32
    assert not jax.config.jax_enable_x64


def _flags() -> tuple[Any, ...]:
    config = jax.config
    return config.jax_enable_x64, config.jax_default_matmul_precision, config.jax_default_device


def test_no_flag_of_jax_is_changed_by_an_interrupt_at_any_place():
    before, places = _flags(), itertools.count()
    while _is_interrupted_at(next(places)):
        assert _flags() == before
    assert next(places) > 20


def _is_interrupted_at(place: int) -> bool:
    """Whether `exactly` has as many places at which Ctrl-C may come, and one that has come."""
    passed = itertools.count()

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        is_here = frame.f_code.co_filename != __file__ and event == "line"
        if is_here and next(passed) == place:
            raise KeyboardInterrupt
        return trace

    outer = sys.gettrace()
    gc.disable()  # or it may come in a finalizer
    try:
        sys.settrace(trace)
        with exactly(jax.devices()[0]):
            pass
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(outer)
        gc.enable()
    return False


def test_long_sums_of_float32_are_as_exact_as_those_of_numpy():
    x = np.full((3, 200_000), 0.1, "float32")
    for have, want in zip(*both(lambda x: [F.sum(x), F.mean(x, 1), F.sum(x, 1)], x), strict=True):
        np.testing.assert_allclose(have, want, rtol=2e-6)


def test_products_are_exact_to_float32():
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((2, 64, 64)).astype("float32")
    (found,), _ = both(F.matmul, x, y)
    exact = x.astype("float64") @ y.astype("float64")
    np.testing.assert_allclose(found, exact, rtol=2e-5, atol=2e-5)


def test_a_word_for_exactness_that_jax_does_not_have_is_refused(monkeypatch):
    monkeypatch.setenv("DY2ST_XLA_PRECISION", "exact")
    executable = engine.compile(program_of(F.exp, np.ones(2)), "xla")
    with pytest.raises(ValueError, match="DY2ST_XLA_PRECISION is highest, high or default"):
        executable.run([np.ones(2)], [])


def test_sizes_are_compiled_one_by_one_and_the_last_ones_are_kept(monkeypatch):
    monkeypatch.setattr("dy2st_runtime.engine.xla.compilation.KEPT", 2)
    n = symbol("n")
    program = program_of(lambda x: x * x.shape[0], np.ones(1), sizes=[(n,)])
    executable = engine.compile(program, "xla")
    for size in (1, 2, 3, 1):
        (found,) = executable.run([np.ones(size)], [])
        assert found.tolist() == [size] * size
        assert len(compiled_of(executable)) <= 2


def test_random_numbers_are_those_of_numpy_in_order_inside_of_loops_too():
    def function(x):
        x = x + F.rand([3])
        _, x = while_loop(
            lambda i, x: i < 3,
            lambda i, x: [i + 1, x * F.randn([3], "float32")],
            [ops.zeros([], "int64"), x],
        )
        return [x, F.randint(0, 9, [4])]

    program = program_of(function, np.ones(3, "float32"))
    made = []
    for name in ("numpy", "xla"):
        executable = engine.compile(program, name)
        ops.seed(5)
        made.append(executable.run([np.ones(3, "float32")], []) + [ops.rand([2]).array])
    for want, have in zip(*made, strict=True):
        np.testing.assert_allclose(have, want, rtol=1e-6)


def test_random_numbers_that_need_nothing_do_not_cut_the_program():
    program = program_of(lambda x: F.dropout(F.exp(F.dropout(x, 0.5)), 0.5), np.ones((5, 5)))
    executable = engine.compile(program, "xla")
    assert len(executable._islands.planner.islands) == 1


def test_results_are_arrays_that_may_be_written_to_and_share_nothing():
    x = np.ones(3)
    executable = engine.compile(program_of(lambda x: [x, x + 1.0, F.assign(x)], x), "xla")
    for result in executable.run([x], []):
        result += 1
    assert x.tolist() == [1, 1, 1]
    results = executable.run([x], [], as_one=(0, 2))
    assert results[0] is results[2]


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("dtype", ("float16", "float32", "float64", "complex64"))
def test_false_times_infinity_is_nan(dtype):
    mask = np.array([True, False, False, True])
    x = np.array([np.inf, np.inf, np.nan, 2.0]).astype(dtype)

    def masked(mask, x):
        by_cast = F.cast(mask, dtype) * x
        by_number = F.cast(F.one_hot(F.cast(mask, "int64"), 2)[:, 1], dtype) * x
        return by_cast, by_number, F.multiply(mask, x), F.matmul(F.cast(mask, dtype), x)

    found, wanted = both(masked, mask, x)
    for have, want in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(np.isnan(have), np.isnan(want))


def test_a_failure_of_xla_is_one_of_the_engine():
    def fails(*given):
        raise jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: Out of memory")

    array = np.ones(3, "float32")
    executable = engine.compile(program_of(lambda x: x * 2.0, array), "xla")
    executable.run([array], [])
    for compiled in compiled_of(executable):
        compiled._function = fails
    with pytest.raises(EngineError, match="XLA has failed while it ran .*Out of memory"):
        executable.run([array], [])
