"""A function that asks what to call does all else as it did."""

from __future__ import annotations

import functools
import inspect
import sys

import pytest

from dy2st.errors import SourceUnavailable
from dy2st.transpiler.compile import asking


class Asked:
    """Gives what is called, and notes it."""

    def __init__(self):
        self.met = []

    def __getitem__(self, called):
        self.met.append(called)
        return called


def helper(x, *, k=1):
    return x + k


class Base:
    """A class with a private method."""

    def __init__(self):
        self.__value = 3

    def __hidden(self):
        return self.__value

    def method(self, x=2, *, step=1):
        """What it does."""
        items = [helper(i, k=step) for i in range(x)]
        inner = lambda v: helper(v) + items[0]  # noqa: E731
        return self.__hidden() + inner(x) + sum(helper(i) for i in items), sorted(locals())


class Derived(Base):
    """A class that calls its base."""

    def method(self, x=4):
        return super().method(x), __class__, locals().keys() >= {"self", "x"}


@pytest.mark.parametrize("kind", [Base, Derived])
def test_methods_keep_private_names_super_and_locals(kind):
    owner = kind()
    asks = asking(kind.method, Asked())
    assert asks(owner) == kind.method(owner)
    assert asks(owner, 3) == kind.method(owner, 3)


def test_it_looks_as_before():
    asks = asking(Base.method, Asked())
    for name in ("__name__", "__qualname__", "__doc__", "__defaults__", "__kwdefaults__"):
        assert getattr(asks, name) == getattr(Base.method, name)
    assert asks.__globals__ is Base.method.__globals__
    assert inspect.signature(asks).parameters == inspect.signature(Base.method).parameters


def test_each_call_is_asked_for_in_its_order():
    asked = Asked()

    def function(x):
        return helper(max(x, 1), k=int("2"))

    assert asking(function, asked)(3) == 5
    assert asked.met == [helper, max, int]


def test_cells_are_those_of_the_function():
    def outer(total):
        def add(x):
            nonlocal total
            total += helper(x)
            return total

        return add

    add = outer(1)
    asks = asking(add, Asked())
    assert [asks(1), add(1), asks(1)] == [3, 5, 7]


def test_a_recursion_finds_the_function_by_its_name():
    assert asking(factorial, Asked())(5) == 120


def factorial(n):
    return 1 if n == 0 else n * factorial(n - 1)


def test_generators_and_lambdas_ask_too():
    def numbers(n):
        for i in range(n):
            yield helper(i)

    asked = Asked()
    assert list(asking(numbers, asked)(2)) == [1, 2]
    assert asking(lambda x: helper(x) * 2, asked)(1) == 4
    assert asked.met == [range, helper, helper, helper]


def test_functions_inside_are_the_users_own():
    def outer():
        def inner():
            return 1

        return inner, lambda: 2, [lambda: 3 for _ in range(1)][0]

    for asks, own in zip(asking(outer, Asked())(), outer(), strict=True):
        assert asks.__code__ is own.__code__
        assert asks.__qualname__ == own.__qualname__


def test_an_error_shows_the_same_lines():
    def failing(x):
        return (
            helper(x,
                   k=None)
        )  # fmt: skip

    lines = []
    for function in (failing, asking(failing, Asked())):
        with pytest.raises(TypeError) as caught:
            function(1)
        places = [(e.name, e.lineno) for e in caught.traceback]
        lines.append(places[1:] if sys.version_info >= (3, 11) else places[-1:])
    assert lines[0] == lines[1]


def test_a_decorated_function_begins_where_it_did():
    @functools.lru_cache
    def cached(x):
        return helper(x)

    assert asking(cached.__wrapped__, Asked())(1) == 2


def test_a_function_without_source_cannot_ask():
    scope = {}
    exec("def f(x):\n    return abs(x)", scope)
    with pytest.raises(SourceUnavailable):
        asking(scope["f"], Asked())
