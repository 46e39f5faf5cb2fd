"""grad() in a converted function gives what it gives in Python, through one Program."""

from __future__ import annotations

import numpy as np
import pytest

import dy2st
import dy2st.nn.functional as F
import dy2st_runtime
from dy2st import nn
from dy2st.errors import ArgumentError, ConversionError, ShapeError, TensorAsPython
from dy2st.jit import to_static
from dy2st.paddle.autograd import hessian, jacobian
from dy2st.static import InputSpec


def numbers(*shape):
    return np.random.default_rng(sum(shape)).standard_normal(shape)


def leaf(array, stop_gradient=False):
    return dy2st.to_tensor(array, stop_gradient=stop_gradient)


def shared_weights(x, w):
    h = F.tanh(x @ w)
    y = F.tanh(h @ w) + h
    return dy2st.grad([y, h], [x, w], grad_outputs=[y.detach(), h], create_graph=True)


def several_results(x, w):
    a, b, c = dy2st.split(x @ w, 3, axis=1)
    values, places = dy2st.topk(a * b, 1, axis=0)
    return dy2st.grad([values, b.exp()], [x, w])


def a_piece_in_the_middle(x, w):
    h = x @ w
    y = (h * h).sum() + x.sum()
    return dy2st.grad(y, [h, x], create_graph=True)


def twice(x, w):
    u = F.sigmoid(x @ w).sum(axis=1)
    (slope,) = dy2st.grad(u, x, create_graph=True)
    (bend,) = dy2st.grad(slope, x, create_graph=True)
    return u, slope, bend


def three_times(x, w):
    y = (F.tanh(x) @ w).sum()
    for _ in range(3):
        (y,) = dy2st.grad(y.sum(), x, create_graph=True)
    return y


def a_penalty(x, w):
    middle = (x * 0.5).detach()
    middle.stop_gradient = False
    y = F.tanh(middle @ w).sum()
    (slope,) = dy2st.grad(y, middle, create_graph=True)
    return ((slope.square().sum(axis=1).sqrt() - 1) ** 2).mean() + y


def a_change_in_place(x, w):
    y = x * w[0, 0]
    z = y.exp()
    y[0] = 2.0
    return dy2st.grad(z + y, [x, w])


def without_recording(x, w):
    y = (x @ w).exp()
    with dy2st.no_grad():
        (slope,) = dy2st.grad(y, x, retain_graph=True)
    return slope * y


def integers_and_masks(x, w):
    y = dy2st.where(x > 0, x @ w, x.cast("float32").cast("float64"))
    return dy2st.grad(y[:, [0, 2, 2]].max(axis=1), [x, w])


def attention(x, w):
    q = x @ w
    y = F.softmax(q @ q.transpose([1, 0]) / 3.0, axis=-1) @ x
    return dy2st.grad(F.gelu(y), [x, w], create_graph=True)


def images(x, w):
    picture = x.reshape([-1, 1, 3, 1]) * w[:, 0].reshape([1, 1, 1, 3])
    kernel = w.reshape([1, 1, 3, 3])
    y = F.avg_pool2d(F.conv2d(picture, kernel, padding=1), 3)
    return dy2st.grad(y, [x, w], create_graph=True)


def normed(x, w):
    y = F.layer_norm(x @ w, [3]) * x
    return dy2st.grad(y, [x, w], create_graph=True)


def unrolled(x, w):
    state = dy2st.zeros([3], dtype="float64")
    for i in range(3):
        state = F.tanh(x[:, i].unsqueeze(1) * state + w[i])
    return dy2st.grad(state, [x, w], create_graph=True)


def in_a_branch(x, w):
    h = x @ w
    if x.sum() > 0:
        (slope,) = dy2st.grad(h.tanh() * x, x, create_graph=True)
    else:
        (slope,) = dy2st.grad(h * h, x, create_graph=True)
    return slope


def through_branches(x, w):
    h = x @ w
    if x.sum() > 0:
        y, z = F.tanh(h) * x, w.exp()
    else:
        y, z = h * h, w * w
    return dy2st.grad(y.sum() * z.sum() + (y * x).sum(), [x, w], create_graph=True)


def bends_of_branches(x, w):
    first, second = x.sin(), x * x
    y = first * w[0] if x.sum() > 0 else second * x
    (slope,) = dy2st.grad(y, x, create_graph=True)
    (bend,) = dy2st.grad(slope.sum(), x, create_graph=True)
    (once,) = dy2st.grad(y, x, retain_graph=True)
    return bend, slope, once


def through_branches_in_branches(x, w):
    y = x @ w
    if x.sum() > 0:
        y = y * 2 if x.max() > 1 else y.exp()
    return dy2st.grad((y * x).sum(), [x, w], create_graph=True)


def through_a_loop(x, w):
    y, turns = x, 0
    while turns < x.abs().sum():
        y = (y @ w).tanh() + x
        turns = turns + 1
    return dy2st.grad(y.sum(), [x, w], create_graph=True)


