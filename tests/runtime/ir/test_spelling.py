"""Calls in the other spellings that PaddlePaddle takes."""

import inspect

import numpy as np
import pytest

import dy2st
import dy2st.nn.functional as F
from dy2st.errors import ArgumentError
from dy2st.static import InputSpec

X = np.arange(6.0).reshape(2, 3)


def x():
    return dy2st.to_tensor(X)


SPELLINGS = {
    "an axis is a dim": (
        lambda: dy2st.sum(input=x(), dim=1, keepdim=True),
        X.sum(1, keepdims=True),
    ),
    "a method's too": (lambda: x().max(dim=0), X.max(0)),
    "the other operand": (lambda: dy2st.add(input=x(), other=x()), X + X),
    "an exponent": (lambda: dy2st.pow(x(), exponent=2), X**2),
    "tensors": (lambda: dy2st.concat(tensors=[x(), x()], dim=1), np.concatenate([X, X], 1)),
    "ends of axes": (lambda: dy2st.flatten(x(), start_dim=0, end_dim=1), X.ravel()),
    "a size": (lambda: dy2st.zeros(size=[2]), np.zeros(2)),
    "a dim of softmax": (lambda: F.softmax(input=x(), dim=0).sum(dim=0), np.ones(3)),
    "sizes apart": (lambda: x().reshape(3, -1), X.reshape(3, 2)),
    "sizes of zeros": (lambda: dy2st.zeros(2, 3), np.zeros((2, 3))),
    "sizes of ones and a dtype": (lambda: dy2st.ones(2, 3, dtype="int64"), np.ones((2, 3))),
    "one size": (lambda: x().reshape(-1), X.ravel()),
    "two axes to exchange": (lambda: x().transpose(0, 1), X.T),
    "axes by name": (lambda: dy2st.transpose(x(), dim0=0, dim1=1), X.T),
}


@pytest.mark.parametrize("name", SPELLINGS)
def test_a_call_may_be_spelt_in_other_words(name):
    call, wanted = SPELLINGS[name]
    np.testing.assert_allclose(np.asarray(call()), wanted)


def test_an_argument_that_is_given_twice_is_refused():
    with pytest.raises(TypeError, match="'axis' twice, also as 'dim'"):
        dy2st.sum(x(), axis=0, dim=1)


def test_an_order_of_axes_is_a_list():
    with pytest.raises(ArgumentError, match=r"transpose\(x, \[0, 2, 1\]\)"):
        x().reshape(1, 2, 3).transpose(0, 2, 1)


def test_an_argument_that_nobody_knows_is_refused():
    with pytest.raises(TypeError, match="sum.*unexpected keyword argument 'axle'"):
        dy2st.sum(x(), axle=0)


def test_a_result_goes_into_out():
    out = dy2st.zeros([2, 3])
    assert dy2st.exp(x(), out=out) is out
    np.testing.assert_allclose(np.asarray(out), np.exp(X), rtol=1e-6)
    with pytest.raises(ArgumentError, match="several tensors"):
        dy2st.topk(x(), 1, out=out)


def test_a_result_goes_into_out_in_a_converted_function():
    def function(x):
        y = dy2st.zeros([2, 3], "float64")
        dy2st.add(x, 1.0, out=y)
        return y * 2

    static = dy2st.to_static(function, [InputSpec([2, 3], "float64")])
    np.testing.assert_allclose(static(x()).numpy(), (X + 1) * 2)


def test_new_tensors_may_require_gradients_and_name_a_device():
    made = dy2st.ones([2], device="cpu", requires_grad=True, pin_memory=False)
    assert not made.stop_gradient
    assert dy2st.zeros_like(made).stop_gradient


def test_a_converted_function_takes_other_spellings():
    def function(x):
        return x.reshape(x.shape[0], -1).sum(dim=1).reshape(-1, 1)

    static = dy2st.to_static(function, [InputSpec([None, 3], "float64")])
    np.testing.assert_allclose(static(x()).numpy(), X.sum(1, keepdims=True))


def test_help_shows_the_one_spelling_of_the_function():
    assert list(inspect.signature(dy2st.argmax).parameters)[:2] == ["x", "axis"]


def test_a_gradient_of_many_elements_is_that_of_their_sum():
    leaf = dy2st.to_tensor(X, stop_gradient=False)
    (leaf * leaf).backward()
    np.testing.assert_allclose(leaf.grad.numpy(), 2 * X)
    (found,) = dy2st.grad(leaf * 3, leaf)
    np.testing.assert_allclose(found.numpy(), np.full((2, 3), 3.0))


@pytest.mark.parametrize("given", [[1.0, 2.0], (1, 2), 3.0])
def test_what_is_no_tensor_is_told_how_to_become_one(given):
    with pytest.raises(TypeError, match=r"dy2st.to_tensor\(...\) makes a tensor of it"):
        F.softmax(given)


def test_an_attribute_that_something_else_lacks_is_no_matter_of_arguments():
    class Odd:
        pass

    with pytest.raises(AttributeError, match="Odd"):
        F.softmax(Odd())
