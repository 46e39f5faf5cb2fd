"""A converted Layer takes part in eager training as if it were eager, by one Node of the tape."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import dy2st
import dy2st.nn.functional as F
from dy2st import nn
from dy2st.errors import ArgumentError
from dy2st.jit import to_static
from dy2st.paddle.autograd import PyLayer
from dy2st.static import InputSpec
from dy2st_runtime.trained_program import ProgramNode


class Shared(nn.Layer):
    """One weight used twice, a frozen one, statistics and dropout."""

    def __init__(self):
        super().__init__()
        self.first, self.frozen = nn.Linear(3, 3), nn.Linear(3, 3)
        self.norm, self.drop = nn.BatchNorm1D(3), nn.Dropout(0.4)
        self.frozen.weight.stop_gradient = True

    def forward(self, x):
        h = F.relu(self.first(x))
        h = self.drop(self.norm(self.first(h) + self.frozen(x)))
        return F.layer_norm(h, [3]).tanh() * h


class Chosen(nn.Layer):
    """Parameters that only one branch uses."""

    def __init__(self):
        super().__init__()
        self.left, self.right = nn.Linear(3, 3), nn.Linear(3, 3)

    def forward(self, x):
        if x.sum() > 0:
            y = self.left(x)
        else:
            y = self.right(x).exp()
        return y * x


class Heads(nn.Layer):
    """Two results, of which a user may need one."""

    def __init__(self):
        super().__init__()
        self.body, self.one, self.two = nn.Linear(3, 3), nn.Linear(3, 2), nn.Linear(3, 1)

    def forward(self, x):
        h = self.body(x).tanh()
        return self.one(h), self.two(h).sigmoid(), h.detach()


class Turns(nn.Layer):
    """A loop over rows of unknown number, and one that stops by what it computes."""

    def __init__(self):
        super().__init__()
        self.cell, self.out = nn.Linear(6, 3), nn.Linear(3, 3)

    def forward(self, x):
        state, rows = x[0] * 0, []
        for row in x:
            state = self.cell(dy2st.concat([row, state])).tanh()
            rows.append(state)
        y = dy2st.stack(rows)
        while y.abs().sum() < 6:
            y = self.out(y) + y * 1.5
        return y


class Decided(nn.Layer):
    """A result through which gradients flow on some paths only."""

    def __init__(self):
        super().__init__()
        self.weight = self.create_parameter([3])

    def forward(self, x):
        y = dy2st.ones([3])
        if x.sum() > 0:
            y = y * self.weight
        n, z = x.sum(), dy2st.zeros([3])
        while n < 0:
            z = z + self.weight * 2
            n = n + 3
        return y, z, y * z


class Kept(nn.Layer):
    """Lists of unknown length as results, with lists in them."""

    def __init__(self):
        super().__init__()
        self.out = nn.Linear(3, 3)

    def forward(self, x):
        rows, pairs = [], []
        for row in x:
            h = self.out(row).tanh()
            if row.sum() > 0:
                rows.append(h)
                pairs.append([h * 2, self.out(h)])
        return rows, pairs, x.sum() * 2


class Mixed(nn.Layer):
    """A list through some of whose elements no gradients flow."""

    def __init__(self):
        super().__init__()
        self.weight = self.create_parameter([3])

    def forward(self, x):
        rows = []
        for row in x:
            if row.sum() > 0:
                rows.append(self.weight * 2)
            else:
                rows.append(dy2st.ones([3]))
        return rows


class Sorted(Mixed):
    """The same list, changed in the ways of Python, and what is made of it."""

    def forward(self, x):
        rows = super().forward(x)
        rows.insert(1, self.weight * 3)
        rows.insert(0, dy2st.zeros([3]))
        last, first = rows.pop(), rows.pop(0)
        rows[0] = rows[0] * 2
        others = rows[::-1] + [last] * 2
        del others[1]
        others.extend(rows[1:])
        if x.sum() > 1:
            others = [last, first]
        return rows, others, dy2st.stack(others), dy2st.concat(rows[:1]), others[0] + first


class Lists(Mixed):
    """Lists in a list, of which one has an element without gradients."""

    def forward(self, x):
        return [[row * 2, row] for row in super().forward(x)], x.sum() * 2


LAYERS = [Shared, Chosen, Heads, Turns, Decided, Kept, Mixed, Sorted, Lists]


def numbers(*shape):
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype("float32")


def pair(kind):
    """A Layer, and the same one converted."""
    dy2st.seed(3)
    eager = kind()
    layer = copy.deepcopy(eager)
    static = to_static(layer, input_spec=[InputSpec([None, 3])])
    return eager, static, layer


def called(function, *arguments):
    """What the second call gives: the first one leaves the operators on the tape."""
    function(*arguments)
    return function(*arguments)


def calls():
    for rows in (2, 4, 3):
        for scale in (1.0, -1.0, 0.3):
            yield numbers(rows, 3) * scale + scale * 0.1


def flat(results):
    if isinstance(results, (list, tuple)):
        return [one for entry in results for one in flat(entry)]
    return [results]


def grads(layer, *others):
    found = [*layer.parameters(), *others]
    return [None if t.grad is None else t.grad.numpy() for t in found]


def check_same(found, expected):
    assert [one is None for one in found] == [one is None for one in expected]
    for one, other in zip(found, expected, strict=True):
        if one is not None:
            np.testing.assert_allclose(one, other, rtol=2e-5, atol=1e-6)


def trained(model, layer, x):
    """One call and its backward: results, flags, gradients, buffers."""
    dy2st.seed(5)
    x = dy2st.to_tensor(x, stop_gradient=False)
    results = flat(model(x))
    flags = [result.stop_gradient for result in results]
    losses = [(r * r).sum() for r in results if not r.stop_gradient]
    if losses:
        sum(losses).backward()
    values = [r.numpy() for r in results] + [b.numpy() for b in layer.buffers()]
    return flags, values, grads(layer, x)


@pytest.mark.parametrize("kind", LAYERS)
def test_results_flags_gradients_and_buffers_are_as_eager(kind):
    eager, static, layer = pair(kind)
    for x in calls():
        flags, values, expected = trained(eager, eager, x)
        found_flags, found_values, found = trained(static, layer, x)
        assert found_flags == flags
        check_same(found_values, values)
        check_same(found, expected)
    assert len(static.forward.program_cache) == 1


@pytest.mark.parametrize("kind", LAYERS)
def test_a_call_leaves_one_node(kind):
    _, static, layer = pair(kind)
    results = flat(called(static, dy2st.to_tensor(numbers(4, 3), stop_gradient=False)))
    assert all(isinstance(r.node, ProgramNode) for r in results if not r.stop_gradient)


def test_an_argument_that_comes_back_is_itself_in_a_program_with_functions():
    def helper(x):
        return (x * 2 + x.sum() % 3) * 1 - x / 4

    @to_static
    def f(x, w):
        y = helper(helper(w))
        return (helper(y * 2) if w.sum() > 2 else x), y

    w = dy2st.to_tensor([0.5, 0.25])
    for _ in range(4):
        x = dy2st.to_tensor([1.0, 2.0], stop_gradient=False)
        assert f(x, w)[0] is x
    assert f.main_program.functions


def test_only_results_that_are_used_have_gradients():
    for used in ([0], [1], [0, 1]):
        found = []
        for model, layer in (m := pair(Heads)) and [(m[0], m[0]), (m[1], m[2])]:
            results = model(dy2st.to_tensor(numbers(4, 3)))
            sum((results[i] * results[i]).sum() for i in used).backward()
            found.append(grads(layer))
        check_same(found[1], found[0])
        assert (found[0][2] is None) == (0 not in used)


@pytest.mark.parametrize("engine", ["numpy", "native"])
def test_gradients_of_some_elements_of_a_list_are_as_eager(engine):
    eager, x = Kept(), np.array([[1, 2, 3], [-9, 0, 1], [0.5, 1, 0], [2, 1, 1]], "float32")
    layer = copy.deepcopy(eager)
    static = to_static(layer, [InputSpec([None, 3])], engine=engine)
    called(static, dy2st.to_tensor(x))
    for chosen in ([0], [2, 0], [1, 1]):
        found = []
        for model, own in ((eager, eager), (static, layer)):
            rows, pairs, _ = model(dy2st.to_tensor(x))
            assert len(rows) == len(pairs) == 3
            total = sum((rows[k] * rows[k]).sum() for k in chosen) + pairs[chosen[0]][1].sum()
            own.clear_gradients()
            total.backward()
            found.append(grads(own))
        check_same(found[1], found[0])


def test_gradients_of_gradients_flow_through_a_list():
    def second(model, x):
        x = dy2st.to_tensor(x, stop_gradient=False)
        rows, _, _ = model(x)
        (first,) = dy2st.grad(sum((r * r).sum() for r in rows), [x], create_graph=True)
        return dy2st.grad((first * first).sum(), [x])[0].numpy()

    eager, static, _ = pair(Kept)
    x = np.abs(numbers(3, 3))
    called(static, dy2st.to_tensor(x))
    np.testing.assert_allclose(second(static, x), second(eager, x), rtol=1e-4, atol=1e-5)


def test_several_calls_before_one_backward_and_gradients_that_accumulate():
    eager, static, layer = pair(Turns)
    for model in (eager, static):
        for _ in range(2):
            x = dy2st.to_tensor(numbers(3, 3))
            (model(x).sum() + model(x * 2).exp().sum()).backward()
        model(x).mean().backward()
    check_same(grads(layer), grads(eager))


def test_hooks_of_parameters_inputs_and_results_are_called():
    seen = []
    eager, static, layer = pair(Shared)
    eager.eval(), layer.eval()
    for model, held in ((eager, eager), (static, layer)):
        handle = held.first.weight.register_hook(lambda g: g * 2)
        x = dy2st.to_tensor(numbers(4, 3), stop_gradient=False)
        x.register_hook(lambda g: seen.append(g.numpy()))
        y = called(model, x)
        y.register_hook(lambda g: g + 1)
        y.sum().backward()
        handle.remove()
    check_same(grads(layer), grads(eager))
    check_same([seen[1]], [seen[0]])


def test_a_parameter_that_is_frozen_later_gets_no_gradient():
    eager, static, layer = pair(Heads)
    for model, held in ((eager, eager), (static, layer)):
        model(dy2st.to_tensor(numbers(2, 3)))[0].sum().backward()
        held.body.weight.stop_gradient = True
        held.body.weight.clear_grad()
        model(dy2st.to_tensor(numbers(2, 3)))[0].sum().backward()
    assert layer.body.weight.grad is None
    check_same(grads(layer), grads(eager))


def test_gradients_are_of_the_values_of_the_forward():
    eager, static, layer = pair(Heads)
    for model, held in ((eager, eager), (static, layer)):
        y = called(model, dy2st.to_tensor(numbers(2, 3)))[1]
        held.body.weight.set_value(numbers(3, 3))
        held.two.weight = held.create_parameter([3, 1])
        y.sum().backward()
    check_same(grads(layer.body), grads(eager.body))
    assert layer.two.weight.grad is None


def test_a_second_backward_needs_the_graph():
    _, static, layer = pair(Shared)
    y = called(static, dy2st.to_tensor(numbers(4, 3))).sum()
    y.backward(retain_graph=True)
    once = grads(layer)
    y.backward()
    check_same(grads(layer), [g if g is None else 2 * g for g in once])
    with pytest.raises(RuntimeError, match="retain_graph"):
        y.backward()


def test_no_tape_under_no_grad_and_for_what_needs_no_gradient():
    _, static, layer = pair(Heads)
    with dy2st.no_grad():
        y = static(dy2st.to_tensor(numbers(2, 3)))[0]
    assert y.stop_gradient and y.node is None
    with pytest.raises(ArgumentError, match="stop_gradient=True"):
        y.sum().backward()
    assert static(dy2st.to_tensor(numbers(2, 3)))[2].stop_gradient


@pytest.mark.parametrize("kind", [Shared, Chosen, Turns])
def test_gradients_of_gradients_are_as_eager(kind):
    eager, static, layer = pair(kind)
    static(dy2st.to_tensor(numbers(2, 3)))
    for x in list(calls())[:4]:
        found = []
        for model, held in ((eager, eager), (static, layer)):
            dy2st.seed(8)
            held.clear_gradients()
            t = dy2st.to_tensor(x, stop_gradient=False)
            (slope,) = dy2st.grad((model(t) ** 2).sum(), t, create_graph=True)
            (slope * slope).sum().backward()
            found.append([slope.numpy(), *grads(held, t)])
        np.testing.assert_allclose(found[1][0], found[0][0], rtol=1e-4, atol=1e-5)
        assert [g is None for g in found[1]] == [g is None for g in found[0]]
        for one, other in zip(*found, strict=True):
            if one is not None:
                np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-4)


def test_random_numbers_are_those_of_the_forward_and_drawn_once():
    _, static, _ = pair(Shared)
    dy2st.seed(1)
    x = dy2st.to_tensor(numbers(4, 3), stop_gradient=False)
    y = called(static, x)
    before = dy2st.get_rng_state()
    dy2st.grad(y.sum(), x, create_graph=True)
    assert np.array_equal(dy2st.get_rng_state(), before) or dy2st.get_rng_state() == before


class Doubled(PyLayer):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 5


def test_what_runs_code_of_the_users_goes_by_the_tape():
    function = to_static(lambda x: Doubled.apply(x * 3))
    x = dy2st.to_tensor([1.0, 2.0], stop_gradient=False)
    y = called(function, x)
    assert not isinstance(y.node, ProgramNode)
    y.sum().backward()
    assert x.grad.tolist() == [15.0, 15.0]


def test_a_gradient_of_another_dtype_to_begin_with():
    found = []
    eager, static, layer = pair(Heads)
    for model, held in ((eager, eager), (static, layer)):
        y = called(model, dy2st.to_tensor(numbers(2, 3)))[0]
        y.backward(dy2st.to_tensor(np.ones((2, 2))))
        found.append(grads(held))
    check_same(found[1], found[0])
    assert found[1][0].dtype == found[0][0].dtype


def test_cheap_values_are_computed_again_and_the_bytes_kept_are_told():
    def f(x):
        scaled = x * 2.0 + 1.0
        return (scaled.exp() * scaled).sum()

    x = dy2st.to_tensor(numbers(1000), stop_gradient=False)
    node = called(to_static(f), x).node
    assert node.kept_bytes == 4000  # exp(scaled); scaled is made of x again


def test_lists_and_numbers_beside_tensors_come_back():
    def f(x):
        items = [x * 2, 3]
        return {"a": items, "b": (x.sum(), x.shape[0])}

    x = dy2st.to_tensor(numbers(2, 3), stop_gradient=False)
    found = called(to_static(f), x)
    assert found["a"][1] == 3 and found["b"][1] == 2
    (found["a"][0].sum() + found["b"][0]).backward()
    assert np.array_equal(x.grad, np.full((2, 3), 3.0, "float32"))


def test_a_loaded_model_is_trained_in_the_same_way(tmp_path):
    for kind in (Shared, Turns, Chosen):
        eager, static, layer = pair(kind)
        dy2st.jit.save(static, tmp_path / kind.__name__)
        loaded = dy2st.jit.load(tmp_path / kind.__name__)
        loaded.train()
        for x in list(calls())[:4]:
            found = []
            for model in (eager, loaded):
                dy2st.seed(5)
                leaf = dy2st.to_tensor(x, stop_gradient=False)
                y = model(leaf)
                (y * y).sum().backward()
                named = dict(model.named_parameters())
                names = sorted(name for name in named if "frozen.weight" not in name)
                ends = [leaf, *(named[name] for name in names)]
                found.append(
                    [y.numpy(), *(None if t.grad is None else t.grad.numpy() for t in ends)]
                )
            check_same(found[1], found[0])
            assert isinstance(y.node, ProgramNode)


def test_a_size_of_an_input_that_is_needed_for_nothing_else_is_known():
    def f(x, y):
        part = x * y.shape[0]
        return (part * part).sum()

    static = to_static(f, input_spec=[InputSpec([5]), InputSpec([None])])
    for count in (2, 3, 4):
        x = dy2st.to_tensor(numbers(5), stop_gradient=False)
        y = static(x, dy2st.ones([count]))
        y.backward()
        np.testing.assert_allclose(x.grad, 2 * count**2 * x.numpy(), rtol=1e-6)
    assert isinstance(y.node, ProgramNode)


def test_programs_after_passes_run_compiled_too():
    eager, _, layer = pair(Turns)
    static = to_static(layer, input_spec=[InputSpec([None, 3])], build_strategy="training")
    for x in calls():
        _, values, expected = trained(eager, eager, x)
        _, found_values, found = trained(static, layer, x)
        check_same(found_values, values)
        check_same(found, expected)
    assert isinstance(static(dy2st.to_tensor(x)).node, ProgramNode)


class Penalty(nn.Layer):
    """Gradients that begin inside of the function, and may be given back."""

    def __init__(self, gives_leaf=False):
        super().__init__()
        self.body, self.gives_leaf = nn.Linear(3, 3), gives_leaf

    def forward(self, x):
        x = x.detach() * 2
        x.stop_gradient = False
        found = self.body(x).tanh().sum()
        (slope,) = dy2st.grad(found, [x], create_graph=True)
        loss = (slope.norm() - 1) ** 2 + found
        return (loss, x) if self.gives_leaf else loss


def test_gradients_that_begin_and_end_inside_are_compiled():
    net = Penalty()
    static, x = to_static(copy.deepcopy(net)), dy2st.ones([2, 3])
    for _ in range(3):
        net.clear_gradients(), static.clear_gradients()
        expected, found = net(x), static(x)
        assert found.item() == pytest.approx(expected.item())
        expected.backward(), found.backward()
    assert isinstance(static(x).grad_fn, ProgramNode)
    for one, other in zip(net.parameters(), static.parameters(), strict=True):
        np.testing.assert_allclose(other.grad.numpy(), one.grad.numpy(), rtol=1e-5, atol=1e-7)
    (first,) = dy2st.grad(static(x), [static.body.weight], create_graph=True)
    (wanted,) = dy2st.grad(net(x), [net.body.weight], create_graph=True)
    first.sum().backward(), wanted.sum().backward()
    found, expected = static.body.weight.grad, net.body.weight.grad
    np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("gives_leaf", [True, False])
def test_gradients_that_begin_inside_and_flow_on_run_operator_by_operator(gives_leaf):
    net = Penalty(gives_leaf)
    for parameter in net.parameters():
        parameter.stop_gradient = not gives_leaf
    static, x = to_static(net), dy2st.ones([2, 3])
    for _ in range(3):
        made = static(x)
        loss, leaf = made if gives_leaf else (made, None)
        assert not loss.stop_gradient and not isinstance(loss.grad_fn, ProgramNode)
        loss.backward()
        assert leaf is None or (not leaf.stop_gradient and leaf.grad is not None)
