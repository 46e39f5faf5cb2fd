"""Running sums and products are those of NumPy, bit by bit; numbers that are known are constants."""

from __future__ import annotations

import numpy as np
import pytest

from dy2st_runtime.engine.native.executable import Executable
from dy2st_runtime.ir import DEFINITIONS, F, apply
from tests.recorded import program_of as traced
from tests.runtime.engine.native.machine_code import native

SHAPES = [(7,), (0,), (1,), (3, 5), (4, 0), (0, 4), (5, 33), (2, 9, 16), (2, 9, 17)]


@pytest.mark.parametrize("dtype", ["float32", "int8", "uint16", "bool"])
@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
@pytest.mark.parametrize("reverse", [False, True])
def test_running_sums_and_products(name, reverse, dtype):
    kernel, rng = DEFINITIONS[name].kernel, np.random.default_rng(0)
    for rank in (1, 2, 3):
        for axis in range(rank):
            given = (dtype, ("a", "b", "c")[:rank])
            executable = native(lambda x: apply(name, x, axis=axis, reverse=reverse), given)
            for shape in SHAPES:
                if len(shape) == rank:
                    x = rng.uniform(-3, 3, shape).astype(dtype)
                    found, want = executable.run([x], [])[0], kernel(x, axis, reverse)
                    assert (found.dtype, found.shape) == (want.dtype, want.shape)
                    assert found.tobytes() == want.tobytes()


@pytest.mark.parametrize("dtype", ["float32", "uint16", "bool"])
@pytest.mark.parametrize("name", ["cummax", "cummin"])
def test_running_extremes_and_where_they_are(name, dtype):
    rng = np.random.default_rng(1)
    numbers = [-np.inf, -1, -0.0, 0, 1, 2, np.inf, np.nan] if dtype[0] == "f" else [0, 1, 2, 3]
    for rank in (1, 2, 3):
        for axis in range(rank):
            executable = native(
                lambda x: apply(name, x, axis=axis), (dtype, ("a", "b", "c")[:rank])
            )
            for shape in SHAPES:
                if len(shape) == rank:
                    x = rng.choice(numbers, shape).astype(dtype)
                    wanted = DEFINITIONS[name].kernel(x, axis)
                    for found, want in zip(executable.run([x], []), wanted, strict=True):
                        assert (found.dtype, found.shape) == (want.dtype, want.shape)
                        assert found.tobytes() == want.tobytes()


def test_a_running_extreme_may_be_asked_for_its_place_alone():
    x = np.array([[1, 3, 3], [2, 0, 5]], np.float32)
    for part, want in ((0, [[1, 3, 3], [2, 2, 5]]), (1, [[0, 1, 2], [0, 0, 2]])):
        executable = native(lambda x: apply("cummax", x, axis=1)[part], ("float32", (2, "n")))
        np.testing.assert_array_equal(executable.run([x], [])[0], want)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_running_logarithms_of_sums_of_powers(dtype):
    rng = np.random.default_rng(2)
    for shape, axis in (((40,), 0), ((3, 17), 0), ((3, 17), 1), ((0, 4), 0), ((2, 5, 9), 1)):
        executable = native(
            lambda x: apply("logcumsumexp", x, axis=axis), (dtype, ("a", "b", "c")[: len(shape)])
        )
        x = (rng.standard_normal(shape) * 30).astype(dtype)
        exact = np.log(np.cumsum(np.exp(x.astype(np.longdouble)), axis))
        near = 1e-5 if dtype == "float32" else 1e-14
        np.testing.assert_allclose(executable.run([x], [])[0], exact, near, near)


def test_running_logarithms_keep_what_is_not_finite():
    x = np.array([[-np.inf, -np.inf, 1e30, np.inf, -np.inf], [-0.0, -np.inf, np.nan, 1, 1]])
    executable = native(lambda x: apply("logcumsumexp", x, axis=1), ("float64", (2, "n")))
    want = [[-np.inf, -np.inf, 1e30, np.inf, np.inf], [-0.0, 0.0, np.nan, np.nan, np.nan]]
    (found,) = executable.run([x], [])
    np.testing.assert_array_equal(found, want)
    assert np.signbit(found[1, :2]).tolist() == [True, False]


def test_zeros_keep_their_sign_and_what_is_no_number_stays():
    x = np.array([-0.0, -0.0, 0.0, np.inf, 1, -np.inf, 2], np.float32)
    found = native(lambda x: F.cumsum(x, 0), ("float32", (7,))).run([x], [])[0]
    assert found[:5].tobytes() == np.cumsum(x[:5]).tobytes()
    assert np.isnan(found[5:]).all()


@pytest.mark.parametrize("number", [0, 1, 7, 1000])
def test_numbers_at_equal_distances_are_known(number):
    executable = native(lambda: F.linspace(-1.0, 2.5, number) * 2)
    np.testing.assert_array_equal(
        executable.run([], [])[0], np.linspace(-1, 2.5, number).astype(np.float32) * 2
    )


@pytest.mark.parametrize("name", ["sum", "mean", "prod", "max", "min", "any", "all"])
@pytest.mark.parametrize("dtype", ["float32", "int8", "bool"])
def test_of_one_element_a_reduction_gives_that(name, dtype):
    kernel = DEFINITIONS[name].kernel
    for axis, keepdim in (((1,), True), ((1,), False), ((), False), ((1, 2), False)):
        executable = native(
            lambda x: apply(name, x, axis=axis, keepdim=keepdim), (dtype, ("n", 1, 1, 3))
        )
        for rows in (0, 1, 6):
            x = np.arange(3 * rows).reshape(rows, 1, 1, 3).astype(dtype)
            found, want = executable.run([x], [])[0], kernel(x, axis=axis, keepdim=keepdim)
            assert (found.dtype, found.shape) == (want.dtype, want.shape)
            np.testing.assert_array_equal(found, want)


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_a_row_of_one_element_is_its_own_largest(name):
    executable = native(lambda x: apply(name, x, axis=1), ("float32", ("n", 1)))
    x = np.array([[1.5], [-np.inf], [np.inf], [np.nan], [-3]], np.float32)
    with np.errstate(invalid="ignore"):
        want = DEFINITIONS[name].kernel(x, axis=1)
    np.testing.assert_array_equal(executable.run([x], [])[0], want)


@pytest.mark.parametrize("name", ["sum", "mean", "prod", "max", "min"])
def test_of_one_element_alone_a_number_is_left(name):
    executable = native(lambda x: apply(name, x, axis=(0, 1), keepdim=False), ("float32", (1, 1)))
    (found,) = executable.run([np.full((1, 1), 2.5, np.float32)], [])
    assert found.shape == ()
    assert found == 2.5


def test_numbers_at_equal_distances_may_be_of_an_unknown_number():
    executable = Executable(traced(lambda x: F.linspace(0, 1, x.shape[0]), ("float32", ("n",))))
    for number in (0, 1, 5):
        found = executable.run([np.zeros(number, np.float32)], [])[0]
        np.testing.assert_array_equal(found, np.linspace(0, 1, number).astype(np.float32))
