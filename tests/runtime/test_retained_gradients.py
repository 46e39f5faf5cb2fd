"""`retain_grads`, leaves that change, and what `grad` says of gradients that depend on nothing."""

import numpy as np
import pytest

import dy2st
from dy2st.errors import ArgumentError


def _leaf(*numbers):
    return dy2st.to_tensor(np.array(numbers, "float32"), stop_gradient=False)


@pytest.mark.parametrize("times", [0, 1, 2])
@pytest.mark.parametrize("is_converted", [False, True])
def test_a_leaf_has_its_gradient_once_however_often_it_is_retained(times, is_converted):
    x = _leaf(1, 2)
    for _ in range(times):
        x.retain_grads()

    def loss(x):
        return (x * 2).sum()

    (dy2st.to_static(loss) if is_converted else loss)(x).backward()
    assert x.grad.tolist() == [2, 2]


@pytest.mark.parametrize("times", [1, 2, 3])
def test_a_result_has_its_gradient_once_however_often_it_is_retained(times):
    x = _leaf(1, 2)
    y = x * 3
    for _ in range(times):
        y.retain_grads()
    (y * 2).sum().backward()
    assert y.grad.tolist() == [2, 2] and x.grad.tolist() == [6, 6]


def test_second_gradients_flow_to_a_leaf_that_has_other_numbers_by_now():
    x = _leaf(2, 3)
    y = (x**3).sum()
    with dy2st.no_grad():
        x.set_value(x * 10)
    (first,) = dy2st.grad(y, [x], create_graph=True)
    first.sum().backward()
    assert first.tolist() == [12, 27] and x.grad.tolist() == [12, 18]


def test_nothing_is_retained_where_no_gradient_is_wanted():
    x = dy2st.to_tensor([1.0])
    x.retain_grads()
    assert x.grad is None


def test_hooks_run_in_the_order_in_which_they_are_given():
    for retained_first, expected in ((True, 2), (False, 20)):
        x = _leaf(1)
        y = x * 3
        if retained_first:
            y.retain_grads()
        y.register_hook(lambda g: g * 10)
        y.retain_grads()
        (y * 2).sum().backward()
        assert (y.grad.item(), x.grad.item()) == (expected, 60)


def test_the_gradient_of_what_a_tensor_has_become_in_place_is_retained():
    x = _leaf(1, 2)
    y = x * 3
    y.retain_grads()
    y.add_(dy2st.ones([2]))
    y.retain_grads()
    (y * y).sum().backward()
    assert y.grad.tolist() == [8, 14] and x.grad.tolist() == [24, 42]


@pytest.mark.parametrize(
    "function", [lambda x: x.sum(), lambda x: (x * 3).sum(), lambda x: (x * dy2st.ones([2])).sum()]
)
def test_gradients_of_linear_functions_can_be_differentiated(function):
    x = _leaf(1, 2)
    (gradient,) = dy2st.grad(function(x), x, create_graph=True)
    assert not gradient.stop_gradient
    (gradient * gradient).sum().backward()
    assert x.grad is None
    (gradient,) = dy2st.grad(function(x), x)
    assert gradient.stop_gradient


def test_a_seed_of_the_users_is_not_changed():
    x, seed = _leaf(1, 2), dy2st.ones([2])
    (gradient,) = dy2st.grad(x, x, seed, create_graph=True)
    assert not gradient.stop_gradient and seed.stop_gradient


@pytest.mark.parametrize("form", [lambda y: y, lambda y: [y], lambda y: (y,), lambda y: {y}])
def test_no_gradient_flows_through_what_is_named(form):
    x = _leaf(1, 2)
    y = x * 3
    assert dy2st.grad((y * x).sum(), x, no_grad_vars=form(y))[0].tolist() == [3, 6]


def test_no_gradient_is_gathered_for_a_leaf_that_is_named():
    x, w = _leaf(1, 2), _leaf(5, 6)
    found = dy2st.grad((w * x).sum(), [x, w], no_grad_vars=[w], allow_unused=True)
    assert found[0].tolist() == [5, 6] and found[1] is None


def test_named_variables_are_refused_while_a_function_is_traced():
    @dy2st.to_static
    def f(x):
        y = x * 3
        return dy2st.grad((y * x).sum(), x, no_grad_vars=[y])[0]

    with pytest.raises(ArgumentError, match=r"use x\.detach\(\)"):
        f(_leaf(1, 2))


def test_an_array_may_be_asked_for_without_waiting():
    assert _leaf(1, 2).numpy(False).tolist() == [1, 2]
