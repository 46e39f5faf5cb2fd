"""A parameter that a function changes stays a leaf: gradients flow to it from before and after."""

from __future__ import annotations

import contextlib

import pytest

import dy2st
from dy2st import jit, nn, to_static
from dy2st.static import InputSpec
from tests.dy2st.catalogue.comparing import seen

ROWS = [[[1.0, 2.0], [3.0, -1.0]], [[-1.0, -2.0], [0.5, 0.1]], [[0.3, 0.2], [0.1, 0.1]]]
BODIES = []


def body(forward):
    """Note the `forward` of a Layer with the parameters `w` and those of `net`."""
    BODIES.append(forward)
    return forward


@body
def changed_before_it_is_used(self, x):
    with dy2st.no_grad():
        self.w.set_value(self.w * 2)
    return (self.w * self.w * x).sum()


@body
def changed_after_it_is_used(self, x):
    y = (self.w * self.w * x).sum()
    with dy2st.no_grad():
        self.w.add_(0.1 * x[0])
    return y


@body
def used_before_and_after(self, x):
    y = (self.w * self.w * x).sum()
    self.w.set_value(self.w * 0.5 + 0.01 * y)
    return y + (self.w**3 * x).sum()


@body
def differentiated_before_and_after(self, x):
    y = (self.w * self.w * x).sum()
    with dy2st.no_grad():
        self.w.add_(0.1 * x[0])
    z = y + (self.w**3 * x).sum()
    (slope,) = dy2st.grad(z, [self.w], create_graph=True)
    return z + (slope * slope).sum()


@body
def changed_on_one_path(self, x):
    y = (self.w * self.w * x).sum()
    if x.sum() > 0:
        with dy2st.no_grad():
            self.w.set_value(self.w * 2)
        y = y * (self.w * x).sum()
    else:
        y = y + (self.w * x).sum()
    return y + (self.w**3 * x).sum()


@body
def changed_by_each_iteration(self, x):
    y = 0.0
    for row in x:
        y = y + (self.w**2 * row).sum()
        with dy2st.no_grad():
            self.w.add_(0.1 * self.w)
    return y + (self.w * x).sum()


@body
def changed_until_it_is_large(self, x):
    y = 0.0
    while self.w.sum() < 4:
        y = y + (self.w**2 * x).sum()
        with dy2st.no_grad():
            if self.w.max() > -5:
                self.w.set_value(self.w * 1.5)
    return y + (self.w * x).sum()


@body
def descended_until_it_is_small(self, x):
    steps = 0
    while self.w.abs().max() > 0.3:
        (slope,) = dy2st.grad((self.w**2).sum(), [self.w])
        with dy2st.no_grad():
            self.w.set_value(self.w - 0.1 * slope)
        steps += 1
    return (self.w * x).sum() * steps


@body
def element_is_changed(self, x):
    y = (self.w * x).sum()
    with dy2st.no_grad():
        self.w[0] = 3.0
        rest = self.w[1:]
        rest.add_(x[0, 1:])
    return (self.w * self.w * x).sum() * y


@body
def two_change_places(self, x):
    with dy2st.no_grad():
        kept = self.w.clone()
        self.w.set_value(self.net.bias + 1)
        self.net.bias.set_value(kept)
    return (self.net(x) * self.w).sum()


@body
def given_back_with_its_numbers(self, x):
    with dy2st.no_grad():
        numbers = self.w * 2
        self.w.set_value(numbers)
    return self.w * x, numbers


@body
def asked_for_its_flag(self, x):
    with dy2st.no_grad():
        self.w.set_value(self.w * 2)
    return (self.w * x).sum() if not self.w.stop_gradient else x.sum()


@body
def stepped_without_backward(self, x):
    (self.w.grad,) = dy2st.grad((self.w**2 * x).sum(), [self.w])
    dy2st.optimizer.SGD(0.1, parameters=[self.w]).step()
    return (self.w**2 * x).sum()


def layer_of(forward):
    dy2st.seed(1)

    class Changing(nn.Layer):
        def __init__(self):
            super().__init__()
            self.net = nn.Linear(2, 2)
            self.w = self.create_parameter([2], default_initializer=nn.initializer.Constant(0.5))

    Changing.forward = forward
    return Changing()


def calls(run, parameters, recorded=contextlib.nullcontext):
    """What calls in a row give, with the gradients that flow back from it and the parameters."""
    found = []
    for rows in ROWS:
        with recorded():
            result = run(dy2st.to_tensor(rows))
        results = result if isinstance(result, tuple) else (result,)
        flags = [one.stop_gradient for one in results]
        for one in results:
            if not one.stop_gradient:
                one.sum().backward()
        for one in parameters:
            found.append((one.stop_gradient, one.is_leaf, seen(one), seen(one.grad)))
            one.grad = None
        found.append((seen(results), flags))
    return found


@pytest.mark.parametrize("recorded", [dy2st.enable_grad, dy2st.no_grad])
@pytest.mark.parametrize("engine", ["numpy", "native"])
@pytest.mark.parametrize("forward", BODIES, ids=lambda forward: forward.__name__)
def test_gradients_flow_to_a_parameter_as_it_was_and_as_it_is(forward, engine, recorded):
    layer, other = layer_of(forward), layer_of(forward)
    try:
        wanted = calls(layer, layer.parameters(), recorded)
    except ValueError as error:  # no gradient may be taken without recording
        with pytest.raises(ValueError, match=str(error)[:40]):
            calls(to_static(other, engine=engine), other.parameters(), recorded)
        return
    assert calls(to_static(other, engine=engine), other.parameters(), recorded) == wanted


@pytest.mark.parametrize("forward", BODIES[:-1], ids=lambda forward: forward.__name__)
def test_so_they_do_in_a_saved_model(forward, tmp_path):
    layer, other = layer_of(forward), layer_of(forward)
    jit.save(to_static(other, input_spec=[InputSpec([None, 2])]), tmp_path / "model")
    loaded = jit.load(tmp_path / "model")
    loaded.train()
    names = dict(loaded.named_parameters())
    wanted = calls(layer, [dict(layer.named_parameters())[name] for name in names])
    assert calls(loaded, [*names.values()]) == wanted
