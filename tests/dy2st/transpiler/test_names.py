# ruff: noqa
"""Locals, cells, globals and builtins; what is unbound."""

from __future__ import annotations

import pytest
from tests.dy2st.transpiler.same import same, traced


COUNT = 3


def test_a_global_is_read_when_it_is_used(monkeypatch):
    def f():
        return COUNT

    form = traced(f)
    assert form() == 3
    monkeypatch.setitem(f.__globals__, "COUNT", 4)
    assert form() == 4


def test_a_global_is_assigned_and_deleted():
    def f():
        global FRESH
        FRESH = 1
        FRESH += 1
        found = FRESH
        del FRESH
        return found

    same(f)
    assert "FRESH" not in globals()


def test_a_free_variable_is_read_when_it_is_used():
    x = 1

    def f():
        return x

    form = traced(f)
    assert form() == 1
    x = 2
    assert form() == 2


def test_a_free_variable_is_assigned_by_nonlocal():
    x = 1

    def f():
        nonlocal x
        x += 1
        return x

    assert traced(f)() == 2
    assert x == 2


def test_a_free_variable_is_deleted():
    x = 1

    def f():
        nonlocal x
        del x
        return x

    with pytest.raises(NameError, match="free variable 'x'"):
        traced(f)()
    x = 2


def test_a_free_variable_without_a_value_raises_a_name_error():
    def f():
        return later

    with pytest.raises(NameError, match="free variable 'later'"):
        traced(f)()
    later = 1


def test_each_call_has_cells_of_its_own():
    def f(x):
        return lambda: x

    form = traced(f)
    one, two = form(1), form(2)
    assert (one(), two()) == (1, 2)


def test_private_names_are_mangled():
    class Owner:
        def __init__(self):
            self.__hidden = 1

        def f(self, __x=2):
            __y = self.__hidden
            self.__other = __y + __x
            del self.__hidden
            __z = lambda: __y
            return vars(self), __z()

    assert traced(Owner.f)(Owner()) == Owner.f(Owner())


def test_a_private_global_is_mangled():
    class Owner:
        def f(self):
            return __missing  # noqa: F821

    with pytest.raises(NameError, match="_Owner__missing"):
        traced(Owner.f)(Owner())


def test_a_private_name_in_an_inner_class_is_mangled_by_that_class():
    class Owner:
        def f(self):
            class Inner:
                def __init__(self):
                    self.__x = 1

            return vars(Inner())

    assert traced(Owner.f)(Owner()) == {"_Inner__x": 1}


def test_the_keywords_of_a_call_are_not_mangled_and_parameters_are():
    def g(**keywords):
        return keywords

    class Owner:
        def f(self, *, __a=1):
            def inner(__b, *, __c=3):
                return __a, __b, __c

            return g(__x=1), inner(2), inner.__kwdefaults__

    assert traced(Owner.f)(Owner()) == Owner().f()


def test_what_is_bound_otherwise_is_mangled():
    class Owner:
        def f(self, values):
            import os as __os

            for __v in values:
                pass
            try:
                values[9]
            except IndexError as __e:
                found = str(__e)
            match values:
                case [__first, *__rest]:
                    pass
            global __g
            __g = 1
            with open(__os.devnull) as __file:
                pass
            return [__k for __k in values], __v, found, __first, __rest, __g, (__n := 2), __n

    assert traced(Owner.f)(Owner(), [1, 2]) == Owner().f([1, 2])
    del globals()["_Owner__g"]
