# ruff: noqa
# PYTEST_DONT_REWRITE
"""`raise`, `assert`, `try` and `with`. PYTEST_DONT_REWRITE"""

from __future__ import annotations

import traceback
import pytest
from tests.dy2st.transpiler.same import same, traced
from tests.dy2st.plain_values.exceptions import Manager


def test_with_into_captured_variables_and_globals():
    def f():
        global HELD
        log = []
        get = lambda: (held.name, HELD.name)
        with Manager(log, "a") as held, Manager(log, "b") as HELD:
            return get(), log

    same(f)
    del globals()["HELD"]


def test_what_is_no_manager_is_refused_as_in_python():
    def f():
        with 5:
            pass

    with pytest.raises((TypeError, AttributeError)):
        traced(f)()


# fmt: off
def test_the_traceback_shows_the_users_lines():
    def f(x):
        y = 1
        if x:
            for _ in range(2):
                y = (
                    y
                    + 1 // (x - 1)
                )
        return y

    first = f.__code__.co_firstlineno
    with pytest.raises(ZeroDivisionError) as caught:
        traced(f)(1)
    lines = [
        entry.lineno - first
        for entry in traceback.extract_tb(caught.value.__traceback__)
        if entry.filename == f.__code__.co_filename and entry.name == "f"
    ]
    assert lines[-1] == 6
    assert lines[0] in (2, 3)


def test_the_traceback_of_a_chain_of_methods_shows_the_line_of_each():
    def f(x):
        return (
            x
            .strip()
            .missing()
        )

    first = f.__code__.co_firstlineno
    with pytest.raises(AttributeError) as caught:
        traced(f)("a")
    frames = traceback.extract_tb(caught.value.__traceback__)
    lines = [entry.lineno - first for entry in frames if entry.name == "f"]
    assert lines == [2]
