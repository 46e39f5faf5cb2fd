"""convert_call chooses what is called: converted where that can matter, as it is elsewhere."""

from __future__ import annotations

import functools
import gc
import json
import math
import weakref

import pytest

from dy2st.convert.call import BUILTINS, convert_call
from dy2st.transpiler import is_converted


def double(x, scale=2):
    if x > 10:
        return x
    return x * scale


class Accumulator:
    def __init__(self, start):
        self.total = start if start else 0

    def __call__(self, x):
        if x:
            self.total += x
        return self.total

    def method(self, x):
        return double(x) if x > 1 else self(x)

    @classmethod
    def make(cls, x):
        return cls(x) if x else None

    @staticmethod
    def static(x):
        return x if x else -1


def is_converted_function(function):
    return is_converted(getattr(function, "__func__", function).__code__)


def test_a_function_is_converted_once():
    converted = convert_call(double)
    assert converted is not double
    assert converted.__code__ is convert_call(double).__code__
    assert is_converted_function(converted) and converted(3) == 6


def test_a_converted_function_is_called_as_it_is():
    converted = convert_call(double)
    assert convert_call(converted) is converted


def test_methods_and_callable_objects_are_converted():
    accumulator = Accumulator(1)
    for target in (accumulator.method, accumulator, Accumulator.make, Accumulator.static):
        assert is_converted_function(convert_call(target))
    assert convert_call(accumulator.method)(2) == 4
    assert convert_call(accumulator)(5) == 6 == accumulator.total
    assert convert_call(Accumulator.make)(3).total == 3
    assert convert_call(Accumulator.static)(0) == -1


def test_a_partial_converts_what_it_calls():
    converted = convert_call(functools.partial(double, scale=3))
    assert is_converted_function(converted.func) and converted(2) == 6


def test_nested_functions_are_converted_in_place():
    def outer(x):
        def inner(y):
            return y if y else x

        return inner

    inner = convert_call(outer)(4)
    assert is_converted_function(inner) and convert_call(inner) is inner and inner(0) == 4


def test_each_closure_has_its_own_conversion():
    def make(n):
        def add(x):
            return x + n if x else n

        return add

    one, two = make(1), make(2)
    assert [convert_call(f)(3) for f in (one, two)] == [4, 5]
    assert convert_call(one).__code__ is convert_call(two).__code__


def test_a_recursive_closure_is_not_kept_alive():
    def make():
        def down(n):
            return down(n - 1) if n else "end"

        return down

    down = make()
    assert convert_call(down)(3) == "end"
    gone = weakref.ref(down)
    del down
    gc.collect()
    assert gone() is None


def test_changed_defaults_are_seen(monkeypatch):
    assert convert_call(double)(2) == 4
    monkeypatch.setattr(double, "__defaults__", (5,))
    assert convert_call(double)(2) == 10


def marked(x):
    return x if x else None


marked.__dy2st_ignore__ = True


@pytest.mark.parametrize(
    "target",
    [
        marked,
        marked.__get__(3),
        json.dumps,
        math.sin,
        Accumulator,
        [].append,
        "x".partition,
        object(),
        3,
        eval("lambda x: x and 1"),
    ],
    ids=lambda target: type(target).__name__,
)
def test_what_is_called_as_it_is(target):
    assert convert_call(target) is target


def test_wrappers_are_converted_and_so_is_what_they_wrap():
    def outer(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            return function(*args, **kwargs) if args else None

        return wrapper

    converted = convert_call(outer(double))
    assert converted(3) == 6 and converted() is None
    assert converted.__name__ == "double" and not hasattr(converted, "__wrapped__")


def test_builtins_of_the_table_are_replaced_by_identity():
    def len(x):
        return "mine"

    assert convert_call(len)([1]) == "mine"
    assert convert_call(abs) is BUILTINS[id(abs)]
    assert convert_call(abs)(-3) == 3
