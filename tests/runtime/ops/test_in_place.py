"""In-place forms: what the tensor becomes, who sees it, and how gradients flow."""

from __future__ import annotations

import numpy as np
import pytest

import dy2st
from dy2st.nn import functional
from dy2st.static import InputSpec
from dy2st_runtime.errors import ConversionError, ShapeError
from dy2st_runtime.ops.lazy import ALIASES, IN_PLACE, IN_PLACE_RESHAPING

SIMPLE = "abs ceil cos exp floor log1p neg reciprocal relu round rsqrt sigmoid sin sqrt square tanh"


@pytest.mark.parametrize("name", SIMPLE.split())
def test_a_tensor_becomes_the_result_under_all_its_names(name):
    x = dy2st.to_tensor([0.25, 1.5])
    wanted, other = getattr(dy2st, name, None) or getattr(functional, name), x
    expected = wanted(x).numpy()
    assert getattr(x, f"{name}_")() is x
    np.testing.assert_array_equal(other.numpy(), expected)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda x: x.add_(dy2st.ones([2]), alpha=3), [4.0, 5.0]),
        (lambda x: x.sub_(1.0), [0.0, 1.0]),
        (lambda x: dy2st.multiply_(x, x), [1.0, 4.0]),
        (lambda x: dy2st.reshape_(x, shape=[2, 1]), [[1.0], [2.0]]),
        (lambda x: dy2st.reshape_(x=x, shape=[1, 2]), [[1.0, 2.0]]),
        (lambda x: x.unsqueeze_(0).squeeze_(), [1.0, 2.0]),
        (lambda x: x.cast_("int64"), [1, 2]),
        (lambda x: x.equal_(dy2st.ones([2])), [True, False]),
        (lambda x: dy2st.where_(x > 1, x, 5.0), [5.0, 2.0]),
        (lambda x: functional.softmax_(x.zero_()), [0.5, 0.5]),
        (lambda x: x.fill_(7), [7.0, 7.0]),
        (lambda x: x.copy_(dy2st.to_tensor([3, 4])), [3.0, 4.0]),
        (lambda x: x.clamp_(1.5), [1.5, 2.0]),
        (lambda x: x.set_(dy2st.ones([3])), [1.0, 1.0, 1.0]),
    ],
)
def test_calls_change_the_tensor_that_they_are_given(call, expected):
    x = dy2st.to_tensor([1.0, 2.0])
    assert call(x) is x
    assert x.tolist() == expected


def test_every_name_is_a_function_and_a_method():
    for name in f"{IN_PLACE} {IN_PLACE_RESHAPING} where".split():
        assert callable(getattr(dy2st, f"{name}_")) and hasattr(dy2st.Tensor, f"{name}_")
    for alias, name in ALIASES.items():
        assert getattr(dy2st, alias) is getattr(dy2st, name)


@pytest.mark.parametrize("name", ["uniform_", "normal_", "exponential_", "cauchy_", "log_normal_"])
def test_random_numbers_replace_all_elements_and_keep_the_type(name):
    x = dy2st.full([50], 1e6, "float64")
    getattr(x, name)()
    assert x.dtype == dy2st.float64 and x.shape == [50]
    assert len(np.unique(x.numpy())) == 50


def test_a_result_of_another_shape_is_refused():
    x = dy2st.ones([2])
    with pytest.raises(ShapeError, match="add_"):
        x.add_(dy2st.ones([3, 2]))
    assert x.tolist() == [1.0, 1.0]


def test_gradients_see_the_values_of_their_moment():
    x = dy2st.to_tensor([1.0, 2.0], stop_gradient=False)
    y = x * 2
    before = y * y
    y.exp_()
    (before + y).sum().backward()
    # d/dx of 4x**2 + exp(2x)
    np.testing.assert_allclose(x.grad.numpy(), 8 * x.numpy() + 2 * np.exp(2 * x.numpy()), 1e-6)


def test_a_leaf_that_needs_gradients_is_refused_but_under_no_grad():
    x = dy2st.to_tensor([1.0], stop_gradient=False)
    with pytest.raises(RuntimeError, match="leaf"):
        x.add_(1.0)
    with dy2st.no_grad():
        x.add_(1.0)
    assert x.tolist() == [2.0] and x.is_leaf and not x.stop_gradient


def test_under_no_grad_gradients_flow_on_to_what_was_before():
    x = dy2st.to_tensor([1.0], stop_gradient=False)
    y = x * 2
    with dy2st.no_grad():
        y.multiply_(3.0)
    (y * y).sum().backward()
    assert x.grad.tolist() == [24.0]  # 2 * y, y being 6, times 2


def test_zeroing_lets_gradients_of_zero_through():
    x = dy2st.to_tensor([1.0], stop_gradient=False)
    y = x * 2
    (y.zero_() + 1).sum().backward()
    assert x.grad.tolist() == [0.0]


def changes(x):
    y = x * 2
    z = y
    y.add_(x)
    if x.sum() > 0:
        y.multiply_(3.0)
    else:
        functional.relu_(y)
    for _ in range(3):
        z.sub_(1.0)
    i = 0
    while i < x.shape[0]:
        z.add_(x[i])
        i += 1
    return z, y


