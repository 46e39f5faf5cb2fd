"""What C keeps of an exception goes with it, out of a branch that a tensor decides on."""

from __future__ import annotations

import sys

import pytest

from tests.dy2st.convert.kinds.same import same

CALLS = ([1.0, 2.0, 3.0], [-1.0, -2.0, 1.0], [-9.0, 0.0, 0.0])


class Limit(Exception):
    __slots__ = ("limit",)

    def __init__(self, limit):
        self.limit = limit


class Missing(OSError):
    pass


MADE = {
    "errno": (lambda x: OSError(2, "no", "a file"), lambda e: (e.errno, e.strerror, e.filename)),
    "class": (lambda x: OSError(2, "no"), lambda e: type(e).__name__),
    "subclass": (lambda x: Missing(3, "q"), lambda e: (e.errno, e.args)),
    "value": (lambda x: StopIteration(x * 5), lambda e: e.value),
    "code": (lambda x: SystemExit(3), lambda e: e.code),
    "name": (lambda x: ImportError("a", name="b"), lambda e: (e.name, e.msg)),
    "slots": (lambda x: Limit(x), lambda e: e.limit),
    "cause": (lambda x: RuntimeError("a"), lambda e: (e.__cause__, e.__suppress_context__)),
    "place": (lambda x: SyntaxError("m", ("f", 1, 2, "t")), lambda e: (e.lineno, e.msg)),
}


@pytest.mark.parametrize("name", MADE)
def test_it_is_read_where_the_exception_is_caught(name):
    make, read = MADE[name]

    def f(x):
        try:
            try:
                if x.sum() > 0:
                    raise make(x)
            except ZeroDivisionError:
                return x * 9, None
            if x[0] < -5:
                raise make(x * 2)
        except BaseException as error:
            return x * 2, read(error)
        return x, None

    same(f, *CALLS)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="3.10 has no groups")
def test_a_group_keeps_its_exceptions():
    def f(x):
        try:
            try:
                if x.sum() > 0:
                    raise ExceptionGroup("g", [ValueError(1), TypeError(2)])  # noqa: F821
            except ZeroDivisionError:
                return x * 9, 0
        except Exception as error:
            return x * 2, len(error.exceptions)
        return x, 0

    same(f, *CALLS)


def test_what_leaves_the_function_has_it():
    def f(x):
        if x.sum() > 0:
            raise Missing(3, "q")
        return x

    def outer(x):
        try:
            return f(x)
        except ValueError:
            return x

    same(outer, *CALLS)
