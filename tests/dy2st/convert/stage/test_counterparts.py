"""Layers that are alike share a function of the Program; those that differ in what counts do not."""

import numpy as np
import pytest

import dy2st
from dy2st import nn
from dy2st.convert.call_context import Repeats, Site
from dy2st.convert.stage import function
from dy2st.jit import to_static

pytestmark = pytest.mark.usefixtures("every_size")
X = dy2st.to_tensor(np.linspace(-1, 1, 6, dtype="float32").reshape(2, 3))


class Block(nn.Layer):
    def __init__(self, factor=0.5):
        super().__init__()
        self.first, self.norm = nn.Linear(3, 3), nn.LayerNorm(3)
        self.parts = [nn.Linear(3, 3)]
        self.add_sublayer("part", self.parts[0])
        self.factor, self.words = factor, {"shift": 1.0}
        self.register_buffer("mask", dy2st.to_tensor([1.0, 0.5, 2.0]))

    def forward(self, x):
        h = dy2st.tanh(self.first(self.norm(x)) * self.factor) * self.mask
        return self.parts[0](h) + x * self.words["shift"]


class Stack(nn.Layer):
    def __init__(self, count=5):
        super().__init__()
        self.blocks = nn.LayerList([Block() for _ in range(count)])

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


def check(net, static):
    """A call, and its gradients, are those of Python."""
    found = []
    for of in (net, static):
        net.clear_gradients()
        y = of(X)
        y.sum().backward()
        found.append([y.numpy(), *(p.grad.numpy() for p in net.parameters() if p.grad is not None)])
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


def test_layers_that_are_alike_are_calls_of_one_function():
    net = Stack()
    static = to_static(Stack.forward.__get__(net))
    check(net, static)
    program = static.main_program
    assert [name for name in program.functions if name.startswith("Block")] == ["Block.forward"]
    named = [one for one in program.block.operators if one.name == "call"]
    calls = [one for one in named if one.attributes["function"] == "Block.forward"]
    assert [one.layer for one in calls] == [f"blocks.{place}" for place in range(5)]


def freeze(net):
    net.blocks[2].first.weight.stop_gradient = True


def tie(net):
    net.blocks[2].part.weight = net.blocks[2].first.weight


def share(net):
    net.blocks[3].first = net.blocks[2].first


def hook(net):
    net.blocks[2].first.register_forward_post_hook(lambda layer, given, out: out * 2)


def other_factor(net):
    net.blocks[2].factor = 3.0


def other_kind_of_number(net):
    net.blocks[2].factor = 1
    net.blocks[3].factor = True


def other_word(net):
    net.blocks[2].words["shift"] = 7.0


def other_settings(net):
    net.blocks[2].norm._epsilon = 0.5


def other_class(net):
    class Doubled(nn.Linear):
        def forward(self, x):
            return super().forward(x) * 2

    net.blocks[2].first = Doubled(3, 3)


def no_bias(net):
    net.blocks[2].first = nn.Linear(3, 3, bias_attr=False)


def own_method(net):
    net.blocks[2].first.forward = lambda x: x * 5


def other_mask(net):
    net.blocks[2].mask = dy2st.to_tensor([[1.0, 0.5, 2.0], [3.0, 3.0, 3.0]])


def one_for_all(net):
    for block in net.blocks:
        block.parts = net.blocks[0].parts


def swapped(net):
    net.blocks[2].parts, net.blocks[3].parts = net.blocks[3].parts, net.blocks[2].parts


CHANGES = [
    freeze,
    tie,
    share,
    hook,
    other_factor,
    other_kind_of_number,
    other_word,
    other_settings,
    other_class,
    no_bias,
    own_method,
    other_mask,
    one_for_all,
    swapped,
]


@pytest.mark.parametrize("change", CHANGES, ids=lambda one: one.__name__)
def test_a_layer_that_differs_is_told_apart(change):
    net = Stack()
    change(net)
    check(net, to_static(Stack.forward.__get__(net)))


@pytest.mark.parametrize("change", CHANGES, ids=lambda one: one.__name__)
def test_a_change_of_one_layer_is_noticed_by_the_next_call(change):
    net = Stack()
    static = to_static(Stack.forward.__get__(net))
    check(net, static)
    change(net)
    check(net, static)


class Changing(nn.Layer):
    """Blocks that change in the middle of a call."""

    def __init__(self):
        super().__init__()
        self.blocks = nn.LayerList([Block() for _ in range(4)])

    def forward(self, x):
        for place, block in enumerate(self.blocks):
            x = block(x)
            if place == 1:
                self.blocks[2].factor = 0.125
                self.blocks[3].words["shift"] = 2.0
        return x


def test_what_the_function_itself_changes_in_a_layer_is_seen():
    net = Changing()
    wanted = net(X).numpy()
    net.blocks[2].factor, net.blocks[3].words["shift"] = 0.5, 1.0
    found = to_static(Changing.forward.__get__(net))(X).numpy()
    np.testing.assert_allclose(found, wanted, rtol=1e-5)


def test_layers_of_the_library_are_told_apart_by_their_settings():
    convolutions = [
        nn.Conv2D(1, 1, 3, padding=1, dilation=1 + k // 2, bias_attr=False) for k in range(4)
    ]
    activations = [nn.LeakyReLU(0.1), nn.LeakyReLU(0.1), nn.LeakyReLU(0.7), nn.LeakyReLU(0.7)]

    def f(x):
        return [a(c(x)) for c, a in zip(convolutions, activations, strict=True)]

    x = dy2st.ones([1, 1, 6, 6]) * dy2st.arange(6).astype("float32")
    for found, wanted in zip(to_static(f)(x), f(x), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


def test_layers_that_all_differ_are_soon_no_more_compared(monkeypatch):
    made = []

    class Counted(function.Counterparts):
        def __init__(self, *given):
            super().__init__(*given)
            made.append(self)

    monkeypatch.setattr(function, "Counterparts", Counted)
    monkeypatch.setattr(Repeats, "least", 8)
    net = Stack(24)
    for place, block in enumerate(net.blocks):
        block.factor = 0.5 + place / 100
    check(net, to_static(Stack.forward.__get__(net)))
    assert 0 < len(made) <= 2 * Site().patience
