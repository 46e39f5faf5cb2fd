"""Where operators of ONNX by themselves give other values than NumPy's kernels, or say nothing."""

from __future__ import annotations

import numpy as np
import pytest

onnx = pytest.importorskip("onnx", reason="ONNX needs onnx: pip install 'dy2st[onnx]'")
onnxruntime = pytest.importorskip("onnxruntime", reason="ONNX needs the extra onnx")

from dy2st_runtime import engine, ops  # noqa: E402
from dy2st_runtime.dims import symbol  # noqa: E402
from dy2st_runtime.engine.onnx.model import write_model  # noqa: E402
from dy2st_runtime.ir import F, apply  # noqa: E402
from tests.recorded import floats, program_of  # noqa: E402
from tests.runtime.engine.onnx.test_samples import IS_OLD, in_onnxruntime, in_reference  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:(divide|invalid|overflow|underflow)")
INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "int64")
LIMITS = [0, 1, -1, 2.5, -2.5, 44.9, 300, -129, 70000, -70000, 2**31 - 1, -(2.0**31), 3e9, -3e9]
LIMITS += [-(2.0**63), 1e19, 1e30, -1e30, np.inf, -np.inf, np.nan]
NAN, INF = np.nan, np.inf


def assert_equal(function, *arrays, sizes=None, tolerance=0.0):
    """Both runtimes give what the kernels of NumPy give."""
    shapes = [array.shape for array in arrays] if sizes is None else sizes
    types = [floats(*shape, dtype=one.dtype) for shape, one in zip(shapes, arrays, strict=True)]
    program = program_of(function, *types)
    wanted = engine.compile(program, "numpy").run(arrays, [])
    model = write_model(program, {})
    onnx.checker.check_model(model.proto, full_check=True)
    for run in (in_reference, in_onnxruntime):
        found = run(model, dict(zip(model.inputs, arrays, strict=True)))
        for have, want in zip(found, wanted, strict=True):
            assert (have.dtype, have.shape) == (want.dtype, np.shape(want))
            np.testing.assert_allclose(have, want, tolerance, tolerance)


def fails(function, *arrays):
    """The kernels raise, and so do both runtimes."""
    program = program_of(function, *[floats(*one.shape, dtype=one.dtype) for one in arrays])
    with pytest.raises(Exception):
        engine.compile(program, "numpy").run(arrays, [])
    model = write_model(program, {})
    for run in (in_reference, in_onnxruntime):
        with pytest.raises(Exception):
            run(model, dict(zip(model.inputs, arrays, strict=True)))


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
def test_casts_of_what_does_not_fit_wrap_as_the_processor_does(dtype):
    x = np.array(LIMITS).astype(dtype)
    assert_equal(lambda x: [F.cast(x, to) for to in (*INTEGERS, "bool")], x)


