"""Attributes of objects with and without slots, and properties."""

from __future__ import annotations

import functools

from tests.dy2st.jit.outside.scenario import Box, change, opaque


class Plain:
    shared = 2.0

    def __init__(self):
        self.scale = 2.0
        self._hidden = 2.0

    @property
    def double(self):
        return self._hidden * 2

    @functools.cached_property
    def once(self):
        return self._hidden + 1


class Slotted:
    __slots__ = ("scale",)

    def __init__(self):
        self.scale = 2.0


@change
def an_attribute():
    held = Plain()
    return lambda x: x * held.scale, lambda: setattr(held, "scale", 9.0)


@change
def an_attribute_of_a_slot():
    held = Slotted()
    return lambda x: x * held.scale, lambda: setattr(held, "scale", 9.0)


@change
def a_slot_by_its_descriptor():
    held = Slotted()
    return lambda x: x * Slotted.scale.__get__(held), lambda: setattr(held, "scale", 9.0)


@change
def an_attribute_of_an_attribute():
    held = Box(inner=Box(scale=2.0))
    return lambda x: x * held.inner.scale, lambda: setattr(held.inner, "scale", 9.0)


@change
def an_object_between_replaced():
    held = Box(inner=Box(scale=2.0))
    return lambda x: x * held.inner.scale, lambda: setattr(held, "inner", Box(scale=9.0))


@change
def an_attribute_deleted():
    held = Plain()
    return lambda x: x * held.scale, lambda: delattr(held, "scale")


@change
def an_attribute_deleted_above_that_of_the_class():
    held = Plain()
    held.shared = 5.0
    return lambda x: x * held.shared, lambda: delattr(held, "shared")


@change
def an_attribute_set_over_that_of_the_class():
    held = Plain()
    return lambda x: x * held.shared, lambda: setattr(held, "shared", 9.0)


@change
def an_attribute_of_the_class_by_an_instance():
    class Local(Plain):
        level = 2.0

    held = Local()

    return lambda x: x * held.level, lambda: setattr(Local, "level", 9.0)


@change
def a_class_between_gets_the_attribute():
    class Middle(Plain):
        pass

    class Local(Middle):
        pass

    held = Local()

    return lambda x: x * held.shared, lambda: setattr(Middle, "shared", 9.0)


@change
def a_property():
    held = Plain()
    return lambda x: x * held.double, lambda: setattr(held, "_hidden", 9.0)


@change
def a_property_replaced():
    class Local(Plain):
        pass

    held = Local()

    return lambda x: x * held.double, lambda: setattr(Local, "double", property(lambda self: 9.0))


@opaque
def a_cached_property_forgotten():
    held = Plain()

    def turn():
        held._hidden = 9.0
        del held.once

    return lambda x: x * held.once, turn


@change
def what_a_setter_changes():
    class Local:
        def __init__(self):
            self.kept = {"scale": 2.0}

        @property
        def scale(self):
            return self.kept["scale"]

        @scale.setter
        def scale(self, value):
            self.kept["scale"] = value

    held = Local()

    return lambda x: x * held.scale, lambda: setattr(held, "scale", 9.0)


@change
def attributes_set_by_dict_update():
    held = Plain()
    return lambda x: x * held.scale, lambda: held.__dict__.update(scale=9.0)


@change
def the_dict_of_an_object_replaced():
    held = Plain()
    return lambda x: x * held.scale, lambda: setattr(held, "__dict__", {"scale": 9.0})


@change
def a_method_of_the_object_that_is_converted():
    class Model:
        def __init__(self):
            self.scale = 2.0

        def forward(self, x):
            return x * self.scale

    held = Model()
    return held.forward, lambda: setattr(held, "scale", 9.0)


@change
def a_private_attribute_in_a_method():
    class Model:
        def __init__(self):
            self.__scale = 2.0

        def forward(self, x):
            return x * self.__scale

        def turn(self):
            self.__scale = 9.0

    held = Model()
    return held.forward, held.turn
