"""What has no gradient is said in one error: of eager code, and of a converted function's calls."""

from __future__ import annotations

import numpy as np
import pytest

import dy2st
from dy2st import nn, to_static
from dy2st.errors import ArgumentError
from dy2st.static import InputSpec, gradients


def twice(function):
    """Converted; the second call is compiled for training."""
    static = to_static(function)

    def call(*inputs):
        static(*inputs)
        return static(*inputs)

    return call


WAYS = pytest.mark.parametrize("way", [lambda f: f, to_static, twice])


def leaf():
    return dy2st.to_tensor([1.0, 2.0], stop_gradient=False)


@WAYS
@pytest.mark.parametrize(
    "loss",
    [
        lambda x: (x * 2).astype("int64").sum(),
        lambda x: (x > 0).any(),
        lambda x: dy2st.argmax(x),
    ],
)
def test_a_loss_that_is_no_float_is_named_by_its_dtype(way, loss):
    with pytest.raises(ArgumentError, match="of dtype (int64|bool), which has no gradient"):
        way(loss)(leaf()).backward()


def test_so_is_one_inside_of_a_converted_function():
    @to_static
    def step(x):
        loss = (x * 2).astype("int64").sum()
        loss.backward()
        return loss

    with pytest.raises(ArgumentError, match="of dtype int64, which has no gradient"):
        step(leaf())


@WAYS
def test_an_operator_without_a_gradient_ends_it(way):
    y = way(lambda x: dy2st.bitwise_not(x.astype("int32")).astype("float32").sum())(leaf())
    assert y.stop_gradient
    with pytest.raises(ArgumentError, match="stop_gradient=True"):
        y.backward()


@WAYS
def test_an_input_that_is_no_float_is_named_by_its_dtype(way):
    x = dy2st.to_tensor([1, 2], stop_gradient=False)
    y = way(lambda x, w: (x * w).sum())(x, leaf())
    with pytest.raises(ArgumentError, match="an input of dtype int64 has no gradient: cast"):
        dy2st.grad(y, x)


@WAYS
def test_an_input_off_the_path_is_refused_or_none(way):
    y, other = way(lambda x: (x * 2).sum())(leaf()), leaf()
    with pytest.raises(ArgumentError, match="has no part in the outputs"):
        dy2st.grad(y, other, retain_graph=True)
    assert dy2st.grad(y, other, allow_unused=True) == [None]


@WAYS
@pytest.mark.parametrize(
    ("start", "message"),
    [("a", "is a tensor, not 'a'"), (2.0, "is a tensor"), ([1.0, 1.0], "is a tensor")],
)
def test_a_gradient_to_start_with_is_a_tensor(way, start, message):
    with pytest.raises(ArgumentError, match=message):
        way(lambda x: x * 2)(leaf()).backward(start)


@WAYS
def test_a_parameter_replaced_before_the_backward_keeps_the_gradient_of_its_call(way):
    net = nn.Linear(2, 1)
    old, x = net.weight, dy2st.to_tensor([[1.0, 2.0]])
    y = way(lambda x: (net(x) * 3).sum())(x)
    net.weight = dy2st.create_parameter([2, 1], "float32")
    y.backward()
    np.testing.assert_allclose(old.grad.numpy(), [[3.0], [6.0]])
    assert net.weight.grad is None


def test_gradients_of_no_target_are_refused():
    with pytest.raises(ArgumentError, match="there is no target"):
        gradients([], [])


def test_values_of_two_programs_are_not_mixed():
    specs = [InputSpec([2], "float32", "x")]
    one, other = (to_static(lambda x: x * 2, input_spec=specs).main_program for _ in range(2))
    with pytest.raises(ArgumentError, match="the input is a value of"):
        gradients(one.outputs, other.inputs)
