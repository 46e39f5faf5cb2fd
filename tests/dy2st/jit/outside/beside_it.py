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
    return lambda x: x * held.scale, lambda: setattr(held, "other", 9.0)


@beside
def another_attribute_beside_a_computed_name():
    held, names = Box(scale=2.0, other=1.0), ["scale"]
    return lambda x: x * getattr(held, names[0]), lambda: setattr(held, "other", 9.0)


@beside
def a_new_attribute():
    held = Box(scale=2.0)
    return lambda x: x * held.scale, lambda: setattr(held, "other", 9.0)


@beside
def another_entry():
    held = {"a": 2.0, "b": 3.0}
    return lambda x: x * held["a"], lambda: held.update(b=9.0)


@beside
def a_new_entry():
    held = {"a": 2.0}
    return lambda x: x * held["a"], lambda: held.update(b=9.0)


@beside
def another_number_of_a_list():
    held = [2.0, 3.0]
    return lambda x: x * held[0], lambda: held.__setitem__(1, 9.0)


@beside
def a_number_put_behind():
    held = [2.0]
    return lambda x: x * held[0], lambda: held.append(9.0)


@beside
def the_length_alone_is_read():
    held = [2.0]
    return lambda x: x * len(held), lambda: held.__setitem__(0, 9.0)


@beside
def another_global():
    return lambda x: x * LEVEL, lambda: globals().update(UNREAD=9.0)


@beside
def another_cell():
    level, other = 2.0, 3.0

    def turn():
        nonlocal other
        other += 1

    return lambda x: x * level, turn


@beside
def an_equal_number_set_again():
    held = Box(scale=2.5)
    return lambda x: x * held.scale, lambda: setattr(held, "scale", float("2.5"))


@beside
def an_equal_string_set_again():
    held = Box(name="scale")
    return lambda x: x * len(held.name), lambda: setattr(held, "name", "".join(["sc", "ale"]))


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
    return lambda x: net(x).shape[0] * x, lambda: net.weight.set_value(net.weight.numpy() * 2)


@beside
def a_hook_put_on_and_taken_away():
    net = nn.ReLU()
    return net, lambda: net.register_forward_post_hook(lambda *given: given[-1] * 9).remove()


@beside
def a_layer_that_is_not_called():
    net = nn.LayerList([nn.ReLU(), nn.ReLU()])
    return lambda x: net[0](x), lambda: setattr(net[1], "note", 9.0)


@beside
def the_mode_of_another_layer():
    one, two = nn.Dropout(0.0), nn.Dropout(0.0)
    return lambda x: one(x), lambda: (two.eval(), one.train())


@beside
def a_tensor_of_the_same_type():
    held = Box(shift=dy2st.zeros([2]))
    return lambda x: x * (held.shift.shape[0] + 1), lambda: setattr(held, "shift", dy2st.ones([2]))


@beside
def another_field_of_a_dataclass():
    @dataclasses.dataclass
    class Settings:
        scale: float = 2.0
        other: float = 3.0

    held = Settings()

    return lambda x: x * held.scale, lambda: setattr(held, "other", 9.0)


@beside
def an_attribute_of_a_class_that_is_hidden():
    class Local:
        scale = 5.0

    held = Local()
    held.scale = 2.0

    return lambda x: x * held.scale, lambda: setattr(Local, "scale", 9.0)


@beside
def a_class_gets_another_attribute():
    class Local:
        def scale(self):
            return 2.0

    held = Local()

    return lambda x: x * held.scale(), lambda: setattr(Local, "other", 9.0)


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
    return lambda x: x * 2, random.random


@beside
def another_element_of_an_array():
    held = np.array([2.0, 3.0])
    return lambda x: x * float(held[0]), lambda: held.__setitem__(1, 9.0)


@beside
def a_counter_of_another_name():
    held = collections.Counter("aab")
    return lambda x: x * held["a"], lambda: held.update("b")


@beside
def a_list_replaced_by_an_equal_one():
    held = Box(sizes=[1, 2])
    return lambda x: x * sum(held.sizes), lambda: setattr(held, "sizes", [1, 2])


@beside
def many_calls_of_a_chain_of_objects():
    held = Box(a=Box(b=Box(scale=2.0)), unread=Box(scale=3.0))
    return lambda x: x * held.a.b.scale, lambda: setattr(held.unread, "scale", 9.0)
