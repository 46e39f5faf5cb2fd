"""What looks at the frame that calls it sees the user's function."""

import collections
import enum
import sys
import traceback
import typing
import warnings

import pytest

import dy2st
from dy2st.jit import to_static

X = dy2st.to_tensor([1.0, 2.0])


@pytest.mark.parametrize(
    "make",
    [
        lambda: type("A", (), {}),
        lambda: collections.namedtuple("A", "a b"),
        lambda: enum.Enum("A", "a b"),
        lambda: typing.NamedTuple("A", [("a", int)]),
    ],
)
def test_a_class_that_is_made_belongs_to_the_users_module(make):
    seen = []

    def f(x):
        if x.ndim == 1:
            seen.append(make().__module__)
        return x + 1

    to_static(f)(X)
    assert seen == [__name__]


def test_a_frame_is_that_of_the_function_around_a_statement():
    seen = []

    def inner():
        return sys._getframe().f_code.co_name, sys._getframe(1).f_code.co_name

    def f(x):
        for _ in range(1):
            seen.append(inner())
        return x + 1

    to_static(f)(X)
    assert seen == [("inner", "f")]


def test_a_warning_with_a_stacklevel_passes_over_statements():
    def inner():
        for _ in range(1):
            warnings.warn("two", stacklevel=2)

    def f(x):
        if x.ndim == 1:
            inner()
        return x + 1

    with pytest.warns(UserWarning, match="two") as caught:
        to_static(f)(X)
    assert {(one.filename, one.lineno) for one in caught} == {
        (__file__, f.__code__.co_firstlineno + 2)
    }


def test_an_error_in_what_looks_at_its_caller_shows_the_users_line_once():
    def f(x):
        return collections.namedtuple("A", "1a")(x)

    with pytest.raises(ValueError, match="identifiers") as caught:
        to_static(f)(X)
    lines = [frame.line for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert lines.count('return collections.namedtuple("A", "1a")(x)') == 1


def test_the_class_of_a_number_of_the_program_is_that_of_python():
    def f(x):
        return x if int(x[0]).__class__ is int else -x

    assert to_static(f)(X).tolist() == [1.0, 2.0]


def test_the_frame_behind_a_frame_is_of_the_users_too():
    @to_static
    def f():
        def inner():
            for _ in range(1):
                return sys._getframe().f_back

        frame = inner()
        return frame.f_code.co_name, frame.f_back.f_code.co_name

    assert f() == ("f", "test_the_frame_behind_a_frame_is_of_the_users_too")


def test_a_function_whose_lines_the_code_looks_at_shows_its_own():
    def watched(value):
        if value > 1:
            value = value + 1
        return value

    def f():
        lines = []

        def look(frame, event, arg):
            if event == "line" and frame.f_code.co_name == "watched":
                lines.append(frame.f_lineno - watched.__code__.co_firstlineno)
            return look

        before = sys.gettrace()
        sys.settrace(look)
        try:
            watched(2)
        finally:
            sys.settrace(before)
        return lines

    assert to_static(f)() == f() == [1, 2, 3]
