"""`to_tensor` of what a trace knows only as values of the Program: as eager code has it."""

from __future__ import annotations

import numpy as np
import pytest

import dy2st

FORMS = {
    "a tensor": lambda x: dy2st.to_tensor(x),
    "a tensor of another dtype": lambda x: dy2st.to_tensor(x, "int32"),
    "tensors": lambda x: dy2st.to_tensor([x.sum(), x.max()]),
    "tensors and numbers": lambda x: dy2st.to_tensor([x.sum(), 1.0, 2]),
    "nested": lambda x: dy2st.to_tensor([[x[0], 1], [2, x[1]]]),
    "traced numbers": lambda x: dy2st.to_tensor([x.sum().item(), 1]),
    "nested traced numbers": lambda x: dy2st.to_tensor([[x.sum().item(), 1], [2, 3]]),
    "sizes": lambda x: dy2st.to_tensor([x.shape[0]]),
    "a wish": lambda x: dy2st.to_tensor([1.0, x.sum()], dtype="float64"),
}


@pytest.mark.parametrize("rule", ["numpy", "paddle"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
@pytest.mark.parametrize("form", FORMS)
def test_values_and_dtypes_are_those_of_eager_code(form, dtype, rule):
    with dy2st.promotion(rule):
        x = dy2st.to_tensor([1.0, 2.0]).astype(dtype)
        eager, traced = FORMS[form](x), dy2st.to_static(FORMS[form])(x)
    assert traced.dtype == eager.dtype
    np.testing.assert_array_equal(traced.numpy(), eager.numpy())


@pytest.mark.parametrize("form", ["a tensor", "tensors", "nested"])
def test_no_gradient_flows_back_through_the_copy(form):
    def function(x):
        return (FORMS[form](x) * x).sum()

    for called in (function, dy2st.to_static(function)):
        x = dy2st.to_tensor([1.0, 2.0], stop_gradient=False)
        called(x).backward()
        np.testing.assert_array_equal(x.grad.numpy(), np.atleast_2d(FORMS[form](x).numpy()).sum(0))


def test_the_copy_is_a_leaf_that_wants_what_is_said():
    def function(x):
        copy = dy2st.to_tensor(x, stop_gradient=False)
        return copy.stop_gradient, dy2st.to_tensor([x.sum()]).stop_gradient

    x = dy2st.to_tensor([1.0], stop_gradient=False)
    assert dy2st.to_static(function)(x) == function(x) == (False, True)


def test_an_array_that_becomes_a_constant_is_said_with_both_ways_out():
    array = np.ones(4, "float32")
    with pytest.warns(UserWarning, match=r"(?s)4 numbers.*In a Layer .* give to the function as a"):
        dy2st.to_static(lambda x: x + dy2st.to_tensor(array))(dy2st.ones([4]))
