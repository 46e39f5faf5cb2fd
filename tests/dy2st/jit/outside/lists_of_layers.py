"""Lists, dicts and sequences of Layers, and Layers that are asked for what they hold."""

from __future__ import annotations

import collections

import numpy as np

import dy2st
from dy2st import nn
from tests.dy2st.jit.outside.layers import NINE, TWO, Scale
from tests.dy2st.jit.outside.scenario import Box, change, layer_of


@change
def a_list_of_layers_grown():
    def forward(self, x):
        for step in self.steps:
            x = step(x)
        return x

    net = layer_of(forward, steps=nn.LayerList([Scale()]))
    return net, lambda: net.steps.append(Scale(9.0))


@change
def an_entry_of_a_list_of_layers():
    net = layer_of(lambda self, x: self.steps[0](x), steps=nn.LayerList([Scale()]))
    return net, lambda: net.steps.__setitem__(0, Scale(9.0))


@change
def a_list_of_layers_shortened():
    def forward(self, x):
        return self.steps[-1](x) * len(self.steps)

    net = layer_of(forward, steps=nn.LayerList([Scale(), Scale(9.0)]))

    def turn():
        del net.steps[1]

    return net, turn


@change
def a_list_of_layers_inserted_into():
    def forward(self, x):
        for i, step in enumerate(self.steps):
            x = step(x) + i
        return x

    net = layer_of(forward, steps=nn.LayerList([Scale(), Scale(9.0)]))
    return net, lambda: net.steps.insert(0, Scale(5.0))


@change
def a_plain_list_of_layers():
    def forward(self, x):
        for step in self.steps:
            x = step(x)
        return x

    net = layer_of(forward, steps=[Scale()])
    return net, lambda: net.steps.append(Scale(9.0))


@change
def a_dict_of_layers():
    def forward(self, x):
        return self.steps[self.mode](x)

    net = layer_of(forward, steps={"a": Scale(), "b": Scale(9.0)}, mode="a")
    return net, lambda: setattr(net, "mode", "b")


@change
def an_entry_of_a_layer_dict():
    net = layer_of(lambda self, x: self.steps["a"](x), steps=nn.LayerDict({"a": Scale()}))
    return net, lambda: net.steps.update({"a": Scale(9.0)})


@change
def a_sequential_grown():
    net = nn.Sequential(Scale())
    return net, lambda: net.add_sublayer("more", Scale(9.0))


@change
def an_entry_of_a_sequential():
    net = nn.Sequential(Scale(), nn.ReLU())
    return net, lambda: net.__setitem__(0, Scale(9.0))


@change
def an_attribute_in_a_sequential():
    net = nn.Sequential(Scale(), nn.ReLU())
    return net, lambda: setattr(net[0], "by", 9.0)


@change
def a_sequential_inside():
    net = layer_of(lambda self, x: self.steps(x), steps=nn.Sequential(Scale()))
    return net, lambda: net.steps.add_sublayer("more", Scale(9.0))


@change
def a_parameter_list_grown():
    def forward(self, x):
        for weight in self.weights:
            x = x * weight
        return x

    def parameter(value):
        made = dy2st.create_parameter([2], "float32")
        made.set_value(np.array(value, "float32"))
        return made

    net = layer_of(forward, weights=nn.ParameterList([parameter(TWO)]))
    return net, lambda: net.weights.append(parameter(NINE))


@change
def an_entry_of_a_parameter_list():
    def parameter(value):
        made = dy2st.create_parameter([2], "float32")
        made.set_value(np.array(value, "float32"))
        return made

    net = layer_of(lambda self, x: x * self.weights[0], weights=nn.ParameterList([parameter(TWO)]))
    return net, lambda: net.weights.__setitem__(0, parameter(NINE))


@change
def the_number_of_parameters():
    net = layer_of(lambda self, x: x * len(self.parameters()), one=Scale())
    return net, lambda: net.add_sublayer("two", Scale())


