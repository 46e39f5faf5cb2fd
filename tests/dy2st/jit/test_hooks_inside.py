"""Hooks that a converted function registers are called after each call, as in Python."""

from __future__ import annotations

import numpy as np
import pytest

import dy2st
from dy2st import nn
from dy2st.errors import ArgumentError, TensorAsPython
from dy2st.jit import to_static
from dy2st.static import InputSpec

SEEN: list[np.ndarray] = []


def numbers(*shape):
    return np.random.default_rng(sum(shape)).standard_normal(shape)


def scaled_by_a_constant(x, factor):
    y = x * 2
    before = y.exp()
    y.register_hook(lambda g: g * factor)
    return before * y


def called_in_order(x, factor):
    y = x * 2
    y.register_hook(lambda g: g + 1)
    y.register_hook(lambda g: g * 3)
    y.register_hook(lambda g: None)
    return y * y


def removed_at_once(x, factor):
    y = x * 2
    handle = y.register_hook(lambda g: g * 100)
    assert handle.remove() and not handle.remove()
    return y * y


def on_one_of_several_results(x, factor):
    a, b, c = dy2st.split(x.exp(), 3, axis=1)
    b.register_hook(lambda g: g.clip(-1.0, 1.0))
    return a * b + c


def in_the_branch_that_is_taken(x, factor):
    if x.sum() > 0:
        y = x * 2
        y.register_hook(lambda g: g * 5)
    else:
        y = x * 3
    return y * y


def on_a_changed_tensor(x, factor):
    y = x * 2
    y[0] = 1.0
    y.register_hook(lambda g: g * factor)
    return y * y


def on_the_way_of_a_gradient_inside(x, factor):
    y = x * 2
    z = y.tanh()
    y.register_hook(lambda g: g * g)
    slopes = dy2st.grad(z.sum(), [x, y], create_graph=True)
    return slopes[0] * slopes[1] * z


def noting(g):
    SEEN.append(g.numpy())


def noted(x, factor):
    y = x * 2
    y.register_hook(noting)
    return y * y


def trained(function, rows):
    SEEN.clear()
    x = dy2st.to_tensor(numbers(rows, 3), stop_gradient=False)
    y = function(x, 0.5)
    (y * y).sum().backward()
    return [y.numpy(), x.grad.numpy(), *SEEN]


@pytest.mark.parametrize(
    "function",
    [
        scaled_by_a_constant,
        called_in_order,
        removed_at_once,
        on_one_of_several_results,
        in_the_branch_that_is_taken,
        on_a_changed_tensor,
        on_the_way_of_a_gradient_inside,
        noted,
    ],
    ids=lambda function: function.__name__,
)
def test_hooks_see_and_change_the_gradients_of_every_call(function):
    converted = to_static(function, input_spec=[InputSpec([None, 3], "float64"), 0.5])
    for rows in (2, 3, 4):
        found, expected = trained(converted, rows), trained(function, rows)
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-10)
    assert len(converted.program_cache) == 1


@pytest.mark.parametrize("function", [scaled_by_a_constant, called_in_order, noted])
def test_passes_leave_hooks_alone(function):
    converted = to_static(function, build_strategy=dy2st.static.BuildStrategy())
    for one, other in zip(trained(converted, 3), trained(function, 3), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-10)


class Explained(nn.Layer):
    """Keeps the gradient of its features, as for a map of what it looks at."""

    def __init__(self):
        super().__init__()
        self.features, self.head = nn.Conv2D(1, 2, 3), nn.Linear(2, 3)
        self.kept = []

    def keep(self, gradient):
        self.kept.append(gradient)

    def forward(self, x):
        h = self.features(x).tanh()
        h.register_hook(self.keep)
        return self.head(h.mean(axis=[2, 3]))


def test_a_layer_keeps_the_gradient_of_its_features():
    net, x = Explained(), dy2st.to_tensor(numbers(2, 1, 5, 5).astype("float32"))
    for call in (net.forward, to_static(net.forward)):
        call(x)[:, 1].sum().backward()
    one, other = net.kept
    np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-6)


def test_the_gradient_of_a_saved_program_with_a_hook_is_refused(tmp_path):
    spec = [InputSpec([None, 3], "float64", "x"), 0.5]
    dy2st.jit.save(to_static(noted, input_spec=spec), tmp_path / "hooked")
    x = dy2st.to_tensor(numbers(2, 3), stop_gradient=False)
    y = dy2st.jit.load(tmp_path / "hooked")(x)
    np.testing.assert_allclose(y.numpy(), 4 * x.numpy() ** 2)
    with pytest.raises(ArgumentError, match="the hook noting"):
        y.sum().backward()


def holding_a_tensor(x):
    y, w = x * 2, x * 3
    y.register_hook(lambda g: g * w)
    return y


def holding_a_list(x):
    y, found = x * 2, []
    y.register_hook(found.append)
    return y, found


class Store:
    """An object that the traced function makes."""

    def put(self, gradient):
        self.gradient = gradient


def holding_an_object(x):
    y = x * 2
    y.register_hook(Store().put)
    return y


def of_a_tensor_from_around(x):
    y = x * 2
    if x.sum() > 0:
        y.register_hook(lambda g: g * 2)
    return y


def of_an_argument(x):
    x.register_hook(lambda g: g * 2)
    return x * 3


WEIGHT = nn.Linear(3, 3, bias_attr=False).weight


def of_a_parameter(x):
    WEIGHT.register_hook(lambda g: g * 2)
    return x.astype("float32") @ WEIGHT


@pytest.mark.parametrize(
    "function",
    [
        *(holding_a_tensor, holding_a_list, holding_an_object, of_a_tensor_from_around),
        *(of_an_argument, of_a_parameter),
    ],
)
def test_hooks_that_depend_on_one_call_are_refused(function):
    with pytest.raises(TensorAsPython) as found:
        to_static(function)(dy2st.to_tensor(numbers(3), stop_gradient=False))
    assert found.value.at is not None
    assert "register the hook outside of the function" in found.value.hint


def test_a_hook_on_a_stopped_tensor_is_refused_as_in_python():
    def f(x):
        y = x.detach() * 2
        y.register_hook(print)
        return y

    for call in (f, to_static(f)):
        with pytest.raises(ArgumentError, match="never runs"):
            call(dy2st.to_tensor(numbers(3), stop_gradient=False))


class Hooked(nn.Layer):
    def __init__(self):
        super().__init__()
        self.inner = nn.ReLU()
        self.inner.register_forward_pre_hook(lambda _, x: x[0] * 2 if x[0].sum() > 0 else None)
        self.inner.register_forward_post_hook(lambda _, x, y: y * 3 if x[0].sum() > 4 else None)

    def forward(self, x):
        return self.inner(x) + 1


def test_hooks_that_give_nothing_on_some_paths_leave_what_is_there():
    layer, converted = Hooked(), to_static(Hooked())
    for value in (1.0, 3.0, -1.0):
        x = dy2st.full([2], value)
        assert converted(x).tolist() == layer(x).tolist()
