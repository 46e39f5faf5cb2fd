"""Layers: attributes, sublayers, hooks, buffers, parameters, modes, and lists of them."""

from __future__ import annotations

import functools

import numpy as np

import dy2st
from dy2st import nn
from tests.dy2st.jit.outside.scenario import Box, change, layer_of

TWO, NINE = [2.0, 2.0], [9.0, 9.0]


class Scale(nn.Layer):
    """Multiplies by a parameter, and by a plain number."""

    def __init__(self, by=2.0):
        super().__init__()
        self.by = by
        self.weight = dy2st.create_parameter([2], "float32")
        self.weight.set_value(np.ones(2, "float32") * 3)

    def forward(self, x):
        return x * self.weight * self.by


class Net(nn.Layer):
    """A sublayer, a buffer, and a tensor condition."""

    def __init__(self):
        super().__init__()
        self.inner = Scale()
        self.mode = "mul"
        self.register_buffer("mean", dy2st.ones([2]))

    def forward(self, x):
        y = self.inner(x)
        if y.sum() > 100:
            y = y - self.mean
        return y + self.mean if self.mode == "add" else y


def layer(changes):
    """Register a scenario of a Net and what changes it."""

    @functools.wraps(changes)
    def make():
        net = Net()
        return net, lambda: changes(net)

    return change(make)


def hooked(layer, given, out):
    return out * 10


@layer
def an_attribute(net):
    net.mode = "add"


@layer
def an_attribute_of_a_sublayer(net):
    net.inner.by = 9.0


@layer
def a_sublayer_replaced(net):
    net.inner = Scale(9.0)


@layer
def a_sublayer_replaced_by_another_class(net):
    net.inner = nn.ReLU()
    net.mode = "add"


@layer
def a_sublayer_replaced_by_its_name(net):
    net.add_sublayer("inner", Scale(9.0))


@layer
def a_sublayer_replaced_in_the_table(net):
    net._sub_layers["inner"] = Scale(9.0)


@layer
def a_parameter_set(net):
    net.inner.weight.set_value(np.ones(2, "float32") * 7)


@layer
def a_parameter_replaced(net):
    other = dy2st.create_parameter([2], "float32")
    other.set_value(np.ones(2, "float32") * 7)
    net.inner.weight = other


@layer
def a_parameter_replaced_in_the_table(net):
    other = dy2st.create_parameter([2], "float32")
    other.set_value(np.ones(2, "float32") * 7)
    net.inner._parameters["weight"] = other


@layer
def a_parameter_put_into_the_table_with_others(net):
    other = dy2st.create_parameter([2], "float32")
    other.set_value(np.ones(2, "float32") * 7)
    net.inner._parameters.update(weight=other)


@layer
def a_layer_replaced_in_the_table(net):
    net._sub_layers["inner"] = nn.Identity()


@layer
def a_hook_put_into_the_table(net):
    net.inner._forward_post_hooks[99] = lambda layer, given, out: out * 10


@layer
def a_parameter_of_another_shape(net):
    other = dy2st.create_parameter([1], "float32")
    other.set_value(np.ones(1, "float32") * 7)
    net.inner.weight = other


@layer
def a_parameter_of_another_dtype(net):
    other = dy2st.create_parameter([2], "float64")
    other.set_value(np.ones(2))
    net.inner.weight = other


@layer
def a_parameter_changed_in_place(net):
    with dy2st.no_grad():
        net.inner.weight[0] = 7.0


@layer
def a_state_loaded(net):
    state = {name: value * 3 for name, value in net.state_dict().items()}
    net.set_state_dict(state)


@layer
def all_in_another_dtype(net):
    net.to(dtype="float64")


@layer
def a_hook_after(net):
    net.register_forward_post_hook(hooked)


@layer
def a_hook_before(net):
    net.register_forward_pre_hook(lambda layer, given: given[0] * 10)


@layer
def a_hook_after_a_sublayer(net):
    net.inner.register_forward_post_hook(hooked)


@layer
def a_hook_before_a_sublayer(net):
    net.inner.register_forward_pre_hook(lambda layer, given: given[0] * 10)


@layer
def the_forward_of_a_sublayer_replaced(net):
    net.inner.forward = lambda x: x * 9


@layer
def the_class_of_a_sublayer(net):
    class Other(Scale):
        def forward(self, x):
            return x * 9

    net.inner.__class__ = Other


@change
def a_hook_removed():
    net = Net()
    handle = net.inner.register_forward_post_hook(hooked)
    return net, handle.remove


