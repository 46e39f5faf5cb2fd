"""Plain Python in a trace, more of it: handlers, descriptors, callbacks, classes of numbers."""

from __future__ import annotations

import collections.abc
import contextlib
import copy
import dataclasses
import io
import operator
import re
import sys
import traceback
import types
import unittest
from collections import OrderedDict, defaultdict

import pytest

import dy2st
from dy2st.jit import to_static

COUNT = 1


def a_callback_reads_a_global():
    global COUNT
    COUNT = 5
    return re.sub("a", lambda match: str(COUNT), "bab")


def a_callback_sets_a_global():
    def bump(match):
        global COUNT
        COUNT += 1
        return str(COUNT)

    return re.sub("a", bump, "aab"), COUNT


def a_callback_sets_a_variable_around():
    number = 1

    def bump(match):
        nonlocal number
        number += 1
        return str(number)

    number = 10
    return re.sub("a", bump, "aab"), number


def code_of_python_sees_another_stream():
    with contextlib.redirect_stderr(io.StringIO()) as stream:
        traceback.print_exception(ValueError("x"))
    return stream.getvalue()


def code_of_python_sees_another_module():
    known, sys.modules["json"] = sys.modules.get("json"), io
    try:
        return __import__("json") is io
    finally:
        sys.modules["json"] = known


def failing():
    raise KeyError(1)


def the_traceback_of_a_handler():
    try:
        failing()
    except KeyError as error:
        return [one.name for one in traceback.extract_tb(error.__traceback__)]


def the_traceback_of_a_finally():
    try:
        try:
            failing()
        finally:
            text = traceback.format_exc()
    except KeyError:
        # On 3.10 one frame of ours stays: what is handled has its traceback apart from itself.
        return text if sys.version_info >= (3, 11) else text.splitlines()[-1]


class Seeing:
    def __enter__(self):
        return self

    def __exit__(self, kind, error, place):
        self.names = [one.name for one in traceback.extract_tb(place)]
        return True


def the_traceback_of_a_manager():
    seeing = Seeing()
    with seeing:
        failing()
    return seeing.names


def a_handler_of_no_exceptions():
    try:
        failing()
    except 5:
        return 1


def a_later_clause_is_not_asked():
    try:
        failing()
    except KeyError:
        return 1
    except nothing:  # noqa: F821
        return 2


def no_manager():
    with 5:
        return 1


def half_a_manager():
    class Half:
        def __enter__(self):
            return self

    with Half():
        return 1


class Guarded:
    def __init__(self):
        self.log, self.x = [], 1

    def __delattr__(self, name):
        self.log.append(name)
        object.__delattr__(self, name)

    @property
    def fixed(self):
        return 1

    @property
    def going(self):
        return 1

    @going.deleter
    def going(self):
        self.log.append("gone")


def a_class_says_how_attributes_go():
    guarded = Guarded()
    del guarded.x
    return guarded.log, hasattr(guarded, "x")


OUTSIDE = Guarded()


def a_property_of_an_object_from_outside_goes():
    OUTSIDE.log = []
    object.__delattr__(OUTSIDE, "going")
    return OUTSIDE.log


def a_property_without_setter():
    Guarded().fixed = 2


def a_property_without_deleter():
    object.__delattr__(Guarded(), "fixed")


class Real(float):
    def __init__(self, value, unit):
        self.unit = unit

    def __new__(cls, value, unit):
        return super().__new__(cls, value)


class Named(float):
    def __init__(self, value, unit=""):
        self.unit = unit

    def __float__(self):
        return self


def classes_of_numbers():
    return Real(2.5, "m") + 1, Real(2.5, "m").unit


def a_number_of_the_users():
    found = float(Named(2.5))
    return type(found), found


class Wrong:
    def __float__(self):
        return True

    def __int__(self):
        return "a"


def no_float():
    return float(Wrong())


def no_int():
    return int(Wrong())


class Coded(Exception):
    def __init__(self, *, code):
        self.code = code
        super().__init__(f"code {code}")


def an_exception_with_names():
    try:
        raise Coded(code=3)
    except Coded as error:
        return error.code, str(error), error.args


def a_copied_exception():
    found = copy.copy(ImportError("text", name="module"))
    return found.msg, found.name, found.args


def a_deep_copy_of_a_slice():
    part = slice([1], 2)
    found = copy.deepcopy(part)
    return found == part, found.start is part.start


def dicts_put_together():
    counts = defaultdict(int, {1: 2})
    found = {3: 4, 1: 0} | counts
    return type(found), list(found.items()), type({1: 2} | OrderedDict())


@dataclasses.dataclass
class Point:
    x: int
    y: int = 2
    kind: str = dataclasses.field(default="p", init=False)


