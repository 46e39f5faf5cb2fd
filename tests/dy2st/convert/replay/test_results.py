"""What a call gives back is made anew at each call, or refused."""

import collections
import copy
import datetime
import decimal
import enum
import functools
import pathlib
import re
import typing

import numpy as np
import pytest

import dy2st
from dy2st.jit import to_static
from dy2st_runtime.errors import ConversionError

X = dy2st.to_tensor([1.0, 2.0])


class Slotted:
    __slots__ = ("__own", "a")

    def __init__(self, a):
        self.a, self.__own = a, a + 1

    @property
    def own(self):
        return self.__own


class Kept(collections.OrderedDict):
    """An output of a model: a dict with attributes, which sees to its own items."""

    def __init__(self, **items):
        super().__init__(**items)
        self.__dict__.update(items)

    def __setitem__(self, key, value):
        super().__setitem__(key, value)
        super().__setattr__(key, value)


class Number(int): ...


class Bits(float):
    __slots__ = ("unit",)


class Word(str):
    __slots__ = ()


class Point(tuple): ...


class Names(frozenset):
    def __new__(cls, names):
        made = super().__new__(cls, names)
        made.longest = max(map(len, names))
        return made


class Raw(bytearray): ...


class Color(enum.IntFlag):
    RED = 1
    BLUE = 2


class Pair(typing.Generic[typing.TypeVar("T")]):
    def __init__(self, a):
        self.a = a


class Shown:
    """Its property has the name of what it shows."""

    def __init__(self, a):
        self.__dict__["a"] = a

    @property
    def a(self):
        return self.__dict__["a"]


@pytest.mark.parametrize("make", [Slotted, Pair, Shown])
def test_an_object_with_slots_or_type_parameters_is_made_at_each_call(make):
    f = to_static(lambda x: make(x * 2))
    first, second = f(X), f(X + 1)
    assert type(first) is make and first is not second
    assert first.a.tolist() == [2.0, 4.0] and second.a.tolist() == [4.0, 6.0]
    if make is Slotted:
        assert second.own.tolist() == [5.0, 7.0]


def test_an_object_with_a_property_like_its_attribute_is_one_of_two():
    f = to_static(lambda x: Shown(x) if x.sum() > 0 else Shown(x * 2))
    assert f(X).a.tolist() == X.tolist() and f(-X).a.tolist() == (X * -2).tolist()


def test_a_dict_of_a_class_of_the_users_is_filled_without_its_methods():
    f = to_static(lambda x: Kept(a=x * 2))
    f(X)
    made = f(X + 1)
    assert type(made) is Kept and list(made) == ["a"]
    assert made["a"].tolist() == made.a.tolist() == [4.0, 6.0]


OF_PYTHON = [(Number, 3), (Bits, 0.5), (Names, {"a", "bc"}), (Raw, b"ab")]


@pytest.mark.parametrize(("kind", "value"), [*OF_PYTHON, (Word, "a")])
def test_a_value_of_a_class_derived_from_one_of_pythons_is_made_at_each_call(kind, value):
    f = to_static(lambda x: (kind(value), x))
    (first, _), (second, _) = f(X), f(X)
    assert type(second) is kind and second == value
    assert first is not second
    assert getattr(second, "__dict__", {}) == getattr(kind(value), "__dict__", {})


@pytest.mark.parametrize(("kind", "value"), [*OF_PYTHON, (Point, (1, 2))])
def test_attributes_of_what_is_derived_from_a_value_of_python_are_computed(kind, value):
    def f(x):
        made = kind(value)
        made.unit = x * 2
        return made

    made = to_static(f)
    made(X)
    assert made(X + 1) == value and made(X + 1).unit.tolist() == [4.0, 6.0]


def test_a_derived_tuple_with_tensors_keeps_its_attributes():
    def f(x):
        made = Point((x, 2))
        made.unit = 3
        return made

    made = to_static(f)(X)
    assert type(made) is Point and made[0].tolist() == X.tolist() and made.unit == 3


def test_a_member_of_an_enum_of_numbers_is_itself():
    f = to_static(lambda x: (Color.RED, Color.RED | Color.BLUE, x))
    assert f(X)[0] is Color.RED and f(X)[1] is Color.RED | Color.BLUE


@pytest.mark.parametrize(
    "make",
    [lambda: np.zeros(2), lambda: collections.Counter("aab"), lambda: np.random.RandomState(0)],
)
def test_what_a_caller_changes_is_its_own(make):
    f = to_static(lambda x: (make(), x + 1))
    assert f(X)[0] is not f(X)[0]


def test_an_array_that_is_given_back_twice_is_one():
    def f(x):
        made = np.zeros(2)
        return made, made, x

    first, second, _ = to_static(f)(X)
    assert first is second


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda x: (v for v in x), "returns a generator"),
        (lambda x: zip([x], [x], strict=True), "returns a zip"),
        (lambda x: lambda v: v + x, "returns a function that uses a variable"),
        (lambda x: functools.partial(x.add, x), "returns a method"),
        (lambda x: x.sum, "returns a method"),
        (lambda x: frozenset({x}), "returns a frozenset"),
        (lambda x: {x.sum(): 1}, "returns a dict with a tensor as a key"),
        (lambda x: {"a": x}.values(), "returns a dict_values"),
    ],
)
def test_what_holds_tensors_in_c_is_refused(make, says):
    with pytest.raises(ConversionError, match=re.escape(says)) as caught:
        to_static(make)(X)
    assert caught.value.at.line == make.__code__.co_firstlineno
    assert caught.value.why and caught.value.hint


@pytest.mark.parametrize(
    "make",
    [lambda: np.zeros(3).flat, lambda: decimal.Context(prec=3), lambda: np.random.PCG64(3)],
)
def test_what_changes_in_c_is_not_shared_by_calls(make):
    """A new one at each call, as eager gives, or a refusal."""
    with pytest.raises(ConversionError, match="returns a"):
        to_static(lambda x: (x, make()))(dy2st.ones([2]))


@pytest.mark.parametrize(
    "value",
    [
        *(datetime.datetime(2020, 1, 2), datetime.timezone.utc, datetime.time(3)),
        *(re.compile("a"), list[int], pathlib.Path("a")),
    ],
)
def test_what_nobody_can_change_is_given_back(value):
    make = to_static(lambda x: (x, copy.deepcopy(value)))
    assert make(dy2st.ones([2]))[1] == value


def test_what_is_kept_outside_is_refused_alike():
    held = {}

    def f(x):
        held["a"] = iter([x])
        return x

    with pytest.raises(ConversionError, match="an object from outside hold a iterator"):
        to_static(f)(X)
    assert held == {}


class _Slotted:
    __slots__ = ("_kept", "value")


class _Hidden(_Slotted):
    """Has a property in place of a slot of its base, as the paths of Python 3.13 have."""

    __slots__ = ()
    value = property(lambda self: self._kept * 2)

    def __init__(self, kept):
        self._kept = kept


def test_a_slot_that_a_property_hides_is_none():
    held = _Hidden(2)

    def f(x):
        made = _Hidden(x)
        if x.sum() > 1:
            made = _Hidden(x + held.value)
        return made, _Hidden(held.value)

    for value in (0.0, 3.0):
        x = dy2st.full([2], value)
        assert [str(one.value) for one in to_static(f)(x)] == [str(one.value) for one in f(x)]
