"""erf and gelu in the dtype of their operand: how near they are to SciPy, and at what is special."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
import scipy.special

from dy2st_runtime import to_tensor as tensor
from dy2st_runtime.autograd import grad
from dy2st_runtime.ir import F
from tests.runtime.ops.test_every_operator import numeric_gradient

RANGE = np.concatenate([np.linspace(-7, 7, 200_001), np.geomspace(1e-30, 1, 20_000)])
ERROR = {"float64": 1e-15, "float32": 4e-7, "float16": 3e-4, "bfloat16": 3e-3}


def given(dtype):
    return RANGE.astype(np.dtype(getattr(ml_dtypes, dtype, dtype)))


@pytest.mark.parametrize("dtype", ERROR)
def test_erf_is_as_near_as_its_dtype_allows(dtype):
    x = given(dtype)
    found, wanted = F.erf(tensor(x)).numpy(), scipy.special.erf(x.astype("float64"))
    assert found.dtype == x.dtype
    largest = np.abs(found.astype("float64") - wanted).max()
    assert largest < ERROR[dtype], largest
    assert np.abs(found.astype("float64")).max() == 1


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_the_relative_error_of_erf_is_small_near_zero_too(dtype):
    x = np.geomspace(1e-30, 1, 20_000).astype(dtype)
    found, wanted = F.erf(tensor(x)).numpy(), scipy.special.erf(x.astype("float64"))
    assert np.abs(found / wanted - 1).max() < ERROR[dtype]


@pytest.mark.parametrize("approximate", [False, True])
@pytest.mark.parametrize("dtype", ERROR)
def test_gelu_is_as_near_as_its_dtype_allows(dtype, approximate):
    x = given(dtype)
    wide = x.astype("float64")
    inner = np.sqrt(2 / np.pi) * (wide + 0.044715 * wide**3)
    wanted = wide * (0.5 * (1 + np.tanh(inner)) if approximate else scipy.special.ndtr(wide))
    found = F.gelu(tensor(x), approximate).numpy()
    assert found.dtype == x.dtype
    # Of the largest numbers, 7, the last digit counts.
    largest = np.abs(found.astype("float64") - wanted).max()
    assert largest < 10 * ERROR[dtype], largest


def slopes(y, x):
    return grad([y], [x], create_graph=True)


@pytest.mark.parametrize("approximate", [False, True])
def test_gradients_of_gelu_of_all_orders_are_right(approximate):
    numbers = np.linspace(-3, 3, 13)
    x = tensor(numbers, stop_gradient=False)
    (first,) = slopes(F.gelu(x, approximate).sum(), x)
    (second,) = slopes(first.sum(), x)

    def value(arrays):
        return F.gelu(tensor(arrays[0]), approximate).numpy().sum()

    def slope(arrays):
        y = tensor(arrays[0], stop_gradient=False)
        return slopes(F.gelu(y, approximate).sum(), y)[0].numpy().sum()

    np.testing.assert_allclose(first.numpy(), numeric_gradient(value, [numbers], 0), atol=1e-7)
    np.testing.assert_allclose(second.numpy(), numeric_gradient(slope, [numbers], 0), atol=1e-7)


def test_special_values():
    for dtype in ("float32", "float64"):
        x = np.array([np.inf, -np.inf, np.nan, 0.0, -0.0, 1e30, -1e30], dtype)
        found = F.erf(tensor(x)).numpy()
        np.testing.assert_array_equal(found, np.array([1, -1, np.nan, 0, -0.0, 1, -1], dtype))
        assert np.signbit(found[4]) and not np.signbit(found[3])