def through_a_list(x, w):
    rows = []
    for row in x:
        if row.sum() > 0:
            rows.append((row * w[0]).exp())
        rows.append(row @ w)
    y = dy2st.stack(rows) * rows[0]
    return dy2st.grad(y.sum(), [x, w])


def in_a_branch_through_a_loop(x, w):
    y = x
    for row in x:
        y = (y + row).tanh() @ w
    slope = x
    if x.sum() > 0:
        (slope,) = dy2st.grad(y.sum(), x, retain_graph=True)
        (again,) = dy2st.grad((y * y).sum(), x)
        slope = slope * again
    return slope


def steps_of_descent(x, w):
    point, steps = x.detach(), 0
    while steps < x.sum().abs() * 2 + 2:
        point = point.detach()
        point.stop_gradient = False
        (slope,) = dy2st.grad(F.tanh(point @ w).square().sum(), point)
        point = point - 0.1 * slope
        steps = steps + 1
    return point * w[0, 0]


def all_slopes(x, w):
    return jacobian(F.tanh(x @ w), x, batch_axis=0)


def slopes_of_a_part(x, w):
    v = w[0] * 2
    return jacobian((w * w).sum(axis=0) * v, v), jacobian(w[1], v)


def all_bends(x, w):
    v = w[1] * 2
    return hessian((F.tanh(v) * v).sum(), v)


FUNCTIONS = [
    shared_weights,
    several_results,
    a_piece_in_the_middle,
    twice,
    three_times,
    a_penalty,
    a_change_in_place,
    without_recording,
    integers_and_masks,
    attention,
    images,
    normed,
    unrolled,
    in_a_branch,
    through_branches,
    bends_of_branches,
    through_branches_in_branches,
    through_a_loop,
    through_a_list,
    in_a_branch_through_a_loop,
    steps_of_descent,
    all_slopes,
    slopes_of_a_part,
    all_bends,
]


def measured(function, size):
    """What a call gives, and the gradients of the sum of the squares of all that."""
    x, w = leaf(numbers(size, 3)), leaf(numbers(3, 3))
    results = function(x, w)
    results = results if isinstance(results, (list, tuple)) else [results]
    flags = [result.stop_gradient for result in results]
    if not all(flags):
        sum((r * r).sum() for r in results if not r.stop_gradient).backward()
    found = [r.numpy() for r in results]
    return flags, found + [np.zeros(1) if t.grad is None else t.grad.numpy() for t in (x, w)]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_one_program_gives_gradients_of_all_orders_for_every_batch(function):
    converted = to_static(
        function, input_spec=[InputSpec([None, 3], "float64"), InputSpec([3, 3], "float64")]
    )
    for size in (2, 3, 4, 5):
        flags, expected = measured(function, size)
        found_flags, found = measured(converted, size)
        assert found_flags == flags
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-10)
    assert len(converted.program_cache) == 1


@pytest.mark.parametrize(
    "function",
    [twice, attention, normed, images, through_branches, bends_of_branches],
    ids=lambda f: f.__name__,
)
def test_a_saved_program_gives_its_gradients(function, tmp_path):
    spec = [InputSpec([None, 3], "float64", "x"), InputSpec([3, 3], "float64", "w")]
    dy2st.jit.save(to_static(function, input_spec=spec), tmp_path / "slopes")
    loaded = dy2st_runtime.load(tmp_path / "slopes")
    for size in (2, 3, 4):
        x, w = numbers(size, 3), numbers(3, 3)
        expected = function(leaf(x), leaf(w))
        found = loaded(dy2st.to_tensor(x), dy2st.to_tensor(w))
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-10, atol=1e-10)


def test_gradients_are_quotients_of_differences():
    @to_static
    def f(x):
        y = (x.sin() * x).sum()
        return y, dy2st.grad(y, x)[0]

    x, step = numbers(4), 1e-6
    _, slope = f(leaf(x))
    for place in range(4):
        change = np.eye(4)[place] * step
        more, less = f(leaf(x + change))[0], f(leaf(x - change))[0]
        assert abs((more - less).item() / (2 * step) - slope[place].item()) < 1e-8


def test_parameters_and_buffers_are_inputs_too():
    class Model(nn.Layer):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(3, 2)
            self.register_buffer("scale", dy2st.to_tensor([1.0, 2.0], stop_gradient=False))

        def forward(self, x):
            y = (self.linear(x) * self.scale).exp().sum()
            return dy2st.grad(y, [*self.linear.parameters(), self.scale])

    model = Model()
    x = dy2st.to_tensor(numbers(4, 3).astype("float32"))
    for one, other in zip(to_static(model.forward)(x), model(x), strict=True):
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-6)


def unused(x, w):
    return dy2st.grad(x.sum(), [x, w])


