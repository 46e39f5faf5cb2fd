"""What nobody reads may change: nothing is traced anew."""

from __future__ import annotations

import collections
import dataclasses
import os
import random

import numpy as np

import dy2st
from dy2st import nn
from tests.dy2st.jit.outside.scenario import Box, beside

LEVEL = 2.0
UNREAD = 3.0


@beside
def another_attribute():
    held = Box(scale=2.0, other=1.0)

    def f(x):
        return x * held.scale

    return f, lambda: setattr(held, "other", 9.0)


@beside
def another_attribute_beside_a_computed_name():
    held, names = Box(scale=2.0, other=1.0), ["scale"]

    def f(x):
        return x * getattr(held, names[0])

    return f, lambda: setattr(held, "other", 9.0)


@beside
def a_new_attribute():
    held = Box(scale=2.0)

    def f(x):
        return x * held.scale

    return f, lambda: setattr(held, "other", 9.0)


@beside
def another_entry():
    held = {"a": 2.0, "b": 3.0}

    def f(x):
        return x * held["a"]

    return f, lambda: held.update(b=9.0)


@beside
def a_new_entry():
    held = {"a": 2.0}

    def f(x):
        return x * held["a"]

    return f, lambda: held.update(b=9.0)


@beside
def another_number_of_a_list():
    held = [2.0, 3.0]

    def f(x):
        return x * held[0]

    return f, lambda: held.__setitem__(1, 9.0)


@beside
def a_number_put_behind():
    held = [2.0]

    def f(x):
        return x * held[0]

    return f, lambda: held.append(9.0)


@beside
def the_length_alone_is_read():
    held = [2.0]

    def f(x):
        return x * len(held)

    return f, lambda: held.__setitem__(0, 9.0)


@beside
def another_global():
    def f(x):
        return x * LEVEL

    return f, lambda: globals().update(UNREAD=9.0)


@beside
def another_cell():
    level, other = 2.0, 3.0

    def f(x):
        return x * level

    def turn():
        nonlocal other
        other += 1

    return f, turn


@beside
def an_equal_number_set_again():
    held = Box(scale=2.5)

    def f(x):
        return x * held.scale

    return f, lambda: setattr(held, "scale", float("2.5"))


@beside
def an_equal_string_set_again():
    held = Box(name="scale")

    def f(x):
        return x * len(held.name)

    return f, lambda: setattr(held, "name", "".join(["sc", "ale"]))


@beside
def what_is_written_before_it_is_read():
    held = Box(scale=2.0)

    def f(x):
        held.scale = 3.0
        return x * held.scale

    return f, lambda: setattr(held, "scale", 9.0)


@beside
def the_value_of_a_parameter():
    net = nn.Linear(2, 2)

    def f(x):
        return net(x).shape[0] * x

    return f, lambda: net.weight.set_value(net.weight.numpy() * 2)


@beside
def a_hook_put_on_and_taken_away():
    net = nn.ReLU()
    return net, lambda: net.register_forward_post_hook(lambda *given: given[-1] * 9).remove()


@beside
def a_layer_that_is_not_called():
    net = nn.LayerList([nn.ReLU(), nn.ReLU()])

    def f(x):
        return net[0](x)

    return f, lambda: setattr(net[1], "note", 9.0)


@beside
def the_mode_of_another_layer():
    one, two = nn.Dropout(0.0), nn.Dropout(0.0)

    def f(x):
        return one(x)

    return f, lambda: (two.eval(), one.train())


@beside
def a_tensor_of_the_same_type():
    held = Box(shift=dy2st.zeros([2]))

    def f(x):
        return x * (held.shift.shape[0] + 1)

    return f, lambda: setattr(held, "shift", dy2st.ones([2]))


@beside
def another_field_of_a_dataclass():
    @dataclasses.dataclass
    class Settings:
        scale: float = 2.0
        other: float = 3.0

    held = Settings()

    def f(x):
        return x * held.scale

    return f, lambda: setattr(held, "other", 9.0)


@beside
def an_attribute_of_a_class_that_is_hidden():
    class Local:
        scale = 5.0

    held = Local()
    held.scale = 2.0

    def f(x):
        return x * held.scale

    return f, lambda: setattr(Local, "scale", 9.0)


@beside
def a_class_gets_another_attribute():
    class Local:
        def scale(self):
            return 2.0

    held = Local()

    def f(x):
        return x * held.scale()

    return f, lambda: setattr(Local, "other", 9.0)


@beside
def another_name_of_the_environment():
    os.environ["OUTSIDE_READ"] = "ab"

    def f(x):
        return x * len(os.environ["OUTSIDE_READ"])

    yield f, lambda: os.environ.update(OUTSIDE_UNREAD="abc")
    os.environ.pop("OUTSIDE_READ")
    os.environ.pop("OUTSIDE_UNREAD")


@beside
def random_numbers_drawn_outside():
    def f(x):
        return x * 2

    return f, random.random


@beside
def another_element_of_an_array():
    held = np.array([2.0, 3.0])

    def f(x):
        return x * float(held[0])

    return f, lambda: held.__setitem__(1, 9.0)


@beside
def a_counter_of_another_name():
    held = collections.Counter("aab")

    def f(x):
        return x * held["a"]

    return f, lambda: held.update("b")


@beside
def a_list_replaced_by_an_equal_one():
    held = Box(sizes=[1, 2])

    def f(x):
        return x * sum(held.sizes)

    return f, lambda: setattr(held, "sizes", [1, 2])


@beside
def many_calls_of_a_chain_of_objects():
    held = Box(a=Box(b=Box(scale=2.0)), unread=Box(scale=3.0))

    def f(x):
        return x * held.a.b.scale

    return f, lambda: setattr(held.unread, "scale", 9.0)
