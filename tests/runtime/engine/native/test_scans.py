"""Running sums and products are those of NumPy, bit by bit; numbers that are known are constants."""

from __future__ import annotations

import numpy as np
import pytest

from dy2st_runtime.engine.native.executable import Executable
from dy2st_runtime.ir import DEFINITIONS, F, apply
from tests.runtime.engine.native.running_nests import traced


def native(function, *types):
    """The function as machine code, which asks NumPy nothing."""
    executable = Executable(traced(function, *types))
    assert executable.explain().splitlines()[-1] == "computed by NumPy: nothing"
    return executable


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
