"""What goes through an iterator of the user's is asked on behind an exception, or a `break`."""

import array
import itertools
import unittest

import numpy as np
import pytest

from tests.dy2st.convert.kinds.same import refused, same

CALL = [1.0, 2.0]


class Failing:
    """Raises once, before its second number."""

    def __init__(self, end=6):
        self.number, self.end = 0, end

    def __iter__(self):
        return self

    def __next__(self):
        self.number += 1
        if self.number == 2:
            raise ValueError("once")
        if self.number > self.end:
            raise StopIteration
        return self.number


def odd(number):
    return number % 2


MAKERS = {
    "filter": lambda: filter(odd, Failing()),
    "filter of what is true": lambda: filter(None, Failing()),
    "filterfalse": lambda: itertools.filterfalse(odd, Failing()),
    "takewhile": lambda: itertools.takewhile(lambda number: number < 5, Failing()),
    "map": lambda: map(odd, Failing()),
    "zip": lambda: zip(Failing(), Failing(4)),
    "enumerate": lambda: enumerate(Failing()),
    "chain": lambda: itertools.chain([8], Failing(), [9]),
    "accumulate": lambda: itertools.accumulate(Failing()),
    "compress": lambda: itertools.compress(Failing(), [1, 0, 1, 1, 1]),
    "filter of a filter": lambda: filter(odd, filter(None, Failing())),
    "a generator expression": lambda: (number for number in Failing() if number),
}


def by_next(items):
    found = []
    for _ in range(9):
        try:
            found.append(next(items))
        except ValueError:
            found.append("raised")
        except StopIteration:
            found.append("ended")
    return found


def by_loops(items):
    found = []
    for _ in range(3):
        try:
            for item in items:
                found.append(item)
        except ValueError:
            found.append("raised")
    return found


def by_zip(items):
    return by_next(zip(items, "abcdefgh"))


@pytest.mark.parametrize("use", [by_next, by_loops, by_zip])
@pytest.mark.parametrize("name", MAKERS)
def test_what_goes_through_an_iterator_goes_on_behind_its_exception(name, use):
    same(lambda x: (x, use(MAKERS[name]())), CALL, sizes="known")


def test_a_filter_goes_on_with_what_a_break_and_an_exception_of_the_body_have_left():
    def f(x):
        items = filter(odd, map(int, "123456789"))
        for first in items:
            if first > 1:
                break
        try:
            for second in items:
                raise KeyError
        except KeyError:
            return x, first, second, list(items), list(items)

    same(f, CALL, sizes="known")


def test_what_takewhile_has_ended_stays_at_its_end():
    def f(x):
        items = itertools.takewhile(lambda number: number < 3, iter([1, 2, 3, 1, 2]))
        return x, list(items), next(items, None), list(items)

    def g(x):
        items = itertools.takewhile(lambda number: number < 3, iter([1, 3, 1, 2]))
        return x, next(items), next(items, None), next(items, None), list(items)

    same(f, CALL, sizes="known")
    same(g, CALL, sizes="known")


def test_a_tensor_decides_what_a_filter_of_an_iterator_keeps():
    def f(x):
        total = x.sum()
        for number in filter(lambda number: x.sum() > number, Failing(1)):
            total = total + number
        return total, next(filter(lambda number: x.sum() > number, Failing(1)), 7)

    same(f, CALL, [0.5])


def left_by_an_exception(make):
    def f(x):
        items = make()
        try:
            for _ in items:
                raise KeyError
        except (KeyError, ValueError):
            return x, list(items)

    return f


@pytest.mark.parametrize(
    "make",
    [
        lambda: map(odd, (number for number in [1, 2, 3])),
        lambda: (number for number in [1, 2, 3]),
    ],
)
def test_a_generator_that_an_exception_of_the_body_has_left_goes_on(make):
    same(left_by_an_exception(make), CALL, sizes="known")


def test_one_that_raises_itself_cannot_go_on_behind_an_exception_of_the_body():
    function = left_by_an_exception(lambda: itertools.dropwhile(odd, Failing()))
    refused(function, "gives items one by one", CALL)


def test_code_that_is_not_converted_hears_of_the_exception_when_it_asks():
    class Numbers:
        def __getitem__(self, place):
            if place > 1:
                raise ValueError("no more")
            return place + 1

    def f(x):
        found = []
        try:
            array.array("i").extend(itertools.takewhile(bool, Numbers()))
        except ValueError as error:
            found.append(str(error))
        for make in (filter, map, itertools.takewhile):
            case = unittest.TestCase()
            case.assertRaises(ValueError, list, make(bool, Numbers()))
            with case.assertRaisesRegex(ValueError, "no more"):
                np.fromiter(make(bool, Numbers()), "int64")
        return x, found

    same(f, CALL, sizes="known")
