"""Dataclasses, named tuples, enums, namespaces, and objects behind weak references."""

from __future__ import annotations

import collections
import dataclasses
import enum
import types
import weakref

from tests.dy2st.jit.outside.scenario import Box, change, opaque


@change
def a_field_of_a_dataclass():
    @dataclasses.dataclass
    class Settings:
        scale: float = 2.0

    held = Settings()

    return lambda x: x * held.scale, lambda: setattr(held, "scale", 9.0)


@change
def a_field_of_a_slotted_dataclass():
    @dataclasses.dataclass
    class Settings:
        __slots__ = ("scale",)
        scale: float

    held = Settings(2.0)

    return lambda x: x * held.scale, lambda: setattr(held, "scale", 9.0)


@change
def a_frozen_dataclass_replaced():
    @dataclasses.dataclass(frozen=True)
    class Settings:
        scale: float = 2.0

    held = Box(settings=Settings())

    def f(x):
        return x * held.settings.scale

    return f, lambda: setattr(held, "settings", dataclasses.replace(held.settings, scale=9.0))


@change
def a_frozen_dataclass_forced():
    @dataclasses.dataclass(frozen=True)
    class Settings:
        scale: float = 2.0

    held = Settings()

    return lambda x: x * held.scale, lambda: object.__setattr__(held, "scale", 9.0)


@change
def the_default_of_a_dataclass():
    @dataclasses.dataclass
    class Settings:
        scale: float = 2.0

    return lambda x: x * Settings.scale, lambda: setattr(Settings, "scale", 9.0)


@change
def a_named_tuple_replaced():
    Settings = collections.namedtuple("Settings", "scale shift")
    held = Box(settings=Settings(2.0, 1.0))

    def f(x):
        return x * held.settings.scale + held.settings.shift

    return f, lambda: setattr(held, "settings", held.settings._replace(scale=9.0))


@change
def a_list_in_a_named_tuple():
    Settings = collections.namedtuple("Settings", "scales shift")
    held = Settings([2.0], 1.0)

    def f(x):
        scales, shift = held
        return x * scales[0] + shift

    return f, lambda: held.scales.__setitem__(0, 9.0)


@change
def an_enum_member_chosen():
    class Mode(enum.Enum):
        FAST = 2.0
        SLOW = 9.0

    held = Box(mode=Mode.FAST)

    return lambda x: x * held.mode.value, lambda: setattr(held, "mode", Mode.SLOW)


@change
def an_attribute_of_an_enum_member():
    class Mode(enum.Enum):
        FAST = 1

    Mode.FAST.scale = 2.0

    return lambda x: x * Mode.FAST.scale, lambda: setattr(Mode.FAST, "scale", 9.0)


@opaque
def flags_of_an_enum():
    class Options(enum.Flag):
        SCALE = 1
        SHIFT = 2

    held = Box(options=Options.SCALE)

    def f(x):
        x = x * 2 if Options.SCALE in held.options else x
        return x + 1 if held.options & Options.SHIFT else x

    return f, lambda: setattr(held, "options", Options.SCALE | Options.SHIFT)


@change
def a_simple_namespace():
    held = types.SimpleNamespace(scale=2.0)
    return lambda x: x * held.scale, lambda: vars(held).update(scale=9.0)


@change
def a_weakly_held_parent():
    parent = Box(scale=2.0)
    held = Box(parent=weakref.ref(parent))
    return lambda x: x * held.parent().scale, lambda: setattr(parent, "scale", 9.0)


@change
def an_object_behind_a_weak_proxy():
    parent = Box(scale=2.0)
    held = Box(parent=weakref.proxy(parent))
    return lambda x: x * held.parent.scale, lambda: setattr(parent, "scale", 9.0)


@change
def a_weakly_held_parent_that_goes():
    parents = [Box(scale=2.0)]
    held = weakref.ref(parents[0])

    def f(x):
        parent = held()
        return x if parent is None else x * parent.scale

    return f, parents.clear