@change
def what_a_hook_reads():
    net, level = Net(), Box(by=2.0)
    net.inner.register_forward_post_hook(lambda layer, given, out: out * level.by)
    return net, lambda: setattr(level, "by", 9.0)


@change
def the_order_of_hooks():
    net = Net()
    net.inner.register_forward_post_hook(lambda layer, given, out: out + 1)
    net.inner.register_forward_post_hook(lambda layer, given, out: out * 10)

    def turn():
        hooks = net.inner._forward_post_hooks
        hooks.move_to_end(next(iter(hooks)))

    return net, turn


@change
def a_buffer_replaced():
    net = layer_of(lambda self, x: x + self.mean)
    net.register_buffer("mean", dy2st.ones([2]))
    return net, lambda: setattr(net, "mean", dy2st.to_tensor(NINE))


@change
def a_buffer_set():
    net = layer_of(lambda self, x: x + self.mean)
    net.register_buffer("mean", dy2st.ones([2]))
    return net, lambda: net.mean.set_value(np.array(NINE, "float32"))


@change
def a_buffer_of_another_shape():
    net = layer_of(lambda self, x: (x + self.mean).sum() * self.mean.shape[0])
    net.register_buffer("mean", dy2st.ones([2]))
    return net, lambda: setattr(net, "mean", dy2st.ones([1]))


@change
def a_buffer_that_becomes_none():
    net = layer_of(lambda self, x: x if self.mean is None else x + self.mean)
    net.register_buffer("mean", dy2st.ones([2]))
    return net, lambda: setattr(net, "mean", None)


@change
def a_buffer_that_comes_to_be():
    net = layer_of(lambda self, x: x + self.mean if hasattr(self, "mean") else x)
    return net, lambda: net.register_buffer("mean", dy2st.ones([2]))


@change
def a_buffer_by_a_computed_name():
    net = layer_of(lambda self, x: x + getattr(self, f"mean_{self.step}"), step=0)
    net.register_buffer("mean_0", dy2st.ones([2]))
    net.register_buffer("mean_1", dy2st.to_tensor(NINE))
    return net, lambda: setattr(net, "step", 1)


@change
def a_plain_tensor_replaced():
    net = layer_of(lambda self, x: x + self.shift, shift=dy2st.ones([2]))
    return net, lambda: setattr(net, "shift", dy2st.to_tensor(NINE))


@change
def a_tensor_in_a_list_of_a_layer():
    net = layer_of(lambda self, x: x + self.shifts[0], shifts=[dy2st.ones([2])])
    return net, lambda: net.shifts.__setitem__(0, dy2st.to_tensor(NINE))


@change
def a_tensor_in_a_dict_of_a_layer():
    net = layer_of(lambda self, x: x + self.cache["shift"], cache={"shift": dy2st.ones([2])})
    return net, lambda: net.cache.update(shift=dy2st.to_tensor(NINE))


@change
def two_buffers_that_become_one():
    net = layer_of(lambda self, x: x * 2 if self.one is self.two else x + self.one + self.two)
    net.register_buffer("one", dy2st.ones([2]))
    net.register_buffer("two", dy2st.ones([2]))
    return net, lambda: setattr(net, "two", net.one)


@change
def the_mode_of_training():
    net = layer_of(lambda self, x: x * 2 if self.training else x * 3)
    return net, net.eval


@change
def the_mode_of_a_sublayer():
    def forward(self, x):
        return self.drop(x) * 2 if self.drop.training else self.drop(x)

    net = layer_of(forward, drop=nn.Dropout(0.0))
    return net, net.drop.eval


@change
def the_mode_that_dropout_reads():
    net = nn.Sequential(nn.Dropout(1.0))
    return net, net.eval


@change
def the_rate_of_dropout():
    net = nn.Sequential(nn.Dropout(0.0))
    return net, lambda: setattr(net[0], "p", 1.0)


@change
def the_mode_of_a_norm():
    net = nn.Sequential(nn.BatchNorm1D(2))
    net.eval()
    net[0]._mean.set_value(np.array([1.0, 2.0], "float32"))

    def turn():
        net[0]._mean.set_value(np.array([3.0, 2.0], "float32"))

    return net, turn, dy2st.ones([3, 2])


@change
def the_epsilon_of_a_norm():
    net = nn.Sequential(nn.LayerNorm([2]))
    return net, lambda: setattr(net[0], "_epsilon", 9.0)
