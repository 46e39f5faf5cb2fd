"""Exceptions that a tensor decides on end where Python ends them: in handlers and in contexts."""

from __future__ import annotations

import contextlib

import pytest

from dy2st.jit import to_static
from tests.dy2st.constructs.catalogue import outcome

INPUTS = ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0], [10.0, 20.0, 30.0], [0.0, 0.0, 0.5])


def same(function):
    """The results, the exceptions and what is printed are Python's, by one Program."""
    static = to_static(function)
    for values in INPUTS:
        assert outcome(static, values) == outcome(function, values)
    assert len(static.program_cache) == 1


class Telling:
    def __enter__(self):
        return self

    def __exit__(self, *details):
        print("the end")
        return bool(details[0])


class Printing(Telling):
    def __exit__(self, *details):
        print("the end")


@contextlib.contextmanager
def stopping():
    try:
        yield
    except ValueError:
        print("stopped")


@contextlib.contextmanager
def printing():
    try:
        yield
    finally:
        print("the end")


def checked(x):
    if x.sum() > 10:
        raise ValueError("too much")
    return x + 1


@pytest.mark.parametrize("make", [Telling, stopping, contextlib.ExitStack, Printing, printing])
def test_a_context_prints_or_swallows_where_the_exception_is_raised(make):
    def inside(x):
        y = x * 100
        with make():
            y = checked(x)
        return y

    same(inside)


def test_a_broad_handler_around_a_call_by_c_code():
    def function(x):
        try:
            return next(map(checked, [x]))
        except Exception:
            return x

    same(function)


def test_a_text_of_each_turn():
    def function(x):
        try:
            for k in range(3):
                if x.sum() > k:
                    raise ValueError(f"turn {k}")
        except ValueError as error:
            x = x + len(str(error))
        return x

    same(function)


def test_a_finally_that_prints():
    def function(x):
        try:
            y = checked(x)
        finally:
            print("the end")
        return y

    same(function)


def test_a_handler_of_a_read_that_a_tensor_may_leave_unbound():
    def function(x):
        if x.sum() > 0:
            y = x
        try:
            return y + 1
        except NameError:
            return x

    same(function)


def test_a_finally_that_python_leaves_by_an_error():
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

    same(function)


def test_a_handler_of_what_a_builtin_raises():
    def function(x):
        try:
            if x.sum() > 0:
                return x + int("zz")
        except ValueError:
            return x * 0
        return x + 1

    same(function)


def test_an_exception_of_a_function_that_two_callers_call():
    def both(x):
        return [*map(checked, [x])][0] + 1

    def function(x):
        try:
            return both(x)
        except ValueError:
            return -x

    same(function)


def test_many_exceptions_of_one_function():
    def many(x):
        for k, text in enumerate("abcdefghij"):
            if x.sum() > 20 - k:
                raise ValueError(text)
        return x

    def function(x):
        try:
            return many(x)
        except ValueError as error:
            return x + len(str(error))

    same(function)


def test_a_branch_without_a_common_form_in_a_broad_handler():
    def function(x):
        try:
            y = (x, 1) if x.sum() > 0 else x
        except Exception:
            y = x
        return y

    same(function)


def test_a_handler_of_an_index_that_may_be_out_of_bounds():
    def function(x):
        try:
            first = x[int(x.sum())]
            return first + x.reshape([1, 3])[0, int(x.max())]
        except IndexError as error:
            return x[0], str(error)

    same(function)
