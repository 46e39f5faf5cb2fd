"""Containers of every kind: how they are changed, and what of them is read."""

from __future__ import annotations

import array
import collections
import copy
import queue

from tests.dy2st.jit.outside.scenario import Box, change


@change
def a_nested_entry():
    held = {"a": [{"b": 2.0}]}
    return lambda x: x * held["a"][0]["b"], lambda: held["a"][0].update(b=9.0)


@change
def an_entry_deleted():
    held = {"a": 2.0}
    return lambda x: x * held["a"], lambda: held.pop("a")


@change
def the_order_of_a_dict():
    held = {"a": 2.0, "b": 3.0}

    def f(x):
        for value in held.values():
            x = x * 2 + value
        return x

    return f, lambda: held.update(a=held.pop("a"))


@change
def a_key_that_is_an_equal_number():
    held = {1: 2.0}

    def turn():
        held.clear()
        held[True] = 2.0

    return lambda x: x * (2 if isinstance(next(iter(held)), bool) else 3), turn


@change
def a_tuple_in_a_list_replaced():
    held = [(1.0, 2.0)]

    def f(x):
        (a, b), *_ = held
        return x * a + b

    return f, lambda: held.__setitem__(0, (5.0, 2.0))


@change
def a_list_sorted_in_place():
    held = [3.0, 1.0]
    return lambda x: x * held[0], held.sort


@change
def a_list_emptied():
    held = [3.0]
    return lambda x: x * held[-1] if held else x, held.clear


@change
def an_equal_object_put_in_place():
    held = [True]
    return lambda x: x * (2 if held[0] is True else 3), lambda: held.__setitem__(0, 1)


@change
def a_set():
    held = {1, 2}
    return lambda x: x * 2 if 3 in held else x * 3, lambda: held.add(3)


@change
def operators_of_sets():
    held = {1, 2}

    def f(x):
        return x * len(held & {2, 3}) + len(held - {1}) if held <= {1, 2, 3} else x

    return f, lambda: held.add(3)


@change
def a_frozen_set_replaced():
    held = Box(names=frozenset("ab"))

    def f(x):
        return x * 2 if "c" in held.names else x * 3

    return f, lambda: setattr(held, "names", held.names | {"c"})


@change
def a_deque():
    held = collections.deque([2.0, 3.0], maxlen=2)
    return lambda x: x * held[0], lambda: held.append(9.0)


@change
def a_deque_rotated():
    held = collections.deque([2.0, 3.0])

    def f(x):
        for value in held:
            x = x * 2 + value
        return x

    return f, held.rotate


@change
def an_array():
    held = array.array("d", [2.0, 3.0])
    return lambda x: x * held[0], lambda: held.__setitem__(0, 9.0)


@change
def an_ordered_dict():
    held = collections.OrderedDict(a=2.0, b=3.0)
    return lambda x: x * next(iter(held.values())), lambda: held.move_to_end("a")


@change
def a_default_dict():
    held = collections.defaultdict(float)
    return lambda x: x * (held.get("a") or 3.0), lambda: held.update(a=9.0)


@change
def the_factory_of_a_default_dict():
    held = collections.defaultdict(lambda: 2.0)
    return lambda x: x * copy.copy(held)["a"], lambda: setattr(held, "default_factory", lambda: 9.0)


@change
def a_counter():
    held = collections.Counter("aab")
    return lambda x: x * held["a"] + held["missing"], lambda: held.update("aa")


@change
def the_most_common_of_a_counter():
    held = collections.Counter("aab")

    def f(x):
        name, count = held.most_common(1)[0]
        return x * count

    return f, lambda: held.update("bbb")


@change
def a_chain_map():
    held = collections.ChainMap({}, {"a": 2.0})
    return lambda x: x * held["a"], lambda: held.update(a=9.0)


@change
def a_map_below_a_chain_map():
    below = {"a": 2.0}
    held = collections.ChainMap({}, below)
    return lambda x: x * held["a"], lambda: below.update(a=9.0)


@change
def a_user_dict():
    held = collections.UserDict(a=2.0)
    return lambda x: x * held["a"], lambda: held.update(a=9.0)


@change
def a_user_list():
    held = collections.UserList([2.0])
    return lambda x: x * held[0] + len(held), lambda: held.append(9.0)


@change
def a_class_derived_from_dict():
    class Settings(dict):
        def __missing__(self, key):
            return self["else"]

    held = Settings({"else": 2.0})

    return lambda x: x * held["a"], lambda: held.update(a=9.0)


@change
def a_class_derived_from_list():
    class Numbers(list):
        @property
        def first(self):
            return self[0]

    held = Numbers([2.0])

    return lambda x: x * held.first, lambda: held.__setitem__(0, 9.0)


@change
def a_container_of_the_user():
    class Numbers:
        def __init__(self):
            self.kept = [2.0, 3.0]

        def __len__(self):
            return len(self.kept)

        def __getitem__(self, index):
            return self.kept[index]

        def __contains__(self, value):
            return value in self.kept

    held = Numbers()

    def f(x):
        for value in held:
            x = x * value
        return x * len(held) if 4.0 in held else x

    return f, lambda: held.kept.append(4.0)


@change
def an_iterable_of_the_user():
    class Numbers:
        def __init__(self):
            self.kept = [2.0, 3.0]

        def __iter__(self):
            yield from self.kept

    held = Numbers()

    def f(x):
        for value in held:
            x = x * value
        return x

    return f, lambda: held.kept.append(4.0)


@change
def a_bytearray():
    held = bytearray(b"ab")
    return lambda x: x * held[0], lambda: held.__setitem__(0, 3)


@change
def a_memory_view():
    held = bytearray(b"ab")
    view = memoryview(held)
    return lambda x: x * view[0], lambda: held.__setitem__(0, 3)


@change
def a_queue():
    held = queue.SimpleQueue()
    return lambda x: x * 2 if held.empty() else x * 3, lambda: held.put(1)


@change
def a_large_list():
    held = [2.0] * 12_000
    return lambda x: x * held[5], lambda: held.__setitem__(5, 9.0)


@change
def a_large_dict():
    held = dict.fromkeys(range(12_000), 2.0)
    return lambda x: x * held[5], lambda: held.__setitem__(5, 9.0)


@change
def one_of_many_objects():
    held = [[Box(scale=2.0) for _ in range(30)] for _ in range(40)]
    return lambda x: x * held[7][5].scale, lambda: setattr(held[7][5], "scale", 9.0)


@change
def a_list_that_holds_itself():
    held = [2.0]
    held.append(held)
    return lambda x: x * held[1][1][0], lambda: held.__setitem__(0, 9.0)


@change
def two_names_for_one_list():
    held = [2.0]
    other = Box(numbers=held)
    return lambda x: x * other.numbers[0], lambda: held.__setitem__(0, 9.0)


@change
def a_dict_of_functions():
    held = {"scale": lambda x: x * 2}
    return lambda x: held["scale"](x), lambda: held.update(scale=lambda x: x * 9)


@change
def a_registry_filled_by_a_decorator():
    registry = {}

    def register(function):
        registry[function.__name__] = function
        return function

    @register
    def double(x):
        return x * 2

    def f(x):
        for step in registry.values():
            x = step(x)
        return x

    def turn():
        @register
        def shift(x):
            return x + 1

    return f, turn
