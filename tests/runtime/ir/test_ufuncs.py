"""NumPy's and SciPy's ufuncs on tensors are the functions of dy2st, with their gradients."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.special

import dy2st
from dy2st import to_tensor
from dy2st.errors import ArgumentError, TensorAsPython
from dy2st.jit import to_static
from dy2st_runtime.ir.ufuncs import NAMES
from dy2st_runtime.tensor import EagerTensor

HALVES, MORE = np.array([0.25, 0.5, 0.75]), np.array([0.5, 0.25, 0.75])
INTEGERS = np.array([6, 3, 2]), np.array([4, 1, 2])
OF_INTEGERS = ("bitwise", "shift", "invert", "gcd", "lcm")


def ufunc_of(name):
    found = getattr(np, name, None)
    return found if isinstance(found, np.ufunc) else getattr(scipy.special, name)


def given_to(ufunc):
    arrays = INTEGERS if any(word in ufunc.__name__ for word in OF_INTEGERS) else (HALVES, MORE)
    if ufunc.__name__ == "ldexp":
        arrays = HALVES, INTEGERS[1]
    if ufunc.__name__ == "arccosh":
        arrays = (HALVES + 1,)
    return arrays[: ufunc.nin]


@pytest.mark.parametrize("name", sorted(NAMES))
def test_values_are_those_of_numpy(name):
    ufunc = ufunc_of(name)
    arrays = given_to(ufunc)
    wanted = ufunc(*arrays)
    found = ufunc(*map(to_tensor, arrays))
    static = to_static(lambda *tensors: ufunc(*tensors))(*map(to_tensor, arrays))
    for made in (found, static):
        pairs = zip(made, wanted) if isinstance(wanted, tuple) else [(made, wanted)]
        for have, want in pairs:
            assert isinstance(have, EagerTensor)
            np.testing.assert_allclose(have.numpy(), want, rtol=1e-6)


def test_gradients_flow_through_a_ufunc():
    x = to_tensor([0.5, 2.0], stop_gradient=False)
    np.multiply(np.array([3.0, 4.0], "float32"), np.exp(x)).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), [3 * np.exp(0.5), 4 * np.exp(2.0)], rtol=1e-6)


@pytest.mark.parametrize(
    "write",
    [
        lambda a, t: a + t,
        lambda a, t: a - t,
        lambda a, t: a * t,
        lambda a, t: a / t,
        lambda a, t: a // t,
        lambda a, t: a % t,
        lambda a, t: a**t,
        lambda a, t: a @ t,
        lambda a, t: a < t,
        lambda a, t: a >= t,
        lambda a, t: a == t,
        lambda a, t: np.float64(2) * t,
    ],
)
def test_operators_with_an_array_on_the_left_give_tensors(write):
    a, b = np.array([1.0, 4.0, 9.0]), np.array([2.0, 2.0, 3.0])
    for function in (write, to_static(write)):
        found = function(a, to_tensor(b))
        assert isinstance(found, EagerTensor)
        np.testing.assert_allclose(found.numpy(), write(a, b))


def test_an_array_is_changed_in_place_by_a_tensor():
    array = np.ones(2)
    array += to_tensor([1.0, 2.0])
    np.add(array, to_tensor([1.0, 1.0]), out=array)
    assert array.tolist() == [3.0, 4.0]


@pytest.mark.parametrize(
    "write",
    [
        lambda t: np.add.reduce(t, axis=1),
        lambda t: np.add.reduce(t),
        lambda t: np.maximum.reduce(t, axis=None),
        lambda t: np.multiply.reduce(t, axis=1, keepdims=True),
        lambda t: np.add.accumulate(t, axis=1),
        lambda t: np.multiply.accumulate(t),
        lambda t: np.logical_or.reduce(t > 3, axis=0),
        lambda t: np.divmod(t, 2)[1],
        lambda t: np.exp(t, dtype="float64"),
        lambda t: np.sqrt(t, where=True, casting="same_kind"),
    ],
)
def test_reductions_and_options_are_numpys(write):
    array = np.array([[1.0, 2.0], [3.0, 4.0]], "float32")
    for function in (write, to_static(write)):
        found = function(to_tensor(array))
        assert found.dtype == np.asarray(write(array)).dtype
        np.testing.assert_allclose(found.numpy(), write(array), rtol=1e-6)


def test_a_dtype_is_that_in_which_numpy_computes():
    array = np.array([0.1, 0.7], "float32")
    for function in (np.exp, np.sqrt):
        found = function(to_tensor(array), dtype="float64")
        np.testing.assert_allclose(found.numpy(), function(array, dtype="float64"), rtol=1e-15)
    assert np.exp(to_tensor(array), signature="d->d").dtype == np.float64


def test_what_dy2st_has_no_function_of_numpy_computes():
    x = to_tensor([1.0, 8.0])
    assert isinstance(np.cbrt(x), EagerTensor) and np.cbrt(x).numpy().tolist() == [1.0, 2.0]
    fraction, whole = np.modf(to_tensor([1.5]))
    assert (float(fraction), float(whole)) == (0.5, 1.0)
    assert np.add.outer(x, x).shape == [2, 2]


def test_what_would_lose_the_gradient_is_refused():
    x = to_tensor([1.0, 8.0], stop_gradient=False)
    with pytest.raises(ArgumentError, match=r"np.cbrt\(x.detach\(\)\)"):
        np.cbrt(x)
    assert np.cbrt(x.detach()).numpy().tolist() == [1.0, 2.0]


@pytest.mark.parametrize("write", [np.cbrt, lambda x: np.add(x, 1, out=np.ones(2, "float32"))])
def test_in_a_program_what_has_no_function_is_refused(write):
    with pytest.raises(TensorAsPython, match="use dy2st"):
        to_static(write if not isinstance(write, np.ufunc) else lambda x: write(x))(dy2st.ones([2]))


def test_of_numbers_of_a_program_numpy_gives_its_floats():
    def scaled(x):
        return x * np.sqrt(x.shape[0]), np.maximum(x.shape[0], 5)

    static = to_static(scaled, input_spec=[dy2st.static.InputSpec([None], "float32")])
    for size in (4, 9):
        x = dy2st.ones([size])
        for have, want in zip(static(x), scaled(x)):
            np.testing.assert_allclose(np.asarray(have), np.asarray(want))
