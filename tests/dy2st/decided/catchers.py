"""Exceptions that a tensor decides on end where Python ends them: in handlers and in contexts."""

from __future__ import annotations

import contextlib

from tests.dy2st.catalogue.entry import on

INPUTS = ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0], [10.0, 20.0, 30.0], [0.0, 0.0, 0.5])
alike = on(*INPUTS)
alike_made = on(*INPUTS, makes=True)


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


def _through(make):
    def inside(x):
        y = x * 100
        with make():
            y = checked(x)
        return y

    return inside


@alike_made
def a_context_tells_and_swallows():
    return _through(Telling)


@alike_made
def a_context_of_a_generator_stops_it():
    return _through(stopping)


@alike_made
def a_stack_of_no_contexts_lets_it_pass():
    return _through(contextlib.ExitStack)


@alike_made
def a_context_prints_and_lets_it_pass():
    return _through(Printing)


@alike_made
def a_context_of_a_generator_prints_and_lets_it_pass():
    return _through(printing)


@alike
def a_broad_handler_around_a_call_by_c_code(x):
    try:
        return next(map(checked, [x]))
    except Exception:
        return x


@alike
def a_text_of_each_turn(x):
    try:
        for k in range(3):
            if x.sum() > k:
                raise ValueError(f"turn {k}")
    except ValueError as error:
        x = x + len(str(error))
    return x


@alike
def a_finally_that_prints(x):
    try:
        y = checked(x)
    finally:
        print("the end")
    return y


@alike
def a_handler_of_a_read_that_a_tensor_may_leave_unbound(x):
    if x.sum() > 0:
        y = x
    try:
        return y + 1
    except NameError:
        return x


@alike
def a_finally_that_python_leaves_by_an_error(x):
    kept = x
    if x.sum() > 3:
        bound = x + 1
    try:
        y = bound + x
        del kept
    finally:
        z = kept + 1  # noqa: F821
    return y, z


@alike
def a_handler_of_what_a_builtin_raises(x):
    try:
        if x.sum() > 0:
            return x + int("zz")
    except ValueError:
        return x * 0
    return x + 1


@alike_made
def an_exception_of_a_function_that_two_callers_call():
    def both(x):
        return [*map(checked, [x])][0] + 1

    def function(x):
        try:
            return both(x)
        except ValueError:
            return -x

    return function


@alike_made
def many_exceptions_of_one_function():
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

    return function


@alike
def a_branch_without_a_common_form_in_a_broad_handler(x):
    try:
        y = (x, 1) if x.sum() > 0 else x
    except Exception:
        y = x
    return y


@alike
def a_handler_of_an_index_that_may_be_out_of_bounds(x):
    try:
        first = x[int(x.sum())]
        return first + x.reshape([1, 3])[0, int(x.max())]
    except IndexError as error:
        return x[0], str(error)
