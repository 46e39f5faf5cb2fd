"""Classes: their methods, operators, descriptors, metaclasses, and who belongs to them."""

from __future__ import annotations

import abc
import collections.abc
import typing

from tests.dy2st.jit.outside.scenario import Box, beside, change


class Plain:
    shared = 2.0

    def __init__(self):
        self.scale = 2.0

    def factor(self):
        return self.scale

    @staticmethod
    def fixed():
        return 2.0

    @classmethod
    def common(cls):
        return cls.shared


@change
def the_bases_of_a_class():
    class Two:
        def factor(self):
            return 2.0

    class Nine:
        def factor(self):
            return 9.0

    class Local(Two):
        pass

    held = Local()

    return lambda x: x * held.factor(), lambda: setattr(Local, "__bases__", (Nine,))


@change
def a_method_replaced_in_the_class():
    class Local(Plain):
        pass

    held = Local()

    return lambda x: x * held.factor(), lambda: setattr(Local, "factor", lambda self: 9.0)


@change
def a_method_replaced_in_the_object():
    held = Plain()
    return lambda x: x * held.factor(), lambda: setattr(held, "factor", lambda: 9.0)


@change
def a_static_method_replaced():
    class Local(Plain):
        pass

    return lambda x: x * Local.fixed(), lambda: setattr(Local, "fixed", staticmethod(lambda: 9.0))


@change
def what_a_class_method_reads():
    class Local(Plain):
        pass

    return lambda x: x * Local.common(), lambda: setattr(Local, "shared", 9.0)


@change
def what_super_finds():
    class Base:
        def factor(self):
            return 2.0

    class Local(Base):
        def factor(self):
            return super().factor() + 1

    held = Local()

    return lambda x: x * held.factor(), lambda: setattr(Base, "factor", lambda self: 9.0)


@change
def an_operator_of_a_class_replaced():
    class Local:
        def __mul__(self, other):
            return other * 2

    held = Local()

    return lambda x: held * x, lambda: setattr(Local, "__mul__", lambda self, other: other * 9)


@change
def an_operator_that_reads():
    class Local:
        by = 2.0

        def __matmul__(self, other):
            return other * self.by

    held = Local()

    return lambda x: held @ x, lambda: setattr(held, "by", 9.0)


@change
def call_of_an_object():
    class Local:
        by = 2.0

        def __call__(self, x):
            return x * self.by

    held = Local()

    return lambda x: held(x), lambda: setattr(held, "by", 9.0)


@change
def a_context_manager_that_reads():
    held = Box(scale=2.0)

    class Local:
        def __enter__(self):
            return held.scale

        def __exit__(self, *error):
            return False

    def f(x):
        with Local() as scale:
            return x * scale

    return f, lambda: setattr(held, "scale", 9.0)


@change
def a_descriptor():
    class Named:
        def __init__(self, name):
            self.name = name

        def __get__(self, owner, kind):
            return getattr(owner, self.name)

    class Local:
        scale = Named("_scale")

        def __init__(self):
            self._scale = 2.0

    held = Local()

    return lambda x: x * held.scale, lambda: setattr(held, "_scale", 9.0)


@change
def the_name_that_a_descriptor_reads():
    class Named:
        def __init__(self, name):
            self.name = name

        def __get__(self, owner, kind):
            return getattr(owner, self.name)

    named = Named("one")

    class Local:
        scale = named
        one, two = 2.0, 9.0

    held = Local()

    return lambda x: x * held.scale, lambda: setattr(named, "name", "two")


@change
def a_descriptor_that_keeps_values_itself():
    class Kept:
        def __init__(self):
            self.values = {}

        def __get__(self, owner, kind):
            return self.values[id(owner)]

        def __set__(self, owner, value):
            self.values[id(owner)] = value

    class Local:
        scale = Kept()

    held = Local()
    held.scale = 2.0

    return lambda x: x * held.scale, lambda: setattr(held, "scale", 9.0)


@change
def getattr_of_a_class():
    class Local:
        def __init__(self):
            self.kept = {"scale": 2.0}

        def __getattr__(self, name):
            return self.kept[name]

    held = Local()

    return lambda x: x * held.scale, lambda: held.kept.update(scale=9.0)


@change
def getattr_hidden_by_a_new_attribute():
    class Local:
        def __getattr__(self, name):
            return 2.0

    held = Local()

    return lambda x: x * held.scale, lambda: setattr(held, "scale", 9.0)


@change
def getattribute_of_a_class():
    level = Box(now=2.0)

    class Local:
        def __getattribute__(self, name):
            return level.now if name == "scale" else object.__getattribute__(self, name)

    held = Local()

    return lambda x: x * held.scale, lambda: setattr(level, "now", 9.0)


@change
def a_property_of_a_metaclass():
    class Meta(type):
        level = 2.0

        @property
        def scale(cls):
            return Meta.level

    class Local(metaclass=Meta):
        pass

    return lambda x: x * Local.scale, lambda: setattr(Meta, "level", 9.0)


@change
def the_class_of_an_object():
    class Two:
        def factor(self):
            return 2.0

    class Nine(Two):
        def factor(self):
            return 9.0

    held = Two()

    return lambda x: x * held.factor(), lambda: setattr(held, "__class__", Nine)


@change
def the_class_asked_for_its_name():
    class Two:
        pass

    class Longer:
        pass

    held = Two()

    return lambda x: x * len(type(held).__name__), lambda: setattr(held, "__class__", Longer)


@change
def the_name_of_a_class():
    class Two:
        pass

    return lambda x: x * len(Two.__name__), lambda: setattr(Two, "__name__", "Longer")


@change
def a_class_registered_with_another():
    class Base(abc.ABC):
        pass

    class Local:
        pass

    held = Local()

    return lambda x: x * (9 if isinstance(held, Base) else 2), lambda: Base.register(Local)


@change
def a_class_registered_for_issubclass():
    class Local:
        pass

    class Base(abc.ABC):
        pass

    return lambda x: x * (9 if issubclass(Local, Base) else 2), lambda: Base.register(Local)


@change
def a_class_registered_as_a_sequence():
    class Local:
        def __len__(self):
            return 1

        def __getitem__(self, index):
            return [9][index]

    held = Local()

    def f(x):
        match held:
            case [only]:
                return x * only
        return x * 2

    return f, lambda: collections.abc.Sequence.register(Local)


@beside
def a_class_registered_that_nobody_asks_for():
    class Local:
        pass

    def f(x):
        return x * (9 if isinstance(x, collections.abc.Sequence) else 2)

    return f, lambda: collections.abc.Sequence.register(Local)


@beside
def a_class_registered_with_no_question():
    class Local:
        pass

    return lambda x: x * 2, lambda: collections.abc.Sequence.register(Local)


@change
def what_a_protocol_looks_for():
    @typing.runtime_checkable
    class Scaled(typing.Protocol):
        def scale(self): ...

    class Local:
        pass

    held = Local()

    def f(x):
        return x * (9 if isinstance(held, Scaled) else 2)

    return f, lambda: setattr(held, "scale", lambda: 9.0)
