"""Classes that inherit methods of Python's library which are written in Python."""

from __future__ import annotations

import collections
import collections.abc

import pytest

import dy2st
from dy2st import nn, to_static


class Numbers(collections.abc.MutableSequence):
    """A list of the user's own."""

    def __init__(self):
        self.held = []

    def __getitem__(self, place):
        return self.held[place]

    def __setitem__(self, place, value):
        self.held[place] = value

    def __delitem__(self, place):
        del self.held[place]

    def __len__(self):
        return len(self.held)

    def insert(self, place, value):
        self.held.insert(place, value)


class Names(collections.abc.MutableMapping):
    """A dict of the user's own."""

    def __init__(self):
        self.held = {}

    def __getitem__(self, key):
        return self.held[key]

    def __setitem__(self, key, value):
        self.held[key] = value

    def __delitem__(self, key):
        del self.held[key]

    def __len__(self):
        return len(self.held)

    def __iter__(self):
        return iter(self.held)


class Counted(collections.UserDict):
    def __setitem__(self, key, value):
        super().__setitem__(key, value + 1)


def own_sequence(x):
    made = Numbers()
    if x.sum() > 0:
        made.append(1)
        made.extend([2, 3])
        made.pop(0)
    return len(made), list(made), 2 in made


def own_mapping(x):
    made = Names()
    made["z"] = 0
    if x.sum() > 0:
        made.update(a=1, b=2)
        made.setdefault("c", 5)
    else:
        made.pop("z")
    return len(made), sorted(made.keys()), made.get("q", 7), list(made.values())


def user_dict(x):
    made = collections.UserDict(n=0)
    if x.sum() > 0:
        made["n"] += 1
        made.update(k=2)
    return dict(made), len(made), "k" in made


def subclass_of_user_dict(x):
    made = Counted()
    if x.sum() > 0:
        made["a"] = 1
    return dict(made)


def user_list_in_a_loop(x):
    made = collections.UserList([1])
    for value in x:
        if value > 1:
            made.append(2)
    return len(made)


def chain_of_maps(x):
    made = collections.ChainMap({"a": 1}, {"a": 2, "b": 3})
    if x.sum() > 0:
        made["a"] = 9
    return made["a"], made["b"], len(made.new_child())


@pytest.mark.parametrize(
    "function",
    [
        own_sequence,
        own_mapping,
        user_dict,
        subclass_of_user_dict,
        user_list_in_a_loop,
        chain_of_maps,
    ],
)
def test_inherited_methods_act_on_their_path_alone(function):
    converted = to_static(function)
    for numbers in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0], [0.5, 0.75, 4.0]):
        x = dy2st.to_tensor(numbers)
        assert converted(x) == function(x)


def test_a_chain_of_maps_is_asked_for_a_number_of_the_program():
    def run(x):
        return collections.ChainMap({1: x * 2}, {3: x})[int(x[0])]

    converted = to_static(run)
    for value in (1.0, 3.0):
        x = dy2st.full([2], value)
        assert converted(x).tolist() == run(x).tolist()
    with pytest.raises(KeyError):
        converted(dy2st.full([2], 2.0))


class Counting(nn.Layer):
    def __init__(self):
        super().__init__()
        self.stats = collections.UserDict(n=0)

    def forward(self, x):
        if x.sum() > 0:
            self.stats["n"] += 1
        return self.stats["n"]


def test_what_a_layer_keeps_in_one_is_changed_by_calls_on_their_path():
    layer = to_static(Counting())
    calls = [layer(dy2st.full([2], value)) for value in (-1.0, -1.0, 1.0, 1.0, -1.0)]
    assert calls == [0, 0, 1, 2, 2] and layer.stats["n"] == 2


class Held:
    def __init__(self):
        self.items = []

    def __lt__(self, other):
        self.items.append(other)
        return False


def test_what_native_code_does_to_an_object_of_the_trace_stays_on_its_path():
    def run(x):
        held = Held()
        if x.sum() > 0:
            sorted([held, 3], key=lambda one: 0)
            max(3, 2, key=lambda one: held.items.append(one) or one)
        return len(held.items)

    converted = to_static(run)
    for value in (1.0, -1.0):
        x = dy2st.full([2], value)
        assert converted(x) == run(x)
