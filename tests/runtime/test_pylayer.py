"""PyLayer: functions with a gradient of their own, eager and recorded."""

import numpy as np
import pytest

import dy2st
from dy2st.paddle.autograd import PyLayer


class Tanh(PyLayer):
    """tanh(x) by `backward`, times a factor, so that it shows who computed."""

    @staticmethod
    def forward(ctx, x, factor, shift=0.0):
        y = dy2st.tanh(x) + shift
        ctx.factor = factor
        ctx.save_for_backward(y, x)
        return y, x * 2, "text"

    @staticmethod
    def backward(ctx, dy, dz):
        y, x = ctx.saved_tensor()
        return (dy * (1 - y * y) + dz) * ctx.factor


def leaf(*values):
    return dy2st.to_tensor(list(values), stop_gradient=False)


def test_its_backward_is_the_gradient():
    x = leaf(0.5, -1.0)
    y, z, text = Tanh.apply(x, 10.0, shift=0.0)
    assert text == "text" and not y.stop_gradient and not y.is_leaf
    (y * 3).sum().backward()
    assert np.allclose(x.grad.numpy(), 30 * (1 - np.tanh([0.5, -1.0]) ** 2), atol=1e-5)


def test_outputs_that_nothing_depends_on_have_a_gradient_of_zeros():
    x = leaf(0.5, -1.0)
    y, z, _ = Tanh.apply(x, 1.0)
    z.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


def test_or_none_if_asked_for():
    got = []

    class Two(PyLayer):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 1, x * 2

        @staticmethod
        def backward(ctx, a, b):
            got.append(b)
            return a

    x = leaf(1.0)
    Two.apply(x)[0].backward()
    assert got == [None] and x.grad.tolist() == [1.0]


def test_forward_runs_without_the_tape_and_outputs_may_be_fixed():
    seen = []

    class Part(PyLayer):
        @staticmethod
        def forward(ctx, x):
            seen.append(dy2st.is_grad_enabled())
            fixed = x + 1
            ctx.mark_non_differentiable(fixed)
            return x, fixed

        @staticmethod
        def backward(ctx, g, h):
            return g * 7

    x = leaf(1.0)
    same, fixed = Part.apply(x)
    assert seen == [False] and fixed.stop_gradient and same is not x
    same.backward()
    assert x.grad.tolist() == [7.0] and x.is_leaf


class Cube(PyLayer):
    @staticmethod
    def forward(ctx, x):
        y = x * x * x
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * 3 * y / x


def test_the_gradient_can_be_differentiated_again():
    x = leaf(2.0, 3.0)
    (slope,) = dy2st.grad(Cube.apply(x).sum(), x, create_graph=True)
    assert slope.tolist() == [12.0, 27.0]
    # d (3 y / x) / dx = 3 (3 x^2) / x - 3 x^3 / x^2 = 6 x
    assert dy2st.grad(slope.sum(), x)[0].tolist() == [12.0, 18.0]


def test_saved_tensors_are_those_of_then():
    x = leaf(2.0) * 1
    y = Cube.apply(x)
    before = x
    x[0] = 100.0
    y.sum().backward()
    assert before is x and y.tolist() == [8.0]


def test_without_gradients_it_is_its_forward():
    x = dy2st.to_tensor([2.0])
    assert Cube.apply(x).stop_gradient
    with dy2st.no_grad():
        assert Cube.apply(leaf(2.0)).stop_gradient


def wrong(result):
    class Wrong(PyLayer):
        @staticmethod
        def forward(ctx, x, y):
            return x * y

        @staticmethod
        def backward(ctx, g):
            return result(g)

    return Wrong


@pytest.mark.parametrize(
    "result, words",
    [
        (lambda g: g, "1 gradients for 2 tensors"),
        (lambda g: (g, None), "None for tensor 1"),
        (lambda g: (g.sum(), g), "shape"),
    ],
)
def test_a_backward_that_does_not_fit_is_refused(result, words):
    with pytest.raises(dy2st.errors.Dy2stError, match=words):
        wrong(result).apply(leaf(1.0, 2.0), leaf(3.0, 4.0)).sum().backward()


def test_an_input_without_gradient_needs_none():
    x = leaf(1.0, 2.0)
    wrong(lambda g: (g, None)).apply(x, dy2st.to_tensor([3.0, 4.0])).sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


def test_tensors_in_lists_are_refused():
    with pytest.raises(dy2st.errors.ArgumentError, match=r"apply\(\*tensors\)"):
        Cube.apply([leaf(1.0)])