@pytest.mark.parametrize("data", [[1.0, 2.0], [-1.0, -2.0, 4.0], [-1.0, -5.0]])
def test_a_program_changes_what_python_changes(data):
    converted = dy2st.to_static(changes, input_spec=[InputSpec([None])])
    x = dy2st.to_tensor(data)
    for got, wanted in zip(converted(x), changes(x), strict=True):
        np.testing.assert_array_equal(got.numpy(), wanted.numpy())


def test_a_program_knows_the_new_shape():
    def function(x):
        y = x * 2
        y.reshape_([-1, 2]).unsqueeze_(0)
        return y * y.shape[1], y.ndim

    converted = dy2st.to_static(function, input_spec=[InputSpec([None])])
    got, rank = converted(dy2st.ones([6]))
    assert rank == 3 and got.tolist() == (np.full((1, 3, 2), 6.0)).tolist()


class Running(dy2st.nn.Layer):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", dy2st.zeros([2]))

    def forward(self, x):
        self.mean.multiply_(0.9).add_(x.mean())
        return x * self.mean


def test_buffers_are_changed_by_every_call():
    eager, converted = Running(), dy2st.to_static(Running())
    for _ in range(3):
        wanted, got = eager(dy2st.ones([2])), converted(dy2st.ones([2]))
        np.testing.assert_array_equal(got.numpy(), wanted.numpy())
    np.testing.assert_array_equal(converted.mean.numpy(), eager.mean.numpy())


def test_a_buffer_of_another_shape_is_refused_in_words():
    class Reshaped(Running):
        def forward(self, x):
            self.mean.reshape_([2, 1])
            return x

    with pytest.raises(ConversionError, match="keeps its dtype and shape"):
        dy2st.to_static(Reshaped())(dy2st.ones([2]))


def through_a_helper(x):
    def add(y):
        y.add_(1.0)
        return y

    y = x * 1
    add(y)
    z = add(y)
    return y, z


def in_a_list(x):
    tensors = [x * 1, x * 2]
    for tensor in tensors:
        tensor.add_(x)
    tensors[0].multiply_(tensors[1])
    return tensors


def in_a_dict_in_a_branch(x):
    found = {"a": x * 1}
    if x.sum() > 0:
        found["a"].add_(5.0)
    return found["a"]


def until_it_is_large(x):
    y = x * 1
    while y.sum() < 10:
        y.add_(1.0)
        y.multiply_(2.0)
    return y


def beside_a_part(x):
    y = x * 1
    part = y[0:1]
    y.add_(1.0)
    return part, y


def in_branches_of_a_loop(x):
    y = x * 1
    for i in range(x.shape[0]):
        if x[i] > 0:
            y.add_(x[i])
        else:
            y.scale_(2.0, 1.0)
    return y


def until_a_break(x):
    y = x * 0
    for _ in range(3):
        y.add_(x)
        if y.sum() > 4:
            break
    return y


def by_a_closure(x):
    y = x * 1

    def change():
        y.subtract_(1.0)

    change()
    if x.sum() > 0:
        change()
    return y


def to_another_dtype(x):
    y = x * 1
    y.cast_("int64")
    y.add_(1)
    return y, y.dtype == dy2st.int64


def one_after_the_other(x):
    y = x * 1
    y.zero_()
    y.fill_(3.0)
    y[0] = 1.0
    y.scale_(2.0, 1.0)
    return y.clip_(0, 5)


PROGRAMS = [
    through_a_helper, in_a_list, in_a_dict_in_a_branch, until_it_is_large, beside_a_part,
    in_branches_of_a_loop, until_a_break, by_a_closure, to_another_dtype, one_after_the_other,
]  # fmt: skip


def numbers(value):
    if isinstance(value, (list, tuple)):
        return [numbers(entry) for entry in value]
    return value.tolist() if isinstance(value, dy2st.Tensor) else value


@pytest.mark.parametrize("function", PROGRAMS)
def test_one_program_changes_in_place_wherever_python_does(function):
    program = dy2st.to_static(function, input_spec=[InputSpec([None])])
    for data in ([1.0, 2.0], [-1.0, -3.0, 2.0]):
        x = dy2st.to_tensor(data)
        assert numbers(program(x)) == numbers(function(x))


def test_what_a_program_cannot_change_is_refused_in_words():
    def under_no_grad(x):
        y = x * 2
        with dy2st.no_grad():
            y.add_(1.0)
        return y

    x = dy2st.to_tensor([1.0], stop_gradient=False)
    with pytest.raises(ConversionError, match="no_grad"):
        dy2st.to_static(under_no_grad)(x)


CHANGES = {
    "an element": lambda x: x.__setitem__(1, x.max()),
    "all": lambda x: x.fill_(2.0),
    "a sum": lambda x: x.add_(dy2st.ones([2])),
    "a value": lambda x: x.set_value(dy2st.ones([2])),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_stopped_tensor_stays_stopped_where_nothing_open_is_put_in(change):
    def f(x):
        y = x * 2
        y.stop_gradient = True
        change(y)
        return y, y.stop_gradient

    for run in (f, dy2st.jit.to_static(f)):
        y, is_stopped = run(dy2st.to_tensor([1.0, 2.0], stop_gradient=False))
        assert y.stop_gradient and is_stopped


def test_a_stopped_tensor_is_open_once_something_open_is_put_in():
    x = dy2st.to_tensor([1.0, 2.0], stop_gradient=False)
    y = x * 2
    y.stop_gradient = True
    y[1] = x[0] * 3
    y.sum().backward()
    assert not y.stop_gradient and x.grad.tolist() == [3.0, 0.0]