def test_casts_between_integers_keep_the_lower_bits():
    x = np.array([0, 1, -1, 255, 256, -129, 2**31, -(2**63), 2**63 - 1])
    dtypes = ("int8", "uint8", "int16", "uint32", "int32", "uint64", "bool", "float32")
    assert_equal(lambda x: [F.cast(x, to) for to in dtypes], x)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_wrap_and_are_divided_downwards(dtype):
    limits = np.iinfo(dtype)
    x = np.array([limits.min, limits.max, 7, limits.max // 2, 5], dtype)
    y = np.array([3, 2, 2, 3, 7], dtype)

    def function(x, y):
        joined = [x + y, x * y, x - y, x // y, x % y, F.maximum(x, y), F.less_than(x, y)]
        return [*joined, F.pow(x, y), F.where(x > y, x, y), F.abs(x), F.sum(x, 0), x.argmax(0)]

    assert_equal(function, x, y)


def test_negative_integers_are_divided_downwards():
    x, y = np.meshgrid(np.array([7, -7, 0, 1, -1]), np.array([2, -2, 3, -1]))
    assert_equal(lambda x, y: [x // y, x % y, x / y], x, y)


@pytest.mark.parametrize("name", ["floor_divide", "remainder"])
def test_an_integer_that_is_divided_by_zero_fails(name):
    fails(lambda x, y: apply(name, x, y), np.array([7, -7, 0]), np.array([2, 0, 1]))


def test_a_negative_power_of_an_integer_fails():
    fails(lambda x, y: F.pow(x, y), np.array([7, 2]), np.array([2, -1]))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_floats_are_divided_as_numpy_divides_them(dtype):
    numbers = np.array([0.0, 1, -1, 2.5, -2.5, 7, NAN]).astype(dtype)
    x, y = np.meshgrid(numbers, numbers)
    assert_equal(lambda x, y: [x // y, F.remainder(x, y), x / y], x, y)


@pytest.mark.skipif(IS_OLD, reason="onnxruntime before 1.24 puts NaN elsewhere")
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
def test_nan_is_the_largest_and_wins(dtype):
    x = np.array([[1, NAN, 3, NAN], [INF, 2, 2, -INF], [0, 0, NAN, 1]]).astype(dtype)
    y = x[::-1].copy()

    def function(x, y):
        whole = [x.max(1), x.min(1), x.argmax(1), x.argmin(1), x.argsort(1), x.argsort(1, True)]
        return [*whole, F.maximum(x, y), F.minimum(x, y), F.relu(x), x > y, F.sign(x), F.isnan(x)]

    assert_equal(function, x, y)


def test_running_extremes_keep_nan_and_say_the_last_place():
    x = np.array([1.0, 3.0, 3.0, NAN, 5.0, 2.0])
    assert_equal(lambda x: [*ops.cummax(x), *ops.cummin(x)], x)


def test_of_equal_elements_the_first_stays_the_first():
    x = np.array([2, 1, 2, 1, 2, 1])
    assert_equal(lambda x: [x.argsort(), x.argsort(descending=True), x.argmax(), x.argmin()], x)


def test_of_nothing_the_mean_is_nan_and_the_sum_is_none():
    x = np.zeros((0, 3), "float32")

    def function(x):
        return [x.mean(0), x.sum(0), x.prod(0), F.any(x, 0), F.all(x, 0)]

    assert_equal(function, x, sizes=[("n", 3)])


def test_a_position_outside_fails():
    fails(lambda x, i: x[i], np.array([1.0, 2.0]), np.array([2]))
    fails(lambda x, i: F.one_hot(i, 2) + x, np.array([1.0, 2.0]), np.array([2]))


def test_near_zero_no_digits_are_lost():
    x = np.array([1e-12, -1e-12, 1e-5, -1e-5, 0.5, -0.5, 20, 90, -90]).astype("float32")
    assert_equal(lambda x: [F.expm1(x), F.log1p(F.abs(x))], x, tolerance=3e-6)


def test_the_angle_of_a_point_is_in_its_quadrant():
    numbers = np.array([0.0, -0.0, 1, -1, 2.5, INF, -INF, NAN], "float32")
    x, y = np.meshgrid(numbers, numbers)
    assert_equal(lambda x, y: ops.atan2(x, y), x, y, tolerance=1e-6)


def test_slices_of_unknown_sizes_are_those_of_python():
    n = symbol("n")

    def function(x):
        size = x.shape[0]
        parts = [x[::-1], x[1:], x[:-1], x[size // 2 :], x[::-2], x[-3:], F.flip(x, [0])]
        return [*parts, F.roll(x, 2, 0), x[size - 1]]

    for count in (1, 2, 5):
        assert_equal(function, np.arange(count), sizes=[(n,)])


def test_writing_into_parts_leaves_the_rest():
    def function(x, v):
        y, z, w = x.clone(), x.clone(), x.clone()
        y[1:3, ::2] = v
        z[-1] = 0.0
        w[:, 1] = w[:, 0] * 2
        return y, z, w

    x, v = np.arange(20.0).reshape(4, 5), np.ones((2, 3)) * -1
    assert_equal(function, x, v)
    assert_equal(function, x, v, sizes=[("n", 5), (2, 3)])