class Net(dy2st.nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = dy2st.nn.Linear(2, 2)

    def forward(self, x):
        return Branching.apply(self.fc(x), 2.0) + 1


class Branching(PyLayer):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.save_for_backward(x)
        return x * factor if x.sum() > 0 else x - factor

    @staticmethod
    def backward(ctx, g):
        return g * 5


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_program_has_its_forward(sign, tmp_path):
    net = Net()
    net.fc.bias.set_value([sign * 5, sign * 5])
    converted = dy2st.to_static(net, input_spec=[dy2st.static.InputSpec([None, 2])])
    x = dy2st.ones([1, 2])
    assert np.allclose(converted(x).numpy(), net(x).numpy())
    dy2st.jit.save(converted, str(tmp_path / "net"))
    assert np.allclose(dy2st.jit.load(str(tmp_path / "net"))(x).numpy(), net(x).numpy())


class Scaled(PyLayer):
    """Keeps an input, the output, a parameter, a size and numbers."""

    @staticmethod
    def forward(ctx, x, w, factor):
        y = (x * w).exp()
        ctx.save_for_backward(x, y)
        ctx.weight, ctx.rows, ctx.factor = w, x.shape[0], factor
        return y

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensor()
        slope = g * y * ctx.factor / ctx.rows
        return slope * ctx.weight, (slope * x).sum(axis=0)


class Pair(PyLayer):
    """Has two results, and clips their gradients together."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sin(), x * 2

    @staticmethod
    def backward(ctx, g, h):
        (x,) = ctx.saved_tensor()
        total = g * x.cos() + 2 * h
        return total / (1 + (g * g).sum() + (h * h).sum())


class InNumPy(PyLayer):
    """Computes outside of what can be traced."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 1.5

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensor()
        return dy2st.to_tensor(np.sign(x.numpy()) * g.numpy())


def scaled_twice(x, w):
    y = Scaled.apply(x, w, 3.0)
    return Scaled.apply(y / 10, w, 0.5)


def one_of_two_results(x, w):
    a, _ = Pair.apply(x * w)
    return a * a


def both_results(x, w):
    a, b = Pair.apply(x * w)
    return a * b


def in_a_branch(x, w):
    return Scaled.apply(x, w, 2.0) if x.sum() > 0 else Pair.apply(x * w)[1]


def in_numpy(x, w):
    return InNumPy.apply(x * w)


def changed_afterwards(x, w):
    middle = x * w
    y = Pair.apply(middle)[0]
    middle[0] = 0.0
    return y + middle


def penalty(x, w):
    y = Scaled.apply(x, w, 2.0)
    (slope,) = dy2st.grad(y.sum(), x, create_graph=True)
    return slope * slope + y


def saliency(x, w):
    return dy2st.grad(both_results(x, w), [x, w])[0]


def trained(function, rows, sign=1):
    values = np.random.default_rng(rows).random((rows, 3))
    x = dy2st.to_tensor(sign * values, stop_gradient=False)
    w = dy2st.to_tensor(values[0] + 0.5, stop_gradient=False)
    y = function(x, w)
    if y.stop_gradient:
        return [y.numpy()]
    (y * y).sum().backward()
    return [y.numpy(), x.grad.numpy(), w.grad.numpy()]


@pytest.mark.parametrize(
    "function",
    [
        scaled_twice,
        one_of_two_results,
        both_results,
        in_a_branch,
        in_numpy,
        changed_afterwards,
        penalty,
        saliency,
    ],
    ids=lambda function: function.__name__,
)
def test_a_program_calls_backward_as_python_does(function):
    spec = [
        dy2st.static.InputSpec([None, 3], "float64"),
        dy2st.static.InputSpec([3], "float64"),
    ]
    converted = dy2st.to_static(function, input_spec=spec)
    for rows, sign in ((2, 1), (4, -1)):
        found, expected = trained(converted, rows, sign), trained(function, rows, sign)
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-10)
    assert len(converted.program_cache) == 1


def test_backward_gets_the_parameters_of_the_moment():
    net = Net()
    converted = dy2st.to_static(net)
    for value in (1.0, 2.0):
        net.fc.weight.set_value(np.full((2, 2), value, "float32"))
        found = []
        for call in (converted, net):
            net.clear_gradients()
            call(dy2st.ones([1, 2])).sum().backward()
            found.append(net.fc.weight.grad.numpy())
        assert np.array_equal(*found)


def test_the_gradient_of_a_saved_program_is_refused_with_the_name(tmp_path):
    net = Net()
    converted = dy2st.to_static(net, input_spec=[dy2st.static.InputSpec([None, 2])])
    dy2st.jit.save(converted, str(tmp_path / "net"))
    x = dy2st.to_tensor([[1.0, 2.0]], stop_gradient=False)
    loss = dy2st.jit.load(str(tmp_path / "net"))(x).sum()
    with pytest.raises(dy2st.errors.ArgumentError, match="Branching has a backward"):
        loss.backward()
