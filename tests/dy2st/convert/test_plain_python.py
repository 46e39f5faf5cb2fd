"""Plain Python in a trace: what CPython's own tests have shown."""

from __future__ import annotations

import copy
import operator

import pytest

import dy2st
from dy2st.jit import to_static


class Listed(list):
    def __new__(cls, items, named=None):
        made = super().__new__(cls, items)
        made.named = named
        return made


def a_native_init_behind_a_new():
    made = Listed([1, 2], named=3)
    return list(made), made.named


def containers_that_hold_themselves():
    table, items = {}, [1]
    table["self"] = table
    items.append(items)
    return repr(table), str(items), f"{items}", "%s" % items  # noqa: UP031


def an_index_that_is_none():
    items, key = [1], "a"
    return items[key]


def what_cannot_be_reversed():
    return list(reversed({1, 2}))


def nested_fields_in_their_order():
    return "{:^{}}|{:>{}}".format("bar", 6, "a", 3)  # noqa: UP032


def a_callable_that_ends_its_iterator():
    left = [1, 2, 3]

    def take():
        if not left:
            raise StopIteration
        return left.pop()

    return list(iter(take, 9))


class Ending:
    def __getitem__(self, place):
        if place > 2:
            raise StopIteration
        return place


def a_sequence_that_ends_itself():
    return list(Ending())


def the_value_of_an_ended_generator():
    def giving():
        return 2
        yield

    try:
        next(giving())
    except StopIteration as error:
        return error.value


def an_error_of_a_generator():
    def failing():
        raise KeyError("inside")
        yield

    return next(failing())


def stop_iteration_in_a_generator():
    def failing():
        raise StopIteration
        yield

    return next(failing())


def an_item_found_in_an_iterator():
    left = iter("abcd")
    return operator.indexOf(left, "b"), list(left)


def a_filtered_generator():
    def numbers():
        yield from range(6)

    return list(filter(lambda n: n % 2, numbers())), list(filter(None, numbers()))


def a_filter_asks_late():
    asked = []
    found = filter(lambda n: asked.append(n) or n > 1, [0, 1, 2, 3])
    before = list(asked)
    return before, next(found), asked


def round_by_names():
    return round(number=-8.0, ndigits=-1)


def what_nobody_can_change_is_no_copy():
    whole, part = (1, (2, 3)), slice(1, 2)
    return copy.copy(whole) is whole, copy.deepcopy(whole) is whole, copy.copy(part) is part


class Kept:
    def __init__(self, n):
        self.n, self.cache = n, [n]

    def __getstate__(self):
        return {"n": self.n}

    def __setstate__(self, state):
        self.n, self.cache = state["n"], []


def copies_that_a_class_describes():
    kept = Kept(3)
    return [(one.n, one.cache) for one in (copy.copy(kept), copy.deepcopy(kept))]


class Tracked:
    def __deepcopy__(self, memo):
        return Tracked()


def a_deep_copy_of_a_set():
    one = Tracked()
    (other,) = copy.deepcopy({one})
    return other is one, copy.deepcopy({1, "a"}) == {1, "a"}


FUNCTIONS = [
    copies_that_a_class_describes,
    a_deep_copy_of_a_set,
    what_nobody_can_change_is_no_copy,
    a_filter_asks_late,
    round_by_names,
    a_native_init_behind_a_new,
    containers_that_hold_themselves,
    an_index_that_is_none,
    what_cannot_be_reversed,
    nested_fields_in_their_order,
    a_callable_that_ends_its_iterator,
    a_sequence_that_ends_itself,
    the_value_of_an_ended_generator,
    an_error_of_a_generator,
    stop_iteration_in_a_generator,
    an_item_found_in_an_iterator,
    a_filtered_generator,
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
    found = ended(lambda: to_static(run)(dy2st.ones([1]))[0])
    assert found == wanted
