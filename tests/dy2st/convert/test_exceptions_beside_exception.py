"""What traced code raises beside Exceptions goes Python's way, and Ctrl-C its own."""

from __future__ import annotations

import sys

import pytest

import dy2st
from dy2st import nn
from dy2st.jit import to_static
from tests.dy2st.convert.kinds.same import same

CALLS = ([1.0, 2.0, 3.0], [-1.0, -2.0, 1.0], [9.0, 9.0, 9.0])


class Stop(BaseException):
    def __init__(self, value):
        super().__init__("stopped")
        self.value = value


class Swallow:
    def __enter__(self):
        return self

    def __exit__(self, kind, error, place):
        return kind is SystemExit


def caught_by_its_class(x):
    try:
        if x.sum() > 3:
            raise KeyboardInterrupt
        return x
    except KeyboardInterrupt:
        return x * 2


def with_a_value(x):
    def inner(v):
        if v.sum() > 3:
            raise Stop(v * 5)
        return v

    try:
        return inner(x), ""
    except Stop as error:
        return error.value, str(error)


def not_caught_as_an_exception(x):
    try:
        try:
            if x.sum() > 3:
                raise SystemExit(3)
        except Exception:
            return x * 9
    except BaseException as error:
        return x * error.code
    return x


def through_finally(x):
    done = []
    try:
        try:
            if x.sum() > 3:
                raise Stop(x)
        finally:
            done.append(1)
    except Stop:
        done.append(2)
    return done


def swallowed_by_a_manager(x):
    with Swallow():
        if x.sum() > 3:
            sys.exit()
        return x
    return x * 3


def raised_for_every_value(x):
    try:
        raise KeyboardInterrupt("now")
    except KeyboardInterrupt as error:
        return x, str(error)


@pytest.mark.parametrize(
    "function",
    [
        caught_by_its_class,
        with_a_value,
        not_caught_as_an_exception,
        through_finally,
        swallowed_by_a_manager,
        raised_for_every_value,
    ],
    ids=lambda function: function.__name__,
)
def test_handlers_get_it(function):
    same(function, *CALLS)


@pytest.mark.parametrize("kind", [SystemExit, KeyboardInterrupt, GeneratorExit])
def test_a_call_raises_it_where_python_does(kind):
    def f(x):
        if x.sum() > 3:
            raise kind("end")
        return x

    static = to_static(f)
    assert static(dy2st.to_tensor([1.0])).tolist() == [1.0]
    with pytest.raises(kind, match="end"):
        static(dy2st.to_tensor([5.0]))


@pytest.mark.parametrize("first", [1.0, 5.0])
def test_what_was_written_before_is_written(first):
    class Model(nn.Layer):
        def __init__(self):
            super().__init__()
            self.calls = []

        def forward(self, x):
            self.calls.append(1)
            if x.sum() > 3:
                raise Stop(2)
            return x

    model = Model()
    static = to_static(model)
    for value in (first, 5.0):
        try:
            static(dy2st.to_tensor([value]))
        except Stop as error:
            assert error.value == 2
    assert model.calls == [1, 1]
