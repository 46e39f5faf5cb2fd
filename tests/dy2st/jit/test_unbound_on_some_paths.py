"""Attributes and variables that only some paths of a Program bind."""

from __future__ import annotations

import pytest

import dy2st
from dy2st.jit import to_static


class Box:
    pass


def filled(x):
    box = Box()
    if x.sum() > 0:
        box.value = x
    return box


def same(function):
    static = to_static(function)
    for values in ([1.0, 2.0], [-1.0, -2.0]):
        x = dy2st.to_tensor(values)
        assert repr(static(x)) == repr(function(x))


def test_hasattr_is_answered_by_the_program():
    same(lambda x: hasattr(filled(x), "value"))


def test_getattr_gives_the_default_where_no_path_has_set_it():
    same(lambda x: getattr(filled(x), "value", None))


def test_reading_a_missing_attribute_raises_what_python_raises():
    static = to_static(lambda x: filled(x).value)
    assert static(dy2st.to_tensor([1.0])).tolist() == [1.0]
    with pytest.raises(AttributeError, match=r"^'Box' object has no attribute 'value'"):
        static(dy2st.to_tensor([-1.0]))


def set_by_an_iteration(n, x):
    box = Box()
    while n < 5:
        if n == 0:
            box.value = x
        else:
            box.value = box.value + n
        n = n + 1
    return box.value


def set_by_an_unrolled_iteration(n, x):
    box = Box()
    for place in range(3):
        if n == place:
            box.value = x
        elif n < place:
            box.value = box.value + place
    return box.value


@pytest.mark.parametrize("function", [set_by_an_iteration, set_by_an_unrolled_iteration])
def test_what_one_iteration_has_set_another_one_reads(function):
    static, x = to_static(function), dy2st.to_tensor(10)
    n = dy2st.to_tensor(0)
    assert static(n, x).tolist() == function(n, x).tolist()
    with pytest.raises(AttributeError, match=r"^'Box' object has no attribute 'value'"):
        static(dy2st.to_tensor(4), x)


class Plain:
    def __init__(self):
        self.first = 5


class Slotted:
    __slots__ = ("first", "second")


def held(one):
    """What an object holds, by name."""
    names = ("first", "second")
    return {name: getattr(one, name) for name in names if hasattr(one, name)}


def set_in_a_branch(x, kind):
    one = kind()
    if x.sum() > 0:
        one.second = 2
    return one


def deleted_in_a_branch(x, kind):
    one = kind()
    one.first = 1
    if x.sum() > 0:
        del one.first
    return one


@pytest.mark.parametrize("kind", [Plain, Slotted])
@pytest.mark.parametrize("function", [set_in_a_branch, deleted_in_a_branch])
def test_a_returned_object_has_no_attribute_that_its_path_has_not_set(function, kind):
    converted = to_static(lambda x: function(x, kind))
    for value in (1.0, -1.0):
        x = dy2st.full([2], value)
        assert held(converted(x)) == held(function(x, kind))


def test_a_slot_that_a_path_has_not_set_is_missing_there():
    def run(x):
        one = set_in_a_branch(x, Slotted)
        return getattr(one, "second", None), hasattr(one, "second")

    converted = to_static(run)
    for value in (1.0, -1.0):
        assert converted(dy2st.full([2], value)) == run(dy2st.full([2], value))
    with pytest.raises(AttributeError, match="second"):
        to_static(lambda x: set_in_a_branch(x, Slotted).second)(dy2st.full([2], -1.0))