@change
def the_names_of_sublayers():
    def forward(self, x):
        for name, step in self.named_children():
            x = step(x) + len(name)
        return x

    net = layer_of(forward, one=Scale())
    return net, lambda: net.add_sublayer("more", Scale())


@change
def the_names_of_buffers():
    def forward(self, x):
        for _, value in self.named_buffers():
            x = x + value
        return x

    net = layer_of(forward)
    net.register_buffer("one", dy2st.ones([2]))
    return net, lambda: net.register_buffer("two", dy2st.ones([2]))


@change
def the_state_dict_read_inside():
    net = layer_of(lambda self, x: x * sum(self.state_dict().values()), one=Scale())
    return net, lambda: net.add_sublayer("two", Scale())


@change
def whether_a_parameter_is_trained():
    def forward(self, x):
        return x * 2 if self.inner.weight.stop_gradient else x * 3

    net = layer_of(forward, inner=Scale())
    return net, lambda: setattr(net.inner.weight, "stop_gradient", True)


@change
def the_gradient_of_a_parameter():
    net = layer_of(lambda self, x: x if self.inner.weight.grad is None else x * 9, inner=Scale())
    return net, lambda: net.inner.weight.sum().backward()


@change
def the_name_of_a_parameter():
    net = layer_of(lambda self, x: x * len(self.inner.weight.name), inner=Scale())
    net.inner.weight.name = "w"
    return net, lambda: setattr(net.inner.weight, "name", "weights")


@change
def the_activation_that_is_an_attribute():
    net = layer_of(lambda self, x: self.activation(x), activation=nn.functional.relu)
    return net, lambda: setattr(net, "activation", nn.functional.sigmoid)


@change
def the_activation_by_its_name():
    net = layer_of(lambda self, x: getattr(nn.functional, self.activation)(x), activation="relu")
    return net, lambda: setattr(net, "activation", "sigmoid")


@change
def settings_that_layers_share():
    settings = Box(by=2.0)

    def forward(self, x):
        return x * self.settings.by + self.inner.settings.by

    net = layer_of(forward, settings=settings, inner=layer_of(None, settings=settings))
    return net, lambda: setattr(settings, "by", 9.0)


@change
def a_counter_of_steps():
    net = layer_of(lambda self, x: x * 2 if self.steps < 10 else x * 3, steps=0)
    return net, lambda: setattr(net, "steps", 10)


@change
def a_class_attribute_of_a_layer():
    class Local(nn.Layer):
        by = 2.0

        def forward(self, x):
            return x * self.by

    return Local(), lambda: setattr(Local, "by", 9.0)


@change
def a_property_of_a_layer():
    class Local(nn.Layer):
        def __init__(self):
            super().__init__()
            self.kept = collections.OrderedDict(by=2.0)

        @property
        def by(self):
            return self.kept["by"]

        def forward(self, x):
            return x * self.by

    net = Local()
    return net, lambda: net.kept.update(by=9.0)


@change
def a_method_of_a_layer_replaced():
    class Local(nn.Layer):
        def step(self, x):
            return x * 2

        def forward(self, x):
            return self.step(x)

    net = Local()
    return net, lambda: setattr(net, "step", lambda x: x * 9)


@change
def a_layer_of_a_global_table():
    table = {"inner": Scale()}
    return lambda x: table["inner"](x), lambda: table.update(inner=Scale(9.0))


@change
def a_layer_of_a_closure():
    inner = Scale()
    return lambda x: inner(x), lambda: setattr(inner, "by", 9.0)


@change
def a_method_of_a_layer_that_is_converted():
    net = nn.Sequential(Scale())
    return lambda x: net[0].forward(x), lambda: setattr(net[0], "by", 9.0)


@change
def apply_over_sublayers():
    net = nn.Sequential(Scale())
    return net, lambda: net.apply(lambda layer: setattr(layer, "by", 9.0))