def of_a_stopped_input(x, w):
    return dy2st.grad((x @ w.detach()).sum(), [w])


def of_a_wrong_shape(x, w):
    return dy2st.grad(x @ w, x, grad_outputs=w[0])


@pytest.mark.parametrize("wrap", [lambda f: f, to_static])
@pytest.mark.parametrize("function", [unused, of_a_stopped_input, of_a_wrong_shape])
def test_wrong_calls_are_refused_as_in_python(function, wrap):
    with pytest.raises(ArgumentError):
        wrap(function)(leaf(numbers(2, 3)), leaf(numbers(3, 3)))


def test_an_unused_input_may_give_none():
    def f(x, w):
        slope, none = dy2st.grad((x * x).sum(), [x, w], allow_unused=True)
        assert none is None
        return slope

    x = leaf(numbers(2, 3))
    assert np.array_equal(to_static(f)(x, x + 1).numpy(), 2 * x.numpy())


def test_each_call_says_whether_gradients_flow():
    @to_static
    def f(x):
        return dy2st.grad((x * x).sum(), x, allow_unused=True)[0]

    x = numbers(3)
    assert f(leaf(x, stop_gradient=True)) is None
    assert np.array_equal(f(leaf(x)).numpy(), 2 * x)
    with dy2st.no_grad():
        assert f(leaf(x)) is None


def test_a_start_of_unknown_size_must_fit():
    spec = [InputSpec([None, 3], "float64"), InputSpec([None, 3], "float64")]

    def f(x, start):
        return dy2st.grad(x * x, x, grad_outputs=start)[0]

    converted = to_static(f, input_spec=spec)
    x = numbers(2, 3)
    assert np.array_equal(converted(leaf(x), leaf(x)).numpy(), 2 * x * x)
    with pytest.raises(ShapeError):
        converted(leaf(x), leaf(numbers(1, 3)))


def of_both(x, other):
    return dy2st.grad((x * other).sum(), x)[0]


def test_what_was_made_of_an_input_before_the_call_is_refused():
    converted, x = to_static(of_both), leaf(numbers(3))
    assert np.array_equal(converted(x, leaf(numbers(3))).numpy(), x.numpy())
    assert np.array_equal(converted(x, (x * 2).detach()).numpy(), 2 * x.numpy())
    for other in (x, x * 2, (x + 1).exp()):
        with pytest.raises(TensorAsPython, match="takes a gradient by `x`") as found:
            converted(x, other)
        assert found.value.at is not None


def test_what_was_made_outside_of_a_parameter_is_refused():
    weight = nn.Linear(3, 3).weight
    scale = weight * 2
    f = to_static(lambda: dy2st.grad((weight * scale).sum(), weight))
    with pytest.raises(TensorAsPython, match="was made before this call"):
        f()


def through_a_branch_without_gradient(x):
    y = x * 2 if x.sum() > 0 else dy2st.zeros([3], dtype="float64")
    return dy2st.grad(y, x)


def test_a_gradient_that_is_not_there_on_the_path_that_is_taken_raises_as_in_python():
    converted, x = to_static(through_a_branch_without_gradient), np.ones(3)
    assert np.array_equal(converted(leaf(x))[0].numpy(), 2 * x)
    for call in (through_a_branch_without_gradient, converted):
        with pytest.raises(ArgumentError, match="has no part in the outputs"):
            call(leaf(-x))
    assert len(converted.program_cache) == 1


def test_the_random_numbers_of_a_branch_are_drawn_once():
    def f(x):
        y = F.dropout(x, 0.5) if x.sum() > 0 else x * x
        return y, dy2st.grad(y.sum(), x)[0]

    dy2st.seed(0)
    y, slope = to_static(f)(leaf(np.ones(50)))
    assert np.array_equal(y.numpy(), slope.numpy()) and 0 < (y.numpy() == 0).sum() < 50


def through_a_branch_with_a_hook(x):
    if x.sum() > 0:
        y = x * 2
        y.register_hook(lambda g: g * 2)
    else:
        y = x * 3
    return dy2st.grad(y * y, x)


def in_a_turn_through_earlier_ones(x):
    y = x * 1
    while y.sum() < 10:
        (slope,) = dy2st.grad(y * y, x)
        y = y + slope * slope + 1
    return y


def that_may_be_none(x):
    y = x * 2 if x.sum() > 0 else dy2st.zeros([3], dtype="float64")
    return dy2st.grad(y, x, allow_unused=True)


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (through_a_branch_with_a_hook, "runs code of the user's"),
        (in_a_turn_through_earlier_ones, "between the outputs and the inputs"),
        (that_may_be_none, "only a branch, or some iterations"),
    ],
)
def test_what_a_program_cannot_say_is_refused(function, text):
    with pytest.raises(ConversionError, match=text) as found:
        to_static(function)(leaf(numbers(3)))
    assert found.value.at is not None and found.value.hint
