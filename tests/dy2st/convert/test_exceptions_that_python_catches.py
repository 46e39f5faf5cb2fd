"""What Python itself catches, as getattr() an AttributeError, may be raised in a branch."""

from __future__ import annotations

from functools import partial

import pytest

from dy2st.jit import to_static
from tests.dy2st.convert.kinds.same import refused, same

CALLS = ([1.0, 2.0, 3.0], [-1.0, -2.0, 1.0], [9.0, 9.0, 9.0])


class Asked:
    def __init__(self, x):
        self.x = x

    @property
    def large(self):
        if self.x.sum() > 3:
            return self.x * 2
        raise AttributeError("large")

    def __getattr__(self, name):
        if name == "huge" and self.x.sum() > 20:
            return self.x * 3
        raise AttributeError(name)


class Entries:
    def __init__(self, x):
        object.__setattr__(self, "held", {"x": x})

    def __getattr__(self, name):
        try:
            return self.held[name]
        except KeyError:
            raise AttributeError(name) from None

    def __setattr__(self, name, value):
        self.held[name] = value


class Guarded:
    def __init__(self, x):
        self.x = x

    def __getattribute__(self, name):
        if name == "sign":
            if object.__getattribute__(self, "x").sum() > 3:
                return 5
            raise AttributeError(name)
        return object.__getattribute__(self, name)

    def __getattr__(self, name):
        return 7


class Sure:
    __slots__ = ("x", "other")

    def __init__(self, x):
        self.x = x

    large = Asked.large

    def __getattr__(self, name):
        return name + "?"


class Items:
    def __init__(self, x):
        self.x, self.place = x, 0

    def __iter__(self):
        return self

    def __next__(self):
        self.place += 1
        if self.place > 3 or self.x[self.place - 1] < -1:
            raise StopIteration
        return self.x[self.place - 1]


class Sequence:
    def __init__(self, x):
        self.x = x

    def __getitem__(self, place):
        if place > 2 or self.x[place] < -1:
            raise IndexError(place)
        return self.x[place]


def attributes(x):
    one = Asked(x)
    found = getattr(one, "large", x), getattr(one, "huge", x)
    return hasattr(one, "large"), hasattr(one, "huge"), hasattr(one, "x"), *found


def attributes_of_entries(x):
    one = Entries(x)
    if x.sum() > 3:
        one.scale = 2
    return hasattr(one, "scale"), hasattr(one, "x"), getattr(one, "scale", 1) * x


def attributes_that_the_class_has_too(x):
    class Plain:
        scale = 2

    one = Plain()
    one.scale = 3
    if x.sum() > 3:
        del one.scale
    return hasattr(one, "scale"), getattr(one, "scale", 1) * x


def attributes_of_last_resort(x):
    return Guarded(x).sign, Guarded(x).x


def getters_beside_a_last_resort(x):
    one = Sure(x)
    found = one.large, one.other
    if x.sum() > 3:
        one.other = x
    return *found, one.other


def next_or_a_default(x):
    return next(Items(x), x.sum()), next(Items(x - 5), x.sum())


def over_an_iterator(x):
    return sum(v for v in Items(x))


def until_a_sentinel(x):
    def give():
        if x.sum() > 3:
            raise StopIteration
        return 1

    return len(list(iter(give, 1)))


def over_a_sequence(x):
    total = x[0] * 0
    for v in Sequence(x):
        total = total + v
    return total


def left_and_gone_on_with(x):
    items, total = Items(x), x[0] * 0
    for v in items:
        total = total + v
        if total > 3:
            break
    rest = [v for v in items]
    return total, len(rest), next(items, x[0])


def given_away(x):
    def items():
        yield x[0]
        yield from Items(x)
        yield x[1]

    return [v * 2 for v in items()]


@pytest.mark.parametrize(
    "function",
    [
        *(attributes, attributes_of_entries, attributes_of_last_resort, next_or_a_default),
        getters_beside_a_last_resort,
        *(attributes_that_the_class_has_too, over_an_iterator, left_and_gone_on_with, given_away),
        until_a_sentinel,
    ],
    ids=lambda function: function.__name__,
)
def test_both_paths_are_taken(function):
    same(function, *CALLS)


@pytest.mark.parametrize("function", [over_a_sequence], ids=lambda function: function.__name__)
def test_a_loop_that_ends_by_an_exception_of_a_branch_is_refused(function):
    refused(function, "a loop over an object ends with a", *CALLS)


def test_a_case_that_may_have_no_attribute_is_refused():
    def f(x):
        match Asked(x):
            case Asked(large=t):
                return t
        return x

    refused(f, "a `case` asks for the attribute 'large'", *CALLS)


class Flaky:
    """An iterator that goes on behind an exception, and behind its end."""

    def __init__(self):
        self.place = 0

    def __iter__(self):
        return self

    def __next__(self):
        self.place += 1
        if self.place == 2:
            raise ValueError("once")
        if self.place in (4, 7):
            raise StopIteration
        return self.place


def until_the_seventh(items):
    found = []
    for _ in range(7):
        try:
            found.append(next(items))
        except (ValueError, StopIteration) as error:
            found.append(type(error).__name__)
    return found


@pytest.mark.parametrize(
    "kind", [zip, enumerate, iter, partial(map, str)], ids=["zip", "enumerate", "iter", "map"]
)
def test_iterators_over_one_of_the_user_ask_it_again_behind_an_exception(kind):
    found = to_static(lambda: until_the_seventh(kind(Flaky())))()
    assert found == until_the_seventh(kind(Flaky()))
