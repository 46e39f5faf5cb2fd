"""Exceptions of the Program inside of the user's handlers and contexts, and outside of them."""

from __future__ import annotations

import contextlib
import threading
import warnings

import pytest

import dy2st
from dy2st.jit import to_static


class Silent:
    def __enter__(self):
        return self

    def __exit__(self, *details):
        return None


@contextlib.contextmanager
def passing():
    try:
        yield
    finally:
        pass


def checked(x):
    if x.sum() > 10:
        raise ValueError("too much")
    return x + 1


def call(make):
    def inside(x):
        with make():
            y = checked(x)
        return y

    return to_static(inside)


@pytest.mark.parametrize(
    "make", [Silent, passing, dy2st.no_grad, threading.Lock, warnings.catch_warnings]
)
def test_the_program_raises_inside_a_context_that_lets_it_pass(make):
    static = call(make)
    assert static(dy2st.to_tensor([1.0])).numpy().tolist() == [2.0]
    with pytest.raises(ValueError, match="too much"):
        static(dy2st.to_tensor([11.0]))


def test_a_try_around_the_static_function_is_no_matter():
    static = to_static(checked)
    try:
        static(dy2st.to_tensor([11.0]))
    except ValueError as error:
        assert str(error) == "too much"
    else:
        raise AssertionError("not raised")


def test_a_function_that_a_try_defines_is_outside_of_it():
    @to_static
    def function(x):
        try:

            def inner(value):
                return checked(value)

        except ValueError:
            return x
        return inner(x)

    with pytest.raises(ValueError, match="too much"):
        function(dy2st.to_tensor([11.0]))
