"""Views of containers, weak tables, and iterators that are held."""

from __future__ import annotations

import copy
import itertools
import operator
import types
import weakref

from tests.dy2st.jit.outside.scenario import Box, change


@change
def a_mapping_proxy():
    held = {"a": 2.0}
    proxy = types.MappingProxyType(held)
    return lambda x: x * proxy["a"], lambda: held.update(a=9.0)


@change
def the_proxy_of_a_class():
    class Local:
        scale = 2.0

    proxy = Local.__dict__

    return lambda x: x * proxy["scale"], lambda: setattr(Local, "scale", 9.0)


@change
def a_view_of_values_held():
    held = {"a": 2.0}
    values = held.values()
    return lambda x: x * sum(values), lambda: held.update(a=9.0)


@change
def a_view_of_items_held():
    held = {"a": 2.0}
    items = held.items()
    return lambda x: x * dict(items)["a"], lambda: held.update(a=9.0)


@change
def a_view_of_keys_held():
    held = {"a": 2.0}
    keys = held.keys()
    return lambda x: x * len(keys) if "a" in keys else x, lambda: held.update(b=9.0)


@change
def a_view_of_the_dict_of_an_object():
    held = Box(a=2.0)
    values = vars(held).values()
    return lambda x: x * sum(values), lambda: setattr(held, "a", 9.0)


@change
def an_entry_of_a_weak_value_dictionary():
    kept = [Box(scale=2.0), Box(scale=9.0)]
    held = weakref.WeakValueDictionary(a=kept[0])
    return lambda x: x * held["a"].scale, lambda: held.update(a=kept[1])


@change
def an_entry_that_leaves_a_weak_value_dictionary():
    kept = [Box(scale=2.0)]
    held = weakref.WeakValueDictionary(a=kept[0])
    return lambda x: x * (2 if "a" in held else 3), kept.clear


@change
def an_entry_of_a_weak_key_dictionary():
    key = Box()
    held = weakref.WeakKeyDictionary({key: 2.0})
    return lambda x: x * held[key], lambda: held.__setitem__(key, 9.0)


@change
def a_weak_set():
    kept = [Box(), Box()]
    held = weakref.WeakSet(kept)
    return lambda x: x * len(held), lambda: held.discard(kept[0])


@change
def a_copy_of_an_iterator_held():
    held = iter([2.0, 3.0, 4.0])
    return lambda x: x * next(copy.copy(held)), lambda: next(held)


@change
def what_is_left_of_an_iterator_held():
    held = iter([2.0, 3.0, 4.0])
    return lambda x: x * operator.length_hint(held), lambda: next(held)


@change
def a_counter_of_itertools_held():
    held = itertools.count(2)
    return lambda x: x * next(copy.copy(held)), lambda: next(held)


@change
def a_list_behind_an_iterator_held():
    numbers = [2.0, 3.0]
    held = iter(numbers)
    return lambda x: x * sum(copy.copy(held)), lambda: numbers.append(9.0)


@change
def a_range_replaced():
    held = Box(numbers=range(3))

    def f(x):
        for number in held.numbers:
            x = x + number
        return x

    return f, lambda: setattr(held, "numbers", range(5))


@change
def a_slice_held():
    held = Box(part=slice(0, 1))
    return lambda x: x[held.part], lambda: setattr(held, "part", slice(None))
