# ruff: noqa
"""Functions without a traced form run as they are, and say why."""

from __future__ import annotations

import pytest

from dy2st.errors import SourceUnavailable
from dy2st.transpiler.lower import traced_form
from tests.dy2st.transpiler.plain_protocol import PLAIN


def _why(function):
    form = traced_form(function)
    assert form.bind(PLAIN, function) is function
    return form.untouched


def test_a_function_that_looks_at_its_variables():
    def f():
        x = 1
        return locals()

    def g():
        return eval("1")

    def h(x):
        return dir(), vars()

    assert {_why(f), _why(g), _why(h)} == {"namespace"}


def test_vars_of_an_object_is_no_reason():
    def f(x):
        return vars(x), dir(x)

    assert traced_form(f).untouched == ""


def test_a_coroutine():
    async def f():
        return 1

    async def g():
        yield 1

    assert {_why(f), _why(g)} == {"async"}


def test_an_inner_function_that_looks_is_no_reason():
    def f():
        def g():
            return locals()

        return g()

    assert traced_form(f).untouched == ""


def test_a_function_without_a_source():
    space = {}
    exec("def f(): return 1", space)
    with pytest.raises(SourceUnavailable):
        traced_form(space["f"])


def test_the_form_is_made_once_for_a_code_object():
    def make(x):
        def f():
            return x

        return f

    one, two = make(1), make(2)
    form = traced_form(one)
    assert traced_form(two) is form
    assert (form.bind(PLAIN, one)(), form.bind(PLAIN, two)()) == (1, 2)
