"""Things of Python that a branch makes, looks at or changes."""

from __future__ import annotations

import collections
import itertools

import pytest

import dy2st
from dy2st.jit import to_static

UP = [1.0, 2.0]


class Numbers(list):
    pass


def generator():
    yield from range(5)


def add_to_list_like(value):
    value.append(1)


THINGS = {
    "set": (set, lambda value: value.add(1)),
    "deque": (collections.deque, add_to_list_like),
    "bytearray": (bytearray, add_to_list_like),
    "subclass of list": (Numbers, add_to_list_like),
    "defaultdict": (lambda: collections.defaultdict(int), lambda value: value["a"]),
    "Counter": (collections.Counter, lambda value: value.update("a")),
    "iterator of a list": (lambda: iter([1, 2]), next),
    "iterator of a dict": (lambda: iter({1: 2}), next),
    "count": (itertools.count, next),
    "generator": (generator, next),
}


@pytest.mark.parametrize("name", THINGS)
def test_a_thing_that_a_branch_makes_may_change_in_it(name):
    make, change = THINGS[name]

    def choose(x):
        if x.sum() > 0:
            change(make())
            x = x * 2
        return x

    assert to_static(choose)(dy2st.to_tensor(UP)).numpy().tolist() == [2.0, 4.0]


@pytest.mark.parametrize("name", THINGS)
def test_a_thing_that_is_only_looked_at_is_no_obstacle(name):
    make, _ = THINGS[name]

    def choose(x):
        thing = make()
        if x.sum() > 0:
            x = x * 2 if thing is not None else x
        return x

    assert to_static(choose)(dy2st.to_tensor(UP)).numpy().tolist() == [2.0, 4.0]


class Deep:
    shared: list[int] = []  # noqa: RUF012

    def __init__(self, inner):
        self.inner = inner

    def push(self):
        self.inner.inner.append(1)

    def share(self):
        self.shared.append(1)


def test_lists_deep_inside_of_objects_are_joined():
    def choose(x):
        deep = Deep(Deep([]))
        if x.sum() > 0:
            deep.push()
        return x * len(deep.inner.inner)

    static = to_static(choose)
    found = [static(dy2st.to_tensor(values)).numpy().tolist() for values in (UP, [-1.0, -2.0])]
    assert found == [UP, [0.0, 0.0]]


def test_variables_and_attributes_of_functions_are_joined():
    def with_attribute(x):
        def note():
            note.calls = 1

        note.calls = 0
        if x.sum() > 0:
            note()
        return x * note.calls

    def with_variable(x):
        calls = 0

        def note():
            nonlocal calls
            calls += 1

        if x.sum() > 0:
            note()
        return x * calls

    for choose in (with_attribute, with_variable):
        static = to_static(choose)
        for values in (UP, [-1.0, -2.0]):
            x = dy2st.to_tensor(values)
            assert static(x).numpy().tolist() == choose(x).numpy().tolist()