def a_field_that_is_no_argument():
    return vars(Point(1)), Point(1).kind


def a_missing_field():
    return Point()


def a_field_that_is_replaced():
    return dataclasses.replace(Point(1), kind="q")


class Ending:
    def __iter__(self):
        return self

    def __next__(self):
        raise StopIteration(42)


def what_an_iterator_of_the_users_gives_at_its_end():
    found = []

    def asking():
        found.append((yield from Ending()))

    return list(asking()), found


def what_cannot_be_unpacked():
    first, second = 5
    return first, second


def what_has_no_index():
    return operator.index(2.5)


def a_class_of_a_value_that_is_none():
    return issubclass({}, collections.abc.Sized)


def a_pattern_of_a_very_long_range():
    match range(1 << 60):
        case [first, second]:
            return first, second
        case [first, *_, last]:
            return first, last


class Endless(collections.abc.Sequence):
    asked = []

    def __len__(self):
        return 9

    def __getitem__(self, place):
        self.asked.append(place)
        return place


def a_pattern_asks_for_no_more_than_it_names():
    Endless.asked = []
    match Endless():
        case [1, *_]:
            return 1
        case [first, *_, last]:
            return first, last, Endless.asked


def failing_twice():
    try:
        failing()
    except KeyError:
        raise TypeError(2)  # noqa: B904


def the_context_of_what_is_raised_in_a_handler():
    try:
        try:
            raise ValueError(3)
        except ValueError:
            try:
                failing_twice()
            finally:
                COUNTS.append(1)
    except TypeError as error:
        return repr(error.__context__), repr(error.__context__.__context__)


COUNTS = []


def a_context_that_the_code_has_taken_away():
    try:
        try:
            failing()
        except KeyError:
            error = ValueError(3)
            try:
                raise error  # noqa: B904
            finally:
                error.__context__ = None
    except ValueError as found:
        return found.__context__


def a_generator_expression_given_to_a_library():
    case = unittest.TestCase()
    case.assertIsInstance((n for n in [1]), collections.abc.Iterator)
    case.assertTrue(n for n in [])
    return True


def too_many_arguments_of_a_method():
    [].append(1, 2)


def too_many_arguments_of_a_function():
    super(1, 2, 3)


def two_arguments_of_type():
    return type("a", ())


def a_class_of_what_is_no_dict():
    return type("a", (), types.MappingProxyType({}))


def a_tuple_of_a_tuple():
    items = (1, [2])
    return tuple(items) is items


def an_iterator_behind_a_break():
    left = iter([1, 2, 3, 4])
    for one in left:
        if one == 2:
            break
    return next(left), list(left)


def generators_behind_a_break():
    left = zip(iter("abcd"), iter([1, 2, 3]), strict=False)
    for place, one in enumerate(left):
        if one[0] == "b":
            break
    return place, list(left)


def an_iterator_behind_a_return():
    left = iter([1, 2, 3, 4])

    def place_of(wanted):
        for place, one in enumerate(left):
            if one == wanted:
                return place

    return place_of(2), next(left)


class Telling:
    def __init__(self):
        self.told = []

    def __getitem__(self, place):
        self.told.append(place)
        return place


def a_sequence_behind_a_break():
    telling = Telling()
    for one in telling:
        if one == 2:
            break
    return telling.told


class NoLoop:
    __iter__ = None

    def __getitem__(self, place):
        return place


def a_class_that_takes_its_loop_away():
    for one in NoLoop():
        return one


class Counted:
    start = 3

    @classmethod
    @property
    def first(cls):
        return cls.start if sys.version_info < (3, 13) else None


def a_property_of_a_class():
    found = Counted().first
    return found if isinstance(found, int) else type(found)


def what_a_search_leaves_of_an_iterator():
    squares, left = (n * n for n in range(5)), iter("abcd")
    return next(squares), 4 in squares, list(squares), "b" in left, list(left), 9 in squares


def what_a_loop_leaves_of_a_generator_that_has_begun():
    squares = (n * n for n in range(5))
    first = next(squares)
    for square in squares:
        if square == 4:
            break
    return first, list(squares)


def what_a_search_leaves_of_a_generator():
    squares = (n * n for n in range(5))
    return 4 in squares, list(squares)


def attributes_of_a_builtin():
    return getattr(max, "__dict__", {})


FUNCTIONS = [
    one
    for name, one in list(globals().items())
    if callable(one)
    and getattr(one, "__module__", "") == __name__
    and not isinstance(one, type)
    and name != "failing"
]


def ended(function):
    global COUNT
    COUNT = 1
    try:
        return function()
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_it_is_what_python_does(function):
    def run(x):
        return function(), x

    wanted = ended(function)
    assert ended(lambda: to_static(run)(dy2st.ones([1]))[0]) == wanted
