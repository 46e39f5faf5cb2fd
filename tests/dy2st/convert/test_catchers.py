"""Exceptions of the Program that the user's code could catch, and those that it could not."""

from __future__ import annotations

import contextlib
import threading
import warnings

import pytest

import dy2st
from dy2st.errors import UnsupportedSyntax
from dy2st.jit import to_static


class Silent:
    def __enter__(self):
        return self

    def __exit__(self, *details):
        return None


class Telling(Silent):
    def __exit__(self, *details):
        return bool(details[0])


@contextlib.contextmanager
def passing():
    try:
        yield
    finally:
        pass


class Printing(Silent):
    def __exit__(self, *details):
        print("the end")


@contextlib.contextmanager
def printing():
    try:
        yield
    finally:
        print("the end")


@contextlib.contextmanager
def stopping():
    try:
        yield
    except ValueError:
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


@pytest.mark.parametrize("make", [Telling, stopping, contextlib.ExitStack])
def test_a_context_that_may_swallow_is_refused(make):
    with pytest.raises(UnsupportedSyntax, match="`with` whose context may swallow it"):
        call(make)(dy2st.to_tensor([1.0]))


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


def test_a_broad_handler_does_not_hide_a_refusal():
    @to_static
    def function(x):
        try:
            return next(map(checked, [x]))
        except Exception:
            return x

    with pytest.raises(UnsupportedSyntax, match="`try` whose `except` may catch it at line"):
        function(dy2st.to_tensor([1.0]))


def test_an_exception_with_a_text_of_each_turn_is_refused():
    @to_static
    def function(x):
        try:
            for k in range(3):
                if x.sum() > k:
                    raise ValueError(f"turn {k}")
        except ValueError as error:
            x = x + len(str(error))
        return x

    with pytest.raises(UnsupportedSyntax, match="differs from turn to turn"):
        function(dy2st.to_tensor([1.0]))


@pytest.mark.parametrize("make", [Printing, printing])
def test_a_context_whose_end_prints_is_refused(make):
    with pytest.raises(UnsupportedSyntax, match="a `with` whose context may swallow it, print"):
        call(make)(dy2st.to_tensor([1.0]))


def test_a_finally_that_prints_where_the_program_raises_is_refused():
    def prints(x):
        try:
            y = checked(x)
        finally:
            print("the end")
        return y

    with pytest.raises(UnsupportedSyntax, match="`finally` prints or raises"):
        to_static(prints)(dy2st.to_tensor([1.0]))


def test_a_handler_of_a_read_that_a_tensor_may_leave_unbound_is_refused():
    def reads(x):
        if x.sum() > 0:
            y = x
        try:
            return y + 1
        except NameError:
            return x

    with pytest.raises(UnsupportedSyntax, match="UnboundLocalError is raised, inside a `try`"):
        to_static(reads)(dy2st.to_tensor([1.0]))


def test_a_finally_that_python_leaves_by_an_error_is_refused():
    @to_static
    def function(x):
        kept = x
        if x.sum() > 3:
            bound = x + 1
        try:
            y = bound + x
            del kept
        finally:
            z = kept + 1  # noqa: F821
        return y, z

    with pytest.raises(UnsupportedSyntax, match="the end of the `finally` at line"):
        function(dy2st.to_tensor([1.0, 2.0]))
