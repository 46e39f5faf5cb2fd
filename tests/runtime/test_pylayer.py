"""PyLayer: functions with a gradient of their own, eager and recorded."""

import numpy as np
import pytest

import dy2st
from dy2st.autograd import PyLayer


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


def test_a_gradient_through_a_program_is_refused_with_the_name():
    net = Net()
    loss = dy2st.to_static(net)(dy2st.ones([1, 2])).sum()
    with pytest.raises(dy2st.errors.ArgumentError, match="Branching has a backward"):
        loss.backward()
