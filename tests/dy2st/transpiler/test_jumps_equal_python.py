"""Jumps out of `try`, `with` and `finally`, and what overrides them, are those of Python."""

from __future__ import annotations

from contextlib import contextmanager, suppress

import pytest


@contextmanager
def leaving(kind):
    """Raises when it is left without an exception."""
    yield
    if kind is not None:
        raise kind("on the way out")


def returned_value_is_forgotten(xs):
    try:
        with leaving(KeyError if xs else None):
            if not xs or xs[0]:
                return "inside"
            xs.append(1)
    except KeyError:
        xs.append("caught")
    return "after"


def return_is_forgotten_by_with(xs):
    with suppress(KeyError):
        with leaving(KeyError if xs else None):
            if len(xs) < 2:
                return "inside"
        xs.append("not reached")
    return "after"


def break_is_forgotten(xs):
    for x in xs:
        try:
            with leaving(KeyError if x > 1 else None):
                if x:
                    break
        except KeyError:
            xs[0] = "caught"
        else:
            xs[-1] = "else"
    else:
        return "else of the loop"
    return xs


def continue_in_finally_forgets_break(xs):
    seen = []
    for x in xs:
        try:
            if x:
                break
            seen.append(x)
        finally:
            if x > 1:
                continue
            seen.append(-x)
        seen.append("end")
    return seen


def break_in_finally_forgets_return(xs):
    for x in xs:
        try:
            if x:
                return "inside"
        finally:
            if x > 1:
                break
    return "after"


def return_in_finally_wins(xs):
    try:
        if xs:
            return xs.pop()
        1 / len(xs)
    finally:
        for x in xs:
            if x > 1:
                return "final"


def inner_return_in_finally_is_forgotten(xs):
    while True:
        try:
            if not xs:
                return "first"
        finally:
            for _ in range(2):
                try:
                    return "second"
                finally:
                    if len(xs) < 2:
                        break
                    xs.pop()
        return "third"


def swallowed_by_finally(xs):
    for x in xs:
        try:
            1 / x
        except ValueError:
            return "no"
        finally:
            if x == 0:
                continue
        xs[0] = 5
    return xs


def raised_in_finally(xs):
    try:
        if xs:
            return 1
    finally:
        if len(xs) > 1:
            raise KeyError("final")
    return 2


def else_is_skipped_by_a_jump(xs):
    for x in xs:
        try:
            if x:
                continue
            y = x
        except ZeroDivisionError:
            break
        else:
            return ("else", y)
        finally:
            xs[0] = "finally"
    return xs


def handlers_leave(xs):
    for x in xs:
        try:
            y = 1 / x
        except ZeroDivisionError as error:
            if len(xs) > 1:
                return str(error)
            continue
        if y < 1:
            break
        xs[0] = y
    return xs


def raised_in_a_branch(xs):
    try:
        for x in xs:
            if x > 1:
                raise KeyError(x)
        if not xs:
            raise IndexError
        y = len(xs)
    except KeyError as error:
        return repr(error)
    except IndexError as error:
        y = type(error)
    else:
        y = -y
    finally:
        xs.append(0)
    return y


def asserted(xs):
    try:
        assert xs, "empty"
        assert xs[0] != 1
        return 1 / xs[0]
    except AssertionError as error:
        return type(error)
    except Exception as error:
        raise ValueError("other") from error


FUNCTIONS = [
    asserted,
    break_in_finally_forgets_return,
    break_is_forgotten,
    continue_in_finally_forgets_break,
    else_is_skipped_by_a_jump,
    handlers_leave,
    inner_return_in_finally_is_forgotten,
    raised_in_a_branch,
    raised_in_finally,
    return_in_finally_wins,
    return_is_forgotten_by_with,
    returned_value_is_forgotten,
    swallowed_by_finally,
]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_jumps_are_those_of_python(function, same_as_python):
    same_as_python(function, ([],), ([0],), ([1],), ([2],), ([0, 1],), ([1, 2],), ([2, 0, 3],))
