"""What weak dictionaries and sets hold is read as what plain ones hold, and seen when it changes."""

import functools
import sys
import weakref

import pytest

import dy2st
from tests.dy2st.convert.kinds.same import same


class _Held:
    def __init__(self, number):
        self.number = number


class _Named(dict):
    pass


class _Listed(list):
    pass


def _weak_values(held):
    made = weakref.WeakValueDictionary()
    made["k"] = held
    return made, lambda x: x * made["k"].number


def _weak_keys(held):
    made = weakref.WeakKeyDictionary({held: held.number})
    return made, lambda x: x * sum(key.number for key in made)


def _weak_set(held):
    made = weakref.WeakSet([held])
    return made, lambda x: x * sum(one.number for one in made)


def _in_a_dict(held):
    made = _Named(k=held)
    made.held = held
    return made, lambda x: x * (made.held.number + 0 * len(made))


def _in_a_list(held):
    made = _Listed([1])
    made.held = held
    return made, lambda x: x * (made.held.number + 0 * made[0])


def _in_a_reference(held):
    made = weakref.ref(held)
    return made, lambda x: x * made().number


@pytest.mark.parametrize(
    "make", [_weak_values, _weak_keys, _weak_set, _in_a_dict, _in_a_list, _in_a_reference]
)
def test_a_change_of_what_is_held_is_seen_at_the_next_call(make):
    held = _Held(3)
    made, function = make(held)
    converted = dy2st.to_static(function)
    x = dy2st.ones([1])
    assert converted(x).item() == 3
    for number in (5, 7):
        held.number = number
        assert converted(x).item() == function(x).item() == number
    assert made is not None


class _Dispatching:
    """Its method notes in a weak dictionary which function is that of a class."""

    @functools.singledispatchmethod
    def scale(self, by):
        return 1.0

    @scale.register
    def _(self, by: int):
        return 2.0

    @scale.register
    def _(self, by: list):
        return by[0]


@pytest.mark.skipif(
    sys.version_info >= (3, 13), reason="the method keeps a function of each object"
)
def test_a_weak_dictionary_outside_is_given_classes_as_keys():
    def function(x):
        made = _Dispatching()
        return x * made.scale(3), made.scale([x])

    def of_a_class_inside(x):
        class Inside(_Dispatching):
            pass

        made = Inside()
        return x * made.scale(3), made.scale([x]), made.scale("")

    for one in (function, of_a_class_inside):
        x, static = dy2st.ones([1]), dy2st.to_static(one)
        for _ in range(3):
            assert str(static(x)) == str(one(x))


def test_methods_of_a_class_are_kept_outside():
    registry = {}

    def function(x):
        class Inside:
            @classmethod
            def name(cls):
                return cls.__name__

        registry["name"] = vars(Inside)["name"]
        return x * 2

    assert dy2st.to_static(function)(dy2st.ones([1])).item() == 2
    assert registry["name"].__func__(int) == "int"


def test_a_weak_reference_of_the_call_lets_what_the_call_has_made_go():
    @dy2st.jit.to_static
    def f():
        held = _Held(1)
        found = weakref.ref(held)
        number = found().number
        del held
        return number, found() is None

    assert f() == (1, True)


class _Child:
    def __init__(self, value, parent=None):
        self.value, self.children = value, []
        self.parent = None if parent is None else weakref.ref(parent)

    def add(self, value):
        self.children.append(_Child(value, self))
        return self.children[-1]

    def total(self):
        return self.value + (self.parent().total() if self.parent else 0)


def _path_of_children(x):
    root = node = _Child(x[0])
    for value in x[1:]:
        if value > 1:
            node = node.add(value)
        else:
            root.add(value)
    return node.total(), len(root.children)


def test_a_branch_refers_weakly_to_an_object_from_outside():
    same(_path_of_children, [1.0, 2.0, 0.5, 3.0], [1.0, 0.5, 0.5, 0.0], sizes="known")
