"""A Layer is saved as it is called: with the hooks that were put on it."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest

import dy2st
from dy2st import nn
from dy2st.static import InputSpec

X = np.array([[1.0, -2.0, 3.0]], "float32")
SPEC = [InputSpec([None, 3], name="x")]


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(3, 3)

    def forward(self, x, scale=2.0):
        if x.sum() > 0:
            x = x * scale
        return self.inner(x)


def saved(net, tmp_path, spec=SPEC):
    dy2st.jit.save(net, str(tmp_path / "net"), input_spec=spec)
    return dy2st.jit.load(str(tmp_path / "net"))


def check(net, tmp_path, spec=SPEC):
    model = saved(net, tmp_path, spec)
    for array in (X, -X, np.concatenate([X, X * 2])):
        expected = net(dy2st.to_tensor(array)).numpy()
        np.testing.assert_allclose(model(array).numpy(), expected, rtol=1e-6)


def test_hooks_of_the_outermost_layer_are_saved(tmp_path):
    class Same(nn.Layer):
        def forward(self, x):
            return x

    net = Same()
    net.register_forward_pre_hook(lambda layer, inputs: (inputs[0] * 3,))
    net.register_forward_post_hook(lambda layer, inputs, outputs: outputs * 10)
    assert saved(net, tmp_path)(np.ones((1, 3), "float32")).tolist() == [[30.0] * 3]


def test_a_hook_that_a_tensor_decides_becomes_a_branch(tmp_path):
    def flip(layer, inputs, outputs):
        if inputs[0].sum() > 0:
            return outputs
        return -outputs

    net = Net()
    net.register_forward_post_hook(flip)
    check(net, tmp_path)


def test_a_hook_that_gives_nothing_changes_nothing(tmp_path):
    net = Net()
    net.register_forward_pre_hook(lambda layer, inputs: None)
    net.register_forward_post_hook(lambda layer, inputs, outputs: None)
    check(net, tmp_path)


def test_a_hook_sees_what_the_call_gives_without_defaults(tmp_path):
    net = Net()
    net.register_forward_pre_hook(lambda layer, inputs: tuple(value * 3 for value in inputs))
    check(net, tmp_path)


def test_a_hook_that_was_removed_is_not_saved(tmp_path):
    net = Net()
    removed = net.register_forward_post_hook(lambda layer, inputs, outputs: outputs * 10)
    net.register_forward_post_hook(lambda layer, inputs, outputs: outputs + 1)
    removed.remove()
    check(net, tmp_path)


def test_a_sequential_is_saved_with_its_own_hooks_and_those_inside(tmp_path):
    net = nn.Sequential(nn.Linear(3, 3), nn.ReLU())
    net.register_forward_post_hook(lambda layer, inputs, outputs: outputs - 1)
    net[0].register_forward_pre_hook(lambda layer, inputs: (inputs[0] * 2,))
    check(net, tmp_path)


def test_hooks_are_saved_with_the_types_of_the_last_call(tmp_path):
    net = dy2st.to_static(Net())
    net.register_forward_post_hook(lambda layer, inputs, outputs: outputs * len(inputs))
    net(dy2st.to_tensor(X))
    dy2st.jit.save(net, str(tmp_path / "net"))
    expected = net(dy2st.to_tensor(X)).numpy()
    np.testing.assert_allclose(dy2st.jit.load(str(tmp_path / "net"))(X).numpy(), expected)


def test_the_types_before_a_pre_hook_must_be_given(tmp_path):
    net = dy2st.to_static(Net())
    net.register_forward_pre_hook(lambda layer, inputs: (inputs[0] * 2,))
    net(dy2st.to_tensor(X))
    with pytest.raises(
        dy2st.errors.ArgumentError, match="before forward.. does: give save an input_spec"
    ):
        dy2st.jit.save(net, str(tmp_path / "net"))


def test_the_spec_of_the_conversion_is_taken(tmp_path):
    net = dy2st.to_static(Net(), input_spec=SPEC)
    net.register_forward_pre_hook(lambda layer, inputs: (inputs[0] * 2,))
    check(net, tmp_path, spec=None)


def test_a_call_of_the_users_own_is_saved(tmp_path):
    class Called(Net):
        def __call__(self, x):
            return super().__call__(x - 1) * 2

    net = Called()
    net.register_forward_pre_hook(lambda layer, inputs: (inputs[0] * 3,))
    check(net, tmp_path)


def test_the_forward_alone_is_saved_without_hooks(tmp_path):
    net = dy2st.to_static(Net(), input_spec=SPEC)
    net.register_forward_post_hook(lambda layer, inputs, outputs: outputs * 10)
    model = saved(net.forward, tmp_path, None)
    np.testing.assert_allclose(model(X).numpy(), net.forward(dy2st.to_tensor(X)).numpy())


# What hooks may do, by name; each is tried on the Layer itself and on the one inside.
PRE = {
    "replaces": lambda layer, inputs: (inputs[0] * 3,),
    "gives no tuple": lambda layer, inputs: inputs[0] + 1,
    "looks": lambda layer, inputs: None,
    "uses the layer": lambda layer, inputs: (inputs[0] * (2 if layer.training else 4),),
}
POST = {
    "replaces": lambda layer, inputs, outputs: outputs * 10,
    "takes inputs": lambda layer, inputs, outputs: outputs + inputs[0],
    "looks": lambda layer, inputs, outputs: None,
}


@pytest.mark.parametrize("seed", range(6))
def test_any_hooks_on_any_layers_are_saved(seed, tmp_path):
    draw = random.Random(seed)
    net = Net() if seed % 2 else nn.Sequential(Net(), nn.Linear(3, 3))
    layers = list(net.sublayers(include_self=True))
    if draw.random() < 0.5:
        net.eval()
    for layer, _ in itertools.product(layers, range(2)):
        kept = layer.register_forward_pre_hook(draw.choice(list(PRE.values())))
        layer.register_forward_post_hook(draw.choice(list(POST.values())))
        if draw.random() < 0.3:
            kept.remove()
    check(net, tmp_path)
