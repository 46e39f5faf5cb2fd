"""`recompute`: the same gradients to the last bit, and less that is kept for them."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

import dy2st
from dy2st import nn, to_static
from dy2st.errors import ArgumentError
from dy2st.paddle.distributed.fleet.utils import recompute

SIZES = (16, 16, 32)
X = np.random.default_rng(0).normal(size=SIZES).astype("float32")


class Blocks(nn.Layer):
    """Encoder layers, recomputed or not."""

    def __init__(self, is_again: bool, dropout: float = 0.1) -> None:
        super().__init__()
        made = [nn.TransformerEncoderLayer(32, 2, 64, dropout=dropout) for _ in range(3)]
        self.blocks, self.is_again = nn.LayerList(made), is_again

    def forward(self, x):
        for block in self.blocks:
            x = recompute(block, x) if self.is_again else block(x)
        return x.mean()


def built(is_again, make=Blocks):
    dy2st.seed(3)
    return make(is_again)


def gradients(net, call, turns=3):
    """Loss and gradients of the last of some turns; the converted function is compiled by then."""
    dy2st.seed(5)
    for _ in range(turns):
        x = dy2st.to_tensor(X, stop_gradient=False)
        for parameter in net.parameters():
            parameter.clear_grad()
        loss = call(x)
        loss.backward()
    return [loss.numpy(), x.grad.numpy(), *(p.grad.numpy() for p in net.parameters())]


@pytest.mark.parametrize("way", [to_static, lambda net: net], ids=["converted", "eager"])
def test_gradients_are_the_same_bits_with_dropout(way):
    plain, again = built(False), built(True)
    expected, found = gradients(plain, way(plain)), gradients(again, way(again))
    for left, right in zip(expected, found, strict=True):
        np.testing.assert_array_equal(right, left)


def test_a_converted_call_keeps_half_as_much_and_random_numbers():
    kept = []
    for is_again in (False, True):
        net = to_static(built(is_again))
        gradients(net, net)
        kept.append(net(dy2st.to_tensor(X, stop_gradient=False)).grad_fn.kept_bytes)
    masks = 3 * 4 * 16 * (2 * 16 * 16 + 16 * (32 + 64 + 32))
    assert kept[1] - masks < X.nbytes * 3 and kept[1] < kept[0] / 2, kept


def test_an_eager_call_keeps_a_tenth():
    kept = []
    for is_again in (False, True):
        net, x = built(is_again), dy2st.to_tensor(X, stop_gradient=False)
        net(x)
        tracemalloc.start()
        loss = net(x)
        kept.append(tracemalloc.get_traced_memory()[0])
        tracemalloc.stop()
        assert loss.item()
    assert kept[1] < kept[0] / 10, kept


def test_the_most_that_is_held_in_the_backward_half_is_less():
    most = []
    for is_again in (False, True):
        net = to_static(built(is_again, lambda is_again: Blocks(is_again, 0.0)))
        gradients(net, net)
        loss = net(dy2st.to_tensor(X, stop_gradient=False))
        tracemalloc.start()
        kept = loss.grad_fn.kept_bytes
        loss.backward()
        most.append(kept + tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert most[1] < 0.75 * most[0], most


class Normalised(nn.Layer):
    def __init__(self, is_again):
        super().__init__()
        self.norm, self.is_again = nn.BatchNorm1D(16), is_again

    def forward(self, x):
        return ((recompute(self.norm, x) if self.is_again else self.norm(x)) ** 3).sum()


@pytest.mark.parametrize("way", [to_static, lambda net: net], ids=["converted", "eager"])
def test_running_means_move_once(way):
    nets = [built(is_again, Normalised) for is_again in (False, True)]
    expected, found = (gradients(net, way(net)) for net in nets)
    for left, right in zip(expected, found, strict=True):
        np.testing.assert_array_equal(right, left)
    for left, right in zip(*(net.buffers() for net in nets), strict=True):
        np.testing.assert_array_equal(right.numpy(), left.numpy())


class Deciding(nn.Layer):
    """A branch and a loop that tensors decide, inside of what is computed again."""

    def __init__(self, is_again):
        super().__init__()
        self.first, self.second, self.is_again = nn.Linear(32, 32), nn.Linear(32, 32), is_again

    def part(self, x, by):
        x = dy2st.tanh(self.first(x)) * by
        if x.abs().sum() > 0:
            x = dy2st.tanh(self.second(x)) + x
        turn = dy2st.to_tensor(0)
        while turn < 2:
            x = dy2st.sin(x * by)
            turn = turn + 1
        return {"x": x, "more": [x.exp(), 3]}

    def forward(self, x):
        made = recompute(self.part, x, by=2.0) if self.is_again else self.part(x, by=2.0)
        return (made["x"] * made["more"][0]).sum() * made["more"][1]


@pytest.mark.parametrize("way", [to_static, lambda net: net], ids=["converted", "eager"])
def test_branches_loops_and_containers(way):
    plain, again = (built(is_again, Deciding) for is_again in (False, True))
    expected, found = gradients(plain, way(plain)), gradients(again, way(again))
    for left, right in zip(expected, found, strict=True):
        np.testing.assert_array_equal(right, left)


def step_of(is_again, dropout=0.1):
    """A step of training."""
    net = built(is_again, lambda is_again: Blocks(is_again, dropout))
    best = dy2st.optimizer.SGD(0.01, parameters=net.parameters())

    def step(x):
        loss = net(x)
        loss.backward()
        best.step()
        best.clear_grad()
        return loss

    return step


@pytest.mark.parametrize("way", [to_static, lambda step: step], ids=["converted", "eager"])
def test_steps_of_training_are_the_same(way):
    losses = []
    for is_again in (False, True):
        run = way(step_of(is_again))
        dy2st.seed(5)
        losses.append([run(dy2st.to_tensor(X)).item() for _ in range(4)])
    assert losses[0] == losses[1]


def test_the_most_that_a_converted_step_holds_is_less():
    most, x = [], dy2st.to_tensor(X)
    for is_again in (False, True):
        run = to_static(step_of(is_again, 0.0))
        for _ in range(3):
            run(x)
        tracemalloc.start()
        run(x)
        most.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert most[1] < 0.75 * most[0], most


def test_parts_inside_of_parts_and_hooks_of_parameters_run_once():
    net, seen = nn.Linear(32, 32), []
    net.weight.register_hook(lambda gradient: seen.append(gradient.numpy()))
    x = dy2st.to_tensor(X)
    recompute(lambda x: recompute(net, x) * 2, x).sum().backward()
    found, net.weight.grad = net.weight.grad.numpy(), None
    (net(x) * 2).sum().backward()
    assert len(seen) == 2
    np.testing.assert_array_equal(found, net.weight.grad.numpy())
    np.testing.assert_array_equal(seen[0], seen[1])


def test_what_is_given_back_as_it_is_stays_what_it_is():
    x = dy2st.ones([2], "float32")
    x.stop_gradient = False
    given, made = recompute(lambda x: (x, x * 2), x)
    assert given is x
    (given * made).sum().backward()
    assert x.grad.tolist() == [4.0, 4.0]


def test_parameters_that_changed_before_the_gradients_are_refused():
    net = nn.Linear(32, 32)
    loss = recompute(net, dy2st.to_tensor(X)).sum()
    net.weight.set_value(net.weight.numpy() + 1)
    with pytest.raises(ArgumentError, match="Linear (finds other parameters|computes other)"):
        loss.backward()


def test_a_function_that_computes_something_else_the_second_time_is_refused():
    net = nn.Sequential(nn.Linear(32, 32), nn.Dropout(0.5))
    made = recompute(net, dy2st.to_tensor(X))
    net.eval()
    with pytest.raises(ArgumentError, match="computes other numbers"):
        (made * made).sum().backward()


def test_a_gradient_of_a_gradient_is_refused():
    x = dy2st.to_tensor(X, stop_gradient=False)
    with pytest.raises(ArgumentError, match="gradient of a gradient"):
        dy2st.grad(recompute(dy2st.exp, x).sum(), [x], create_graph=True)
