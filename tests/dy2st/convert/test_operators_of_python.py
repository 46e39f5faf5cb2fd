"""Operators of Python's classes and the user's in a trace: which method answers, in what words."""

from __future__ import annotations

from collections import Counter, OrderedDict, UserList, defaultdict

import pytest

import dy2st
from dy2st.jit import to_static


def dicts_of_several_classes_are_equal():
    plain = {1: 2, 3: 4}
    turned = OrderedDict([(3, 4), (1, 2)])
    return plain == turned, defaultdict(int, plain) == plain, turned == OrderedDict(plain)


def counters_are_compared():
    one, other = Counter(a=1), Counter(a=1, b=0)
    return one == other, one <= other, one & other, one == {"a": 1}


def bytes_are_equal_to_a_bytearray():
    return bytearray(b"a") == b"a", b"a" != bytearray(b"a"), bytearray(b"a") < b"b"


def a_bytearray_grows():
    text = same = bytearray(b"a")
    text += b"bc"
    return bytes(same), same is text


def a_list_has_no_order_with_a_tuple():
    return [1] < (1, 2)


def dicts_have_no_order():
    return {1: 2} < {1: 3}


def a_set_has_no_order_with_a_dict():
    return {1} < {}


def the_words_of_an_operator_in_place():
    items = [1]
    items -= [1]


def a_dict_is_multiplied_in_place():
    table = {1: 2}
    table *= 2


def a_union_of_a_set_and_a_list():
    found = {1}
    found |= [2]


def no_method_answers():
    return Silent() + 1


def no_method_compares():
    return Silent() < Silent()


class Silent:
    pass


class Sized:
    def __init__(self, size, log):
        self.size, self.log = size, log

    def __ge__(self, other):
        self.log.append("ge")
        return self.size >= other.size


def the_other_side_is_asked_though_of_the_same_class():
    log = []
    return Sized(1, log) <= Sized(2, log), log


class Base:
    def __lt__(self, other):
        return "lt", type(self).__name__

    def __gt__(self, other):
        return "gt", type(self).__name__


class Derived(Base):
    pass


def a_derived_class_compares_first():
    return Base() < Derived(), Derived() < Base()


class DerivedSet(set):
    def __rand__(self, other):
        return "met", len(other)

    def __eq__(self, other):
        return "equal"

    def __gt__(self, other):
        return "greater"


class DerivedDict(dict):
    def __ror__(self, other):
        return "merged", len(other)


def a_class_derived_from_that_on_the_left_answers_first():
    one, many = DerivedSet([1]), DerivedDict(a=1)
    of_sets = {1} & one, {1} == one, {1} < one, {2} | one, {1} <= DerivedSet([1])
    return of_sets, {"b": 2} | many, frozenset([1]) & one


class Joined:
    def __radd__(self, other):
        return "joined", other

    def __rmul__(self, other):
        return "repeated", other


def the_right_side_joins_a_list():
    return [1] + Joined(), "a" + Joined(), (1,) * Joined()


class NoSum:
    def __add__(self, other):
        return 1

    __iadd__ = None


def a_method_that_is_none():
    found = NoSum()
    found += 1
    return found


class Made:
    __add__ = staticmethod(lambda other: ("static", other))


def a_method_that_is_no_function():
    return Made() + 2


class Listed(list):
    pass


def a_class_of_lists_grows_in_place():
    items = same = Listed([1])
    items += (2,)
    return type(items) is Listed, same is items, list(items)


def a_user_list_grows_in_place():
    items = same = UserList([1])
    items += [2]
    items *= 2
    return same is items, list(items), items == [1, 2, 1, 2]


FUNCTIONS = [
    dicts_of_several_classes_are_equal,
    counters_are_compared,
    bytes_are_equal_to_a_bytearray,
    a_bytearray_grows,
    a_list_has_no_order_with_a_tuple,
    dicts_have_no_order,
    a_set_has_no_order_with_a_dict,
    the_words_of_an_operator_in_place,
    a_dict_is_multiplied_in_place,
    a_union_of_a_set_and_a_list,
    no_method_answers,
    no_method_compares,
    the_other_side_is_asked_though_of_the_same_class,
    a_derived_class_compares_first,
    a_class_derived_from_that_on_the_left_answers_first,
    the_right_side_joins_a_list,
    a_method_that_is_none,
    a_method_that_is_no_function,
    a_class_of_lists_grows_in_place,
    a_user_list_grows_in_place,
]


def ended(function):
    try:
        return function()
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_it_is_what_python_does(function):
    def run(x):
        return function(), x

    wanted = ended(function)
    assert ended(lambda: to_static(run)(dy2st.ones([1]))[0]) == wanted
